// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bidirectional pad in a netlist of an ECP5, for simulation (what Yosys makes of BB; of its own model Verilator makes nothing).

module TRELLIS_IO (
    inout  wire  B,
    input  logic I,
    input  logic T,  // high: not driven
    output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
