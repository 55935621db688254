// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from firmware/scalar/boot.S by scripts/generate.py: edit the source.

// Boot ROM of the scalar unit: two words a cycle, a cycle after their address.

module systole_boot_rom (
    input  logic        clk_i,
    input  logic [7:0]  instr_i,
    output logic [31:0] instr_o,
    input  logic [7:0]  data_i,
    output logic [31:0] data_o
);
  localparam int unsigned Words = 124;
  localparam int unsigned Bits = $clog2(Words);
  localparam logic [31:0] Rom [Words] = '{
      32'h1D80006F, 32'h1D40006F, 32'h1D00006F, 32'h1CC0006F, 32'h1C80006F, 32'h1C40006F, 32'h1C00006F, 32'h1BC0006F,
      32'h1B80006F, 32'h1B40006F, 32'h1B00006F, 32'h1AC0006F, 32'h1A80006F, 32'h1A40006F, 32'h1A00006F, 32'h19C0006F,
      32'h1980006F, 32'h1940006F, 32'h1900006F, 32'h18C0006F, 32'h1880006F, 32'h1840006F, 32'h1800006F, 32'h17C0006F,
      32'h1780006F, 32'h1740006F, 32'h1700006F, 32'h16C0006F, 32'h1680006F, 32'h1640006F, 32'h1600006F, 32'h15C0006F,
      32'h20000437, 32'h02C42483, 32'h02842283, 32'h0012F293, 32'h08028C63, 32'h00100313, 32'h00642E23, 32'h00000513,
      32'hFFF00593, 32'h00000293, 32'h00A2A023, 32'h00428293, 32'hFE929CE3, 32'h00200913, 32'h00000293, 32'h0002A303,
      32'h10A31063, 32'h00B2A023, 32'h00428293, 32'hFE9298E3, 32'h00050393, 32'h00058513, 32'h00038593, 32'hFFF90913,
      32'hFC091CE3, 32'h00200913, 32'h00048293, 32'hFFC28293, 32'h0002A303, 32'h0CA31663, 32'h00B2A023, 32'hFE0298E3,
      32'h00050393, 32'h00058513, 32'h00038593, 32'hFFF90913, 32'hFC091CE3, 32'h00048293, 32'hFFC28293, 32'h0002A303,
      32'h0AA31063, 32'hFE029AE3, 32'h00200313, 32'h00642E23, 32'h02442283, 32'h00C29313, 32'h08642823, 32'h0142D313,
      32'h08642A23, 32'h08042C23, 32'h01000513, 32'h048000EF, 32'h00002283, 32'h31574337, 32'h65330313, 32'h06629663,
      32'h00402503, 32'h06A4E263, 32'h00050993, 32'h028000EF, 32'h00000293, 32'h00000313, 32'h0002A383, 32'h00730333,
      32'h00428293, 32'hFF32EAE3, 32'h04031463, 32'h00802283, 32'h00028067, 32'h03442283, 32'h0102F293, 32'hFE029CE3,
      32'h08A42E23, 32'h03442283, 32'h0102F293, 32'hFE029CE3, 32'h01042283, 32'h0202F293, 32'h00029863, 32'h00008067,
      32'h08100313, 32'h01C0006F, 32'h08200313, 32'h0140006F, 32'h08300313, 32'h00C0006F, 32'h20000437, 32'h08400313,
      32'h00642E23, 32'h00642C23, 32'h10500073, 32'hFFDFF06F
  };

  // Beyond the code: 0, no instruction.
  always_ff @(posedge clk_i) begin
    instr_o <= 32'(instr_i) < Words ? Rom[Bits'(instr_i)] : '0;
    data_o  <= 32'(data_i) < Words ? Rom[Bits'(data_i)] : '0;
  end
endmodule
