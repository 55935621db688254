// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Read-only memory of ceil(2^24 / n) for n = 1..256. Latency: one cycle; the output holds while en_i is low. For every
// 0 <= u <= 255 n + n/2, (u * ceil(2^24 / n)) >> 24 is u / n rounded down. Entry 0 serves windows without taps.
// Docs: docs/numerics.md, docs/vector.md. Test: tests/rtl/vector/ (all counts, all sums).

module systole_vector_recip (
    input  logic        clk_i,
    input  logic        en_i,
    input  logic [8:0]  n_i,
    output logic [24:0] recip_o
);
  (* ram_style = "auto" *) logic [24:0] table_q [512];

  initial begin
    for (int unsigned n = 0; n < 512; n++) table_q[n] = n == 0 ? 25'h100_0000 : 25'((32'h100_0000 + n - 1) / n);
  end

  always_ff @(posedge clk_i) begin
    if (en_i) recip_o <= table_q[n_i];
  end
endmodule
