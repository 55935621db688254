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

  // Registers and memory window.
  systole_bus_pkg::axil_req_t axil_req;
  systole_bus_pkg::axil_rsp_t axil_rsp;
  systole_bus_pkg::axi_req_t  axi_req;
  systole_bus_pkg::axi_rsp_t  axi_rsp;
  logic [D*8-1:0]             axi_wdata, axi_rdata;
  logic [D-1:0]               axi_wstrb;

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

  systole_link #(.ClockHz(ClockHz)) u_link (
      .clk_i, .rst_ni(chip_rst_nq),
      .rx_valid_i(rx_valid), .rx_data_i(rx_data), .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_data_o(tx_data),
      .good_o(good), .bad_o(bad),
      .axil_o(axil_req), .axil_i(axil_rsp),
      .axi_o(axi_req), .axi_wdata_o(axi_wdata), .axi_wstrb_o(axi_wstrb), .axi_i(axi_rsp), .axi_rdata_i(axi_rdata)
  );

  systole_top_axi #(.Preset(Preset)) u_top (
      .clk_i, .rst_ni(chip_rst_nq),
      .axil_awvalid_i(axil_req.awvalid), .axil_awready_o(axil_rsp.awready), .axil_awaddr_i(axil_req.awaddr),
      .axil_wvalid_i(axil_req.wvalid), .axil_wready_o(axil_rsp.wready), .axil_wdata_i(axil_req.wdata),
      .axil_wstrb_i(axil_req.wstrb),
      .axil_bvalid_o(axil_rsp.bvalid), .axil_bready_i(axil_req.bready), .axil_bresp_o(axil_rsp.bresp),
      .axil_arvalid_i(axil_req.arvalid), .axil_arready_o(axil_rsp.arready), .axil_araddr_i(axil_req.araddr),
      .axil_rvalid_o(axil_rsp.rvalid), .axil_rready_i(axil_req.rready), .axil_rdata_o(axil_rsp.rdata),
      .axil_rresp_o(axil_rsp.rresp),
      .axi_awvalid_i(axi_req.awvalid), .axi_awready_o(axi_rsp.awready), .axi_awaddr_i(axi_req.aw.addr),
      .axi_awlen_i(axi_req.aw.len), .axi_awsize_i(axi_req.aw.size), .axi_awburst_i(axi_req.aw.burst), .axi_awid_i(axi_req.aw.id),
      .axi_wvalid_i(axi_req.wvalid), .axi_wready_o(axi_rsp.wready), .axi_wdata_i(axi_wdata), .axi_wstrb_i(axi_wstrb),
      .axi_wlast_i(axi_req.wlast), .axi_bvalid_o(axi_rsp.bvalid), .axi_bready_i(axi_req.bready), .axi_bresp_o(axi_rsp.bresp),
      .axi_bid_o(axi_rsp.bid),
      .axi_arvalid_i(axi_req.arvalid), .axi_arready_o(axi_rsp.arready), .axi_araddr_i(axi_req.ar.addr),
      .axi_arlen_i(axi_req.ar.len), .axi_arsize_i(axi_req.ar.size), .axi_arburst_i(axi_req.ar.burst), .axi_arid_i(axi_req.ar.id),
      .axi_rvalid_o(axi_rsp.rvalid), .axi_rready_i(axi_req.rready), .axi_rdata_o(axi_rdata), .axi_rresp_o(axi_rsp.rresp),
      .axi_rlast_o(axi_rsp.rlast), .axi_rid_o(axi_rsp.rid),
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

  // The controller's readiness depends on its buffers: the way back is cut here.
  logic                sd_awvalid, sd_awready, sd_wvalid, sd_wready, sd_wlast, sd_arvalid, sd_arready;
  logic [DramBits-1:0] sd_awaddr, sd_araddr;
  logic [7:0]          sd_awlen, sd_arlen;
  logic [D*8-1:0]      sd_wdata;
  logic [D-1:0]        sd_wstrb;

  systole_skid #(.Width(DramBits + 8)) u_aw (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_awvalid), .ready_o(dram_awready), .data_i({dram_awaddr[DramBits-1:0], dram_awlen}),
      .valid_o(sd_awvalid), .ready_i(sd_awready), .data_o({sd_awaddr, sd_awlen})
  );
  systole_skid #(.Width(D * 9 + 1)) u_w (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_wvalid), .ready_o(dram_wready), .data_i({dram_wdata, dram_wstrb, dram_wlast}),
      .valid_o(sd_wvalid), .ready_i(sd_wready), .data_o({sd_wdata, sd_wstrb, sd_wlast})
  );
  systole_skid #(.Width(DramBits + 8)) u_ar (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_arvalid), .ready_o(dram_arready), .data_i({dram_araddr[DramBits-1:0], dram_arlen}),
      .valid_o(sd_arvalid), .ready_i(sd_arready), .data_o({sd_araddr, sd_arlen})
  );

  systole_sdram u_sdram (
      .clk_i, .rst_i(!rst_ni), .ready_o,
      .axi_awvalid_i(sd_awvalid), .axi_awready_o(sd_awready), .axi_awaddr_i(sd_awaddr),
      .axi_awlen_i(sd_awlen), .axi_awsize_i(dram_awsize), .axi_awburst_i(dram_awburst), .axi_awid_i(1'b0),
      .axi_wvalid_i(sd_wvalid), .axi_wready_o(sd_wready), .axi_wdata_i(sd_wdata), .axi_wstrb_i(sd_wstrb),
      .axi_wlast_i(sd_wlast), .axi_bvalid_o(dram_bvalid), .axi_bready_i(dram_bready), .axi_bresp_o(dram_bresp),
      .axi_bid_o(),
      .axi_arvalid_i(sd_arvalid), .axi_arready_o(sd_arready), .axi_araddr_i(sd_araddr),
      .axi_arlen_i(sd_arlen), .axi_arsize_i(dram_arsize), .axi_arburst_i(dram_arburst), .axi_arid_i(1'b0),
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
