// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip's part of the network: router, four links (X+, X-, Y+, Y-) and the local port, by which the chip's cores send and receive.
// A core gives a WRITE or POST with its destination (send_*); what arrives for the chip comes out in order (recv_*), a POST after
// every WRITE that the same core sent before it to the same core with the same tie. Packets for a link that is down come back to their
// source as POISON, as long as there is room for it. LinkBytes a cycle and direction, FlitBytes a cycle at the local port.
// Docs: docs/link.md, which states the latencies. Test: tests/rtl/link/node_test.cc.

module systole_link_node
  import systole_link_pkg::*;
#(
    parameter int unsigned LinkBytes = 16,       // 4, 8, 16, 32 or 64
    parameter int unsigned FlitBytes = LinkBytes > SliceBytes ? LinkBytes : SliceBytes,  // 16 to 64: what the local port carries a cycle
    parameter int unsigned BufferFlits = 128,
    parameter int unsigned ReplayFlits = 128,
    parameter int unsigned Timeout = 2048,
    parameter int unsigned TrainTimeout = 65536,
    localparam int unsigned FlitBits = 8 * FlitBytes,
    localparam int unsigned LaneBits = 8 * LinkBytes / Lanes,
    localparam int unsigned ChipBits = IdentityBits - 2,
    localparam int unsigned Links = Ports - 1
) (
    input  logic                                         clk_i,
    input  logic                                         rst_ni,

    input  logic [CoordinateBits-1:0]                    x_i,         // of the chip; all four stay while packets are on their way
    input  logic [CoordinateBits-1:0]                    y_i,
    input  logic [CoordinateBits:0]                      columns_i,   // of the torus
    input  logic [CoordinateBits:0]                      rows_i,
    input  logic [Links-1:0]                             enable_i,    // low: the link is in reset
    input  logic [ChipBits-1:0]                          chip_i,      // number that the other ends of the links are told

    input  logic                                         send_valid_i,
    output logic                                         send_ready_o,
    input  send_t                                        send_head_i,  // with each flit of the packet
    input  logic                                         send_last_i,
    input  logic [FlitBits-1:0]                          send_data_i,

    output logic                                         recv_valid_o,
    input  logic                                         recv_ready_i,
    output head_t                                        recv_head_o,
    output logic                                         recv_last_o,
    output logic [FlitBits-1:0]                          recv_data_o,
    output logic [FlitBytes-1:0]                         recv_mask_o,

    output logic [Links-1:0]                             up_o,
    output logic [Links-1:0]                             down_o,      // a fault, until the reset or while enable_i is low
    output cause_e [Links-1:0]                           cause_o,
    output logic [Links-1:0]                             peer_known_o,
    output logic [Links-1:0][IdentityBits-1:0]           peer_o,      // who is at the other end of each link, if known
    output events_t [Links-1:0]                          events_o,

    output logic [Links-1:0][Lanes-1:0][LaneBits+1:0]    lanes_o,
    input  logic [Links-1:0][Lanes-1:0][LaneBits+1:0]    lanes_i
);
  // Sources of the local port: the core, and packets that links gave up, from the first link on.
  localparam int unsigned Sources = 1 + Links;
  localparam int unsigned SourceBits = $clog2(Sources);

  logic [Sources-1:0]               source_valid, source_ready, source_last;
  logic [Sources-1:0][FlitBits-1:0] source_data;
  logic                             middle_q, some, in_valid, in_ready, in_last;
  logic [SourceBits-1:0]            pick, pick_q, source;
  logic [FlitBits-1:0]              in_data;

  systole_link_pack #(.FlitBits(FlitBits)) u_pack (
      .clk_i, .rst_ni, .x_i, .y_i, .valid_i(send_valid_i), .ready_o(send_ready_o), .head_i(send_head_i), .last_i(send_last_i),
      .data_i(send_data_i), .valid_o(source_valid[0]), .ready_i(source_ready[0]), .last_o(source_last[0]), .data_o(source_data[0])
  );
  systole_link_arbiter #(.N(Sources)) u_source (
      .clk_i, .rst_ni, .request_i(source_valid), .take_i(in_ready && !middle_q), .valid_o(some), .pick_o(pick)
  );
  assign source   = middle_q ? pick_q : pick;
  assign in_valid = middle_q ? source_valid[pick_q] : some;
  assign in_last  = source_last[source];
  assign in_data  = source_data[source];
  always_comb for (int unsigned i = 0; i < Sources; i++) source_ready[i] = in_ready && in_valid && 32'(source) == i;
  always_ff @(posedge clk_i) begin
    if (in_valid && in_ready) pick_q <= source;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) middle_q <= 1'b0;
    else if (in_valid && in_ready) middle_q <= !in_last;
  end

  logic                                    out_valid, out_ready, out_last;
  logic [FlitBits-1:0]                     out_data;
  logic [Links-1:0][Vcs-1:0]               valid, ready, last, room, want;
  logic [Links-1:0][Vcs-1:0][FlitBits-1:0] data;
  logic [Links-1:0]                        push, push_vc, push_last;
  logic [Links-1:0][FlitBits-1:0]          push_data;
  systole_link_router #(.FlitBits(FlitBits)) u_router (
      .clk_i, .rst_ni, .x_i, .y_i, .columns_i, .rows_i,
      .send_valid_i(in_valid), .send_ready_o(in_ready), .send_last_i(in_last), .send_data_i(in_data),
      .recv_valid_o(out_valid), .recv_ready_i(out_ready), .recv_last_o(out_last), .recv_data_o(out_data),
      .valid_i(valid), .ready_o(ready), .last_i(last), .data_i(data), .room_i(room),
      .push_o(push), .vc_o(push_vc), .last_o(push_last), .data_o(push_data), .want_o(want)
  );
  systole_link_unpack #(.FlitBits(FlitBits)) u_unpack (
      .clk_i, .rst_ni, .valid_i(out_valid), .ready_o(out_ready), .last_i(out_last), .data_i(out_data),
      .valid_o(recv_valid_o), .ready_i(recv_ready_i), .head_o(recv_head_o), .last_o(recv_last_o), .data_o(recv_data_o),
      .mask_o(recv_mask_o)
  );

  for (genvar l = 0; l < Links; l++) begin : gen_link
    logic  poison_valid, lost;
    // verilator lint_off UNUSEDSIGNAL
    head_t poison_head;
    // verilator lint_on UNUSEDSIGNAL
    head_t back;
    systole_link #(
        .FlitBits(FlitBits), .LaneBits(LaneBits), .BufferFlits(BufferFlits), .ReplayFlits(ReplayFlits), .Timeout(Timeout),
        .TrainTimeout(TrainTimeout)
    ) u_link (
        .clk_i, .rst_ni, .enable_i(enable_i[l]), .identity_i({2'(l), chip_i}),
        .room_o(room[l]), .push_i(push[l]), .vc_i(push_vc[l]), .last_i(push_last[l]),
        .data_i(push_data[l]), .want_i(want[l]), .valid_o(valid[l]), .ready_i(ready[l]), .last_o(last[l]), .data_o(data[l]),
        .lanes_o(lanes_o[l]), .lanes_i(lanes_i[l]), .up_o(up_o[l]), .down_o(down_o[l]), .cause_o(cause_o[l]), .events_o(events_o[l]),
        .peer_known_o(peer_known_o[l]), .peer_o(peer_o[l]),
        .poison_valid_o(poison_valid), .poison_head_o(poison_head)
    );

    // A lost packet's source is told; a POISON that is lost is told to nobody. Where there is no room nothing waits: the link's
    // fault says it too.
    assign lost = poison_valid && poison_head.kind != KindPoison;
    always_comb begin
      back          = '0;
      back.kind     = KindPoison;
      back.tie      = poison_head.tie;
      back.dst_x    = poison_head.src_x;
      back.dst_y    = poison_head.src_y;
      back.dst_core = poison_head.src_core;
      back.src_x    = x_i;
      back.src_y    = y_i;
      back.address  = poison_head.address;
    end
    logic [HeadBits-1:0] told;
    systole_fifo #(.Width(HeadBits), .Depth(4)) u_lost (
        .clk_i, .rst_ni, .valid_i(lost),
        // verilator lint_off PINCONNECTEMPTY
        .ready_o(), .count_o(),
        // verilator lint_on PINCONNECTEMPTY
        .data_i(back), .valid_o(source_valid[1+l]), .ready_i(source_ready[1+l]), .data_o(told)
    );
    assign source_last[1+l] = 1'b1;
    assign source_data[1+l] = FlitBits'(told);
  end

  // Packets stay in the torus.
  always_ff @(posedge clk_i) begin
    if (rst_ni && send_valid_i) begin
      a_column : assert ({1'b0, send_head_i.dst_x} < columns_i);
      a_row : assert ({1'b0, send_head_i.dst_y} < rows_i);
    end
  end
endmodule
