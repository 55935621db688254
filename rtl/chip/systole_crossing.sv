// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Connects a core of a two-core chip to both memories, and carries its posts to the other core. Requests to its own memory pass
// without delay. Requests to the other memory share one client there. A client has reads in flight in only one memory at a
// time, so its responses come in order. Writes that cross keep their order, and reads and posts stay behind the writes accepted
// before them. Throughput: one beat a cycle each way. Latency: a read takes 3 cycles more than a read by the other core itself.
// Docs: docs/chip.md. Test: tests/rtl/chip.

module systole_crossing
  import systole_presets_pkg::AddrBits;
  import systole_isa_pkg::PeerFlags;
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 32,         // bytes of a beat
    parameter int unsigned MemBits = 30,   // address bits of a core's memory; the next bit selects the memory
    parameter int unsigned Rds = NumRd,    // number of clients
    parameter int unsigned Wrs = NumWr,
    parameter logic [Rds-1:0][7:0] Reads = {Rds{StreamBurst}},  // beats of a client's turn
    parameter logic [Wrs-1:0][7:0] Writes = {Wrs{StreamBurst}}
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,

    // The core's clients. A client cannot stall a response. With rd_rsp_far_o, the data are on far_rd_data_o.
    input  logic [Rds-1:0]                 rd_valid_i,
    output logic [Rds-1:0]                 rd_ready_o,
    input  logic [Rds-1:0][AddrBits-1:0]   rd_addr_i,
    output logic [Rds-1:0]                 rd_rsp_valid_o,
    output logic [Rds-1:0]                 rd_rsp_far_o,
    output logic [D*8-1:0]                 far_rd_data_o,
    input  logic [Wrs-1:0]                 wr_valid_i,
    output logic [Wrs-1:0]                 wr_ready_o,
    input  logic [Wrs-1:0][AddrBits-1:0]   wr_addr_i,
    input  logic [Wrs-1:0][D*8-1:0]        wr_data_i,
    input  logic [Wrs-1:0][D-1:0]          wr_mask_i,
    output logic                           outstanding_o,  // reads have no response yet, or writes are crossing
    output logic                           crossing_o,     // writes are crossing

    // The core's own memory. Only the handshakes pass through here, one bit per client; the other signals go there directly.
    output logic [Rds-1:0]                 own_rd_valid_o,
    input  logic [Rds-1:0]                 own_rd_ready_i,
    input  logic [Rds-1:0]                 own_rd_rsp_valid_i,
    output logic [Wrs-1:0]                 own_wr_valid_o,
    input  logic [Wrs-1:0]                 own_wr_ready_i,

    // The other core's memory.
    output client_req_t                    far_req_o,
    output logic [D*8-1:0]                 far_wr_data_o,
    output logic [D-1:0]                   far_wr_mask_o,
    input  client_rsp_t                    far_rsp_i,
    input  logic [D*8-1:0]                 far_rd_data_i,

    // Posts to the other core's sync flags: posts that wait in this core, that leave it, and that arrive in the other core.
    input  logic [PeerFlags-1:0]           posted_i,
    output logic [PeerFlags-1:0]           post_take_o,
    output logic [PeerFlags-1:0]           post_o
);
  localparam int unsigned RdBits = Rds > 1 ? $clog2(Rds) : 1;
  localparam int unsigned WrBits = Wrs > 1 ? $clog2(Wrs) : 1;
  localparam int unsigned CountBits = 10;   // of the count of a client's reads in flight
  localparam int unsigned FarReads = 128;   // reads in flight, enough to cover the other memory's latency
  localparam int unsigned WritesBits = 2;   // of the count of writes that cross, at most two
  typedef logic [WritesBits-1:0] writes_t;

  logic hold_rd, hold_wr;
  systole_prim_hold #(.Streams(2)) u_hold (.clk_i, .hold_o({hold_wr, hold_rd}));

  // Reads. A client may request a memory only while it has no reads in flight in the other one. place_q is the memory of its
  // reads in flight.
  logic [Rds-1:0]                rd_far, rd_go, rd_far_ready, rd_accept, busy_q, place_q, far_rsp_q;
  logic [Rds-1:0][CountBits-1:0] count_q;

  for (genvar r = 0; r < Rds; r++) begin : gen_read
    logic [CountBits-1:0] count;
    assign rd_far[r]    = rd_addr_i[r][MemBits];
    assign rd_go[r]     = rd_valid_i[r] && (!busy_q[r] || place_q[r] == rd_far[r]);
    assign rd_accept[r] = rd_go[r] && (rd_far[r] ? rd_far_ready[r] : own_rd_ready_i[r]);
    assign count        = count_q[r] + CountBits'(rd_accept[r]) - CountBits'(rd_rsp_valid_o[r]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q[r] <= '0;
        busy_q[r]  <= 1'b0;
      end else begin
        count_q[r] <= count;
        busy_q[r]  <= count != '0;
      end
      if (rd_accept[r]) place_q[r] <= rd_far[r];
    end
  end
  assign own_rd_valid_o = rd_go & ~rd_far;
  assign rd_ready_o     = rd_accept;

  // Writes that cross.
  logic [Wrs-1:0]      wr_far, wr_far_ready;
  logic                wr_any, wr_room, wr_place, wr_in, wr_out;
  logic [WrBits-1:0]   wr_idx;
  logic [MemBits-1:0]  wr_out_addr, rd_out_addr;
  writes_t             writes_q, writes_before;  // writes not yet in the other memory; those of them that remain after this cycle

  for (genvar w = 0; w < Wrs; w++) begin : gen_write
    assign wr_far[w]       = wr_addr_i[w][MemBits];
    assign wr_far_ready[w] = wr_idx == WrBits'(w) && wr_room;
  end
  assign own_wr_valid_o = wr_valid_i & ~wr_far;
  assign wr_ready_o     = (wr_far & wr_valid_i & wr_far_ready) | (~wr_far & own_wr_ready_i);

  systole_hbm_arb #(.N(Wrs), .Burst(Writes)) u_wr_arb (
      .clk_i, .rst_ni, .req_i(wr_valid_i & wr_far), .any_o(wr_any), .idx_o(wr_idx), .accept_i(wr_in)
  );
  assign wr_room = wr_place && !hold_wr;
  assign wr_in   = wr_any && wr_room;
  systole_skid #(.Width(MemBits + D * 9)) u_wr (
      .clk_i, .rst_ni,
      .valid_i(wr_in), .ready_o(wr_place), .data_i({wr_mask_i[wr_idx], wr_data_i[wr_idx], wr_addr_i[wr_idx][MemBits-1:0]}),
      .valid_o(far_req_o.wr_valid), .ready_i(far_rsp_i.wr_ready), .data_o({far_wr_mask_o, far_wr_data_o, wr_out_addr})
  );
  assign far_req_o.wr_addr = AddrBits'(wr_out_addr);
  assign far_req_o.rd_addr = AddrBits'(rd_out_addr);
  assign wr_out            = far_req_o.wr_valid && far_rsp_i.wr_ready;
  assign writes_before     = writes_q - writes_t'(wr_out);
  assign crossing_o        = writes_q != '0;
  always_ff @(posedge clk_i) writes_q <= rst_ni ? writes_before + writes_t'(wr_in) : '0;

  // Number of writes that are still ahead of a read or a post after this cycle. Writes leave one at a time.
  function automatic writes_t after(writes_t behind, logic out);
    return behind != '0 && out ? behind - 1'b1 : behind;
  endfunction

  // Reads that cross, in stages: arbitration | stall until the writes ahead have left | skid buffer to the other memory.
  logic               rd_any, rd_room, rd_valid_q, rd_pass, order_room, on_room;
  logic [RdBits-1:0]  rd_idx, rd_client_q;
  logic [MemBits-1:0] rd_addr_q;
  writes_t            rd_behind_q;

  systole_hbm_arb #(.N(Rds), .Burst(Reads)) u_rd_arb (
      .clk_i, .rst_ni, .req_i(rd_go & rd_far), .any_o(rd_any), .idx_o(rd_idx), .accept_i(rd_any && rd_room)
  );
  for (genvar r = 0; r < Rds; r++) begin : gen_far_ready
    assign rd_far_ready[r] = rd_idx == RdBits'(r) && rd_room;
  end
  assign rd_pass = rd_valid_q && rd_behind_q == '0 && order_room && on_room && !hold_rd;
  assign rd_room = !rd_valid_q || rd_pass;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) rd_valid_q <= 1'b0;
    else if (rd_room) rd_valid_q <= rd_any;
    rd_behind_q <= rd_room ? writes_before : after(rd_behind_q, wr_out);
    if (rd_room) begin
      rd_client_q <= rd_idx;
      rd_addr_q   <= rd_addr_i[rd_idx][MemBits-1:0];
    end
  end
  systole_skid #(.Width(MemBits)) u_rd (
      .clk_i, .rst_ni,
      .valid_i(rd_pass), .ready_o(on_room), .data_i(rd_addr_q),
      .valid_o(far_req_o.rd_valid), .ready_i(far_rsp_i.rd_ready), .data_o(rd_out_addr)
  );

  // Responses to the reads that cross.
  logic                            order_valid;
  logic [RdBits-1:0]               order_client;
  logic [$clog2(FarReads+1)-1:0]   order_count;
  systole_fifo #(.Width(RdBits), .Depth(FarReads)) u_order (
      .clk_i, .rst_ni,
      .valid_i(rd_pass), .ready_o(order_room), .data_i(rd_client_q),
      .valid_o(order_valid), .ready_i(far_rsp_i.rd_rsp_valid), .data_o(order_client), .count_o(order_count)
  );
  always_ff @(posedge clk_i) begin
    far_rsp_q <= '0;
    if (rst_ni && far_rsp_i.rd_rsp_valid) far_rsp_q[order_client] <= 1'b1;
    if (far_rsp_i.rd_rsp_valid) far_rd_data_o <= far_rd_data_i;
  end
  assign rd_rsp_far_o   = far_rsp_q;
  assign rd_rsp_valid_o = own_rd_rsp_valid_i | far_rsp_q;
  assign outstanding_o  = busy_q != '0 || writes_q != '0;

  // Posts: at most one to each flag crosses at a time.
  logic [PeerFlags-1:0] post_q;
  writes_t              post_behind_q;
  assign post_take_o = post_q == '0 ? posted_i : '0;
  always_ff @(posedge clk_i) begin
    post_o <= rst_ni && post_behind_q == '0 ? post_q : '0;
    if (!rst_ni) post_q <= '0;
    else if (post_q == '0) post_q <= posted_i;
    else if (post_behind_q == '0) post_q <= '0;
    post_behind_q <= post_q == '0 ? writes_before : after(post_behind_q, wr_out);
  end

  // Checks: a client's count of reads does not overflow; a client has reads in only one memory; each response belongs to a
  // read; the count of writes that cross is right.
  initial a_burst : assert (MemBits < AddrBits);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_both : assert ((own_rd_rsp_valid_i & far_rsp_q) == '0);
      a_answer : assert (!far_rsp_i.rd_rsp_valid || order_valid);
      a_writes : assert (writes_q <= writes_t'(2) && (far_req_o.wr_valid == (writes_q != '0)));
      a_order : assert (32'(order_count) <= FarReads);
      for (int unsigned r = 0; r < Rds; r++) begin
        a_count : assert (!rd_rsp_valid_o[r] || count_q[r] != '0);
        a_full : assert (count_q[r] != '1);
        a_place : assert (!rd_rsp_valid_o[r] || place_q[r] == far_rsp_q[r]);
      end
    end
  end
endmodule
