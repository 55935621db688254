// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A register between two steps of systole_fma, or a wire. Holds while enable_i is low. Test: tests/rtl/fp.

module systole_fma_reg #(
    parameter int unsigned Width = 32,
    parameter bit          On = 1'b1
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic             clk_i,
    input  logic             enable_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  if (On) begin : gen_register
    always_ff @(posedge clk_i) if (enable_i) q_o <= d_i;
  end else begin : gen_wire
    assign q_o = d_i;
  end
endmodule
