// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clock gate: the clock may stop while en_i is low, because no visible state would change then. This view never stops it; it is
// for devices without clock gates. Simulations use the view of the same name in verif/views, which stops the clock. A library
// that has a gate cell replaces this module. en_i comes from registers and from inputs that change after the rising edge.
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
