// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A clock that may stand still in the cycles in which en_i is low, because nothing that it clocks would do anything that shows. This view
// lets it run, as devices without clock gates must; simulations read the view of the same name in verif/views, which stops it, and a
// library with a gate of its own takes that. en_i comes from registers and inputs that change behind the rising edge.
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
