// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bidirectional pad of an ECP5, for simulation of a netlist. Yosys maps BB to it. Verilator cannot read the model that
// comes with Yosys.

module TRELLIS_IO (
    inout  wire  B,
    input  logic I,
    input  logic T,  // high: the pad is not driven
    output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
