// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Top of an Arty A7-100T: 60 MHz of its 100 MHz oscillator, the serial port of its USB cable, block RAM for memory. Not run here.
// Docs: docs/fpga.md.

module arty_a7_100 (
    input  logic       clk_100mhz,  // clock
    input  logic       button,   // asynchronous
    input  logic       uart_rx,  // asynchronous
    output logic       uart_tx,
    output logic [3:0] led
);
  logic       clk, clk_mmcm, feedback, locked, rst_nq;
  logic       released;

  MMCME2_BASE #(
      .CLKIN1_PERIOD(10.0), .CLKFBOUT_MULT_F(9.0), .CLKOUT0_DIVIDE_F(15.0)
  ) u_mmcm (
      .CLKIN1(clk_100mhz), .CLKFBIN(feedback), .CLKFBOUT(feedback), .CLKOUT0(clk_mmcm), .LOCKED(locked),
      .RST(1'b0), .PWRDWN(1'b0)
  );
  BUFG u_clk (.I(clk_mmcm), .O(clk));

  systole_prim_sync #(.Stages(3)) u_reset (.clk_i(clk), .d_i(locked && !button), .q_o(released));
  always_ff @(posedge clk) begin
    rst_nq <= released;
  end

  systole_board #(.ClockHz(60_000_000), .Baud(3_000_000)) u_board (
      .clk_i(clk), .rst_ni(rst_nq), .uart_rx_i(uart_rx), .uart_tx_o(uart_tx),
      .ready_o(led[3]), .running_o(led[0]), .fault_o(led[1]), .link_o(led[2]), .noise_o(),
      .sdram_a_o(), .sdram_ba_o(), .sdram_cs_n_o(), .sdram_ras_n_o(), .sdram_cas_n_o(), .sdram_we_n_o(),
      .sdram_cke_o(), .sdram_dm_o(), .sdram_dq_i('0), .sdram_dq_o(), .sdram_dq_t_o()
  );
endmodule
