// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Send unit: unified buffer to the network. It walks a descriptor as the store unit does, reads ahead by at most Depth beats, and
// makes packets of consecutive beats of a run, as long as packets may be; a post follows the descriptor's last packet. A packet
// begins when all of its beats are here, so what has begun is always completed, also after a freeze. Throughput: a flit a cycle, and
// in the last cycle of a packet none. A descriptor is complete when the network has accepted its last packet.
// Docs: docs/dma.md, docs/link.md. Test: tests/rtl/dma.

module systole_dma_send
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_link_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_bus_pkg::torus_t;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMinichip),
    parameter int unsigned FlitBytes = 16,
    parameter int unsigned Depth = 16,           // beats between unified buffer and network, and packets; at least those of two packets
    localparam int unsigned D = beat_bytes(Cfg),
    localparam int unsigned FlitBits = 8 * FlitBytes
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,
    input  logic                  core_i,      // number of this core
    // verilator lint_off UNUSEDSIGNAL
    input  torus_t                torus_i,     // its size, which stays while a program runs
    // verilator lint_on UNUSEDSIGNAL
    input  logic [AddrBits-1:0]   base_i,      // memory accesses begin at or above and end at or below; of any core's memory
    input  logic [AddrBits:0]     end_i,

    // Unit interface (docs/design.md).
    // verilator lint_off UNUSEDSIGNAL
    input  unit_req_t             req_i,
    // verilator lint_on UNUSEDSIGNAL
    output unit_rsp_t             rsp_o,
    output logic                  busy_o,      // packets wait or are being sent; a freeze does not keep them

    // Unified buffer.
    output logic                  ub_valid_o,
    input  logic                  ub_ready_i,
    output logic [UbAddrBits-1:0] ub_addr_o,
    input  logic                  ub_rsp_valid_i,
    input  logic [D*8-1:0]        ub_data_i,

    // Network. The head holds with each flit of its packet.
    output logic                  send_valid_o,
    input  logic                  send_ready_i,
    output send_t                 send_head_o,
    output logic                  send_last_o,
    output logic [FlitBits-1:0]   send_data_o
);
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned BeatFlits = D / FlitBytes;
  localparam int unsigned FlitShift = $clog2(FlitBytes);
  localparam int unsigned IndexBits = BeatFlits > 1 ? $clog2(BeatFlits) : 1;
  localparam int unsigned PacketBeats = PayloadFlits / BeatFlits;  // at most
  localparam int unsigned BeatsBits = $clog2(PacketBeats + 1);
  localparam logic [$clog2(NumFlags)-1:0] FirstFlag = ($clog2(NumFlags))'(NumFlags - PeerFlags - LinkFlags);

  // Where a descriptor's packets go.
  typedef struct packed {
    logic                         post;
    logic [$clog2(LinkFlags)-1:0] flag;
    logic                         core;
    logic [CoordinateBits-1:0]    y;
    logic [CoordinateBits-1:0]    x;
    logic                         tie;
  } way_t;

  // verilator lint_off UNUSEDSIGNAL
  send_desc_t d;  // the walk looks at the rest
  // verilator lint_on UNUSEDSIGNAL
  logic       empty, outside;
  way_t       start_way, way;
  assign d         = send_desc_t'(req_i.desc);
  assign empty     = d.flags[FlagSendEmpty];
  assign outside   = {1'b0, d.dst_x} >= torus_i.columns || {1'b0, d.dst_y} >= torus_i.rows;
  assign start_way = '{post: d.flags[FlagSendLinkPost], flag: d.link_flag, core: d.dst_core, y: d.dst_y, x: d.dst_x,
                       tie: d.flags[FlagSendNegative]};

  // Signals of the unit to its queue.
  logic                unit_done, unit_progress, walk_fault, walk_ready;
  fault_e              walk_code;
  logic [AddrBits-1:0] walk_addr;

  // A descriptor without data is a packet entry of its own, behind those of the descriptors before it. Whether it is legal is checked
  // a cycle before it may start; it stays the next one meanwhile.
  logic empty_ok_q, empty_bad_q, empty_take, empty_room, empty_fault_q, stopped_q;
  assign rsp_o = '{
      ready: empty ? empty_ok_q && !freeze_i : walk_ready, done: unit_done, progress: unit_progress, fault: walk_fault || empty_fault_q,
      code: empty_fault_q ? FaultIllegalDescriptor : walk_code, addr: empty_fault_q ? '0 : walk_addr, newest: 1'b1};
  assign empty_take = req_i.valid && empty && empty_ok_q && !freeze_i;

  logic                        beat_valid, beat_ready, beat_end, beat_last, walk_idle;
  logic [AddrBits-Shift-1:0]   beat_hbm;
  logic [UbAddrBits-Shift-1:0] beat_ub;
  logic [Shift-1:0]            beat_tail;
  systole_dma_walk #(.D(D), .UbBytes(Cfg.UbBytes), .TagBits($bits(way_t))) u_walk (
      .clk_i, .rst_ni, .freeze_i(freeze_i || stopped_q), .hbm_base_i(base_i), .hbm_end_i(end_i),
      .start_valid_i(req_i.valid && !empty), .start_ready_o(walk_ready), .start_desc_i(req_i.desc), .start_tag_i(start_way),
      .start_illegal_i(outside), .index_ready_i(1'b0), .index_rsp_valid_i(1'b0), .index_data_i('0),
      .fault_valid_o(walk_fault), .fault_code_o(walk_code), .fault_addr_o(walk_addr),
      .beat_valid_o(beat_valid), .beat_ready_i(beat_ready), .beat_hbm_o(beat_hbm), .beat_ub_o(beat_ub), .beat_tail_o(beat_tail),
      // verilator lint_off PINCONNECTEMPTY
      .start_indexed_o(), .index_valid_o(), .index_addr_o(),
      // verilator lint_on PINCONNECTEMPTY
      .beat_end_o(beat_end), .beat_last_o(beat_last), .beat_tag_o(way), .idle_o(walk_idle)
  );

  // A beat is read when there is an entry for its data.
  logic                        take, give, credit, all_back, data_room, ub_room, asked_q, moved_q;
  logic [UbAddrBits-Shift-1:0] ub_beat;
  logic [$clog2(Depth+1)-1:0]  credits, beats;
  assign beat_ready = credit && ub_room && empty_room;
  assign take       = beat_valid && beat_ready;
  assign ub_addr_o  = {ub_beat, {Shift{1'b0}}};
  systole_skid #(.Width(UbAddrBits - Shift)) u_request (
      .clk_i, .rst_ni, .valid_i(beat_valid && credit && empty_room), .ready_o(ub_room), .data_i(beat_ub),
      .valid_o(ub_valid_o), .ready_i(ub_ready_i), .data_o(ub_beat)
  );
  systole_credit #(.Credits(Depth)) u_credit (
      .clk_i, .rst_ni, .take_i(take), .give_i(give), .avail_o(credit), .idle_o(all_back), .count_o(credits)
  );
  logic           data_valid;
  logic [D*8-1:0] data;
  systole_fifo #(.Width(D * 8), .Depth(Depth)) u_data (
      .clk_i, .rst_ni, .valid_i(ub_rsp_valid_i), .ready_o(data_room), .data_i(ub_data_i),
      .valid_o(data_valid), .ready_i(give), .data_o(data), .count_o(beats)
  );

  // Packets: consecutive beats of a run. An entry is made with a packet's last beat.
  typedef struct packed {
    way_t                      way;      // post: a post follows
    logic                      last;     // of its descriptor
    logic [AddrBits-Shift-1:0] addr;     // in beats
    logic [LengthBits-1:0]     length;   // 0: only the post, if any
    logic [BeatsBits-1:0]      beats;
  } packet_t;
  logic                       packet_in, packet_valid, packet_out, close;
  packet_t                    made, packet;
  logic [BeatsBits-1:0]       run_q;        // beats of the open packet
  logic [AddrBits-Shift-1:0]  first_q;
  logic [$clog2(Depth+1)-1:0] packets;
  assign close = beat_end || run_q == BeatsBits'(PacketBeats - 1);
  always_comb begin
    made        = '0;
    made.way    = empty_take ? start_way : way;
    made.last   = empty_take || beat_last;
    made.addr   = run_q == '0 ? beat_hbm : first_q;
    made.beats  = empty_take ? '0 : run_q + 1'b1;
    made.length = empty_take ? '0
                  : ((LengthBits'(run_q) + LengthBits'(beat_tail == '0)) << Shift) + LengthBits'(beat_tail);
    if (!made.last) made.way.post = 1'b0;
  end
  assign packet_in = (take && close) || (empty_take && !empty_bad_q);
  systole_fifo #(.Width($bits(packet_t)), .Depth(Depth)) u_packets (
      .clk_i, .rst_ni, .valid_i(packet_in), .ready_o(empty_room), .data_i(made),
      .valid_o(packet_valid), .ready_i(packet_out), .data_o(packet), .count_o(packets)
  );

  always_ff @(posedge clk_i) begin
    if (take && run_q == '0) first_q <= beat_hbm;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q         <= '0;
      empty_ok_q    <= 1'b0;
      empty_bad_q   <= 1'b0;
      empty_fault_q <= 1'b0;
      stopped_q     <= 1'b0;
      asked_q       <= 1'b0;
    end else begin
      if (take) run_q <= close ? '0 : run_q + 1'b1;
      empty_bad_q <= outside || !d.flags[FlagSendLinkPost] || {d.len, d.n1, d.n2} != '0
                     || {d.hbm_addr, d.ub_addr, d.hbm_stride1, d.ub_stride1, d.hbm_stride2, d.ub_stride2} != '0;
      // The descriptor has been the next one for a cycle, and everything before it is in the list of packets.
      empty_ok_q    <= req_i.peek && empty && walk_idle && packets < ($clog2(Depth + 1))'(Depth - 1) && !freeze_i && !stopped_q && !empty_take;
      empty_fault_q <= empty_take && empty_bad_q;
      if (walk_fault || (empty_take && empty_bad_q)) stopped_q <= 1'b1;
      asked_q <= ub_valid_o && !ub_ready_i;
    end
  end

  // The packet that leaves: its flits, then its post.
  logic                 begun_q, posting_q, out_valid, out_ready, out_last, whole;
  logic [IndexBits-1:0] index_q;
  logic [LengthBits-1:0] sent_q;  // bytes of the packet in earlier flits
  send_t                out_head;
  logic [FlitBits-1:0]  flit;
  logic                 flit_last, beat_done, only_post;
  assign only_post = packet.length == '0;
  assign whole     = begun_q || beats >= ($clog2(Depth + 1))'(packet.beats);
  assign flit      = data[32'(index_q)*FlitBits+:FlitBits];
  assign flit_last = 32'(packet.length) - 32'(sent_q) <= FlitBytes;
  assign beat_done = flit_last || 32'(index_q) == BeatFlits - 1;
  assign out_valid = packet_valid && whole;
  assign out_last  = only_post || posting_q || flit_last;
  always_comb begin
    out_head          = '0;
    out_head.kind     = only_post || posting_q ? KindPost : KindWrite;
    out_head.tie      = packet.way.tie;
    out_head.length   = only_post || posting_q ? '0 : packet.length;
    out_head.dst_x    = packet.way.x;
    out_head.dst_y    = packet.way.y;
    out_head.dst_core = packet.way.core;
    out_head.src_core = core_i;
    out_head.address  = only_post || posting_q ? AddressBits'(FirstFlag) + AddressBits'(packet.way.flag) : {packet.addr, {Shift{1'b0}}};
  end
  logic step, written, finish;  // finish: of a descriptor, with its last flit at the network
  assign step       = out_valid && out_ready;
  assign written    = step && !only_post && !posting_q;  // a flit of data
  assign give       = written && beat_done;
  assign packet_out = step && (only_post || posting_q || (flit_last && !packet.way.post));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q   <= 1'b0;
      posting_q <= 1'b0;
      index_q   <= '0;
      sent_q    <= '0;
      unit_done <= 1'b0;
      moved_q   <= 1'b0;
    end else begin
      if (step) begun_q <= !packet_out;
      if (step) posting_q <= !packet_out && (posting_q || flit_last);
      if (written) begin
        index_q <= beat_done ? '0 : index_q + 1'b1;
        sent_q  <= flit_last ? '0 : sent_q + LengthBits'(FlitBytes);
      end
      unit_done <= send_valid_o && send_ready_i && finish;
      moved_q   <= step;
    end
  end
  systole_skid #(.Width($bits(send_t) + 2 + FlitBits)) u_out (
      .clk_i, .rst_ni, .valid_i(out_valid), .ready_o(out_ready), .data_i({packet_out && packet.last, out_head, out_last, flit}),
      .valid_o(send_valid_o), .ready_i(send_ready_i), .data_o({finish, send_head_o, send_last_o, send_data_o})
  );
  assign busy_o        = packet_valid || send_valid_o;
  assign unit_progress = (ub_valid_o && !asked_q) || moved_q;

  // Every beat has room, and every packet its data; packets fit; what is offered holds.
  logic  held_q;
  send_t head_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && send_valid_o && !send_ready_i;
    head_q <= send_head_o;
    if (rst_ni) begin
      a_room : assert (!ub_rsp_valid_i || data_room);
      a_entry : assert (!packet_in || empty_room);
      a_answer : assert (!ub_rsp_valid_i || !all_back);
      a_credits : assert (32'(credits) + 32'(beats) <= Depth);
      a_data : assert (!written || data_valid);
      a_length : assert (!packet_in || 32'(made.length) <= PayloadFlits * FlitBytes);
      a_holds : assert (!held_q || (send_valid_o && send_head_o == head_q));
      a_one : assert (!(take && empty_take));
    end
  end
  initial a_depth : assert (Depth >= 2 * PacketBeats && D == BeatFlits * FlitBytes && (1 << FlitShift) == FlitBytes);
endmodule
