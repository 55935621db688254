// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Memory controller of a board's chip: merges the clients' reads and writes into INCR bursts of one AXI4 master with one ID and
// full-width beats. Responses come in the order of acceptance and are never stalled. A read of data that are being written
// stalls until the write's response. Throughput: one beat a cycle. Latency: a read's address leaves 6 cycles after the read was
// accepted; the data reach the client 1 cycle after they came from the bus.
// Docs: docs/dram.md. Test: tests/rtl/dram.

module systole_axi_dram
  import systole_bus_pkg::*;
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned D = 16,         // bytes of a beat
    parameter int unsigned MemBits = 25,   // address bits of the memory; higher bits are ignored
    parameter int unsigned MaxBeats = 16,  // beats of a burst, a power of two
    parameter int unsigned Bursts = 16,    // read bursts in flight, and write bursts in flight
    parameter int unsigned WrDepth = 32    // beats of write data, at least MaxBeats
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,

    // Clients. A client cannot stall its responses, and they come in order. Every read accepted after a write sees that write.
    // Addresses are byte addresses whose bits inside the beat are ignored. wr_mask_i has the byte enables.
    input  logic [NumRd-1:0]               rd_valid_i,
    output logic [NumRd-1:0]               rd_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [NumRd-1:0][AddrBits-1:0] rd_addr_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic [NumRd-1:0]               rd_rsp_valid_o,
    output logic [D*8-1:0]                 rd_rsp_data_o,
    input  logic [NumWr-1:0]               wr_valid_i,
    output logic [NumWr-1:0]               wr_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [NumWr-1:0][AddrBits-1:0] wr_addr_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [NumWr-1:0][D*8-1:0]      wr_data_i,
    input  logic [NumWr-1:0][D-1:0]        wr_mask_i,
    output mem_status_t                    status_o,

    // AXI4 master.
    output dram_req_t                  dram_req_o,
    output logic [D*8-1:0]             dram_wdata_o,
    output logic [D-1:0]               dram_wstrb_o,
    input  dram_rsp_t                  dram_rsp_i,
    input  logic [D*8-1:0]             dram_rdata_i
);
  localparam int unsigned BeatShift = $clog2(D);
  localparam int unsigned BeatBits = MemBits - BeatShift;
  localparam int unsigned RdBits = NumRd > 1 ? $clog2(NumRd) : 1;
  localparam int unsigned WrBits = NumWr > 1 ? $clog2(NumWr) : 1;
  localparam int unsigned LenBits = $clog2(MaxBeats);
  localparam int unsigned HashBits = 6;
  localparam int unsigned PendBits = $clog2(WrDepth + (Bursts + 2) * MaxBeats + 1);
  typedef logic [BeatBits-1:0] beat_t;
  typedef logic [HashBits-1:0] hash_t;

  function automatic logic [AddrBits-1:0] addr_of(beat_t beat);
    return AddrBits'({beat, BeatShift'(0)});
  endfunction

  // Entry of a beat in the table of pending writes. The beats of an aligned group of MaxBeats share an entry.
  function automatic hash_t hash_of(beat_t beat);
    hash_t h;
    h = '0;
    for (int unsigned i = 0; i < BeatBits - LenBits; i++) h[i%HashBits] ^= beat[LenBits+i];
    return h;
  endfunction

  // Output registers.
  logic [NumRd-1:0]       rd_ready, rsp_valid_q;
  logic [NumWr-1:0]       wr_ready;
  logic                   outstanding_q, error_q, awvalid_q, wvalid_q, wlast_q, arvalid_q;
  logic [AddrBits-1:0]    error_addr_q, awaddr_q, araddr_q;
  logic [7:0]             awlen_q, arlen_q;
  systole_hbm_pkg::perf_t perf_q;

  assign rd_ready_o     = rd_ready;
  assign rd_rsp_valid_o = rsp_valid_q;
  assign wr_ready_o     = wr_ready;
  assign status_o = '{
      outstanding: outstanding_q,
      error: '{valid: error_q, code: systole_isa_pkg::FaultMemoryError, addr: error_addr_q}, ecc: '0, perf: perf_q};
  // A client has room for everything that it requested, so responses never stall.
  assign dram_req_o = '{
      awvalid: awvalid_q, awaddr: awaddr_q, awlen: awlen_q, wvalid: wvalid_q, wlast: wlast_q, bready: 1'b1,
      arvalid: arvalid_q, araddr: araddr_q, arlen: arlen_q, rready: 1'b1};

  // Reads: taken from the client whose turn it is, then stalled while their entry has a pending write.
  logic [RdBits-1:0] rd_idx, rs_client, r_client_q;
  logic              rd_room, rd_take, rs_valid, rs_ready, r_valid_q, r_ready, r_pass, r_follows_q, hazard;
  beat_t             rd_beat, rs_beat, r_beat_q, r_next_q;
  hash_t             r_hash_q;
  logic [1:0]        rs_count;

  systole_axi_turn #(.N(NumRd), .Burst(MaxBeats)) u_rd_turn (
      .clk_i, .rst_ni, .valid_i(rd_valid_i), .room_i(rd_room),
      .ready_o(rd_ready), .idx_o(rd_idx), .take_o(rd_take)
  );
  assign rd_beat = rd_addr_i[rd_idx][BeatShift+:BeatBits];

  systole_fifo #(.Width(RdBits + BeatBits), .Depth(2)) u_rd_stage (
      .clk_i, .rst_ni,
      .valid_i(rd_take), .ready_o(rd_room), .data_i({rd_idx, rd_beat}),
      .valid_o(rs_valid), .ready_i(rs_ready), .data_o({rs_client, rs_beat}), .count_o(rs_count)
  );

  assign rs_ready = !r_valid_q || r_pass;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) r_valid_q <= 1'b0;
    else if (rs_ready) r_valid_q <= rs_valid;
  end
  always_ff @(posedge clk_i) begin
    if (rs_valid && rs_ready) begin
      r_client_q  <= rs_client;
      r_beat_q    <= rs_beat;
      r_next_q    <= rs_beat + 1'b1;
      r_follows_q <= rs_client == r_client_q && rs_beat == r_next_q;
      r_hash_q    <= hash_of(rs_beat);
    end
  end

  // Table of pending writes: an entry is marked while a write to it may lack the memory's response. A write marks its entry
  // before any read that was accepted after it checks that entry. All marks are cleared when no write is pending.
  logic [2**HashBits-1:0] writing_q;
  logic [PendBits-1:0]    pending_q;  // write beats accepted and not yet answered
  logic                   mark_q;
  hash_t                  mark_hash_q;
  logic                   wr_take, b_pop;
  beat_t                  wr_beat;
  logic [LenBits-1:0]     b_len;

  assign hazard = writing_q[r_hash_q];
  always_ff @(posedge clk_i) begin
    mark_hash_q <= hash_of(wr_beat);
    if (!rst_ni) begin
      mark_q    <= 1'b0;
      pending_q <= '0;
      writing_q <= '0;
    end else begin
      mark_q    <= wr_take;
      pending_q <= pending_q + PendBits'(wr_take) - (b_pop ? PendBits'(b_len) + 1'b1 : '0);
      if (mark_q) writing_q[mark_hash_q] <= 1'b1;
      else if (pending_q == '0) writing_q <= '0;
    end
  end

  // Read bursts, and the client of each in order.
  logic               rb_offer, rb_take, rb_idle, ro_room, ro_valid, ro_pop;
  logic [RdBits-1:0]  rb_client, ro_client;
  beat_t              rb_beat, ro_beat;
  logic [LenBits-1:0] rb_len;
  logic [$clog2(Bursts+1)-1:0] ro_count;

  systole_axi_burst #(.D(D), .BeatBits(BeatBits), .TagBits(RdBits), .MaxBeats(MaxBeats)) u_rd_burst (
      .clk_i, .rst_ni,
      .valid_i(r_valid_q && !hazard), .ready_o(r_ready), .tag_i(r_client_q), .beat_i(r_beat_q), .follows_i(r_follows_q),
      .offer_o(rb_offer), .take_i(rb_take), .tag_o(rb_client), .beat_o(rb_beat), .len_o(rb_len), .idle_o(rb_idle)
  );
  assign r_pass  = r_ready && !hazard;
  assign rb_take = rb_offer && ro_room && (!arvalid_q || dram_rsp_i.arready);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) arvalid_q <= 1'b0;
    else if (rb_take) arvalid_q <= 1'b1;
    else if (dram_rsp_i.arready) arvalid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (rb_take) begin
      araddr_q <= addr_of(rb_beat);
      arlen_q  <= 8'(rb_len);
    end
  end

  systole_fifo #(.Width(RdBits + BeatBits), .Depth(Bursts)) u_rd_order (
      .clk_i, .rst_ni,
      .valid_i(rb_take), .ready_o(ro_room), .data_i({rb_client, rb_beat}),
      .valid_o(ro_valid), .ready_i(ro_pop), .data_o({ro_client, ro_beat}), .count_o(ro_count)
  );

  assign ro_pop   = dram_rsp_i.rvalid && dram_rsp_i.rlast;
  always_ff @(posedge clk_i) begin
    rsp_valid_q <= '0;
    if (rst_ni && dram_rsp_i.rvalid) rsp_valid_q[ro_client] <= 1'b1;
    if (dram_rsp_i.rvalid) rd_rsp_data_o <= dram_rdata_i;
  end

  // Writes. None is accepted while a read stalls on a pending write, so that the pending writes drain.
  logic [WrBits-1:0] wr_idx;
  logic              wr_room, wd_room, ws_room, wait_q, wd_valid, wd_pop, ws_valid, ws_ready, ws_follows;
  beat_t             ws_beat, wr_next_q;
  logic [D*8-1:0]    wd_data;
  logic [D-1:0]      wd_mask;
  logic [1:0]        ws_count;
  logic [$clog2(WrDepth+1)-1:0] wd_count;

  always_ff @(posedge clk_i) wait_q <= rst_ni && r_valid_q && hazard;
  assign wr_room = wd_room && ws_room && !wait_q;

  systole_axi_turn #(.N(NumWr), .Burst(MaxBeats)) u_wr_turn (
      .clk_i, .rst_ni, .valid_i(wr_valid_i), .room_i(wr_room),
      .ready_o(wr_ready), .idx_o(wr_idx), .take_o(wr_take)
  );
  assign wr_beat = wr_addr_i[wr_idx][BeatShift+:BeatBits];

  systole_fifo #(.Width(D * 9), .Depth(WrDepth)) u_wr_data (
      .clk_i, .rst_ni,
      .valid_i(wr_take), .ready_o(wd_room), .data_i({wr_mask_i[wr_idx], wr_data_i[wr_idx]}),
      .valid_o(wd_valid), .ready_i(wd_pop), .data_o({wd_mask, wd_data}), .count_o(wd_count)
  );
  always_ff @(posedge clk_i) if (wr_take) wr_next_q <= wr_beat + 1'b1;
  systole_fifo #(.Width(1 + BeatBits), .Depth(2)) u_wr_stage (
      .clk_i, .rst_ni,
      .valid_i(wr_take), .ready_o(ws_room), .data_i({wr_beat == wr_next_q, wr_beat}),
      .valid_o(ws_valid), .ready_i(ws_ready), .data_o({ws_follows, ws_beat}), .count_o(ws_count)
  );

  // Write bursts. u_wr_length has the lengths of the bursts whose data are still to be sent, u_wr_order the bursts that the
  // memory has not answered. A burst needs room in both.
  logic               wb_offer, wb_take, wb_idle, wl_room, wl_valid, wl_pop, b_room, b_valid, unused_tag;
  beat_t              wb_beat, b_beat;
  logic [LenBits-1:0] wb_len, wl_len, sent_q;
  logic [1:0]         wl_count;
  logic [$clog2(Bursts+1)-1:0] b_count;

  systole_axi_burst #(.D(D), .BeatBits(BeatBits), .TagBits(1), .MaxBeats(MaxBeats)) u_wr_burst (
      .clk_i, .rst_ni,
      .valid_i(ws_valid), .ready_o(ws_ready), .tag_i(1'b0), .beat_i(ws_beat), .follows_i(ws_follows),
      .offer_o(wb_offer), .take_i(wb_take), .tag_o(unused_tag), .beat_o(wb_beat), .len_o(wb_len), .idle_o(wb_idle)
  );
  assign wb_take = wb_offer && wl_room && b_room && (!awvalid_q || dram_rsp_i.awready);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) awvalid_q <= 1'b0;
    else if (wb_take) awvalid_q <= 1'b1;
    else if (dram_rsp_i.awready) awvalid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (wb_take) begin
      awaddr_q <= addr_of(wb_beat);
      awlen_q  <= 8'(wb_len);
    end
  end

  systole_fifo #(.Width(LenBits), .Depth(2)) u_wr_length (
      .clk_i, .rst_ni,
      .valid_i(wb_take), .ready_o(wl_room), .data_i(wb_len),
      .valid_o(wl_valid), .ready_i(wl_pop), .data_o(wl_len), .count_o(wl_count)
  );
  assign wd_pop = wl_valid && (!wvalid_q || dram_rsp_i.wready);
  assign wl_pop = wd_pop && sent_q == wl_len;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wvalid_q <= 1'b0;
      sent_q   <= '0;
    end else begin
      if (wd_pop) wvalid_q <= 1'b1;
      else if (dram_rsp_i.wready) wvalid_q <= 1'b0;
      if (wd_pop) sent_q <= wl_pop ? '0 : sent_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (wd_pop) begin
      dram_wdata_o <= wd_data;
      dram_wstrb_o <= wd_mask;
      wlast_q <= wl_pop;
    end
  end

  systole_fifo #(.Width(LenBits + BeatBits), .Depth(Bursts)) u_wr_order (
      .clk_i, .rst_ni,
      .valid_i(wb_take), .ready_o(b_room), .data_i({wb_len, wb_beat}),
      .valid_o(b_valid), .ready_i(b_pop), .data_o({b_len, b_beat}), .count_o(b_count)
  );
  assign b_pop    = dram_rsp_i.bvalid;

  // Errors and status.
  always_ff @(posedge clk_i) begin
    error_q      <= rst_ni && ((dram_rsp_i.rvalid && dram_rsp_i.rresp != '0) || (dram_rsp_i.bvalid && dram_rsp_i.bresp != '0));
    error_addr_q <= addr_of(dram_rsp_i.rvalid && dram_rsp_i.rresp != '0 ? ro_beat : b_beat);
    outstanding_q <= rst_ni && (rs_count != '0 || r_valid_q || !rb_idle || ro_count != '0 || pending_q != '0);
  end

  always_ff @(posedge clk_i) begin
    perf_q         <= '0;
    perf_q.rd_beat <= rst_ni && dram_rsp_i.rvalid;
    perf_q.wr_beat <= rst_ni && wr_take;
  end

  // Checks: the parameters are legal; clients hold their requests; the memory answers only what was requested; the counts
  // agree.
  initial a_shape : assert (D == 1 << BeatShift && D <= 128 && MaxBeats <= 4096 / D && WrDepth >= MaxBeats && MemBits <= AddrBits);
  logic [NumRd-1:0]               rd_held_q, rd_kept;
  logic [NumWr-1:0]               wr_held_q, wr_kept;
  logic [NumRd-1:0][AddrBits-1:0] rd_addr_q;
  logic [NumWr-1:0][AddrBits-1:0] wr_addr_q;
  for (genvar i = 0; i < NumRd; i++) begin : gen_rd_kept
    assign rd_kept[i] = !rd_held_q[i] || (rd_valid_i[i] && rd_addr_i[i] == rd_addr_q[i]);
  end
  for (genvar i = 0; i < NumWr; i++) begin : gen_wr_kept
    assign wr_kept[i] = !wr_held_q[i] || (wr_valid_i[i] && wr_addr_i[i] == wr_addr_q[i]);
  end
  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni ? rd_valid_i & ~rd_ready : '0;
    wr_held_q <= rst_ni ? wr_valid_i & ~wr_ready : '0;
    rd_addr_q <= rd_addr_i;
    wr_addr_q <= wr_addr_i;
    if (rst_ni) begin
      a_rd_hold : assert (rd_kept == '1);
      a_wr_hold : assert (wr_kept == '1);
      a_answer : assert ((!dram_rsp_i.rvalid || ro_valid) && (!dram_rsp_i.bvalid || b_valid));
      a_data : assert (!wd_pop || wd_valid);
      a_pending : assert (32'(pending_q) >= 32'(wd_count) && wd_count >= $bits(wd_count)'(ws_count) && (wb_idle || wd_valid));
      a_unsent : assert (b_count >= $bits(b_count)'(wl_count));
    end
  end
endmodule
