// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Memory of a core: the controller that the preset selects, for HBM or for a board's DRAM.
// Docs: docs/design.md, docs/hbm.md, docs/dram.md. Test: tests/system.

module systole_memory
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
    localparam chip_cfg_t Chip = preset(Preset),
    localparam int unsigned D = beat_bytes(Chip.Core),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2),  // a chip without HBM also has the pins
    localparam int unsigned Rds = num_rd(Chip.SmemBytes) + Chip.Cores - 1,
    localparam int unsigned Links = 32'(Chip.LinkBytes != 0),
    localparam int unsigned Wrs = num_wr(Chip.SmemBytes) + Chip.Cores - 1 + Links
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,

    // Clients, in this order: the core's own; the other core, in chips with two cores; the network, in chips with links (writes
    // only). A client cannot stall a response. Addresses are byte addresses whose bits inside the beat are ignored. wr_mask_i
    // has the byte enables.
    input  logic [Rds-1:0]               rd_valid_i,
    output logic [Rds-1:0]               rd_ready_o,
    input  logic [Rds-1:0][AddrBits-1:0] rd_addr_i,
    output logic [Rds-1:0]               rd_rsp_valid_o,
    output logic [D*8-1:0]               rd_rsp_data_o,
    input  logic [Wrs-1:0]               wr_valid_i,
    output logic [Wrs-1:0]               wr_ready_o,
    input  logic [Wrs-1:0][AddrBits-1:0] wr_addr_i,
    input  logic [Wrs-1:0][D*8-1:0]      wr_data_i,
    input  logic [Wrs-1:0][D-1:0]        wr_mask_i,
    input  logic [31:0]                  scrub_i,  // ECC: cycles between two beats that the scrubber reads; 0: no scrubbing
    output mem_status_t                  status_o,
    output logic                         far_bad_o,  // pulse: the other core read an uncorrectable word; address in status_o.ecc

    // HBM: the PHY of each pseudo-channel. A board's DRAM: an AXI4 master. Outputs to a memory that the chip does not have are
    // 0.
    output phy_req_t                     phy_req_o [HbmPcs],
    input  phy_rsp_t                     phy_rsp_i [HbmPcs],
    output dram_req_t                    dram_req_o,
    output logic [D*8-1:0]               dram_wdata_o,
    output logic [D-1:0]                 dram_wstrb_o,
    input  dram_rsp_t                    dram_rsp_i,
    input  logic [D*8-1:0]               dram_rdata_i
);
  if (Chip.Memory == MemoryAxi) begin : gen_dram
    if (Rds != NumRd || Wrs != NumWr) begin : gen_clients
      $fatal(1, "a chip with a board's DRAM has one core and no scalar unit");
    end
    systole_axi_dram #(.D(D), .MemBits($clog2(max(Chip.DramBytes, 4096)))) u_dram (
        .clk_i, .rst_ni, .rd_valid_i, .rd_ready_o, .rd_addr_i, .rd_rsp_valid_o, .rd_rsp_data_o,
        .wr_valid_i, .wr_ready_o, .wr_addr_i, .wr_data_i, .wr_mask_i, .status_o,
        .dram_req_o, .dram_wdata_o, .dram_wstrb_o, .dram_rsp_i, .dram_rdata_i
    );
    assign far_bad_o = 1'b0;
    for (genvar p = 0; p < HbmPcs; p++) begin : gen_pc
      logic unused_phy;
      assign phy_req_o[p] = '0;
      assign unused_phy   = &{1'b0, phy_rsp_i[p]};
    end
    logic unused;
    assign unused = &{1'b0, scrub_i};
  end else begin : gen_hbm
    // Turns of the clients. The scalar unit's turns are as short as the host's. Those of the other core and of the network are
    // as long as a stream's.
    localparam bit HasScalar = Chip.SmemBytes != 0;
    localparam logic [Rds-1:0][7:0] Reads = HasScalar ? (Rds * 8)'({StreamBurst, HostBurst, RdBurst}) : (Rds * 8)'({StreamBurst, RdBurst});
    localparam logic [Wrs-1:0][7:0] Writes = HasScalar ? (Wrs * 8)'({{2{StreamBurst}}, HostBurst, WrBurst})
                                             : (Wrs * 8)'({{2{StreamBurst}}, WrBurst});
    localparam logic [Rds:0] Far = (Rds + 1)'(Chip.Cores == 2 ? 1 << (Rds - 1) : 0);

    systole_hbm_pkg::row_cmd_e [HbmPcs-1:0]                   row_cmd;
    logic [HbmPcs-1:0][systole_hbm_pkg::BankBits-1:0]         row_bank, col_bank;
    logic [HbmPcs-1:0][systole_hbm_pkg::RowBits-1:0]          row_addr;
    systole_hbm_pkg::col_cmd_e [HbmPcs-1:0]                   col_cmd;
    logic [HbmPcs-1:0][systole_hbm_pkg::ColBits-1:0]          col_addr;
    logic [HbmPcs-1:0][systole_hbm_pkg::PhyBytes*8-1:0]       wdata, rdata;
    logic [HbmPcs-1:0][systole_hbm_pkg::PhyBytes-1:0]         wmask, rcheck;
    logic [HbmPcs-1:0]                                        rdata_valid;
    logic [Rds:0]                                             ecc_fixed, ecc_bad;  // a bit per read client, then the scrubber's
    logic                                                     ecc_look;
    logic [AddrBits-1:0]                                      ecc_addr;

    systole_hbm #(
        .HbmPcs(HbmPcs), .NumRd(Rds), .NumWr(Wrs), .AddrBits(AddrBits), .RdBurst(Reads), .WrBurst(Writes), .Ecc(Chip.Ecc != 0)
    ) u_hbm (
        .clk_i, .rst_ni, .rd_valid_i, .rd_ready_o, .rd_addr_i, .rd_rsp_valid_o, .rd_rsp_data_o,
        .wr_valid_i, .wr_ready_o, .wr_addr_i, .wr_data_i, .wr_mask_i,
        .outstanding_o(status_o.outstanding), .perf_o(status_o.perf),
        .ecc_fixed_o(ecc_fixed), .ecc_bad_o(ecc_bad), .ecc_look_o(ecc_look), .ecc_addr_o(ecc_addr), .scrub_i,
        .row_cmd_o(row_cmd), .row_bank_o(row_bank), .row_addr_o(row_addr),
        .col_cmd_o(col_cmd), .col_bank_o(col_bank), .col_addr_o(col_addr),
        .wdata_o(wdata), .wmask_o(wmask), .rdata_i(rdata), .rcheck_i(rcheck), .rdata_valid_i(rdata_valid)
    );
    for (genvar p = 0; p < HbmPcs; p++) begin : gen_pc
      assign phy_req_o[p] = '{
          row_cmd: row_cmd[p], row_bank: row_bank[p], row_addr: row_addr[p], col_cmd: col_cmd[p], col_bank: col_bank[p],
          col_addr: col_addr[p], wmask: wmask[p], wdata: wdata[p]};
      assign rdata[p]       = phy_rsp_i[p].rdata;
      assign rcheck[p]      = phy_rsp_i[p].rcheck;
      assign rdata_valid[p] = phy_rsp_i[p].rdata_valid;
    end

    // An uncorrectable error faults the core that read the word. An error that only the scrubber read is counted and faults no
    // core.
    assign status_o.ecc   = '{fixed: ecc_fixed != '0, bad: ecc_bad != '0, addr: ecc_addr};
    assign status_o.error = '{valid: (ecc_bad & ~Far) != '0 && !ecc_look, code: systole_isa_pkg::FaultEccError, addr: ecc_addr};
    assign far_bad_o      = (ecc_bad & Far) != '0;

    assign dram_req_o   = '0;
    assign dram_wdata_o = '0;
    assign dram_wstrb_o = '0;
    logic unused;
    assign unused = &{1'b0, dram_rsp_i, dram_rdata_i};
  end
endmodule
