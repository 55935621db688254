// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Check bits of 64 data bits, and what 72 bits say: Hsiao's odd-weight-column code, which corrects one wrong bit and detects two.
// Combinational; outputs are 0 without valid_i, which costs a simulator nothing. As an encoder: check_i tied to 0, code_o used.
// Docs: docs/hbm.md, docs/cells.md. Proof: verif/formal/systole_secded_props.sv. Test: tests/hbm/ecc_test.cc.

module systole_secded (
    input  logic        valid_i,
    input  logic [63:0] data_i,
    input  logic [7:0]  check_i,
    output logic [7:0]  code_o,   // the check bits of data_i
    output logic [63:0] data_o,   // corrected
    output logic        fixed_o,  // one bit of the 72 was wrong
    output logic        bad_o     // more were: data_o is data_i
);
  // A byte for each data bit, the check bits that it is in, bit 0 lowest: the bytes with three ones in ascending order, then 8'h1F
  // rotated left by 0 to 7. So each check bit covers 26 data bits.
  localparam logic [511:0] Columns = 512'h
      8fc7e3f1f87c3e1fe0d0c8c4c2c1b0a8_a4a2a1989492918c8a89868583706864_6261585452514c4a4946454338343231_2c2a292625231c1a191615130e0d0b07;

  function automatic logic [63:0] row(input integer k);
    integer i;
    for (i = 0; i < 64; i = i + 1) row[i] = Columns[8*i+k];
  endfunction
  localparam logic [63:0] Row0 = row(0), Row1 = row(1), Row2 = row(2), Row3 = row(3);
  localparam logic [63:0] Row4 = row(4), Row5 = row(5), Row6 = row(6), Row7 = row(7);

  logic [7:0]  syndrome;
  logic [63:0] flip;
  integer      b;

  always_comb begin
    code_o   = '0;
    data_o   = '0;
    fixed_o  = 1'b0;
    bad_o    = 1'b0;
    syndrome = '0;
    flip     = '0;
    b        = 0;
    if (valid_i) begin
      code_o = {^(data_i & Row7), ^(data_i & Row6), ^(data_i & Row5), ^(data_i & Row4),
                ^(data_i & Row3), ^(data_i & Row2), ^(data_i & Row1), ^(data_i & Row0)};
      data_o   = data_i;
      syndrome = code_o ^ check_i;
      if (syndrome != '0) begin
        for (b = 0; b < 64; b = b + 1) flip[b] = syndrome == Columns[8*b+:8];
        data_o  = data_i ^ flip;
        fixed_o = flip != '0 || (syndrome & (syndrome - 8'd1)) == '0;
        bad_o   = !fixed_o;
      end
    end
  end
endmodule
