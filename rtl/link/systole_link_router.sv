// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Router of a chip: four links and the local port. A packet leaves as its flits come (cut-through), through an output that nothing else
// uses until its last flit has passed; its output has room for all of it before it begins. Each output serves its virtual channels in
// turn, and of a channel its inputs in turn. Inputs are the local port and each virtual channel of each link. Packets of an input that
// take the same way keep their order. Rate: a flit a cycle and output, also from packet to packet. Latency: three cycles.
// Docs: docs/link.md. Test: tests/rtl/link/router_test.cc. Proofs: verif/formal/link.py (arbiter), route_test.cc (no cycle).

module systole_link_router
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    localparam int unsigned Links = Ports - 1
) (
    input  logic                                       clk_i,
    input  logic                                       rst_ni,

    input  logic [CoordinateBits-1:0]                  x_i,
    input  logic [CoordinateBits-1:0]                  y_i,
    input  logic [CoordinateBits:0]                    columns_i,
    input  logic [CoordinateBits:0]                    rows_i,

    // From and to the local port.
    input  logic                                       send_valid_i,
    output logic                                       send_ready_o,
    input  logic                                       send_last_i,
    input  logic [FlitBits-1:0]                        send_data_i,
    output logic                                       recv_valid_o,
    input  logic                                       recv_ready_i,
    output logic                                       recv_last_o,
    output logic [FlitBits-1:0]                        recv_data_o,

    // From and to the links: X+, X-, Y+, Y-.
    input  logic [Links-1:0][Vcs-1:0]                  valid_i,
    output logic [Links-1:0][Vcs-1:0]                  ready_o,
    input  logic [Links-1:0][Vcs-1:0]                  last_i,
    input  logic [Links-1:0][Vcs-1:0][FlitBits-1:0]    data_i,
    input  logic [Links-1:0][Vcs-1:0]                  room_i,
    output logic [Links-1:0]                           push_o,
    output logic [Links-1:0]                           vc_o,
    output logic [Links-1:0]                           last_o,
    output logic [Links-1:0][FlitBits-1:0]             data_o,
    output logic [Links-1:0][Vcs-1:0]                  want_o     // a packet waits for room
);
  localparam int unsigned Inputs = 1 + Links * Vcs;
  localparam int unsigned InputBits = $clog2(Inputs);

  // The port of an input.
  function automatic int unsigned port_of(int unsigned i);
    return (i + 1) / Vcs;
  endfunction
  // Whether dimension order ever leads from an input to an output: not back, and not from Y to X.
  function automatic logic leads(int unsigned i, int unsigned o);
    automatic int unsigned p = port_of(i);
    return p == 0 || o == 0 || (p != o && !(p >= 3 && o <= 2));
  endfunction

  // Inputs: three flits of each, the last one (2) leaves. A packet's flits carry its way; its head asks for it from the first place on,
  // when the packet before it has begun to leave: so that the output is its own when it comes to the last place.
  logic [Inputs-1:0]               in_valid, in_ready, in_last, head_q, ask_q, won_q, begun, go, in_vc;
  logic [Inputs-1:0][2:0]          in_port;
  logic [Inputs-1:0][FlitBits-1:0] in_data;
  logic [Inputs-1:0][2:0]          full_q, last_q;
  logic [Inputs-1:0][2:0][2:0]     port_q;
  logic [Inputs-1:0]               vc_q;      // that the packet in the first place asks for
  logic [Inputs-1:0][FlitBits-1:0] data0_q, data1_q, data2_q;
  assign in_valid     = {valid_i, send_valid_i};
  assign in_last      = {last_i, send_last_i};
  assign in_data      = {data_i, send_data_i};
  assign ready_o      = in_ready[Inputs-1:1];
  assign send_ready_o = in_ready[0];

  for (genvar i = 0; i < Inputs; i++) begin : gen_input
    // verilator lint_off UNUSEDSIGNAL
    head_t head;
    // verilator lint_on UNUSEDSIGNAL
    logic  move0, move1, move2;
    assign head        = head_t'(in_data[i][HeadBits-1:0]);
    systole_link_route u_route (
        .x_i, .y_i, .columns_i, .rows_i, .from_i(3'(port_of(i))), .vc_i(head.vc), .dst_x_i(head.dst_x), .dst_y_i(head.dst_y),
        .tie_i(head.tie), .port_o(in_port[i]), .vc_o(in_vc[i])
    );
    assign move2       = !full_q[i][2] || go[i];
    assign move1       = !full_q[i][1] || move2;
    assign move0       = !full_q[i][0] || move1;
    assign in_ready[i] = move0 && !(head_q[i] && ask_q[i]);
    always_ff @(posedge clk_i) begin
      if (move0) data0_q[i] <= in_data[i];
      if (move1) data1_q[i] <= data0_q[i];
      if (move2) data2_q[i] <= data1_q[i];
      if (move0) last_q[i][0] <= in_last[i];
      if (move1) {last_q[i][1], port_q[i][1]} <= {last_q[i][0], port_q[i][0]};
      if (move2) {last_q[i][2], port_q[i][2]} <= {last_q[i][1], port_q[i][1]};
      if (in_ready[i] && in_valid[i] && head_q[i]) {vc_q[i], port_q[i][0]} <= {in_vc[i], in_port[i]};
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        full_q[i] <= '0;
        head_q[i] <= 1'b1;
        ask_q[i]  <= 1'b0;
      end else begin
        if (move0) full_q[i][0] <= in_valid[i] && in_ready[i];
        if (move1) full_q[i][1] <= full_q[i][0];
        if (move2) full_q[i][2] <= full_q[i][1];
        if (in_valid[i] && in_ready[i]) head_q[i] <= in_last[i];
        if (in_valid[i] && in_ready[i] && head_q[i]) ask_q[i] <= 1'b1;
        else if (begun[i]) ask_q[i] <= 1'b0;
      end
    end
  end

  // Outputs: of each virtual channel an input that is next.
  logic [Ports-1:0]                         busy_q, out_vc_q, start, turn_q, pass, ends, out_ready, first_q;
  logic [Ports-1:0][InputBits-1:0]          from_q, from_d;
  logic [Ports-1:0][Vcs-1:0]                room, next_q, some;
  logic [Ports-1:0][Vcs-1:0][Inputs-1:0]    request;
  logic [Ports-1:0][Vcs-1:0][InputBits-1:0] pick, next_in_q;
  logic [Ports-1:0]                         chosen;  // virtual channel
  logic [Ports-1:0][FlitBits-1:0]           flit;
  logic [Ports-1:0]                         there, last;
  assign room      = {room_i, {Vcs{1'b1}}};
  assign out_ready = {{Links{1'b1}}, recv_ready_i};

  for (genvar o = 0; o < Ports; o++) begin : gen_output
    for (genvar v = 0; v < Vcs; v++) begin : gen_vc
      always_comb begin
        for (int unsigned i = 0; i < Inputs; i++) begin
          request[o][v][i] = leads(i, o) && ask_q[i] && !won_q[i] && 32'(port_q[i][0]) == o && 32'(vc_q[i]) == v;
        end
      end
      systole_link_arbiter #(.N(Inputs)) u_arbiter (
          .clk_i, .rst_ni, .request_i(request[o][v]), .take_i(!next_q[o][v]), .valid_o(some[o][v]), .pick_o(pick[o][v])
      );
      always_ff @(posedge clk_i) begin
        if (!next_q[o][v]) next_in_q[o][v] <= pick[o][v];
      end
      always_ff @(posedge clk_i) begin
        if (!rst_ni) next_q[o][v] <= 1'b0;
        else if (!next_q[o][v]) next_q[o][v] <= some[o][v];
        else if (start[o] && 32'(chosen[o]) == v) next_q[o][v] <= 1'b0;
      end
    end

    // The virtual channels in turn.
    assign chosen[o] = (next_q[o] & room[o]) == 2'b11 ? turn_q[o] : next_q[o][1] && room[o][1];
    assign start[o]  = (!busy_q[o] || ends[o]) && (next_q[o] & room[o]) != '0;
    assign from_d[o] = next_in_q[o][chosen[o]];
    assign pass[o]   = busy_q[o] && there[o] && out_ready[o];
    assign ends[o]   = pass[o] && last[o];

    always_comb begin
      flit[o]  = '0;
      last[o]  = 1'b0;
      there[o] = 1'b0;
      for (int unsigned i = 0; i < Inputs; i++) begin
        if (leads(i, o) && 32'(from_q[o]) == i) begin
          flit[o]  |= data2_q[i];
          last[o]  |= last_q[i][2];
          there[o] |= full_q[i][2] && 32'(port_q[i][2]) == o;
        end
      end
      if (first_q[o]) flit[o][3] = out_vc_q[o];
    end

    always_ff @(posedge clk_i) begin
      if (start[o]) begin
        from_q[o]   <= from_d[o];
        out_vc_q[o] <= chosen[o];
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        busy_q[o]  <= 1'b0;
        turn_q[o]  <= 1'b0;
        first_q[o] <= 1'b0;
      end else begin
        if (start[o]) busy_q[o] <= 1'b1;
        else if (ends[o]) busy_q[o] <= 1'b0;
        if (start[o]) turn_q[o] <= !chosen[o];
        if (start[o]) first_q[o] <= 1'b1;
        else if (pass[o]) first_q[o] <= 1'b0;
      end
    end
  end

  always_comb begin
    go    = '0;
    begun = '0;
    for (int unsigned i = 0; i < Inputs; i++) begin
      for (int unsigned o = 0; o < Ports; o++) begin
        if (leads(i, o) && pass[o] && 32'(from_q[o]) == i) go[i] = 1'b1;
        if (leads(i, o) && start[o] && 32'(from_d[o]) == i) begun[i] = 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      won_q <= '0;
    end else begin
      for (int unsigned i = 0; i < Inputs; i++) begin
        automatic logic won = 1'b0;
        for (int unsigned o = 0; o < Ports; o++) begin
          for (int unsigned v = 0; v < Vcs; v++) if (request[o][v][i] && !next_q[o][v] && 32'(pick[o][v]) == i) won = 1'b1;
        end
        won_q[i] <= won || (won_q[i] && !begun[i]);
      end
    end
  end

  assign push_o       = pass[Ports-1:1];
  assign vc_o         = out_vc_q[Ports-1:1];
  assign last_o       = last[Ports-1:1];
  assign data_o       = flit[Ports-1:1];
  assign recv_valid_o = busy_q[0] && there[0];
  assign recv_last_o  = last[0];
  assign recv_data_o  = flit[0];
  always_comb for (int unsigned l = 0; l < Links; l++) want_o[l] = busy_q[l+1] ? '0 : next_q[l+1];

  // A packet leaves through an output that dimension order allows, and asks for one at a time.
  for (genvar i = 0; i < Inputs; i++) begin : gen_check
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        a_way : assert (!ask_q[i] || leads(i, 32'(port_q[i][0])));
        a_won : assert (!won_q[i] || ask_q[i]);
        a_go : assert (!go[i] || full_q[i][2]);
      end
    end
  end
endmodule
