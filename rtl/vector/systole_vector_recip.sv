// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Table of ceil(2^24 / n) for n = 1..256, one cycle. For every |a| <= 128 n, trunc((|a| + n/2) / n) is
// ((|a| + n/2) * ceil(2^24 / n)) >> 24. Entry 0 serves windows without taps. Docs: docs/numerics.md, docs/vector.md.
// Test: tests/rtl/vector/ (all counts, all sums).

module systole_vector_recip (
    input  logic        clk_i,
    input  logic        en_i,
    input  logic [8:0]  n_i,
    output logic [24:0] recip_o
);
  typedef logic [256:0][24:0] table_t;

  function automatic table_t make_table();
    table_t t;
    t[0] = 25'h100_0000;
    for (int unsigned n = 1; n <= 256; n++) t[n] = 25'((32'h100_0000 + n - 1) / n);
    return t;
  endfunction

  localparam table_t Table = make_table();

  always_ff @(posedge clk_i) begin
    if (en_i) recip_o <= Table[n_i];
  end
endmodule
