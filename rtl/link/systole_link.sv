// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One link: packets that a router has chosen go to the other end, each once and in order, and those of the other end come out, a
// stream a virtual channel. It may be given a packet on a channel with room_o. It trains by itself from the reset on. MaxReplays replays
// without progress, a lost signal, or an end that trains lead to a training, MaxRetrains trainings without progress to a link that is
// down until the reset or while enable_i is low. Then every packet in it or given to it is told as lost (poison_*).
// Latency from push_i to the other end's valid_o: docs/link.md. Test: tests/rtl/link.

module systole_link
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned LaneBits = 32,
    parameter int unsigned BufferFlits = 128,    // of a virtual channel
    parameter int unsigned ReplayFlits = 128,
    parameter int unsigned Timeout = 2048,       // cycles without progress until a replay
    parameter int unsigned TrainTimeout = 65536  // cycles of a training
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            enable_i,  // low: the link is in reset
    input  logic [IdentityBits-1:0]         identity_i,  // of this end, which the other one is told; stays while the link is enabled

    // From the router: a packet's flits, the first with the head.
    output logic [Vcs-1:0]                  room_o,    // for any packet, after a flit that comes in this cycle
    input  logic                            push_i,
    input  logic                            vc_i,
    input  logic                            last_i,
    input  logic [FlitBits-1:0]             data_i,
    input  logic [Vcs-1:0]                  want_i,    // a packet waits for room, for the counter

    // To the router.
    output logic [Vcs-1:0]                  valid_o,
    input  logic [Vcs-1:0]                  ready_i,
    output logic [Vcs-1:0]                  last_o,
    output logic [Vcs-1:0][FlitBits-1:0]    data_o,

    // Lanes.
    output logic [Lanes-1:0][LaneBits+1:0]  lanes_o,
    input  logic [Lanes-1:0][LaneBits+1:0]  lanes_i,

    output logic                            up_o,
    output logic                            down_o,
    output cause_e                          cause_o,
    output logic                            peer_known_o,  // a CTRL packet has come since the link was enabled; with it
    output logic [IdentityBits-1:0]         peer_o,        // what the other end says of itself
    output events_t                         events_o,
    output logic                            poison_valid_o,  // for a cycle
    output head_t                           poison_head_o    // of the lost packet
);
  localparam int unsigned TimeBits = $clog2(TrainTimeout + 1);
  localparam int unsigned TryBits = $clog2(MaxRetrains + 1);

  logic rst_n;
  assign rst_n = rst_ni && enable_i;

  logic up, hold, down_q, drain_q;
  assign hold = !up && !drain_q;

  // Sending: replay buffer, CTRL packets, credits.
  logic                           replay_room, send_valid, send_ready, send_first, send_last;
  logic [SeqBits-1:0]             send_seq;
  logic [FlitBits-1:0]            send_data;
  logic                           tx_valid, tx_ready, tx_first, tx_taken, sent;
  logic [FlitBits-1:0]            tx_data;
  logic                           control_valid, progress, replay, give_up, empty;
  // verilator lint_off UNUSEDSIGNAL
  control_t                       control;
  // verilator lint_on UNUSEDSIGNAL
  logic [SeqBits-1:0]             ack;
  logic [NackBits-1:0]            nack, seen_q, control_seen_q;
  logic                           again, accept, problem;
  logic [LengthBits-1:0]          length;
  logic [Vcs-1:0][CreditBits-1:0] limit, used_q, allowed_q, left;

  systole_link_replay #(.FlitBits(FlitBits), .Depth(ReplayFlits), .MaxFlits(PacketFlits + 1), .SeqBits(SeqBits), .Timeout(Timeout)
  ) u_replay (
      .clk_i, .rst_ni(rst_n), .room_o(replay_room), .push_i, .last_i, .data_i,
      .valid_o(send_valid), .ready_i(send_ready), .first_o(send_first), .last_o(send_last), .seq_o(send_seq), .data_o(send_data),
      .ack_valid_i(control_valid), .ack_i(control.ack), .nack_i(control_valid && control.nack != seen_q),
      .hold_i(hold), .drain_i(drain_q), .empty_o(empty), .progress_o(progress), .replay_o(replay), .give_up_o(give_up)
  );
  systole_link_tx #(.FlitBits(FlitBits)) u_tx (
      .clk_i, .rst_ni(rst_n), .hold_i(!up), .ack_i(ack), .nack_i(nack), .seen_i(seen_q), .limit_i(limit), .again_i(again), .identity_i,
      .valid_i(send_valid), .ready_o(tx_taken), .first_i(send_first), .last_i(send_last), .seq_i(send_seq), .data_i(send_data),
      .valid_o(tx_valid), .ready_i(tx_ready), .first_o(tx_first), .data_o(tx_data), .sent_o(sent)
  );
  assign send_ready = drain_q || tx_taken;

  for (genvar v = 0; v < Vcs; v++) begin : gen_credit
    assign left[v]   = allowed_q[v] - used_q[v];
    assign room_o[v] = replay_room && (drain_q || (!down_q && 32'(left[v]) > PacketFlits));
    always_ff @(posedge clk_i) begin
      if (!rst_n) begin
        used_q[v]    <= '0;
        allowed_q[v] <= '0;
      end else begin
        if (push_i && 32'(vc_i) == v && !down_q) used_q[v] <= used_q[v] + 1'b1;
        if (control_valid) allowed_q[v] <= v == 0 ? control.limit0 : control.limit1;
      end
    end
  end

  // What the lanes do.
  logic             quiet, train, set, clear, listen, flits, lost, restart, failed, retrain, peer_clean;
  logic [Lanes-1:0] tx_use, rx_use, good, some;
  info_t            info, low_info, any_info;
  logic             clean_q, drop_lane_q, errors_q;

  // Receiving: checks, then a buffer for each virtual channel.
  logic                rx_valid, rx_first, rx_error, flit_first, flit_last, commit;
  logic [FlitBits-1:0] rx_data, flit_data;
  logic [Vcs-1:0]      flit_push;
  systole_link_rx #(.FlitBits(FlitBits)) u_rx (
      .clk_i, .rst_ni(rst_n), .hold_i(!flits), .valid_i(rx_valid), .first_i(rx_first), .error_i(rx_error), .data_i(rx_data),
      .push_o(flit_push), .first_o(flit_first), .last_o(flit_last), .commit_o(commit), .data_o(flit_data),
      .control_valid_o(control_valid), .control_o(control), .seen_i(control_seen_q), .ack_o(ack), .nack_o(nack), .again_o(again),
      .accept_o(accept), .length_o(length), .error_o(problem)
  );
  for (genvar v = 0; v < Vcs; v++) begin : gen_buffer
    systole_link_buffer #(.FlitBits(FlitBits), .Depth(BufferFlits)) u_buffer (
        .clk_i, .rst_ni(rst_n), .push_i(flit_push[v]), .first_i(flit_first), .last_i(flit_last), .commit_i(commit), .data_i(flit_data),
        .limit_o(limit[v]), .valid_o(valid_o[v]), .ready_i(ready_i[v]), .last_o(last_o[v]), .data_o(data_o[v])
    );
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      seen_q         <= '0;
      control_seen_q <= '0;
      peer_known_o   <= 1'b0;
    end else if (control_valid) begin
      seen_q         <= control.nack;
      control_seen_q <= control.seen;
      peer_known_o   <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (control_valid) peer_o <= control.identity;

  // Lanes.
  systole_link_lanes_tx #(.FlitBits(FlitBits), .LaneBits(LaneBits)) u_lanes_tx (
      .clk_i, .rst_ni(rst_n), .quiet_i(quiet), .train_i(train), .info_i(info), .use_i(tx_use), .set_o(set),
      .valid_i(tx_valid), .ready_o(tx_ready), .first_i(tx_first), .data_i(tx_data), .lanes_o
  );
  systole_link_lanes_rx #(.FlitBits(FlitBits), .LaneBits(LaneBits)) u_lanes_rx (
      .clk_i, .rst_ni(rst_n), .clear_i(clear), .listen_i(listen), .use_i(rx_use), .good_o(good), .some_o(some), .info_o(low_info),
      .any_o(any_info), .data_o(flits), .lost_o(lost), .valid_o(rx_valid), .first_o(rx_first), .error_o(rx_error), .flit_o(rx_data),
      .lanes_i
  );
  systole_link_train u_train (
      .clk_i, .rst_ni(rst_n), .quiet_i(down_q), .retrain_i(retrain), .drop_i(drop_lane_q), .clean_i(clean_q), .errors_i(errors_q),
      .up_o(up), .restart_o(restart), .failed_o(failed),
      .peer_clean_o(peer_clean), .quiet_o(quiet), .train_o(train), .info_o(info), .tx_use_o(tx_use),
      .set_i(set), .clear_o(clear), .listen_o(listen), .rx_use_o(rx_use), .good_i(good), .some_i(some), .info_i(low_info),
      .any_i(any_info), .data_i(flits), .lost_i(lost)
  );

  // When to train, and when to give up.
  logic                up_q, proof_q, timeout, ok, rises, peer_lost, no_progress;
  cause_e              cause_q;
  logic [TimeBits-1:0] time_q;
  logic [TryBits-1:0]  tries_q;   // trainings since progress, for this end's own reasons
  assign rises       = up && !up_q;
  assign timeout     = 32'(time_q) == TrainTimeout;
  assign retrain     = (give_up || timeout) && !down_q;
  // What shows that packets get through; or that none has to.
  assign ok          = progress || accept || (control_valid && empty) || clean_q;
  assign peer_lost   = rises && peer_clean && proof_q;
  assign no_progress = failed && 32'(tries_q) == MaxRetrains && !ok;

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      up_q        <= 1'b0;
      down_q      <= 1'b0;
      drain_q     <= 1'b0;
      cause_q     <= CauseNone;
      clean_q     <= 1'b1;
      proof_q     <= 1'b0;
      errors_q    <= 1'b0;
      drop_lane_q <= 1'b0;
      time_q      <= '0;
      tries_q     <= '0;
    end else begin
      up_q    <= up;
      drain_q <= down_q;
      if (!down_q && (peer_lost || no_progress)) begin
        down_q  <= 1'b1;
        cause_q <= peer_lost ? CausePeerReset : CauseNoProgress;
      end
      if (sent || accept) clean_q <= 1'b0;
      if (progress || accept) proof_q <= 1'b1;
      if (rises) errors_q <= 1'b0;
      else if (up && problem) errors_q <= 1'b1;
      if (give_up) drop_lane_q <= 1'b1;
      else if (rises) drop_lane_q <= 1'b0;
      time_q <= up || restart || down_q ? '0 : time_q + 1'b1;
      if (ok) tries_q <= '0;
      else if (failed && 32'(tries_q) != MaxRetrains) tries_q <= tries_q + 1'b1;
    end
  end

  assign up_o           = up;
  assign down_o         = down_q;
  assign cause_o        = cause_q;
  assign poison_head_o  = head_t'(send_data[HeadBits-1:0]);
  assign poison_valid_o = drain_q && send_valid && send_first;
  assign events_o = '{
      packet_sent: sent, bytes_sent: sent ? poison_head_o.length : '0,
      packet_received: accept, bytes_received: accept ? length : '0,
      replay: replay, crc_error: problem, credit_stall: up && (want_i & ~room_o) != '0, retrain: restart, poison: poison_valid_o};
endmodule
