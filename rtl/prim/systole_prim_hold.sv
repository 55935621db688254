// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Test hook that stalls streams: a stall bit per stream, always 0 in hardware. Simulations use the view of the same name in
// verif/views, which stalls at random or as a test bench says.
// Docs: docs/cells.md. Test: tests/system.

module systole_prim_hold #(
    parameter int unsigned Streams = 1
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic               clk_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic [Streams-1:0] hold_o
);
  assign hold_o = '0;
endmodule
