// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The clock of a unit that is idle at times: it runs in a reset, while there is work, and Settle cycles longer, in which pipelines run
// empty; then it may stand still. What wakes the unit is work in the cycle in which it comes. Docs: docs/cells.md.
// Test: tests/cells, tests/rtl/vector.

module systole_idle_clock #(
    parameter int unsigned Settle = 7,
    parameter bit          Gate = 1'b1  // 0: it always runs, for a bench that compares
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic work_i,
    input  logic rest_i,  // nothing in the unit is valid: must be so when the clock stands still
    output logic clk_o
);
  localparam int unsigned Bits = $clog2(Settle + 1);
  logic [Bits-1:0] left_q;
  logic            run;

  assign run = !rst_ni || work_i || left_q != '0;
  systole_prim_clock_gate u_gate (.clk_i, .en_i(run || !Gate), .clk_o);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || work_i) left_q <= Bits'(Settle);
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) a_rest : assert (run || rest_i);
  end
endmodule
