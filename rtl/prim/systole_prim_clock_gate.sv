// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clock gate: the clock may stop in cycles in which en_i is low, because then nothing that it clocks would change in a visible
// way. This view never stops it, which devices without clock gates need. Simulations read the view of the same name in
// verif/views, which stops it; a library with its own gate cell replaces it. en_i comes from registers and from inputs that
// change after the rising edge.
// Docs: docs/cells.md. Test: tests/cells, tests/rtl/vector.

module systole_prim_clock_gate (
    input  logic clk_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic en_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic clk_o
);
  assign clk_o = clk_i;
endmodule
