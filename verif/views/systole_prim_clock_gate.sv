// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_prim_clock_gate: the enable is latched while the clock is low, so that clk_o has whole pulses or none. What
// a clock that stands still drives costs a simulator nothing, the logic between its registers included.
// Docs: docs/cells.md. Test: tests/cells.

module systole_prim_clock_gate (
    input  logic clk_i,
    input  logic en_i,
    output logic clk_o
);
  logic en_q;

  always_latch begin
    if (!clk_i) en_q = en_i;
  end
  assign clk_o = clk_i & en_q;
endmodule
