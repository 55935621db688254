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

    input  logic        uart_rx_i,  // asynchronous
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

  systole_bus_pkg::node_status_t node_status [1];
  systole_bus_pkg::phy_rsp_t     no_phy [1][2];  // the chip has no HBM
  logic                          chip_rst_nq;

  // DRAM: INCR bursts of whole beats.
  systole_bus_pkg::dram_req_t dram_req;
  systole_bus_pkg::dram_rsp_t dram_rsp;
  logic [D*8-1:0]             dram_wdata, dram_rdata;
  logic [D-1:0]               dram_wstrb;
  localparam logic [2:0] BeatSize = 3'($clog2(D));
  localparam logic [1:0] Incr = 2'b01;

  logic [$clog2(ShowCycles+1)-1:0] link_q, noise_q;

  systole_uart #(.ClockHz(ClockHz), .Baud(Baud)) u_uart (
      .clk_i, .rst_ni, .rx_i(uart_rx_i), .tx_o(uart_tx_o), .rx_valid_o(rx_valid), .rx_data_o(rx_data),
      .tx_valid_i(tx_valid), .tx_ready_o(tx_ready), .tx_data_i(tx_data)
  );

  systole_serial #(.ClockHz(ClockHz)) u_serial (
      .clk_i, .rst_ni(chip_rst_nq),
      .rx_valid_i(rx_valid), .rx_data_i(rx_data), .tx_valid_o(tx_valid), .tx_ready_i(tx_ready), .tx_data_o(tx_data),
      .good_o(good), .bad_o(bad),
      .axil_o(axil_req), .axil_i(axil_rsp),
      .axi_o(axi_req), .axi_wdata_o(axi_wdata), .axi_wstrb_o(axi_wstrb), .axi_i(axi_rsp), .axi_rdata_i(axi_rdata)
  );

  systole_chip #(.Preset(Preset)) u_chip (
      .clk_i, .rst_ni(chip_rst_nq), .axil_req_i(axil_req), .axil_rsp_o(axil_rsp),
      .axi_req_i(axi_req), .axi_wdata_i(axi_wdata), .axi_wstrb_i(axi_wstrb), .axi_rsp_o(axi_rsp), .axi_rdata_o(axi_rdata),
      .node_status_o(node_status), .retire_valid_o(), .retire_index_o(), .phy_req_o(), .phy_rsp_i(no_phy),
      .lanes_o(), .lanes_i('0),
      .dram_req_o(dram_req), .dram_wdata_o(dram_wdata), .dram_wstrb_o(dram_wstrb), .dram_rsp_i(dram_rsp), .dram_rdata_i(dram_rdata)
  );
  assign running_o = node_status[0].running;
  assign fault_o   = node_status[0].fault;
  for (genvar p = 0; p < 2; p++) begin : gen_no_phy
    assign no_phy[0][p] = '0;
  end

  // The controller's readiness depends on its buffers: the way back is cut here.
  logic                sd_awvalid, sd_awready, sd_wvalid, sd_wready, sd_wlast, sd_arvalid, sd_arready;
  logic [DramBits-1:0] sd_awaddr, sd_araddr;
  logic [7:0]          sd_awlen, sd_arlen;
  logic [D*8-1:0]      sd_wdata;
  logic [D-1:0]        sd_wstrb;

  systole_skid #(.Width(DramBits + 8)) u_aw (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_req.awvalid), .ready_o(dram_rsp.awready), .data_i({dram_req.awaddr[DramBits-1:0], dram_req.awlen}),
      .valid_o(sd_awvalid), .ready_i(sd_awready), .data_o({sd_awaddr, sd_awlen})
  );
  systole_skid #(.Width(D * 9 + 1)) u_w (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_req.wvalid), .ready_o(dram_rsp.wready), .data_i({dram_wdata, dram_wstrb, dram_req.wlast}),
      .valid_o(sd_wvalid), .ready_i(sd_wready), .data_o({sd_wdata, sd_wstrb, sd_wlast})
  );
  systole_skid #(.Width(DramBits + 8)) u_ar (
      .clk_i, .rst_ni(chip_rst_nq),
      .valid_i(dram_req.arvalid), .ready_o(dram_rsp.arready), .data_i({dram_req.araddr[DramBits-1:0], dram_req.arlen}),
      .valid_o(sd_arvalid), .ready_i(sd_arready), .data_o({sd_araddr, sd_arlen})
  );

  systole_sdram u_sdram (
      .clk_i, .rst_i(!rst_ni), .ready_o,
      .axi_awvalid_i(sd_awvalid), .axi_awready_o(sd_awready), .axi_awaddr_i(sd_awaddr),
      .axi_awlen_i(sd_awlen), .axi_awsize_i(BeatSize), .axi_awburst_i(Incr), .axi_awid_i(1'b0),
      .axi_wvalid_i(sd_wvalid), .axi_wready_o(sd_wready), .axi_wdata_i(sd_wdata), .axi_wstrb_i(sd_wstrb),
      .axi_wlast_i(sd_wlast), .axi_bvalid_o(dram_rsp.bvalid), .axi_bready_i(dram_req.bready), .axi_bresp_o(dram_rsp.bresp),
      .axi_bid_o(),
      .axi_arvalid_i(sd_arvalid), .axi_arready_o(sd_arready), .axi_araddr_i(sd_araddr),
      .axi_arlen_i(sd_arlen), .axi_arsize_i(BeatSize), .axi_arburst_i(Incr), .axi_arid_i(1'b0),
      .axi_rvalid_o(dram_rsp.rvalid), .axi_rready_i(dram_req.rready), .axi_rdata_o(dram_rdata), .axi_rresp_o(dram_rsp.rresp),
      .axi_rlast_o(dram_rsp.rlast), .axi_rid_o(),
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
