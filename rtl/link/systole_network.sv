// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip's part of the network with all that its cores share: place, links' registers and counters, and the ways from the cores to the
// local port and back. The cores send packet by packet in turn; packets come to the core that they are for. Latency from a core to the
// local port, and back: none. While the network is in reset, it takes what the cores send and drops it, to the end of a packet that has
// begun, and what had come for them in part is forgotten. Docs: docs/link.md. Test: tests/rtl/link.

module systole_network
  import systole_link_pkg::*;
  import systole_csr_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned LinkBytes = 4,
    parameter int unsigned FlitBytes = 16,
    localparam int unsigned Cores = 2,
    localparam int unsigned FlitBits = 8 * FlitBytes,
    localparam int unsigned LaneBits = 8 * LinkBytes / Lanes,
    localparam int unsigned Links = Ports - 1
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,

    input  net_req_t                                  net_req_i [Cores],
    input  logic [FlitBits-1:0]                       net_send_data_i [Cores],
    output net_rsp_t                                  net_rsp_o [Cores],
    output logic [FlitBits-1:0]                       net_recv_data_o,  // to both
    output logic [FlitBytes-1:0]                      net_recv_mask_o,

    output logic [Links-1:0][Lanes-1:0][LaneBits+1:0] lanes_o,
    input  logic [Links-1:0][Lanes-1:0][LaneBits+1:0] lanes_i
);
  // Registers. What they say of the place and of the links holds while packets are on their way.
  host_reg_req_t    request;
  localparam int unsigned ChipBits = IdentityBits - 2;
  logic [Links-1:0] enable_q, up, down, down_q, peer_known;
  logic [Links-1:0][IdentityBits-1:0] peer;
  logic [ChipBits-1:0] chip_q;
  logic             reset_q;
  torus_t           torus_q;
  cause_e [Links-1:0]  cause;
  events_t [Links-1:0] events;
  logic [3:0]       counter_q;
  logic [1:0]       link_q, down_link_q;
  logic             down_pulse_q;
  logic [Cores-1:0] ack_q;
  logic [31:0]      data_q, state, counted, peer_q;
  assign request = net_req_i[0].registers;
  always_comb begin
    state = '0;
    state[Links-1:0]  = up;
    state[8+:Links]   = down;
    for (int unsigned l = 0; l < Links; l++) state[16+2*l+:2] = cause[l];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enable_q  <= '0;
      reset_q   <= 1'b0;
      chip_q    <= '0;
      torus_q   <= '{x: '0, y: '0, columns: (CoordinateBits + 1)'(1), rows: (CoordinateBits + 1)'(1)};
      counter_q <= '0;
      link_q    <= '0;
      ack_q     <= '0;
    end else begin
      ack_q <= {net_req_i[1].registers.valid, request.valid};
      if (request.valid && request.write) begin
        unique case (request.index)
          LinksPlace:  {chip_q, torus_q.y, torus_q.x} <=
              {request.data[16+:ChipBits], request.data[8+:CoordinateBits], request.data[0+:CoordinateBits]};
          LinksTorus:  {torus_q.rows, torus_q.columns} <= {request.data[8+:CoordinateBits+1], request.data[0+:CoordinateBits+1]};
          LinksEnable: {reset_q, enable_q} <= {request.data[8], request.data[Links-1:0]};
          LinksSelect: {link_q, counter_q} <= {request.data[9:8], request.data[3:0]};
          default: ;
        endcase
      end
    end
  end
  always_ff @(posedge clk_i) begin
    unique case (request.index)
      LinksCount:      data_q <= Links;
      LinksPlace:      data_q <= {chip_q, 3'b0, torus_q.y, 3'b0, torus_q.x};
      LinksTorus:      data_q <= 32'({torus_q.rows, 2'b0, torus_q.columns});
      LinksEnable:     data_q <= 32'({reset_q, 4'b0, enable_q});
      LinksState:      data_q <= state;
      LinksSelect:     data_q <= 32'({link_q, 4'b0, counter_q});
      LinksCountValue: data_q <= counted;
      LinksPeer:       data_q <= peer_q;
      default:         data_q <= '0;
    endcase
  end

  // Counters of each link, modulo 2^32. They clear with the reset.
  localparam int unsigned Counters = 9;
  logic [Links-1:0][Counters-1:0][31:0] count_q;
  events_t [Links-1:0]                  events_q;
  always_ff @(posedge clk_i) begin
    events_q <= rst_ni ? events : '0;
    counted  <= 32'(counter_q) < Counters ? count_q[link_q][counter_q] : '0;
    peer_q   <= peer_known[link_q] ? {1'b1, 13'b0, peer[link_q]} : '0;
    for (int unsigned l = 0; l < Links; l++) begin
      count_q[l][0] <= rst_ni ? count_q[l][0] + 32'(events_q[l].packet_sent) : '0;
      count_q[l][1] <= rst_ni ? count_q[l][1] + (events_q[l].packet_sent ? 32'(events_q[l].bytes_sent) : '0) : '0;
      count_q[l][2] <= rst_ni ? count_q[l][2] + 32'(events_q[l].packet_received) : '0;
      count_q[l][3] <= rst_ni ? count_q[l][3] + (events_q[l].packet_received ? 32'(events_q[l].bytes_received) : '0) : '0;
      count_q[l][4] <= rst_ni ? count_q[l][4] + 32'(events_q[l].replay) : '0;
      count_q[l][5] <= rst_ni ? count_q[l][5] + 32'(events_q[l].crc_error) : '0;
      count_q[l][6] <= rst_ni ? count_q[l][6] + 32'(events_q[l].credit_stall) : '0;
      count_q[l][7] <= rst_ni ? count_q[l][7] + 32'(events_q[l].retrain) : '0;
      count_q[l][8] <= rst_ni ? count_q[l][8] + 32'(events_q[l].poison) : '0;
    end
  end

  // A link that goes down is a fault of both cores.
  always_ff @(posedge clk_i) begin
    down_q       <= rst_ni ? down : '0;
    down_pulse_q <= rst_ni && (down & ~down_q) != '0;
    for (int unsigned l = Links; l > 0; l--) if (down[l-1] && !down_q[l-1]) down_link_q <= 2'(l - 1);
  end

  // The cores send in turn, a packet each while both have one.
  logic                 busy_q, core_q, turn_q, core, send_valid, send_ready, send_last, node_ready;
  logic [1:0]           wants;
  assign wants      = {net_req_i[1].send_valid, net_req_i[0].send_valid};
  assign core       = busy_q ? core_q : wants == 2'b11 ? turn_q : wants[1];
  assign send_valid = wants[core];
  assign send_last  = net_req_i[core].send_last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      core_q <= 1'b0;
      turn_q <= 1'b0;
    end else begin
      core_q <= core;
      if (send_valid) busy_q <= !(send_ready && send_last);  // what was offered stays
      if (send_valid && send_ready && send_last) turn_q <= !core;
    end
  end

  // Reset. A packet of which the network has dropped a part is dropped to its end.
  logic middle_q, middle, drop_q, clear_q, node_rst_n;
  assign middle     = send_valid && send_ready ? !send_last : middle_q;
  assign send_ready = node_ready || drop_q;
  assign node_rst_n = rst_ni && !clear_q;
  always_ff @(posedge clk_i) begin
    middle_q <= rst_ni && middle;
    drop_q   <= rst_ni && (reset_q || (drop_q && middle));
    clear_q  <= rst_ni && reset_q;
  end

  logic  recv_valid, recv_ready, recv_last;
  head_t recv_head;
  systole_link_node #(.LinkBytes(LinkBytes), .FlitBytes(FlitBytes)) u_node (
      .clk_i, .rst_ni(node_rst_n), .x_i(torus_q.x), .y_i(torus_q.y), .columns_i(torus_q.columns), .rows_i(torus_q.rows),
      .enable_i(enable_q), .chip_i(chip_q), .peer_known_o(peer_known), .peer_o(peer),
      .send_valid_i(send_valid && !drop_q), .send_ready_o(node_ready), .send_head_i(net_req_i[core].send_head), .send_last_i(send_last),
      .send_data_i(net_send_data_i[core]), .recv_valid_o(recv_valid), .recv_ready_i(recv_ready), .recv_head_o(recv_head),
      .recv_last_o(recv_last), .recv_data_o(net_recv_data_o), .recv_mask_o(net_recv_mask_o),
      .up_o(up), .down_o(down), .cause_o(cause), .events_o(events), .lanes_o, .lanes_i
  );
  assign recv_ready = net_req_i[recv_head.dst_core].recv_ready;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    assign net_rsp_o[c] = '{
        send_ready: send_ready && send_valid && 32'(core) == c, recv_valid: recv_valid && !clear_q && 32'(recv_head.dst_core) == c,
        recv_head: recv_head, recv_last: recv_last, core: c == 1, torus: torus_q, down: down_pulse_q, down_link: down_link_q,
        ack: ack_q[c], data: c == 0 ? data_q : '0, clear: clear_q};
  end
  logic unused;
  assign unused = &{1'b0, net_req_i[1].registers.write, net_req_i[1].registers.index, net_req_i[1].registers.data};

  // Packets are whole: a core that has begun one goes on with it.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_core : assert (!middle_q || busy_q);
      a_place : assert ({1'b0, torus_q.x} < torus_q.columns || enable_q == '0);
    end
  end
endmodule
