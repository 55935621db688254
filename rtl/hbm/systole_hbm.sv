// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// HBM subsystem: front end and one controller per group of pseudo-channels. Reads and writes are arbitrated separately.
// A write goes into the write buffer, which drains to the controllers in batches; a read of a buffered beat stalls
// until that write has drained. Responses return in the order of acceptance. Throughput: one beat per cycle. Latency of
// a read of an open row: 25 or 26 cycles from acceptance to response.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm
  import systole_hbm_pkg::*;
#(
    parameter int unsigned HbmPcs = 2,  // pseudo-channels, even
    parameter int unsigned NumRd = 4,
    parameter int unsigned NumWr = 2,
    parameter int unsigned AddrBits = 36,
    parameter logic [NumRd-1:0][7:0] RdBurst = {NumRd{8'd64}},  // beats per turn of each client: its traffic class (docs/hbm.md)
    parameter logic [NumWr-1:0][7:0] WrBurst = {NumWr{8'd64}},
    parameter timing_t Timing = HbmTiming,
    parameter bit Ecc = 1'b0,
    parameter bit Gate = 1'b1,  // gate the clock of the read-modify-write unit (ECC only)
    localparam int unsigned D = PhyBytes * HbmPcs  // bytes per beat
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,

    // Read clients. A response cannot be stalled; each client's responses return in order.
    input  logic [NumRd-1:0]                   rd_valid_i,
    output logic [NumRd-1:0]                   rd_ready_o,
    input  logic [NumRd-1:0][AddrBits-1:0]     rd_addr_i,   // byte address; bits inside the beat are ignored
    output logic [NumRd-1:0]                   rd_rsp_valid_o,
    output logic [D*8-1:0]                     rd_rsp_data_o,

    // Write clients. A read returns every write accepted in an earlier cycle. It may also return a write accepted
    // later, until the read is answered.
    input  logic [NumWr-1:0]                   wr_valid_i,
    output logic [NumWr-1:0]                   wr_ready_o,
    input  logic [NumWr-1:0][AddrBits-1:0]     wr_addr_i,
    input  logic [NumWr-1:0][D*8-1:0]          wr_data_i,
    input  logic [NumWr-1:0][D-1:0]            wr_mask_i,   // 1: write the byte

    output logic                               outstanding_o,  // reads not answered, or writes not yet in the device
    output perf_t                              perf_o,

    // ECC reports, one cycle after the response: a bit was corrected (fixed), or an error could not be corrected (bad).
    // There is one bit per read client; the top bit is for partial writes and the scrubber. The address is that of the
    // first such 8-byte word.
    output logic [NumRd:0]                     ecc_fixed_o,
    output logic [NumRd:0]                     ecc_bad_o,
    output logic                               ecc_look_o,     // the report belongs to the scrubber: no client asked for the data
    output logic [AddrBits-1:0]                ecc_addr_o,
    input  logic [31:0]                        scrub_i,        // cycles from one scrubbed beat to the next; 0: no scrubbing

    // PHY, one element per pseudo-channel.
    output row_cmd_e [HbmPcs-1:0]              row_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    row_bank_o,
    output logic [HbmPcs-1:0][RowBits-1:0]     row_addr_o,
    output col_cmd_e [HbmPcs-1:0]              col_cmd_o,
    output logic [HbmPcs-1:0][BankBits-1:0]    col_bank_o,
    output logic [HbmPcs-1:0][ColBits-1:0]     col_addr_o,
    output logic [HbmPcs-1:0][PhyBytes*8-1:0]  wdata_o,
    output logic [HbmPcs-1:0][PhyBytes-1:0]    wmask_o,      // byte mask; with ECC: 8 check bits per 64 bits
    input  logic [HbmPcs-1:0][PhyBytes*8-1:0]  rdata_i,
    input  logic [HbmPcs-1:0][PhyBytes-1:0]    rcheck_i,     // check bits, with ECC
    input  logic [HbmPcs-1:0]                  rdata_valid_i
);
  localparam int unsigned Lanes = HbmPcs / 2;
  localparam int unsigned BeatShift = $clog2(D);
  localparam int unsigned PlaceBits = BeatShift - 3;  // index of an 8-byte word in a beat
  localparam int unsigned RdBits = $clog2(NumRd + 1);  // one extra client number: systole_hbm_rmw
  localparam int unsigned ArbBits = NumRd > 1 ? $clog2(NumRd) : 1;
  localparam int unsigned WrBits = NumWr > 1 ? $clog2(NumWr) : 1;
  localparam int unsigned QueueDepth = 16;  // requests per row queue of a controller
  localparam int unsigned Slots = 128;  // per group: unanswered reads, and beats of write data
  localparam int unsigned TagBits = $clog2(Slots);
  localparam int unsigned BufDepth = 64;  // entries of the write buffer
  localparam int unsigned BufBits = $clog2(BufDepth);
  localparam int unsigned HighWater = BufDepth * 3 / 4;  // buffered writes that end a batch of reads
  localparam int unsigned Batch = 128;  // beats per batch while the other direction waits; a power of two
  localparam int unsigned BatchBits = $clog2(Batch + 1);
  localparam int unsigned OrderDepth = 2 * Slots;
  typedef logic [BeatBits-1:0] beat_t;

  // Read-modify-write unit: partial writes, and the writes queued behind them.
  logic                rmw_room, rmw_busy, rmw_take, rmw_rd, rmw_wr, rmw_rsp, rmw_look, rmw_again;
  beat_t               rmw_rd_beat, rmw_wr_beat;
  logic [D*8-1:0]      rmw_data;
  logic [D-1:0]        rmw_mask;

  // Arbitration, separate for reads and writes.
  logic [NumRd-1:0]  rd_req;
  logic [NumWr-1:0]  wr_req;
  logic              rd_any, rd_take, wr_any, wr_accept, wr_go;
  logic [ArbBits-1:0] rd_idx;
  logic [WrBits-1:0] wr_idx;
  beat_t             wr_beats[NumWr];

  logic [NumRd-1:0] rd_hold;
  logic [NumWr-1:0] wr_hold;
  systole_prim_hold #(.Streams(NumRd + NumWr)) u_hold (.clk_i, .hold_o({wr_hold, rd_hold}));
  assign rd_req = rmw_busy || rmw_rd ? '0 : rd_valid_i & ~rd_hold;
  assign wr_req = wr_valid_i & ~wr_hold;

  systole_hbm_arb #(.N(NumRd), .Burst(RdBurst)) u_rd_arb (
      .clk_i, .rst_ni, .req_i(rd_req), .any_o(rd_any), .idx_o(rd_idx), .accept_i(rd_any && rd_take)
  );
  systole_hbm_arb #(.N(NumWr), .Burst(WrBurst)) u_wr_arb (
      .clk_i, .rst_ni, .req_i(wr_req), .any_o(wr_any), .idx_o(wr_idx), .accept_i(wr_accept)
  );

  // The beat number leaves out the address bits inside a beat and those beyond the capacity (addresses wrap). With ECC,
  // a partial write, which writes some but not all bytes of a burst, goes through systole_hbm_rmw.
  logic [NumWr-1:0] partials;
  logic             partial;
  always_comb begin
    partials = '0;
    for (int unsigned i = 0; i < NumWr; i++) begin
      wr_beats[i] = wr_addr_i[i][BeatShift+:BeatBits];
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (Ecc) partials[i] |= wr_mask_i[i][l*BurstBytes+:BurstBytes] != '0 && wr_mask_i[i][l*BurstBytes+:BurstBytes] != '1;
      end
    end
    partial = partials[wr_idx];
  end

  // What the chosen client writes.
  logic [D*8-1:0] wr_data;
  logic [D-1:0]   wr_mask;
  always_comb begin
    wr_data = wr_data_i[0];
    wr_mask = wr_mask_i[0];
    for (int unsigned i = 1; i < NumWr; i++) begin
      if (wr_idx == WrBits'(i)) begin
        wr_data = wr_data_i[i];
        wr_mask = wr_mask_i[i];
      end
    end
  end

  // Write pipeline: acceptance, then the write buffer and the data memory. wr_open_q says one cycle ahead that both
  // have room.
  logic           wr_open_q, wr_put_q;
  beat_t          put_beat_q;
  loc_t           put_loc;
  logic [D*8-1:0] put_data_q;
  logic [D-1:0]   put_mask_q;
  assign put_loc = locate(put_beat_q);
  always_ff @(posedge clk_i) begin
    wr_put_q <= rst_ni && wr_go;
    if (wr_go) begin
      put_beat_q <= rmw_busy ? rmw_wr_beat : wr_beats[wr_idx];
      put_data_q <= rmw_busy ? rmw_data : wr_data;
      put_mask_q <= rmw_busy ? rmw_mask : wr_mask;
    end
  end

  always_comb begin
    rd_ready_o = '0;
    wr_ready_o = '0;
    rd_ready_o[rd_idx] = rd_any && rd_take;
    wr_ready_o[wr_idx] = wr_accept;
  end

  // Read pipeline: acceptance, then the comparison with the write buffer, then the controller.
  logic              new_valid, new_take, read_valid_q, read_group_q, rd_accept;
  logic [RdBits-1:0] new_idx, read_idx_q;
  beat_t             new_beat, read_beat_q;
  loc_t              rd_loc;

  systole_skid #(.Width(RdBits + BeatBits)) u_new (
      .clk_i, .rst_ni,
      .valid_i(rd_any || rmw_rd), .ready_o(rd_take),
      .data_i(rmw_rd ? {RdBits'(NumRd), rmw_rd_beat} : {RdBits'(rd_idx), rd_addr_i[rd_idx][BeatShift+:BeatBits]}),
      .valid_o(new_valid), .ready_i(new_take), .data_o({new_idx, new_beat})
  );

  assign new_take = !read_valid_q || rd_accept;
  always_comb begin
    rd_loc       = locate(read_beat_q);
    rd_loc.group = read_group_q;  // computed one cycle ahead
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) read_valid_q <= 1'b0;
    else if (new_take) read_valid_q <= new_valid;
  end
  always_ff @(posedge clk_i) begin
    if (new_take) {read_group_q, read_idx_q, read_beat_q} <= {group_of(new_beat), new_idx, new_beat};
  end

  // Write buffer: beats whose writes are not in a controller's queue yet. The beat numbers are in registers, which
  // reads are compared with; a memory holds the locations and tags for the drain.
  beat_t               buf_q[BufDepth];
  logic [BufDepth-1:0] buf_valid_q;
  logic [BufBits-1:0]  buf_wr_ptr_q, buf_rd_ptr_q;
  logic [BufBits:0]    buf_count_q;
  logic                buf_any, buf_pop;
  loc_t                buf_loc;
  logic [TagBits-1:0]  buf_tag, wr_tag[2], rd_tag[2];  // tag of the write that drains; next tag of each group

  assign buf_any = buf_count_q != '0;

  systole_prim_ram_async #(.Width(TagBits + $bits(loc_t)), .Depth(BufDepth), .Style("distributed")) u_buf (
      .clk_i, .we_i(wr_put_q), .waddr_i(buf_wr_ptr_q), .wdata_i({wr_tag[put_loc.group], put_loc}),
      .raddr_i(buf_rd_ptr_q), .rdata_o({buf_tag, buf_loc})
  );

  // Hazard: a read of a buffered beat stalls until the write drains; after that the controller's queue keeps the order.
  // The read carries one mark per buffered write of its beat. The mark is cleared when the write drains, before its
  // entry is reused.
  typedef logic [BufDepth-1:0] marks_t;
  marks_t mark_q, mark_new, mark_old;
  logic   hazard_q;

  function automatic marks_t same(marks_t valid, beat_t beats[BufDepth], beat_t beat);
    for (int unsigned i = 0; i < BufDepth; i++) same[i] = valid[i] && beats[i] == beat;
  endfunction

  assign mark_new = new_valid && buf_any ? same(buf_valid_q, buf_q, new_beat) : '0;
  assign mark_old = mark_q & buf_valid_q;
  always_ff @(posedge clk_i) begin
    mark_q   <= new_take ? mark_new : mark_old;
    hazard_q <= rst_ni && (new_take ? mark_new != '0 : mark_old != '0);
  end

  // Direction. Reads flow until writes are due; writes then flow in batches, because each change of direction costs
  // tRTW or tWTR.
  typedef enum logic {DirRead, DirWrite} dir_e;
  dir_e                 dir_q, dir_d;
  logic [BatchBits-1:0] run_q;  // beats since the last change of direction, saturates at Batch
  logic                 push, reads;  // reads: a read is in the pipeline
  logic                 held_off_q;   // a write was stalled in the last cycle
  logic [1:0]           ctrl_ready, ctrl_low, wr_room, rd_room;
  logic                 batch_done, wr_due;

  assign reads = new_valid || read_valid_q;
  assign batch_done = run_q[BatchBits-1];
  assign wr_due = buf_count_q >= (BufBits + 1)'(HighWater) || held_off_q;

  always_comb begin
    dir_d = dir_q;
    unique case (dir_q)
      DirRead: if (buf_any && (hazard_q || (wr_due && (batch_done || !reads)) || (!reads && &ctrl_low))) dir_d = DirWrite;
      DirWrite: if (!buf_any || (batch_done && reads)) dir_d = DirRead;
      default: dir_d = DirRead;
    endcase
  end

  assign wr_go     = (rmw_busy ? rmw_wr : wr_any && !partial) && wr_open_q;
  assign rmw_take  = wr_any && (partial || rmw_busy) && rmw_room;
  assign wr_accept = rmw_take || (wr_go && !rmw_busy);
  assign rd_accept = read_valid_q && dir_q == DirRead && !hazard_q && rd_room[rd_loc.group] && ctrl_ready[rd_loc.group];
  assign buf_pop   = buf_any && dir_q == DirWrite && ctrl_ready[buf_loc.group];
  assign push      = rd_accept || buf_pop;

  always_ff @(posedge clk_i) begin
    if (wr_put_q) buf_q[buf_wr_ptr_q] <= put_beat_q;
    // Room for three: one accepted in the last cycle, one put in this cycle, and the next one.
    wr_open_q <= rst_ni && &wr_room && buf_count_q <= (BufBits + 1)'(BufDepth - 3);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dir_q        <= DirRead;
      run_q        <= '0;
      buf_valid_q  <= '0;
      buf_wr_ptr_q <= '0;
      buf_rd_ptr_q <= '0;
      buf_count_q  <= '0;
      held_off_q   <= 1'b0;
    end else begin
      dir_q      <= dir_d;
      held_off_q <= wr_any && !wr_accept;
      if (dir_d != dir_q) run_q <= '0;
      else if (push && !batch_done) run_q <= run_q + 1'b1;
      if (wr_put_q) begin
        buf_valid_q[buf_wr_ptr_q] <= 1'b1;
        buf_wr_ptr_q <= buf_wr_ptr_q + 1'b1;
      end
      if (buf_pop) begin
        buf_valid_q[buf_rd_ptr_q] <= 1'b0;
        buf_rd_ptr_q <= buf_rd_ptr_q + 1'b1;
      end
      buf_count_q <= buf_count_q + (BufBits + 1)'(wr_put_q) - (BufBits + 1)'(buf_pop);
    end
  end

  // Responses leave in the order of acceptance. The order FIFO holds the client of each accepted read; u_next registers
  // its head. An accepted read has its slot in systole_hbm_rdata, and the FIFO has an entry for each slot.
  localparam int unsigned OrderBits = RdBits + 1 + (Ecc ? BeatBits : 0);
  logic              kept_valid, kept_ready;
  logic [OrderBits-1:0] order;
  logic [OrderBits-1:0] kept;
  logic              order_ready, order_valid, order_group, rsp_pop, rsp_group_q;
  logic [RdBits-1:0] order_client, rsp_client_q;
  // verilator lint_off UNUSEDSIGNAL
  beat_t             order_beat, rsp_beat_q;  // used with ECC only
  // verilator lint_on UNUSEDSIGNAL
  logic              rsp_q;
  logic [1:0]        rsp_fixed, rsp_bad;
  logic [PlaceBits-1:0] rsp_place[2];
  logic [$clog2(OrderDepth+1)-1:0] order_count;
  logic [1:0]        rsp_valid;
  logic [D*8-1:0]    rsp_data[2];

  systole_fifo #(.Width(OrderBits), .Depth(OrderDepth)) u_order (
      .clk_i, .rst_ni,
      .valid_i(rd_accept), .ready_o(order_ready), .data_i(OrderBits'({read_beat_q, rd_loc.group, read_idx_q})),
      .valid_o(kept_valid), .ready_i(kept_ready), .data_o(kept),
      .count_o(order_count)
  );
  systole_skid #(.Width(OrderBits)) u_next (
      .clk_i, .rst_ni,
      .valid_i(kept_valid), .ready_o(kept_ready), .data_i(kept),
      .valid_o(order_valid), .ready_i(rsp_pop), .data_o(order)
  );
  assign {order_beat, order_group, order_client} = (BeatBits + RdBits + 1)'(order);

  assign rsp_pop = order_valid && rsp_valid[order_group];
  assign rd_rsp_data_o = rsp_data[rsp_group_q];

  always_ff @(posedge clk_i) begin
    rsp_group_q  <= order_group;
    rsp_client_q <= order_client;
    rsp_beat_q   <= order_beat;
    rsp_q        <= rst_ni && rsp_pop;
    rd_rsp_valid_o <= '0;
    if (rst_ni && rsp_pop && order_client != RdBits'(NumRd)) rd_rsp_valid_o[ArbBits'(order_client)] <= 1'b1;
  end
  assign rmw_rsp = rsp_q && rsp_client_q == RdBits'(NumRd);

  if (Ecc) begin : gen_ecc
    systole_hbm_rmw #(.D(D), .Gate(Gate)) u_rmw (
        .clk_i, .rst_ni,
        .take_i(rmw_take), .beat_i(wr_beats[wr_idx]), .data_i(wr_data), .mask_i(wr_mask),
        .partial_i(partial), .room_o(rmw_room), .busy_o(rmw_busy), .rd_valid_o(rmw_rd), .rd_ready_i(rd_take), .rd_beat_o(rmw_rd_beat),
        .rsp_valid_i(rmw_rsp), .rsp_data_i(rd_rsp_data_o), .rsp_fixed_i(rsp_fixed[rsp_group_q]), .rsp_bad_i(rsp_bad[rsp_group_q]),
        .wr_valid_o(rmw_wr), .wr_ready_i(wr_open_q), .wr_beat_o(rmw_wr_beat), .wr_data_o(rmw_data), .wr_mask_o(rmw_mask),
        .look_o(rmw_look), .again_o(rmw_again),
        .scrub_i, .quiet_i(rd_valid_i == '0)
    );
    always_ff @(posedge clk_i) begin
      ecc_fixed_o <= rst_ni && rsp_q && rsp_fixed[rsp_group_q] && !(rmw_rsp && rmw_again) ? (NumRd + 1)'(1) << rsp_client_q : '0;
      ecc_bad_o   <= rst_ni && rsp_q && rsp_bad[rsp_group_q] ? (NumRd + 1)'(1) << rsp_client_q : '0;
      ecc_look_o  <= rmw_rsp && rmw_look;
      ecc_addr_o  <= (AddrBits'(rsp_beat_q) << BeatShift) | (AddrBits'(rsp_place[rsp_group_q]) << 3);
    end
  end else begin : gen_no_ecc
    assign {rmw_room, rmw_busy, rmw_rd, rmw_wr, rmw_rd_beat, rmw_wr_beat, rmw_data, rmw_mask, rmw_look, rmw_again} = '0;
    assign {ecc_fixed_o, ecc_bad_o, ecc_look_o, ecc_addr_o} = '0;
    logic unused;
    assign unused = &{1'b0, scrub_i, rmw_rsp, rmw_take, rmw_look, rmw_again, rsp_fixed, rsp_bad, rsp_place[0], rsp_place[1]};
  end

  // The groups. Each has one controller, whose commands go to all pseudo-channels of the group. Pseudo-channel i of the
  // lower group and i of the upper one are a channel of the memory, with one row and one column bus: the groups take
  // turns of one cycle on the column bus, of two cycles, which an ACT needs, on the row bus.
  logic [1:0] slot_q;
  always_ff @(posedge clk_i) slot_q <= rst_ni ? slot_q + 1'b1 : '0;
  logic [1:0] rd_issue, wr_issue, act_issue, refresh, wr_busy;

  for (genvar g = 0; g < 2; g++) begin : gen_group
    row_cmd_e            row_cmd;
    col_cmd_e            col_cmd;
    logic [BankBits-1:0] row_bank, col_bank;
    logic [RowBits-1:0]  row_addr;
    logic [ColBits-1:0]  col_addr;
    logic [TagBits-1:0]  tag;
    loc_t                loc;
    logic [Lanes-1:0]    on;

    assign loc = dir_q == DirWrite ? buf_loc : rd_loc;

    systole_hbm_ctrl #(.Depth(QueueDepth), .TagBits(TagBits), .Timing(Timing)) u_ctrl (
        .clk_i, .rst_ni,
        .col_slot_i(slot_q[0] == 1'(g)), .act_slot_i(slot_q == {1'(g), 1'b0}), .row_slot_i(slot_q[1] == 1'(g)),
        .req_valid_i(push && loc.group == 1'(g)), .req_ready_o(ctrl_ready[g]), .req_write_i(dir_q == DirWrite),
        .req_bank_i(loc.bank), .req_row_i(loc.row), .req_col_i(loc.col), .req_tag_i(dir_q == DirWrite ? buf_tag : rd_tag[g]),
        .low_o(ctrl_low[g]),
        .rd_issue_o(rd_issue[g]), .wr_issue_o(wr_issue[g]), .tag_o(tag), .act_issue_o(act_issue[g]), .refresh_o(refresh[g]),
        .row_cmd_o(row_cmd), .row_bank_o(row_bank), .row_addr_o(row_addr),
        .col_cmd_o(col_cmd), .col_bank_o(col_bank), .col_addr_o(col_addr)
    );

    systole_hbm_wdata #(.Lanes(Lanes), .Depth(Slots), .Timing(Timing), .Ecc(Ecc)) u_wdata (
        .clk_i, .rst_ni,
        .push_i(wr_put_q && put_loc.group == 1'(g)), .room_o(wr_room[g]), .tag_o(wr_tag[g]),
        .data_i(put_data_q), .mask_i(put_mask_q),
        .wr_issue_i(wr_issue[g]), .wr_tag_i(tag), .busy_o(wr_busy[g]), .on_o(on),
        .wdata_o(wdata_o[g*Lanes+:Lanes]), .wmask_o(wmask_o[g*Lanes+:Lanes])
    );

    systole_hbm_rdata #(.Lanes(Lanes), .Depth(Slots), .Timing(Timing), .Ecc(Ecc)) u_rdata (
        .clk_i, .rst_ni,
        .take_i(rd_accept && rd_loc.group == 1'(g)), .room_o(rd_room[g]), .tag_o(rd_tag[g]),
        .rd_issue_i(rd_issue[g]), .rd_tag_i(tag),
        .rdata_i(rdata_i[g*Lanes+:Lanes]), .rcheck_i(rcheck_i[g*Lanes+:Lanes]), .rdata_valid_i(rdata_valid_i[g*Lanes+:Lanes]),
        .valid_o(rsp_valid[g]), .pop_i(rsp_pop && order_group == 1'(g)), .data_o(rsp_data[g]),
        .fixed_o(rsp_fixed[g]), .bad_o(rsp_bad[g]), .place_o(rsp_place[g])
    );

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign row_cmd_o[g*Lanes+l]  = row_cmd;
      assign row_bank_o[g*Lanes+l] = row_bank;
      assign row_addr_o[g*Lanes+l] = row_addr;
      assign col_cmd_o[g*Lanes+l]  = col_cmd == ColWr && !on[l] ? ColNop : col_cmd;
      assign col_bank_o[g*Lanes+l] = col_bank;
      assign col_addr_o[g*Lanes+l] = col_addr;
    end
  end

  assign outstanding_o = reads || rmw_busy || rmw_rsp || order_count != '0 || order_valid || rd_rsp_valid_o != '0 || wr_put_q || wr_busy != '0;

  always_ff @(posedge clk_i) begin
    perf_o.rd_beat    <= rsp_pop;
    perf_o.wr_beat    <= wr_accept;
    perf_o.columns    <= 8'(Lanes) * (8'(rd_issue[0]) + 8'(rd_issue[1]) + 8'(wr_issue[0]) + 8'(wr_issue[1]));
    perf_o.activates  <= 8'(Lanes) * (8'(act_issue[0]) + 8'(act_issue[1]));
    perf_o.refreshing <= 8'(Lanes) * (8'(refresh[0]) + 8'(refresh[1]));
    if (!rst_ni) perf_o <= '0;
  end

  // Checks: legal parameters; clients hold a request until it is accepted; the write buffer's count agrees with its
  // valid bits; every accepted read has an entry in the order FIFO; the data of every buffered write is held.
  initial begin
    a_batch : assert (Batch == 1 << (BatchBits - 1));
    a_pcs : assert (HbmPcs >= 2 && HbmPcs % 2 == 0 && D == 1 << BeatShift && AddrBits >= BeatShift + BeatBits);
  end
  logic [NumRd-1:0]               rd_held_q;
  logic [NumWr-1:0]               wr_held_q;
  logic [NumRd-1:0][AddrBits-1:0] rd_addr_q;
  logic [NumWr-1:0][AddrBits-1:0] wr_addr_q;
  logic [NumRd-1:0]               rd_dropped;
  logic [NumWr-1:0]               wr_dropped;
  always_comb begin
    for (int unsigned i = 0; i < NumRd; i++) begin
      rd_dropped[i] = rd_held_q[i] && !(rd_valid_i[i] && rd_addr_i[i] == rd_addr_q[i]);
    end
    for (int unsigned i = 0; i < NumWr; i++) begin
      wr_dropped[i] = wr_held_q[i] && !(wr_valid_i[i] && wr_addr_i[i] == wr_addr_q[i]);
    end
  end
  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni ? rd_valid_i & ~rd_ready_o : '0;
    wr_held_q <= rst_ni ? wr_valid_i & ~wr_ready_o : '0;
    rd_addr_q <= rd_addr_i;
    wr_addr_q <= wr_addr_i;
    if (rst_ni) begin
      a_rd_hold : assert (rd_dropped == '0);
      a_wr_hold : assert (wr_dropped == '0);
      a_count : assert (buf_any == (buf_valid_q != '0) && buf_count_q <= (BufBits + 1)'(BufDepth));
      a_order : assert (!rd_accept || order_ready);
      a_empty : assert (wr_busy != '0 || !buf_any);
    end
  end
endmodule
