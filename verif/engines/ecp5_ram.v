// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Behaviour of the ECP5 block RAM as the mapper uses it. Words have 36 bits, or 18 or 9 with the same width at both
// ports. Port A writes, with byte enables except at 9 bits. Port B reads. A word that is written while it is read reads
// as unknown. Yosys has no simulation model of this cell. Pins: Lattice ECP5 memory usage guide.

module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18;
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL";
  parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "ENABLED";
  parameter [319:0] INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0, INITVAL_04 = 0, INITVAL_05 = 0, INITVAL_06 = 0, INITVAL_07 = 0;
  parameter [319:0] INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0, INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0;
  parameter [319:0] INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 = 0, INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0;
  parameter [319:0] INITVAL_18 = 0, INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0, INITVAL_1C = 0, INITVAL_1D = 0, INITVAL_1E = 0, INITVAL_1F = 0;
  parameter [319:0] INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0, INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0;
  parameter [319:0] INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0, INITVAL_2C = 0, INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0;
  parameter [319:0] INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0, INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0, INITVAL_37 = 0;
  parameter [319:0] INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0, INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0;

  // Widths in bytes of 9 bits. For reads and writes of 36 bits, the lower half of the word is at the data pins of port
  // A and the upper half at those of port B.
  localparam Wide = DATA_WIDTH_A == 36;
  localparam Bytes = DATA_WIDTH_A / 9;
  wire [35:0] write = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
                       DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
  wire [3:0] bytes = {ADA3 | ~Wide, ADA2 | ~Wide, ADA1 | Bytes == 1, ADA0 | Bytes == 1} & {4{CEA & WEA}};
  wire [10:0] to = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4 & ~Wide, ADA3 & Bytes == 1};
  wire [10:0] from = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4 & ~Wide, ADB3 & Bytes == 1};
  reg [8:0] memory [0:2047];
  reg [35:0] read = 36'd0;

  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = read[17:0];
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} =
      Wide ? read[35:18] : read[17:0];

  // Sets 16 pairs of bytes, 20 bits apart, from an INITVAL parameter.
  task fill(input integer number, input [319:0] value);
    integer pair;
    for (pair = 0; pair < 16; pair = pair + 1) {memory[32*number+2*pair+1], memory[32*number+2*pair]} = value[20*pair+:18];
  endtask

  integer i, j;
  initial begin
    if (DATA_WIDTH_A != DATA_WIDTH_B || (!Wide && Bytes != 2 && Bytes != 1) || REGMODE_B != "NOREG" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB") begin
      $display("DP16KD: a mode that the model does not have");
      $finish;
    end
    fill(0, INITVAL_00); fill(1, INITVAL_01); fill(2, INITVAL_02); fill(3, INITVAL_03);
    fill(4, INITVAL_04); fill(5, INITVAL_05); fill(6, INITVAL_06); fill(7, INITVAL_07);
    fill(8, INITVAL_08); fill(9, INITVAL_09); fill(10, INITVAL_0A); fill(11, INITVAL_0B);
    fill(12, INITVAL_0C); fill(13, INITVAL_0D); fill(14, INITVAL_0E); fill(15, INITVAL_0F);
    fill(16, INITVAL_10); fill(17, INITVAL_11); fill(18, INITVAL_12); fill(19, INITVAL_13);
    fill(20, INITVAL_14); fill(21, INITVAL_15); fill(22, INITVAL_16); fill(23, INITVAL_17);
    fill(24, INITVAL_18); fill(25, INITVAL_19); fill(26, INITVAL_1A); fill(27, INITVAL_1B);
    fill(28, INITVAL_1C); fill(29, INITVAL_1D); fill(30, INITVAL_1E); fill(31, INITVAL_1F);
    fill(32, INITVAL_20); fill(33, INITVAL_21); fill(34, INITVAL_22); fill(35, INITVAL_23);
    fill(36, INITVAL_24); fill(37, INITVAL_25); fill(38, INITVAL_26); fill(39, INITVAL_27);
    fill(40, INITVAL_28); fill(41, INITVAL_29); fill(42, INITVAL_2A); fill(43, INITVAL_2B);
    fill(44, INITVAL_2C); fill(45, INITVAL_2D); fill(46, INITVAL_2E); fill(47, INITVAL_2F);
    fill(48, INITVAL_30); fill(49, INITVAL_31); fill(50, INITVAL_32); fill(51, INITVAL_33);
    fill(52, INITVAL_34); fill(53, INITVAL_35); fill(54, INITVAL_36); fill(55, INITVAL_37);
    fill(56, INITVAL_38); fill(57, INITVAL_39); fill(58, INITVAL_3A); fill(59, INITVAL_3B);
    fill(60, INITVAL_3C); fill(61, INITVAL_3D); fill(62, INITVAL_3E); fill(63, INITVAL_3F);
  end

  always @(posedge CLKA)
    for (i = 0; i < Bytes; i = i + 1)
      if (bytes[i]) memory[to+i] <= write[9*i+:9];

  always @(posedge CLKB)
    if (WEB === 1'b1) begin
      $display("DP16KD: port B writes, which the model does not do");
      $finish;
    end else if (RSTB === 1'b1) read <= 36'd0;
    else if (CEB)
      for (j = 0; j < Bytes; j = j + 1) read[9*j+:9] <= bytes != 4'd0 && to == from ? 9'bx : memory[from+j];
endmodule
