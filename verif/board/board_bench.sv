// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The top of a board with its SDRAM, for simulation. The pins are the clock and the serial port.

module board_bench #(
    parameter int unsigned Preset = systole_presets_pkg::PresetBoard8,
    parameter int unsigned ClockHz = 60_000_000,
    parameter int unsigned Baud = ClockHz / 2
) (
    input  logic       clk_i,
    input  logic       button_i,
    input  logic       uart_rx_i,
    output logic       uart_tx_o,
    output logic [7:0] led_o
);
  wire         sdram_clk, sdram_cke, sdram_csn, sdram_wen, sdram_rasn, sdram_casn;
  wire  [12:0] sdram_a;
  wire  [1:0]  sdram_ba, sdram_dqm;
  wire  [15:0] sdram_d;

  systole_ecp5_top #(.Preset(Preset), .ClockHz(ClockHz), .Baud(Baud)) u_top (
      .clk_25mhz(clk_i), .button(button_i), .uart_rx(uart_rx_i), .uart_tx(uart_tx_o), .led(led_o),
      .sdram_clk, .sdram_cke, .sdram_csn, .sdram_wen, .sdram_rasn, .sdram_casn, .sdram_a, .sdram_ba, .sdram_dqm,
      .sdram_d
  );
  sdram_device #(.ClockHz(ClockHz)) u_sdram (
      .clk(sdram_clk), .cke(sdram_cke), .csn(sdram_csn), .rasn(sdram_rasn), .casn(sdram_casn), .wen(sdram_wen),
      .a(sdram_a), .ba(sdram_ba), .dqm(sdram_dqm), .dq(sdram_d)
  );
endmodule
