// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector registers: five banks with one write port each, and Ports operand registers that take a row of any bank, or a scalar in
// all lanes, and hold it until they are told to take the next. A read of a row that is written in the same cycle returns the old one.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_regs
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Cols = 8,
    localparam int unsigned Width = Cols * 32
) (
    input  logic             clk_i,

    // By bank.
    input  write_t           write_i [NumBanks],
    input  logic [Width-1:0] load0_i,
    input  logic [Width-1:0] load1_i,
    input  logic [Width-1:0] alu0_i,
    input  logic [Width-1:0] alu1_i,
    input  logic [Width-1:0] cross_i,

    // Three for each ALU, one for the cross unit, one for the store unit.
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
  // Rows have names, not indices: simulators copy elements of arrays of wide words at every turn.
  for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
    (* ram_style = "auto" *) logic [Width-1:0] mem_q [BankRows];
    logic [Width-1:0] wdata;
    always_ff @(posedge clk_i) begin
      if (write_i[b].valid) mem_q[{write_i[b].number, write_i[b].row}] <= wdata;
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic [5:0]       row;
    logic [Width-1:0] operand_q;

    assign row = {fetch_i[p].number[2:0], fetch_i[p].row};

    always_ff @(posedge clk_i) begin
      if (fetch_i[p].valid) begin
        if (!fetch_i[p].from_reg) begin
          operand_q <= {Cols{fetch_i[p].scalar}};
        end else begin
          unique case (fetch_i[p].number[5:3])
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

  assign gen_bank[0].wdata = load0_i;
  assign gen_bank[1].wdata = load1_i;
  assign gen_bank[2].wdata = alu0_i;
  assign gen_bank[3].wdata = alu1_i;
  assign gen_bank[4].wdata = cross_i;
  assign alu0_a_o          = gen_port[0].operand_q;
  assign alu0_b_o          = gen_port[1].operand_q;
  assign alu0_c_o          = gen_port[2].operand_q;
  assign alu1_a_o          = gen_port[3].operand_q;
  assign alu1_b_o          = gen_port[4].operand_q;
  assign alu1_c_o          = gen_port[5].operand_q;
  assign cross_o           = gen_port[6].operand_q;
  assign store_o           = gen_port[7].operand_q;
endmodule
