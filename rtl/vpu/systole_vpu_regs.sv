// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector registers: five banks with one write port each, and Ports operand registers. An operand register takes a row
// of any bank, or a scalar in all lanes, two cycles after the request, and holds it until the next request. A written
// row can be read from the next cycle on.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_regs
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Cols = 8,
    parameter bit          Fast = FastView,
    localparam int unsigned Width = Cols * 32
) (
    input  logic             clk_i,

    // Writes, one per bank.
    input  write_t           write_i [NumBanks],
    input  logic [Width-1:0] load0_i,
    input  logic [Width-1:0] load1_i,
    input  logic [Width-1:0] alu0_i,
    input  logic [Width-1:0] alu1_i,
    input  logic [Width-1:0] cross_i,

    // Reads: three for each ALU, one for the cross unit, one for the store unit.
    input  fetch_t           fetch_i [Ports],
    output logic [Width-1:0] alu0_a_o,
    output logic [Width-1:0] alu0_b_o,
    output logic [Width-1:0] alu0_c_o,
    output logic [Width-1:0] alu1_a_o,
    output logic [Width-1:0] alu1_b_o,
    output logic [Width-1:0] alu1_c_o,
    output logic [Width-1:0] cross_o,
    output logic [Width-1:0] store_o
);
  // Requests of the last cycle.
  // verilator lint_off UNUSEDSIGNAL
  fetch_t           fetch_q [Ports];
  // verilator lint_on UNUSEDSIGNAL
  logic [Width-1:0] wdata [NumBanks], operand [Ports];

  assign wdata = '{load0_i, load1_i, alu0_i, alu1_i, cross_i};

  assign alu0_a_o = operand[0];
  assign alu0_b_o = operand[1];
  assign alu0_c_o = operand[2];
  assign alu1_a_o = operand[3];
  assign alu1_b_o = operand[4];
  assign alu1_c_o = operand[5];
  assign cross_o = operand[6];
  assign store_o = operand[7];

  always_ff @(posedge clk_i) fetch_q <= fetch_i;

  if (Fast) begin : gen_fast
    // One copy, read one cycle late. That is safe, because nobody writes a row in the two cycles after its request.
    // Each bank is its own array: simulators copy the elements of arrays of wide words on every access.
    for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
      logic [Width-1:0] mem_q [BankRows];
      always_ff @(posedge clk_i) begin
        if (write_i[b].valid) mem_q[{write_i[b].number, write_i[b].row}] <= wdata[b];
      end
    end
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [5:0]       row;
      logic [Width-1:0] operand_q;
      assign operand[p] = operand_q;
      assign row = {fetch_q[p].number[2:0], fetch_q[p].row};
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
  end else begin : gen_ram
    // In block RAM: one copy of each bank for each port.
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [Width-1:0] operand_q, row [NumBanks];
      assign operand[p] = operand_q;
      for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
        systole_prim_ram_1r1w #(.Width(Width), .Depth(BankRows), .AnyOnCollision(1'b1), .Style("block")) u_rows (
            .clk_i,
            .we_i   (write_i[b].valid),
            .waddr_i({write_i[b].number, write_i[b].row}),
            .wdata_i(wdata[b]),
            .re_i   (fetch_i[p].valid),
            .raddr_i({fetch_i[p].number[2:0], fetch_i[p].row}),
            .rdata_o(row[b])
        );
      end
      always_ff @(posedge clk_i) begin
        if (fetch_q[p].valid) begin
          if (!fetch_q[p].from_reg) operand_q <= {Cols{fetch_q[p].scalar}};
          else operand_q <= row[fetch_q[p].number[5:3] < 3'(NumBanks) ? fetch_q[p].number[5:3] : 3'd0];
        end
      end
    end
  end

endmodule
