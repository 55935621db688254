// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bidirectional pad of an ECP5, for simulation.

module BB (
    inout  wire  B,
    input  logic I,
    input  logic T,  // high: the pad is not driven
    output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
