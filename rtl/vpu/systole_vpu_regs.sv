// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector registers: five banks with one write port each, and Ports operand registers. An operand register takes a step
// of any bank (Sublanes rows), one row in all sublanes, or a scalar in all lanes, two cycles after the request, and
// holds it until the next request. What is written can be read from the next cycle on. Load units write one row at a
// time, and the store unit reads one.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_regs
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Cols = 8,
    parameter int unsigned Sublanes = 1,
    parameter bit          Fast = FastView,
    localparam int unsigned Width = Cols * 32,
    localparam int unsigned Wide = Sublanes * Width
) (
    input  logic             clk_i,

    // Writes, one per bank.
    input  write_t           write_i [NumBanks],
    input  logic [Width-1:0] load0_i,
    input  logic [Width-1:0] load1_i,
    input  logic [Wide-1:0]  alu0_i,
    input  logic [Wide-1:0]  alu1_i,
    input  logic [Wide-1:0]  cross_i,

    // Reads: three for each ALU, one for the cross unit, one for the store unit.
    input  fetch_t           fetch_i [Ports],
    output logic [Wide-1:0]  alu0_a_o,
    output logic [Wide-1:0]  alu0_b_o,
    output logic [Wide-1:0]  alu0_c_o,
    output logic [Wide-1:0]  alu1_a_o,
    output logic [Wide-1:0]  alu1_b_o,
    output logic [Wide-1:0]  alu1_c_o,
    output logic [Wide-1:0]  cross_o,
    output logic [Width-1:0] store_o
);
  // Requests of the last cycle.
  // verilator lint_off UNUSEDSIGNAL
  fetch_t           fetch_q [Ports];
  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_off UNUSEDSIGNAL
  logic [Wide-1:0]  wdata [NumBanks], operand [Ports];  // the store unit's has the same row in all sublanes
  // verilator lint_on UNUSEDSIGNAL

  assign wdata = '{{Sublanes{load0_i}}, {Sublanes{load1_i}}, alu0_i, alu1_i, cross_i};

  assign alu0_a_o = operand[0];
  assign alu0_b_o = operand[1];
  assign alu0_c_o = operand[2];
  assign alu1_a_o = operand[3];
  assign alu1_b_o = operand[4];
  assign alu1_c_o = operand[5];
  assign cross_o = operand[6];
  assign store_o = operand[7][Width-1:0];

  always_ff @(posedge clk_i) fetch_q <= fetch_i;

  if (Fast) begin : gen_fast
    // One copy, read one cycle late. That is safe, because nobody writes a row in the two cycles after its request.
    // Each bank is its own array: simulators copy the elements of arrays of wide words on every access.
    for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
      logic [Width-1:0] mem_q [BankSteps*Sublanes];
      always_ff @(posedge clk_i) begin
        for (int unsigned s = 0; s < Sublanes; s++) begin
          if (write_i[b].valid && write_i[b].place.mask[s]) begin
            mem_q[32'({write_i[b].number, write_i[b].place.step})*Sublanes+s] <= wdata[b][s*Width+:Width];
          end
        end
      end
    end
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      for (genvar s = 0; s < Sublanes; s++) begin : gen_sublane
        logic [$clog2(BankSteps*Sublanes)-1:0] row;
        logic [Width-1:0]                      operand_q;
        assign operand[p][s*Width+:Width] = operand_q;
        assign row = $bits(row)'(32'({fetch_q[p].number[2:0], fetch_q[p].step}) * Sublanes + (fetch_q[p].pick ? 32'(fetch_q[p].sublane) : s));
        always_ff @(posedge clk_i) begin
          if (fetch_q[p].valid) begin
            if (!fetch_q[p].from_reg) begin
              operand_q <= {Cols{fetch_q[p].scalar}};
            end else begin
              unique case (fetch_q[p].number[5:3])
                BankLoad0: operand_q <= gen_bank[0].mem_q[row];
                BankLoad1: operand_q <= gen_bank[1].mem_q[row];
                BankAlu0: operand_q <= gen_bank[2].mem_q[row];
                BankAlu1: operand_q <= gen_bank[3].mem_q[row];
                default: operand_q <= gen_bank[4].mem_q[row];
              endcase
            end
          end
        end
      end
    end
  end else begin : gen_ram
    // In block RAM: one copy of each bank for each port.
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [Wide-1:0]  step [NumBanks], from;
      logic [Width-1:0] row;
      for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
        for (genvar s = 0; s < Sublanes; s++) begin : gen_sublane
          systole_prim_ram_1r1w #(.Width(Width), .Depth(BankSteps), .AnyOnCollision(1'b1), .Style("block")) u_rows (
              .clk_i,
              .we_i   (write_i[b].valid && write_i[b].place.mask[s]),
              .waddr_i({write_i[b].number, write_i[b].place.step}),
              .wdata_i(wdata[b][s*Width+:Width]),
              .re_i   (fetch_i[p].valid),
              .raddr_i({fetch_i[p].number[2:0], fetch_i[p].step}),
              .rdata_o(step[b][s*Width+:Width])
          );
        end
      end
      assign from = step[fetch_q[p].number[5:3] < 3'(NumBanks) ? fetch_q[p].number[5:3] : 3'd0];
      assign row  = from[32'(fetch_q[p].sublane)*Width+:Width];
      for (genvar s = 0; s < Sublanes; s++) begin : gen_operand
        logic [Width-1:0] operand_q;
        assign operand[p][s*Width+:Width] = operand_q;
        always_ff @(posedge clk_i) begin
          if (fetch_q[p].valid) begin
            if (!fetch_q[p].from_reg) operand_q <= {Cols{fetch_q[p].scalar}};
            else operand_q <= fetch_q[p].pick ? row : from[s*Width+:Width];
          end
        end
      end
    end
  end

endmodule
