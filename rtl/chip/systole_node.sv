// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A core of a chip with everything that belongs to it: registers, core, scalar unit, memory and, in a chip with two cores, the
// crossing to the other core. Both nodes of such a chip are equal, except that only the first one has the host interface.
// systole_chip connects the nodes.
// Docs: docs/design.md, docs/chip.md, docs/host.md. Test: tests/system.

module systole_node
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Preset = PresetEdge,
    parameter int unsigned FastArray = 0,  // 1: the array's simulation view (systole_mxu_array)
    parameter bit          Window = 1'b1,  // 1: the host interface is here
    localparam chip_cfg_t Chip = preset(Preset),
    localparam core_cfg_t Cfg = Chip.Core,
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned H = axi_bytes(Cfg),
    localparam int unsigned FlitBytes = flit_bytes(Chip),
    localparam int unsigned HbmPcs = max(Chip.HbmPcs, 2)  // a chip without HBM also has the pins
) (
    input  logic              clk_i,
    input  logic              rst_ni,

    // AXI4-Lite: registers of all cores (docs/reference/csr.md). This interface and the next one are idle if Window is 0.
    input  axil_req_t         axil_req_i,
    output axil_rsp_t         axil_rsp_o,

    // AXI4: the memory window. INCR bursts of whole aligned beats of H bytes.
    input  axi_req_t          axi_req_i,
    input  logic [H*8-1:0]    axi_wdata_i,
    input  logic [H-1:0]      axi_wstrb_i,
    output axi_rsp_t          axi_rsp_o,
    output logic [H*8-1:0]    axi_rdata_o,

    output node_status_t      node_status_o,

    // Trace: a descriptor of queue q has completed.
    output retire_t           retire_o,

    // To the other core and back: requests, responses, {mask, data} of writes to the other memory, data of reads.
    output cross_req_t        cross_req_o,
    output cross_rsp_t        cross_rsp_o,
    output logic [D*9-1:0]    cross_wr_o,
    output logic [D*8-1:0]    cross_rd_data_o,
    input  cross_req_t        cross_req_i,
    input  cross_rsp_t        cross_rsp_i,
    input  logic [D*9-1:0]    cross_wr_i,
    input  logic [D*8-1:0]    cross_rd_data_i,

    // To the chip's part of the network and back; 0 without links. net_recv_i is the {mask, data} of a received flit.
    output net_req_t          net_req_o,
    output logic [FlitBytes*8-1:0] net_send_data_o,
    input  net_rsp_t          net_rsp_i,
    input  logic [FlitBytes*9-1:0] net_recv_i,

    // HBM: the PHY of each pseudo-channel. A board's DRAM: an AXI4 master. Outputs to a memory that the chip does not have are
    // 0.
    output phy_req_t          phy_req_o [HbmPcs],
    input  phy_rsp_t          phy_rsp_i [HbmPcs],
    output dram_req_t         dram_req_o,
    output logic [D*8-1:0]    dram_wdata_o,
    output logic [D-1:0]      dram_wstrb_o,
    input  dram_rsp_t         dram_rsp_i,
    input  logic [D*8-1:0]    dram_rdata_i
);
  localparam logic [AddrBits:0] HbmBytes = memory_bytes(Chip);
  localparam logic [AddrBits:0] ReachBytes = HbmBytes << (Chip.Cores - 1);  // the other core's memory follows in the address space
  localparam bit HasScalar = Chip.SmemBytes != 0;
  localparam bit Pair = Chip.Cores == 2;
  localparam bit Links = Chip.LinkBytes != 0;
  localparam int unsigned Rds = num_rd(Chip.SmemBytes);
  localparam int unsigned Wrs = num_wr(Chip.SmemBytes);

  if (!is_preset(Preset)) begin : gen_no_preset
    $fatal(1, "no such preset");
  end
  systole_cfg_check #(.Cfg(Chip)) u_check ();

  // The core's memory clients; the scalar unit's is the last.
  logic [Rds-1:0]                 rd_valid, rd_ready, rd_rsp_valid, rd_rsp_far;
  logic [Rds-1:0][AddrBits-1:0]   rd_addr;
  logic [Chip.Cores-1:0][D*8-1:0] rd_data;  // from the core's own memory, from the other core's
  logic [Wrs-1:0]                 wr_valid, wr_ready;
  logic [Wrs-1:0][AddrBits-1:0]   wr_addr;
  logic [Wrs-1:0][D*8-1:0]        wr_data;
  logic [Wrs-1:0][D-1:0]          wr_mask;
  logic [31:0]                    scrub;
  mem_status_t                    mem_status;
  mem_status_t                    core_mem;  // mem_status and the faults of the links

  // Accesses to this core's registers, and posts between cores.
  axil_req_t axil_req;
  axil_rsp_t axil_rsp;
  peer_req_t peer_req;
  peer_rsp_t peer_rsp;
  logic [LinkFlags-1:0] link_post;

  // Scalar unit, if the chip has one. It may own the core; otherwise the host's registers control the core.
  scalar_ctl_t   scalar_ctl;
  host_reg_req_t host_reg;
  issue_req_t    issue_req;
  flag_req_t     flag_req;
  // verilator lint_off UNUSEDSIGNAL
  flag_rsp_t     flag_rsp;
  logic          issue_ready;
  // verilator lint_on UNUSEDSIGNAL

  // Registers and soft reset.
  core_ctl_t           ctl;
  core_status_t        status, csr_status;
  logic                csr_running, csr_done;
  logic                start, reset_req, resetting, freeze, core_rst_n;
  logic [AddrBits:0]   hbm_limit, hbm_end, send_end;
  logic                lost, link_error;  // a link gave up a packet of this core
  send_stream_t        send;
  logic [AddrBits-1:0] lost_addr;
  logic [systole_csr_pkg::NumCounters-1:0][systole_csr_pkg::CtrIncBits-1:0] ctr_inc;

  systole_csr #(.Preset(Preset), .Links(Links)) u_csr (
      .clk_i, .rst_ni, .axil_req_i(axil_req), .axil_rsp_o(axil_rsp), .irq_o(node_status_o.irq), .start_o(start), .ctl_o(ctl),
      .reset_req_o(reset_req), .hbm_limit_o(hbm_limit), .scalar_i(scalar_ctl), .host_reg_o(host_reg),
      .link_req_o(net_req_o.registers), .link_ack_i(net_rsp_i.ack), .link_data_i(net_rsp_i.data), .ecc_i(mem_status.ecc), .scrub_o(scrub),
      .status_i(csr_status), .resetting_i(resetting), .ctr_inc_i(ctr_inc)
  );
  // hbm_limit changes only long before a start, so the cycle of delay does no harm.
  always_ff @(posedge clk_i) begin
    hbm_end  <= hbm_limit < ReachBytes ? hbm_limit : ReachBytes;
    send_end <= hbm_limit < HbmBytes ? hbm_limit : HbmBytes;
  end
  assign node_status_o.running = csr_status.running;
  assign node_status_o.fault   = csr_status.fault;

  // A request that the core still offers counts as in flight, because the core does not withdraw it.
  systole_soft_reset u_soft_reset (
      .clk_i, .rst_ni, .request_i(reset_req),
      .outstanding_i(mem_status.outstanding || rd_valid[RdHost-1:0] != '0 || wr_valid[WrStore] || send.busy),
      .busy_o(resetting), .freeze_o(freeze), .core_rst_no(core_rst_n)
  );

  systole_core #(.Cfg(Cfg), .FastArray(FastArray), .Issue(HasScalar), .Cores(Chip.Cores), .Links(Links), .FlitBytes(FlitBytes)) u_core (
      .clk_i, .rst_ni(rst_ni && core_rst_n), .freeze_i(freeze), .start_i(start),
      .ctl_i(ctl), .hbm_end_i(hbm_end), .status_o(status), .ctr_inc_o(ctr_inc), .mem_i(core_mem),
      .issue_req_i(issue_req), .issue_ready_o(issue_ready), .flag_req_i(flag_req), .flag_rsp_o(flag_rsp),
      .peer_req_i(peer_req), .peer_rsp_o(peer_rsp),
      .rd_valid_o(rd_valid[RdHost-1:0]), .rd_ready_i(rd_ready[RdHost-1:0]), .rd_addr_o(rd_addr[RdHost-1:0]),
      .rd_rsp_valid_i(rd_rsp_valid[RdHost-1:0]), .rd_rsp_far_i(rd_rsp_far[RdHost-1:0]), .rd_rsp_data_i(rd_data),
      .wr_valid_o(wr_valid[WrStore]), .wr_ready_i(wr_ready[WrStore]), .wr_addr_o(wr_addr[WrStore]),
      .wr_data_o(wr_data[WrStore]), .wr_mask_o(wr_mask[WrStore]),
      .send_i('{core: net_rsp_i.core, torus: net_rsp_i.torus, last: send_end, ready: net_rsp_i.send_ready}),
      .send_o(send), .send_data_o(net_send_data_o), .retire_o
  );
  assign net_req_o.send_valid = send.valid;
  assign net_req_o.send_head  = send.head;
  assign net_req_o.send_last  = send.last;

  if (HasScalar) begin : gen_scalar
    client_req_t scalar_req;
    client_rsp_t scalar_rsp;
    systole_scalar #(.SmemBytes(Chip.SmemBytes), .D(D), .HbmBytes(HbmBytes)) u_scalar (
        .clk_i, .rst_ni, .host_reg_i(host_reg), .ctl_o(scalar_ctl), .status_i(csr_status), .resetting_i(resetting),
        .issue_req_o(issue_req), .issue_ready_i(issue_ready), .flag_req_o(flag_req), .flag_rsp_i(flag_rsp),
        .mem_req_o(scalar_req), .mem_wr_data_o(wr_data[NumWr]), .mem_wr_mask_o(wr_mask[NumWr]),
        .mem_rsp_i(scalar_rsp), .mem_rd_data_i(rd_rsp_far[NumRd] ? rd_data[Chip.Cores-1] : rd_data[0])
    );
    assign rd_valid[NumRd] = scalar_req.rd_valid;
    assign rd_addr[NumRd]  = scalar_req.rd_addr;
    assign wr_valid[NumWr] = scalar_req.wr_valid;
    assign wr_addr[NumWr]  = scalar_req.wr_addr;
    assign scalar_rsp      = '{rd_ready: rd_ready[NumRd], rd_rsp_valid: rd_rsp_valid[NumRd], wr_ready: wr_ready[NumWr]};
  end else begin : gen_no_scalar
    assign scalar_ctl = '0;
    assign issue_req  = '0;
    assign flag_req   = '0;
    logic unused;
    assign unused = &{1'b0, host_reg};
  end

  // If the memory answers writes, a program is done only after its last write was answered and caused no fault.
  always_comb begin
    csr_status         = status;
    csr_status.running = csr_running;
    csr_status.done    = csr_done;
  end
  if (Chip.Memory == MemoryAxi) begin : gen_answers
    localparam int unsigned QuietCycles = 8;  // an error becomes a fault within this many cycles
    logic                           closing_q;
    logic [$clog2(QuietCycles)-1:0] quiet_q;
    always_ff @(posedge clk_i) begin
      quiet_q <= closing_q && !mem_status.outstanding ? quiet_q + 1'b1 : '0;
      if (!rst_ni || !core_rst_n) closing_q <= 1'b0;
      else if (status.done) closing_q <= 1'b1;
      else if (status.fault || csr_done) closing_q <= 1'b0;
    end
    assign csr_running = status.running || closing_q;
    assign csr_done    = closing_q && !status.fault && quiet_q == '1;
  end else begin : gen_no_answers
    assign csr_running = status.running;
    assign csr_done    = status.done;
  end

  if (Window) begin : gen_window
    systole_axi_hbm #(.D(D), .H(H), .HbmBytes(ReachBytes)) u_axi_hbm (
        .clk_i, .rst_ni, .axi_req_i, .axi_wdata_i, .axi_wstrb_i, .axi_rsp_o, .axi_rdata_o,
        .rd_valid_o(rd_valid[RdHost]), .rd_ready_i(rd_ready[RdHost]), .rd_addr_o(rd_addr[RdHost]),
        .rd_rsp_valid_i(rd_rsp_valid[RdHost]), .rd_rsp_data_i(rd_rsp_far[RdHost] ? rd_data[Chip.Cores-1] : rd_data[0]),
        .wr_valid_o(wr_valid[WrHost]), .wr_ready_i(wr_ready[WrHost]), .wr_addr_o(wr_addr[WrHost]),
        .wr_data_o(wr_data[WrHost]), .wr_mask_o(wr_mask[WrHost])
    );
  end else begin : gen_no_window
    assign axi_rsp_o        = '0;
    assign axi_rdata_o      = '0;
    assign rd_valid[RdHost] = 1'b0;
    assign rd_addr[RdHost]  = '0;
    assign wr_valid[WrHost] = 1'b0;
    assign wr_addr[WrHost]  = '0;
    assign wr_data[WrHost]  = '0;
    assign wr_mask[WrHost]  = '0;
    logic unused;
    assign unused = &{
        1'b0, axi_req_i, axi_wdata_i, axi_wstrb_i, rd_ready[RdHost], rd_rsp_valid[RdHost], rd_rsp_far[RdHost], wr_ready[WrHost]};
  end

  // The memory and, in a chip with two cores, the crossing to the other one.
  localparam int unsigned MemRds = Rds + 32'(Pair);
  localparam int unsigned MemWrs = Wrs + 32'(Pair) + 32'(Links);
  logic [MemRds-1:0]                mem_rd_valid, mem_rd_ready, mem_rd_rsp_valid;
  logic [MemRds-1:0][AddrBits-1:0]  mem_rd_addr;
  logic [MemWrs-1:0]                mem_wr_valid, mem_wr_ready;
  logic [MemWrs-1:0][AddrBits-1:0]  mem_wr_addr;
  logic [MemWrs-1:0][D*8-1:0]       mem_wr_data;
  logic [MemWrs-1:0][D-1:0]         mem_wr_mask;
  mem_status_t                      own_status;
  logic                             far_bad;
  assign mem_rd_addr[Rds-1:0] = rd_addr;
  assign mem_wr_addr[Wrs-1:0] = wr_addr;
  assign mem_wr_data[Wrs-1:0] = wr_data;
  assign mem_wr_mask[Wrs-1:0] = wr_mask;

  systole_memory #(.Preset(Preset)) u_memory (
      .clk_i, .rst_ni, .rd_valid_i(mem_rd_valid), .rd_ready_o(mem_rd_ready), .rd_addr_i(mem_rd_addr),
      .rd_rsp_valid_o(mem_rd_rsp_valid), .rd_rsp_data_o(rd_data[0]), .wr_valid_i(mem_wr_valid), .wr_ready_o(mem_wr_ready),
      .wr_addr_i(mem_wr_addr), .wr_data_i(mem_wr_data), .wr_mask_i(mem_wr_mask), .scrub_i(scrub),
      .status_o(own_status), .far_bad_o(far_bad), .phy_req_o, .phy_rsp_i,
      .dram_req_o, .dram_wdata_o, .dram_wstrb_o, .dram_rsp_i, .dram_rdata_i
  );

  // Packets that come over the links are writes, from one more client of the memory, and posts. A packet that was given up, or
  // a link that goes down, faults the core.
  if (Links) begin : gen_links
    systole_link_gather #(.D(D), .FlitBytes(FlitBytes), .MemBits($clog2(HbmBytes))) u_gather (
        .clk_i, .rst_ni, .clear_i(net_rsp_i.clear), .valid_i(net_rsp_i.recv_valid), .ready_o(net_req_o.recv_ready), .head_i(net_rsp_i.recv_head),
        .last_i(net_rsp_i.recv_last), .data_i(net_recv_i[FlitBytes*8-1:0]), .mask_i(net_recv_i[FlitBytes*8+:FlitBytes]),
        .wr_valid_o(mem_wr_valid[MemWrs-1]), .wr_ready_i(mem_wr_ready[MemWrs-1]), .wr_addr_o(mem_wr_addr[MemWrs-1]),
        .wr_data_o(mem_wr_data[MemWrs-1]), .wr_mask_o(mem_wr_mask[MemWrs-1]),
        .post_o(link_post), .lost_o(lost), .lost_addr_o(lost_addr)
    );
    assign link_error = lost || net_rsp_i.down;
  end else begin : gen_no_links
    assign net_req_o.recv_ready = 1'b0;
    assign link_post            = '0;
    assign {lost, lost_addr}    = '0;
    assign link_error           = 1'b0;
    logic unused;
    assign unused = &{1'b0, net_rsp_i, net_recv_i};
  end
  assign peer_req.link = link_post;
  always_comb begin
    core_mem = mem_status;
    if (Links && !mem_status.error.valid) begin
      core_mem.error = '{valid: link_error, code: FaultLinkDown, addr: lost ? lost_addr : AddrBits'(net_rsp_i.down_link)};
    end
  end

  if (Pair) begin : gen_pair
    localparam int unsigned MemBits = $clog2(HbmBytes);
    logic                 outstanding, crossing;
    client_req_t          far_req;  // to the other memory
    logic [PeerFlags-1:0] post;
    assign peer_req.post = cross_req_i.crossing.post;

    systole_crossing #(
        .D(D), .MemBits(MemBits), .Rds(Rds), .Wrs(Wrs), .Reads((Rds * 8)'({HostBurst, RdBurst})), .Writes((Wrs * 8)'({HostBurst, WrBurst}))
    ) u_crossing (
        .clk_i, .rst_ni,
        .rd_valid_i(rd_valid), .rd_ready_o(rd_ready), .rd_addr_i(rd_addr), .rd_rsp_valid_o(rd_rsp_valid),
        .rd_rsp_far_o(rd_rsp_far), .far_rd_data_o(rd_data[1]),
        .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
        .outstanding_o(outstanding), .crossing_o(crossing),
        .own_rd_valid_o(mem_rd_valid[Rds-1:0]), .own_rd_ready_i(mem_rd_ready[Rds-1:0]), .own_rd_rsp_valid_i(mem_rd_rsp_valid[Rds-1:0]),
        .own_wr_valid_o(mem_wr_valid[Wrs-1:0]), .own_wr_ready_i(mem_wr_ready[Wrs-1:0]),
        .far_req_o(far_req), .far_wr_data_o(cross_wr_o[D*8-1:0]), .far_wr_mask_o(cross_wr_o[D*8+:D]), .far_rsp_i(cross_rsp_i.memory),
        .far_rd_data_i(cross_rd_data_i),
        .posted_i(peer_rsp.posted), .post_take_o(peer_req.take), .post_o(post)
    );

    // The other core is a client of this memory.
    assign mem_rd_valid[Rds] = cross_req_i.crossing.memory.rd_valid;
    assign mem_rd_addr[Rds]  = cross_req_i.crossing.memory.rd_addr;
    assign mem_wr_valid[Wrs] = cross_req_i.crossing.memory.wr_valid;
    assign mem_wr_addr[Wrs]  = cross_req_i.crossing.memory.wr_addr;
    assign {mem_wr_mask[Wrs], mem_wr_data[Wrs]} = cross_wr_i;
    assign cross_rsp_o       = '{
        memory: '{rd_ready: mem_rd_ready[Rds], rd_rsp_valid: mem_rd_rsp_valid[Rds], wr_ready: mem_wr_ready[Wrs]},
        axil: axil_rsp};
    assign cross_rd_data_o   = rd_data[0];

    // An uncorrectable error faults the core that read the word. The other node reports the words that this core read there.
    always_comb begin
      mem_status             = own_status;
      mem_status.outstanding = outstanding;
      if (!own_status.error.valid) begin
        mem_status.error = '{
            valid: cross_req_i.crossing.bad, code: FaultEccError, addr: cross_req_i.crossing.bad_addr | (AddrBits'(1) << MemBits)};
      end
    end

    // An access to the second core's registers waits until the host's earlier writes to that core's memory have crossed.
    axil_req_t far_axil_req;
    if (Window) begin : gen_registers
      axil_req_t split_req[2];
      axil_rsp_t split_rsp[2];
      systole_axil_split u_axil_split (
          .clk_i, .rst_ni, .req_i(axil_req_i), .rsp_o(axil_rsp_o), .hold_second_i(crossing), .req_o(split_req), .rsp_i(split_rsp)
      );
      assign split_rsp    = '{axil_rsp, cross_rsp_i.axil};
      assign far_axil_req = split_req[1];
      assign axil_req     = split_req[0] | cross_req_i.axil;  // one of the two is always idle: only one core has a host interface
    end else begin : gen_no_registers
      assign axil_rsp_o   = '0;
      assign far_axil_req = '0;
      assign axil_req     = cross_req_i.axil;
      logic unused;
      assign unused = &{1'b0, axil_req_i, cross_rsp_i.axil, crossing};
    end
    assign cross_req_o = '{
        crossing: '{memory: far_req, post: post, bad: far_bad, bad_addr: own_status.ecc.addr}, axil: far_axil_req};
  end else begin : gen_single
    assign mem_rd_valid = rd_valid;
    assign rd_ready     = mem_rd_ready;
    assign rd_rsp_valid = mem_rd_rsp_valid;
    assign rd_rsp_far   = '0;
    assign mem_wr_valid = wr_valid;
    assign wr_ready     = mem_wr_ready;
    assign mem_status   = own_status;
    assign axil_req     = axil_req_i;
    assign axil_rsp_o   = axil_rsp;
    assign peer_req.post = '0;
    assign peer_req.take = '0;
    assign cross_req_o  = '0;
    assign cross_rsp_o  = '0;
    assign cross_wr_o   = '0;
    assign cross_rd_data_o = '0;
    logic unused;
    assign unused = &{
        1'b0, peer_rsp, far_bad, cross_req_i, cross_rsp_i, cross_wr_i, cross_rd_data_i};
  end
endmodule
