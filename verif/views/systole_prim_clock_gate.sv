// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_prim_clock_gate: the enable is latched while the clock is low, so that clk_o has whole pulses or none. What
// a clock that stands still drives costs a simulator nothing, the logic between its registers included. With SYSTOLE_FREE_CLOCKS the
// clock never stands still, as on an FPGA: for models whose bits a test turns, where what looks for turned bits looks in each cycle.
// Docs: docs/cells.md. Test: tests/cells.

module systole_prim_clock_gate (
    input  logic clk_i,
    input  logic en_i,
    output logic clk_o
);
`ifdef SYSTOLE_FREE_CLOCKS
  logic unused;
  assign unused = &{1'b0, en_i};
  assign clk_o  = clk_i;
`else
  logic en_q;

  always_latch begin
    if (!clk_i) en_q = en_i;
  end
  assign clk_o = clk_i & en_q;
`endif
endmodule
