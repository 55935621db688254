// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_prim_clock_gate. The enable is latched while the clock is low, so clk_o has only whole
// pulses. Logic behind a stopped clock costs a simulator no time. With SYSTOLE_FREE_CLOCKS the clock never stops, as on
// an FPGA. Models in which a test flips bits use this, so that circuits that detect bit flips check in every cycle.
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
