// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What is on a board, but for pads and clocks: serial port, host link, chip, and the DRAM controller that LiteDRAM generates (systole_sdram).
// The chip is in reset until the DRAM is ready. Docs: docs/fpga.md. Test: tests/fpga/board_test.cc.

module systole_board #(
    parameter int unsigned Preset = systole_presets_pkg::PresetBoard8,
    parameter int unsigned ClockHz = 60_000_000,
    parameter int unsigned Baud = 3_000_000
) (
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic        uart_rx_i,
    output logic        uart_tx_o,

    output logic        ready_o,    // the DRAM is ready
    output logic        running_o,  // a program runs
    output logic        fault_o,    // frozen by a fault
    output logic        link_o,     // a good frame came in within the last moments
    output logic        noise_o,    // a bad one did

    output logic [12:0] sdram_a_o,
    output logic [1:0]  sdram_ba_o,
    output logic        sdram_cs_n_o,
    output logic        sdram_ras_n_o,
    output logic        sdram_cas_n_o,
    output logic        sdram_we_n_o,
    output logic        sdram_cke_o,
    output logic [1:0]  sdram_dm_o,
    input  logic [15:0] sdram_dq_i,
    output logic [15:0] sdram_dq_o,
    output logic [15:0] sdram_dq_t_o   // high: not driven
);
  localparam int unsigned AddrBits = systole_presets_pkg::AddrBits;
  localparam int unsigned D = 16;               // bytes of a beat
  localparam int unsigned DramBits = 25;        // address bits of the DRAM's port
  localparam int unsigned ShowCycles = ClockHz / 8;

  // Serial port and link.
  logic       rx_valid, tx_valid, tx_ready, good, bad;
  logic [7:0] rx_data, tx_data;

  // Registers.
  logic        axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_arvalid, axil_arready, axil_rvalid;
  logic [11:0] axil_addr;
  logic [31:0] axil_wdata, axil_rdata;
  logic [1:0]  axil_bresp, axil_rresp;

  // Memory window.
  logic                axi_awvalid, axi_awready, axi_wvalid, axi_wready, axi_bvalid, axi_arvalid, axi_arready, axi_rvalid;
  logic [AddrBits-1:0] axi_addr;
  logic [D*8-1:0]      axi_wdata, axi_rdata;
  logic [D-1:0]        axi_wstrb;
  logic [1:0]          axi_bresp, axi_rresp;

  // DRAM.
  logic                dram_awvalid, dram_awready, dram_wvalid, dram_wready, dram_wlast, dram_bvalid, dram_bready;
  logic                dram_arvalid, dram_arready, dram_rvalid, dram_rready, dram_rlast, chip_rst_nq;
  logic [AddrBits-1:0] dram_awaddr, dram_araddr;
  logic [7:0]          dram_awlen, dram_arlen;
  logic [2:0]          dram_awsize, dram_arsize;
  logic [1:0]          dram_awburst, dram_arburst, dram_bresp, dram_rresp;
  logic [D*8-1:0]      dram_wdata, dram_rdata;
  logic [D-1:0]        dram_wstrb;

  logic [$clog2(ShowCycles+1)-1:0] link_q, noise_q;

  systole_uart #(.ClockHz(ClockHz), .Baud(Baud)) u_uart (
      .clk_i, .rst_ni, .rx_i(uart_rx_i), .tx_o(uart_tx_o), .rx_valid_o(rx_valid), .rx_data_o(rx_data),
      .tx_valid_i(tx_valid), .tx_ready_o(tx_ready), .tx_data_i(tx_data)
  );

  systole_link #(.ClockHz(ClockHz), .AddrBits(AddrBits)) u_link (
      .clk_i, .rst_ni(chip_rst_nq),
      .rx_valid_i(rx_valid), .rx_data_i(rx_data), .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_data_o(tx_data),
      .good_o(good), .bad_o(bad),
      .axil_awvalid_o(axil_awvalid), .axil_awready_i(axil_awready), .axil_wvalid_o(axil_wvalid),
      .axil_wready_i(axil_wready), .axil_wdata_o(axil_wdata), .axil_bvalid_i(axil_bvalid), .axil_bresp_i(axil_bresp),
      .axil_arvalid_o(axil_arvalid), .axil_arready_i(axil_arready), .axil_rvalid_i(axil_rvalid),
      .axil_rdata_i(axil_rdata), .axil_rresp_i(axil_rresp), .axil_addr_o(axil_addr),
      .axi_awvalid_o(axi_awvalid), .axi_awready_i(axi_awready), .axi_wvalid_o(axi_wvalid), .axi_wready_i(axi_wready),
      .axi_wdata_o(axi_wdata), .axi_wstrb_o(axi_wstrb), .axi_bvalid_i(axi_bvalid), .axi_bresp_i(axi_bresp),
      .axi_arvalid_o(axi_arvalid), .axi_arready_i(axi_arready), .axi_rvalid_i(axi_rvalid), .axi_rdata_i(axi_rdata),
      .axi_rresp_i(axi_rresp), .axi_addr_o(axi_addr)
  );

  systole_top_axi #(.Preset(Preset)) u_top (
      .clk_i, .rst_ni(chip_rst_nq),
      .axil_awvalid_i(axil_awvalid), .axil_awready_o(axil_awready), .axil_awaddr_i(axil_addr),
      .axil_wvalid_i(axil_wvalid), .axil_wready_o(axil_wready), .axil_wdata_i(axil_wdata), .axil_wstrb_i('1),
      .axil_bvalid_o(axil_bvalid), .axil_bready_i(1'b1), .axil_bresp_o(axil_bresp),
      .axil_arvalid_i(axil_arvalid), .axil_arready_o(axil_arready), .axil_araddr_i(axil_addr),
      .axil_rvalid_o(axil_rvalid), .axil_rready_i(1'b1), .axil_rdata_o(axil_rdata), .axil_rresp_o(axil_rresp),
      .axi_awvalid_i(axi_awvalid), .axi_awready_o(axi_awready), .axi_awaddr_i(axi_addr), .axi_awlen_i('0),
      .axi_awsize_i(3'($clog2(D))), .axi_awburst_i(2'b01), .axi_awid_i('0),
      .axi_wvalid_i(axi_wvalid), .axi_wready_o(axi_wready), .axi_wdata_i(axi_wdata), .axi_wstrb_i(axi_wstrb),
      .axi_wlast_i(1'b1), .axi_bvalid_o(axi_bvalid), .axi_bready_i(1'b1), .axi_bresp_o(axi_bresp), .axi_bid_o(),
      .axi_arvalid_i(axi_arvalid), .axi_arready_o(axi_arready), .axi_araddr_i(axi_addr), .axi_arlen_i('0),
      .axi_arsize_i(3'($clog2(D))), .axi_arburst_i(2'b01), .axi_arid_i('0),
      .axi_rvalid_o(axi_rvalid), .axi_rready_i(1'b1), .axi_rdata_o(axi_rdata), .axi_rresp_o(axi_rresp),
      .axi_rlast_o(), .axi_rid_o(),
      .irq_o(), .running_o, .fault_o,
      .dram_awvalid_o(dram_awvalid), .dram_awready_i(dram_awready), .dram_awaddr_o(dram_awaddr),
      .dram_awlen_o(dram_awlen), .dram_awsize_o(dram_awsize), .dram_awburst_o(dram_awburst),
      .dram_wvalid_o(dram_wvalid), .dram_wready_i(dram_wready), .dram_wdata_o(dram_wdata), .dram_wstrb_o(dram_wstrb),
      .dram_wlast_o(dram_wlast), .dram_bvalid_i(dram_bvalid), .dram_bready_o(dram_bready), .dram_bresp_i(dram_bresp),
      .dram_arvalid_o(dram_arvalid), .dram_arready_i(dram_arready), .dram_araddr_o(dram_araddr),
      .dram_arlen_o(dram_arlen), .dram_arsize_o(dram_arsize), .dram_arburst_o(dram_arburst),
      .dram_rvalid_i(dram_rvalid), .dram_rready_o(dram_rready), .dram_rdata_i(dram_rdata), .dram_rresp_i(dram_rresp),
      .dram_rlast_i(dram_rlast), .retire_valid_o(), .retire_index_o()
  );

  systole_sdram u_sdram (
      .clk_i, .rst_i(!rst_ni), .ready_o,
      .axi_awvalid_i(dram_awvalid), .axi_awready_o(dram_awready), .axi_awaddr_i(dram_awaddr[DramBits-1:0]),
      .axi_awlen_i(dram_awlen), .axi_awsize_i(dram_awsize), .axi_awburst_i(dram_awburst), .axi_awid_i(1'b0),
      .axi_wvalid_i(dram_wvalid), .axi_wready_o(dram_wready), .axi_wdata_i(dram_wdata), .axi_wstrb_i(dram_wstrb),
      .axi_wlast_i(dram_wlast), .axi_bvalid_o(dram_bvalid), .axi_bready_i(dram_bready), .axi_bresp_o(dram_bresp),
      .axi_bid_o(),
      .axi_arvalid_i(dram_arvalid), .axi_arready_o(dram_arready), .axi_araddr_i(dram_araddr[DramBits-1:0]),
      .axi_arlen_i(dram_arlen), .axi_arsize_i(dram_arsize), .axi_arburst_i(dram_arburst), .axi_arid_i(1'b0),
      .axi_rvalid_o(dram_rvalid), .axi_rready_i(dram_rready), .axi_rdata_o(dram_rdata), .axi_rresp_o(dram_rresp),
      .axi_rlast_o(dram_rlast), .axi_rid_o(),
      .sdram_a_o, .sdram_ba_o, .sdram_cs_n_o, .sdram_ras_n_o, .sdram_cas_n_o, .sdram_we_n_o, .sdram_cke_o,
      .sdram_dm_o, .sdram_dq_i, .sdram_dq_o, .sdram_dq_t_o
  );

  assign link_o  = link_q != '0;
  assign noise_o = noise_q != '0;

  // Registered, so that the reset has no glitches.
  always_ff @(posedge clk_i) chip_rst_nq <= rst_ni && ready_o;

  // An event is shown for an eighth of a second.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      link_q  <= '0;
      noise_q <= '0;
    end else begin
      link_q  <= good ? $bits(link_q)'(ShowCycles) : link_q - $bits(link_q)'(link_o);
      noise_q <= bad ? $bits(noise_q)'(ShowCycles) : noise_q - $bits(noise_q)'(noise_o);
    end
  end
endmodule
