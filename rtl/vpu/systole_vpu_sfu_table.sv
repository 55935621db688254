// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Coefficients of the functions' segments, for two lanes. Latency: one cycle from entry to coefficients.
// Docs: docs/numerics.md, "Functions". Test: tests/rtl/sfu.

module systole_vpu_sfu_table
  import systole_sfu_pkg::*;
(
    input  logic                 clk_i,
    input  logic [10:0]          entry_i [2],
    output logic [SfuC0Bits-1:0] c0_o [2],
    output logic [SfuC1Bits-1:0] c1_o [2],
    output logic [SfuC2Bits-1:0] c2_o [2]
);
  localparam int unsigned Width = SfuC0Bits + SfuC1Bits + SfuC2Bits;

  (* rom_style = "block" *) logic [Width-1:0] rom [2048];
  initial begin
    for (int unsigned i = 0; i < 2048; i++) rom[i] = i < SfuEntries ? {SfuC0[i%SfuEntries], SfuC1[i%SfuEntries], SfuC2[i%SfuEntries]} : '0;
  end

  for (genvar i = 0; i < 2; i++) begin : gen_port
    always_ff @(posedge clk_i) {c0_o[i], c1_o[i], c2_o[i]} <= rom[entry_i[i]];
  end
endmodule
