// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_link (verif/formal/link.py). Link a sends packets of one or two flits to link b, each of which is
// chosen while the last flit of the one before passes, or later. The wires of both directions may lose or corrupt any
// flit, and may put either end into training at any time. Lanes, training and CRC are the stubs of
// verif/formal/link_stubs. The address of a packet counts the packets of its virtual channel. The outputs must never be
// high:
//   once_o    b delivers a packet that is not the next one of its channel, or not whole, or corrupt
//   credit_o  more flits of a channel are in flight than b has entries

module systole_link_props
  import systole_link_pkg::*;
(
    input  logic       clk_i,
    input  logic       choose_i, push_i, vc_i, two_i,
    input  logic [1:0] ready_i,
    input  logic [1:0] lose_i, spoil_i, start_i, train_i,      // one bit per direction: a to b, b to a
    input  logic [5:0] change_i,
    output logic       once_o, credit_o
);
  localparam int unsigned FlitBits = 128;
  localparam int unsigned Buffer = 4;
  typedef logic [1:0] count_t;
  logic rst_q, busy_q, second_q, vc_q, start, push, vc, last;
  initial {rst_q, busy_q, second_q} = '0;

  logic [1:0]                        room, valid, lasts, first_q;
  logic [1:0][FlitBits-1:0]          out;
  logic [Lanes-1:0][33:0]            a_out, b_out;
  logic [1:0][Lanes-1:0][33:0]       wire_q;
  head_t                             head;
  count_t [1:0]                      pushed_q, popped_q;
  logic [1:0][4:0]                   in_q;       // flits of each channel that entered a and have not left b

  assign vc    = vc_q;
  assign push  = rst_q && push_i && busy_q;
  assign last  = second_q || !two_i;
  assign start = rst_q && choose_i && room[vc_i] && (!busy_q || (push && last));
  always_comb begin
    head         = '0;
    head.kind    = two_i ? KindWrite : KindPost;
    head.vc      = vc;
    head.length  = two_i ? LengthBits'(16) : '0;
    head.address = AddressBits'(pushed_q[vc]);
  end
  systole_link #(.BufferFlits(Buffer), .ReplayFlits(4), .Timeout(12)) u_a (
      .clk_i, .rst_ni(rst_q), .enable_i(1'b1), .identity_i('0), .room_o(room), .push_i(push), .vc_i(vc), .last_i(last),
      .data_i(second_q ? '0 : FlitBits'(head)), .want_i('0), .valid_o(), .ready_i('1), .last_o(), .data_o(),
      .lanes_o(a_out), .lanes_i(wire_q[1]), .up_o(), .down_o(), .cause_o(), .peer_known_o(), .peer_o(), .events_o(), .poison_valid_o(), .poison_head_o()
  );
  systole_link #(.BufferFlits(Buffer), .ReplayFlits(4), .Timeout(12)) u_b (
      .clk_i, .rst_ni(rst_q), .enable_i(1'b1), .identity_i('0), .room_o(), .push_i(1'b0), .vc_i(1'b0), .last_i(1'b0),
      .data_i('0), .want_i('0), .valid_o(valid), .ready_i, .last_o(lasts), .data_o(out),
      .lanes_o(b_out), .lanes_i(wire_q[0]), .up_o(), .down_o(), .cause_o(), .peer_known_o(), .peer_o(), .events_o(), .poison_valid_o(), .poison_head_o()
  );

  // Wires.
  for (genvar d = 0; d < 2; d++) begin : gen_wire
    logic [Lanes-1:0][33:0] through;
    always_comb begin
      through = d == 0 ? a_out : b_out;
      if (spoil_i[d]) begin
        through[3][31]     = 1'b1;                                  // what the CRC detects
        through[0][3:0]    = through[0][3:0] ^ change_i[3:0];       // kind and channel
        through[0][9]      = through[0][9] ^ change_i[4];           // length
        through[2][10]     = through[2][10] ^ change_i[5];          // number
        through[0][33:32]  = start_i[d] ? TagStart : TagData;
      end
      if (lose_i[d] || !rst_q) through[0][33:32] = TagQuiet;
      through[3][33:32] = train_i[d] ? TagTrain : TagData;
    end
    always_ff @(posedge clk_i) wire_q[d] <= through;
  end

  logic [1:0] pop;
  assign pop = {2{rst_q}} & valid & ready_i;
  always_ff @(posedge clk_i) begin
    rst_q <= 1'b1;
    if (!rst_q) begin
      {busy_q, second_q, vc_q, pushed_q, popped_q, in_q} <= '0;
      first_q <= '1;
    end else begin
      if (start) begin
        busy_q <= 1'b1;
        vc_q   <= vc_i;
      end else if (push && last) begin
        busy_q <= 1'b0;
      end
      if (push) begin
        second_q <= !last;
        if (last) pushed_q[vc] <= pushed_q[vc] + 1'b1;
      end
      for (int unsigned v = 0; v < 2; v++) begin
        if (pop[v]) first_q[v] <= lasts[v];
        if (pop[v] && lasts[v]) popped_q[v] <= popped_q[v] + 1'b1;
        in_q[v] <= in_q[v] + 5'(push && 32'(vc) == v) - 5'(pop[v]);
      end
    end
  end

  head_t [1:0] came;
  assign came = {head_t'(out[1][HeadBits-1:0]), head_t'(out[0][HeadBits-1:0])};
  always_comb begin
    once_o   = 1'b0;
    credit_o = 1'b0;
    for (int unsigned v = 0; v < 2; v++) begin
      if (pop[v] && (out[v][FlitBits-1] || (first_q[v] && (count_t'(came[v].address) != popped_q[v] || 32'(came[v].vc) != v)) ||
                     (first_q[v] && lasts[v] != (came[v].kind == KindPost)) || (!first_q[v] && !lasts[v]))) once_o = 1'b1;
      if (rst_q && 32'(in_q[v]) > Buffer + 1) credit_o = 1'b1;
    end
  end
endmodule
