// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stub of the CRC for the proof of the link (verif/formal/link.py). It detects every corrupt flit of a packet: the
// wires set the highest bit of a flit that they corrupt, and nothing else sets it.

module systole_link_crc
  import systole_link_pkg::*;
(
    input  logic [31:0]             state_i,
    input  logic [8*SliceBytes-1:0] slice_i,
    output logic [31:0]             part_o,
    output logic [31:0]             next_o
);
  assign part_o = '1;
  assign next_o = state_i == '0 || slice_i[8*SliceBytes-1] ? '0 : CrcResidue;
endmodule
