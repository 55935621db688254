// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// CRC-32C of a slice, 16 bytes a cycle. part_o is the CRC's register after the first 12 bytes, of which a sender makes the CRC that
// it puts in the other four; next_o is the register after all 16, CrcResidue if the last four are the CRC of what is before them.
// Combinational. The matrix is generated (systole_link_pkg): the register's change over a slice is linear in slice and register.
// Docs: docs/link.md. Test: tests/rtl/link/crc_test.cc.

module systole_link_crc
  import systole_link_pkg::*;
(
    input  logic [31:0]             state_i,
    input  logic [8*SliceBytes-1:0] slice_i,
    output logic [31:0]             part_o,
    output logic [31:0]             next_o
);
  localparam int unsigned Bits = 8 * SliceBytes;

  // The first 12 bytes are as the last 12 of a slice: what they do to the register does not depend on where it began.
  logic [Bits-1:0] whole, part;
  assign whole = slice_i ^ {{(Bits - 32) {1'b0}}, state_i};
  assign part  = {whole[Bits-33:0], 32'd0};

  always_comb begin
    for (int unsigned i = 0; i < 32; i++) begin
      next_o[i] = ^(whole & CrcRows[i]);
      part_o[i] = ^(part & CrcRows[i]);
    end
  end
endmodule
