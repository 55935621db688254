// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Replay buffer of a link: packets wait here to be sent, and until the other end has acknowledged them. A packet may be read while it
// is being written. A nack, or no progress for Timeout cycles, sends again from the oldest packet that is not acknowledged
// (go-back-N); a packet that is being sent is sent to its end first. hold_i (the lanes are in training) does so at once. MaxReplays
// replays without progress: give_up_o. drain_i (the link is down): packets leave and are forgotten.
// Throughput: a flit a cycle in and out. Latency: two cycles. Docs: docs/link.md. Test: tests/rtl/link.
// Proof: verif/formal/link.py.

module systole_link_replay
  import systole_link_pkg::MaxReplays;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned Depth = 128,    // flits, a power of two
    parameter int unsigned MaxFlits = 17,  // of a packet, and one more
    parameter int unsigned SeqBits = 8,
    parameter int unsigned Window = 32,    // packets, a power of two up to 2**(SeqBits-1): one less are held
    parameter int unsigned Timeout = 2048  // cycles
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    output logic                room_o,       // for any packet, after a flit that comes in this cycle
    input  logic                push_i,
    input  logic                last_i,
    input  logic [FlitBits-1:0] data_i,

    output logic                valid_o,
    input  logic                ready_i,
    output logic                first_o,
    output logic                last_o,
    output logic [SeqBits-1:0]  seq_o,
    output logic [FlitBits-1:0] data_o,

    input  logic                ack_valid_i,
    input  logic [SeqBits-1:0]  ack_i,        // packets before this one have arrived
    input  logic                nack_i,
    input  logic                hold_i,
    input  logic                drain_i,
    output logic                empty_o,      // of packets
    output logic                progress_o,
    output logic                replay_o,
    output logic                give_up_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned SlotBits = $clog2(Window);
  localparam int unsigned TimeBits = $clog2(Timeout + 1);
  localparam int unsigned CountBits = $clog2(MaxReplays + 1);
  typedef logic [PtrBits:0] ptr_t;
  typedef logic [SeqBits-1:0] seq_t;

  ptr_t write_q, read_q, free_q;                    // next flit to write, to read; the oldest one that is kept
  seq_t write_seq_q, read_seq_q, free_seq_q, sent_seq_q;  // their packets; the one after all that were ever sent to their ends
  logic valid_q, middle_q;                          // a flit is in the RAM's output register; the next flit is not a packet's first
  logic replay_q;                                   // a replay is due
  logic ack_q;                                      // an acknowledgement is being looked up, then waits to be applied
  seq_t ack_seq_q;
  ptr_t ack_ptr;
  logic [TimeBits-1:0]  time_q;
  logic [CountBits-1:0] count_q;
  logic read, take, between, jump, apply, overtakes, sane, late, open;

  // Where packets begin; read a cycle after the acknowledgement came.
  logic push_last;
  seq_t next_seq;
  assign push_last = push_i && last_i;
  assign next_seq  = write_seq_q + 1'b1;
  systole_prim_ram_1r1w #(.Width(PtrBits + 1), .Depth(Window), .Style("distributed")) u_begin (
      .clk_i, .we_i(push_last), .waddr_i(next_seq[SlotBits-1:0]), .wdata_i(write_q + 1'b1),
      .re_i(ack_valid_i && sane), .raddr_i(ack_i[SlotBits-1:0]), .rdata_o(ack_ptr)
  );

  logic last;
  systole_prim_ram_1r1w #(.Width(FlitBits + 1), .Depth(Depth), .AnyOnCollision(1'b1)) u_flits (
      .clk_i, .we_i(push_i), .waddr_i(write_q[PtrBits-1:0]), .wdata_i({last_i, data_i}), .re_i(read),
      .raddr_i(read_q[PtrBits-1:0]), .rdata_o({last, data_o})
  );

  // An acknowledgement is of packets that were sent to their ends, and not older than the last one.
  assign sane      = seq_t'(ack_i - free_seq_q) <= seq_t'(sent_seq_q - free_seq_q) && ack_i != free_seq_q &&
                     !(ack_q && ack_i == ack_seq_q) && !drain_i;
  // It may be of packets that are being sent again: the one on its way is sent to its end first.
  assign overtakes = seq_t'(ack_seq_q - free_seq_q) > seq_t'(read_seq_q - free_seq_q);
  assign take      = valid_q && ready_i;
  assign between   = take ? last : !middle_q;
  assign apply     = ack_q && (!overtakes || between || hold_i);
  assign jump      = hold_i || (between && (replay_q || (apply && overtakes)));
  assign read      = read_q != write_q && (!valid_q || ready_i) && !jump;

  assign open       = sent_seq_q != free_seq_q || middle_q;  // something was sent that is not acknowledged
  assign late       = time_q == TimeBits'(Timeout);
  assign empty_o    = write_q == free_q;
  assign progress_o = apply;
  assign replay_o   = replay_q && between && !hold_i;
  assign give_up_o  = replay_o && count_q == CountBits'(MaxReplays - 1);

  assign valid_o = valid_q && !hold_i;
  assign first_o = !middle_q;
  assign last_o  = last;
  assign seq_o   = read_seq_q;
  // Beside what is held, a flit may come in this cycle, which may be a packet's last.
  assign room_o  = write_q - free_q <= ptr_t'(Depth - MaxFlits) && seq_t'(write_seq_q - free_seq_q) < seq_t'(Window - 2);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q     <= '0;
      read_q      <= '0;
      free_q      <= '0;
      write_seq_q <= '0;
      read_seq_q  <= '0;
      free_seq_q  <= '0;
      sent_seq_q  <= '0;
      valid_q     <= 1'b0;
      middle_q    <= 1'b0;
      replay_q    <= 1'b0;
      ack_q       <= 1'b0;
      time_q      <= '0;
      count_q     <= '0;
    end else begin
      if (push_i) write_q <= write_q + 1'b1;
      if (push_last) write_seq_q <= next_seq;

      // Reading.
      if (read) read_q <= read_q + 1'b1;
      if (read) valid_q <= 1'b1;
      else if (take) valid_q <= 1'b0;
      if (take) middle_q <= !last;
      if (take && last) begin
        read_seq_q <= read_seq_q + 1'b1;
        if (read_seq_q == sent_seq_q) sent_seq_q <= sent_seq_q + 1'b1;
      end
      if (drain_i) begin
        // What leaves is forgotten.
        if (take && last) free_seq_q <= read_seq_q + 1'b1;
        if (take) free_q <= free_q + 1'b1;
      end

      // Acknowledgements: the last one counts.
      if (ack_valid_i && sane) begin
        ack_q     <= 1'b1;
        ack_seq_q <= ack_i;
      end else if (apply) begin
        ack_q <= 1'b0;
      end
      if (apply) begin
        free_q     <= ack_ptr;
        free_seq_q <= ack_seq_q;
      end
      if (jump) begin
        read_q     <= apply ? ack_ptr : free_q;
        read_seq_q <= apply ? ack_seq_q : free_seq_q;
        valid_q    <= 1'b0;
        middle_q   <= 1'b0;
      end

      // Replays.
      if (hold_i || drain_i || replay_o) replay_q <= 1'b0;
      else if ((nack_i && open) || late) replay_q <= 1'b1;
      if (hold_i || drain_i || apply || replay_o || read_seq_q == free_seq_q) time_q <= '0;
      else if (!late) time_q <= time_q + 1'b1;
      if (hold_i || apply) count_q <= '0;
      else if (replay_o && !give_up_o) count_q <= count_q + 1'b1;
    end
  end

  // Numbers in use are fewer than half of all; nothing is freed that was not written, and nothing written that is not free.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_window : assert (32'(seq_t'(write_seq_q - free_seq_q)) < Window);
      a_read : assert (seq_t'(read_seq_q - free_seq_q) <= seq_t'(write_seq_q - free_seq_q));
      a_depth : assert (32'(ptr_t'(write_q - free_q)) <= Depth);
      a_ahead : assert (ptr_t'(read_q - free_q) <= ptr_t'(write_q - free_q));
    end
  end
endmodule
