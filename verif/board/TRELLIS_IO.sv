// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bidirectional pad in a netlist of an ECP5, for simulation. Yosys maps BB to it, and Verilator cannot use the model that comes
// with Yosys.

module TRELLIS_IO (
    inout  wire  B,
    input  logic I,
    input  logic T,  // high: the pad is not driven
    output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
