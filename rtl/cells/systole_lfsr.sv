// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Galois linear feedback shift register, one step a cycle while en_i. Taps: bit i set for the term x^(i+1) of the feedback
// polynomial; the default x^32 + x^22 + x^2 + x + 1 is primitive, so the state runs through all 2^32 - 1 values but 0.
// Docs: docs/cells.md. Test: tests/cells/small_cells_test.cc.

module systole_lfsr #(
    parameter int unsigned Width = 32,
    parameter logic [Width-1:0] Taps = 32'h8020_0003,
    parameter logic [Width-1:0] Seed = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             en_i,
    output logic [Width-1:0] state_o
);
  logic [Width-1:0] state_q;

  assign state_o = state_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Seed;
    else if (en_i) state_q <= {1'b0, state_q[Width-1:1]} ^ (state_q[0] ? Taps : '0);
  end

  // 0 is the one state that never changes; the top tap makes the step reversible, so that 0 is never reached.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_not_stuck : assert (state_q != '0);
    end
  end
endmodule
