// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Read-modify-write unit for ECC: a partial write of a burst needs the old bytes, because the check bits cover them
// too. While the list of writes is not empty (busy_o), all writes go through it in order and no client's read is
// accepted. After Depth writes the list closes until it is empty and reads have had their turn. The unit also holds the
// scrubber, which reads one beat every scrub_i cycles when no client reads, and enters a beat with a corrected bit into
// the list as a write of no bytes. Docs: docs/hbm.md. Test: tests/hbm/ecc_test.cc.

module systole_hbm_rmw
  import systole_hbm_pkg::*;
#(
    parameter int unsigned D = 32,     // bytes per beat
    parameter int unsigned Depth = 16, // entries of the list; a power of two
    parameter bit          Gate = 1'b1 // gate the clock while idle
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                take_i,      // a client's write enters the list; only while room_o
    input  logic [BeatBits-1:0] beat_i,
    input  logic [D*8-1:0]      data_i,
    input  logic [D-1:0]        mask_i,
    input  logic                partial_i,
    output logic                room_o,
    output logic                busy_o,      // the list is not empty

    output logic                rd_valid_o,  // read of a beat
    input  logic                rd_ready_i,
    output logic [BeatBits-1:0] rd_beat_o,
    input  logic                rsp_valid_i,
    input  logic [D*8-1:0]      rsp_data_i,
    input  logic                rsp_fixed_i,
    input  logic                rsp_bad_i,
    output logic                wr_valid_o,  // write of a beat
    input  logic                wr_ready_i,
    output logic [BeatBits-1:0] wr_beat_o,
    output logic [D*8-1:0]      wr_data_o,
    output logic [D-1:0]        wr_mask_o,

    output logic                look_o,      // the read is the scrubber's: no client asked for the data
    output logic                again_o,     // the error was already counted at the scrubber's own read

    input  logic [31:0]         scrub_i,     // cycles from one scrubbed beat to the next; 0: no scrubbing
    input  logic                quiet_i      // no client requests a read
);
  localparam int unsigned PatienceBits = 10;  // width of the counter of cycles that a scrub waits for quiet_i
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned Rest = 32;  // cycles given to waiting reads after the list was full
  typedef logic [BeatBits-1:0] beat_t;
  typedef logic [PtrBits-1:0]  ptr_t;
  typedef logic [PtrBits:0]    count_t;

  // The scrubber.
  typedef enum logic [1:0] {StIdle, StRead, StWait, StPut} state_e;
  state_e                  state_q, state_d;
  logic                    due_q, begin_scrub;
  logic [31:0]             timer_q;
  beat_t                   scrub_beat_q, next_q;
  logic [PatienceBits-1:0] waited_q;

  // The list, a ring buffer: read entries from out_q (oldest) to read_q, then unread entries up to in_q.
  beat_t                   beat_q[Depth];
  logic [Depth-1:0]        partial_q;
  ptr_t                    in_q, read_q, out_q;
  count_t                  count_q, unread_q;   // entries; entries not read yet
  logic                    put, skip, read, gone, bad, clash, closed_q, again_q;
  count_t                  taken_q;             // entries accepted since the list was empty
  logic [$clog2(Rest)-1:0] rest_q;
  beat_t                   put_beat;
  ptr_t                    age;                 // age of an entry: 0 is the oldest
  logic [D*8-1:0]          kept_data, old_data;
  logic [D-1:0]            kept_mask;
  logic                    kept_valid, kept_ready, old_valid, old_ready;

  assign busy_o    = count_q != '0;
  assign room_o    = state_q == StIdle && !closed_q && count_q != count_t'(Depth) && kept_ready;
  assign put       = take_i || state_q == StPut;
  assign put_beat  = take_i ? beat_i : scrub_beat_q;

  // The gated clock runs for partial writes and for the scrubber's beats. The scrubber's timer is on the free-running
  // clock.
  logic clk;
  systole_idle_clock #(.Gate(Gate)) u_clock (
      .clk_i, .rst_ni, .work_i(take_i || busy_o || closed_q || due_q || state_q != StIdle), .rest_i(!rd_valid_o && !wr_valid_o && !kept_valid),
      .clk_o(clk)
  );

  // An entry is read only when no older entry of the same beat is in the list.
  always_comb begin
    clash = 1'b0;
    for (int unsigned i = 0; i < Depth; i++) begin
      age   = ptr_t'(i) - out_q;
      clash |= {1'b0, age} < count_q - unread_q && beat_q[i] == beat_q[read_q];
    end
  end
  assign skip       = unread_q != '0 && !partial_q[read_q];
  assign rd_valid_o = state_q == StRead ? quiet_i || waited_q == '1 : unread_q != '0 && partial_q[read_q] && !clash;
  assign rd_beat_o  = state_q == StRead ? scrub_beat_q : beat_q[read_q];
  assign read       = skip || (rd_valid_o && rd_ready_i && state_q != StRead);

  // The oldest entry is written. A beat that cannot be corrected is not written back, so every later read still finds
  // the error.
  systole_fifo #(.Width(D * 9), .Depth(Depth)) u_kept (
      .clk_i(clk), .rst_ni,
      .valid_i(put), .ready_o(kept_ready), .data_i(take_i ? {mask_i, data_i} : '0),
      .valid_o(kept_valid), .ready_i(gone), .data_o({kept_mask, kept_data}),
      // verilator lint_off PINCONNECTEMPTY
      .count_o()
      // verilator lint_on PINCONNECTEMPTY
  );
  systole_fifo #(.Width(D * 8 + 1), .Depth(Depth)) u_old (
      .clk_i(clk), .rst_ni,
      .valid_i(rsp_valid_i && state_q != StWait), .ready_o(old_ready), .data_i({rsp_bad_i, rsp_data_i}),
      .valid_o(old_valid), .ready_i(gone && partial_q[out_q]), .data_o({bad, old_data}),
      // verilator lint_off PINCONNECTEMPTY
      .count_o()
      // verilator lint_on PINCONNECTEMPTY
  );
  assign wr_valid_o = count_q != unread_q && (partial_q[out_q] ? old_valid && !bad : 1'b1);
  assign wr_beat_o  = beat_q[out_q];
  assign wr_mask_o  = partial_q[out_q] ? '1 : kept_mask;
  assign gone       = (wr_valid_o && wr_ready_i) || (count_q != unread_q && partial_q[out_q] && old_valid && bad);
  always_comb begin
    for (int unsigned i = 0; i < D; i++) begin
      wr_data_o[i*8+:8] = kept_mask[i] || !partial_q[out_q] ? kept_data[i*8+:8] : old_data[i*8+:8];
    end
  end

  always_ff @(posedge clk) begin
    if (put) begin
      beat_q[in_q]    <= put_beat;
      partial_q[in_q] <= take_i ? partial_i : 1'b1;
    end
  end
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      {in_q, read_q, out_q, count_q, unread_q, taken_q, rest_q} <= '0;
      closed_q <= 1'b0;
      again_q  <= 1'b0;
    end else begin
      if (put) in_q <= in_q + 1'b1;
      if (read) read_q <= read_q + 1'b1;
      if (gone) out_q <= out_q + 1'b1;
      count_q  <= count_q + count_t'(put) - count_t'(gone);
      unread_q <= unread_q + count_t'(put) - count_t'(read);
      taken_q  <= !put && !busy_o ? '0 : put && taken_q != '1 ? taken_q + 1'b1 : taken_q;
      // The list closes after Depth entries. It opens again when it is empty and reads have had their turn.
      if (put && taken_q == count_t'(Depth - 1)) closed_q <= 1'b1;
      else if (!busy_o && (quiet_i || rest_q == '1)) closed_q <= 1'b0;
      rest_q  <= closed_q && !busy_o ? rest_q + 1'b1 : '0;
      again_q <= state_q == StPut || (again_q && !rsp_valid_i);
    end
  end

  // The scrubber starts only when the list is empty, and nothing enters the list until it has finished.
  assign begin_scrub = state_q == StIdle && !busy_o && !take_i && due_q;
  assign look_o      = state_q != StIdle;
  assign again_o     = again_q;
  always_comb begin
    unique case (state_q)
      StIdle: state_d = begin_scrub ? StRead : StIdle;
      StRead: state_d = rd_valid_o && rd_ready_i ? StWait : StRead;
      StWait: state_d = !rsp_valid_i ? StWait : rsp_fixed_i && !rsp_bad_i ? StPut : StIdle;
      default: state_d = StIdle;  // StPut
    endcase
  end
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      next_q   <= '0;
      waited_q <= '0;
    end else begin
      state_q  <= state_d;
      waited_q <= state_q != StRead ? '0 : waited_q == '1 ? waited_q : waited_q + 1'b1;
      if (begin_scrub) next_q <= next_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      due_q   <= 1'b0;
      timer_q <= '0;
    end else begin
      timer_q <= scrub_i == '0 || timer_q + 32'd1 >= scrub_i ? '0 : timer_q + 32'd1;
      due_q   <= scrub_i != '0 && (timer_q + 32'd1 >= scrub_i || (due_q && !begin_scrub));
    end
  end
  always_ff @(posedge clk) if (begin_scrub) scrub_beat_q <= next_q;

  // Checks: a write is taken only when there is room; a response belongs to a read; the list and the FIFO of its data
  // agree.
  initial a_depth : assert (Depth == 1 << PtrBits);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_take : assert (!take_i || room_o);
      a_rsp : assert (!rsp_valid_i || state_q == StWait || (old_ready && count_q != unread_q));
      a_kept : assert (kept_valid == busy_o && unread_q <= count_q);
    end
  end
endmodule
