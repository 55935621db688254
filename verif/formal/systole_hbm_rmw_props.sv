// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_hbm_rmw, the list of partial writes, with two beats of one byte (verif/formal/rmw.py). It is
// compared with a reference list of the accepted writes and a memory that stores one bit of beat 0. The memory answers
// each read with its contents at the time it accepted the read, which is the oldest answer allowed. For all inputs and
// any latency of the memory, no output is ever high:
//   order_o  a write drains that is not the oldest one in the list, or drains twice
//   bytes_o  a write drains with wrong data: its own bytes must be the client's, and the others the memory's at that moment, so that
//            no older write is undone
//   early_o  the list reads for a write other than the next partial one, or while an older write of the same beat is in the list
//   lost_o   the list reports empty while it holds a write; other traffic would then bypass it
//   turn_o   the list accepts more than Depth writes before it has been empty (and stayed empty for Rest cycles if a read waits)
//   stuck_o  (Serve: the memory stalls nobody for two cycles in a row) for Patience cycles no write drains, although the list holds
//            one or reports that it is not empty

module systole_hbm_rmw_props
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 4,
    parameter int unsigned Rest = 4,
    parameter bit Serve = 1'b0,
    parameter int unsigned Patience = 8
) (
    input  logic clk_i,
    input  logic want_i, beat_i, partial_i, mask_i, data_i,  // a client's write
    input  logic past_i, past_data_i,                        // a write that bypasses the empty list
    input  logic rd_ready_i, wr_ready_i,
    input  logic rsp_i, fixed_i, bad_i, other_i,             // a response; the data bit of beat 1
    input  logic quiet_i,
    input  logic scrub_i,
    output logic order_o, bytes_o, early_o, lost_o, turn_o, stuck_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  typedef logic [PtrBits-1:0] ptr_t;
  typedef logic [PtrBits:0]   count_t;

  logic rst_q;
  initial rst_q = 1'b0;
  always_ff @(posedge clk_i) rst_q <= 1'b1;

  logic       take, room, busy, rd_valid, rd_ready, wr_valid, wr_ready, rsp, look;
  logic       rd_beat, wr_beat, wr_mask;
  logic [7:0] wr_data;
  logic       rsp_data, rd_fire, wr_fire, put;

  // Reads that the memory has not answered yet, oldest first.
  localparam int unsigned AskedBits = PtrBits + 1;
  typedef logic [AskedBits-1:0] asked_t;
  logic [2*Depth-1:0] look_q, mine_q, value_q;  // for the scrubber; of beat 0; the value read
  asked_t             asked_in_q, asked_out_q;
  logic [AskedBits:0] asked_count_q;
  logic               mem_q, held_rd_q, held_wr_q, held_rsp_q;

  assign take     = rst_q && want_i && room;
  assign rd_ready = rst_q && (rd_ready_i || (Serve && held_rd_q));
  assign wr_ready = rst_q && (wr_ready_i || (Serve && held_wr_q));
  assign rsp      = rst_q && asked_count_q != '0 && (rsp_i || (Serve && held_rsp_q));
  assign rd_fire  = rd_valid && rd_ready;
  assign wr_fire  = wr_valid && wr_ready;
  assign rsp_data = mine_q[asked_out_q] ? value_q[asked_out_q] : other_i;

  systole_hbm_rmw #(.D(1), .Depth(Depth)) u_dut (
      .clk_i, .rst_ni(rst_q),
      .take_i(take), .beat_i, .data_i({7'd0, data_i}), .mask_i, .partial_i, .room_o(room), .busy_o(busy),
      .rd_valid_o(rd_valid), .rd_ready_i(rd_ready), .rd_beat_o(rd_beat),
      .rsp_valid_i(rsp), .rsp_data_i({7'd0, rsp_data}), .rsp_fixed_i(fixed_i), .rsp_bad_i(bad_i),
      .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .wr_beat_o(wr_beat), .wr_data_o(wr_data), .wr_mask_o(wr_mask),
      .look_o(look), .again_o(), .scrub_i({31'd0, scrub_i}), .quiet_i
  );

  // The reference list: writes that are accepted and have not drained. A write whose beat is uncorrectable leaves the
  // list without draining.
  logic [Depth-1:0] beat_q, partial_q, mask_q, data_q, read_q, answered_q, bad_q;
  ptr_t             in_q, out_q, next_read, next_answer;
  count_t           count_q;
  logic             some_read, some_answer, older, pop, drop, repair_q, repair_beat_q;

  assign drop = count_q != '0 && partial_q[out_q] && answered_q[out_q] && bad_q[out_q];
  assign pop  = drop || (wr_fire && count_q != '0);
  assign put  = take || repair_q;
  always_comb begin
    some_read   = 1'b0;
    some_answer = 1'b0;
    next_read   = '0;
    next_answer = '0;
    for (int unsigned k = 0; k < Depth; k++) begin
      automatic ptr_t i = out_q + ptr_t'(k);
      if (count_t'(k) < count_q && partial_q[i]) begin
        if (!read_q[i] && !some_read) begin
          some_read = 1'b1;
          next_read = i;
        end
        if (read_q[i] && !answered_q[i] && !some_answer) begin
          some_answer = 1'b1;
          next_answer = i;
        end
      end
    end
    older = 1'b0;
    for (int unsigned k = 0; k < Depth; k++) begin
      automatic ptr_t i = out_q + ptr_t'(k);
      if (count_t'(k) < count_q && count_t'(k) < {1'b0, ptr_t'(next_read - out_q)} && beat_q[i] == beat_q[next_read] &&
          !(partial_q[i] && answered_q[i] && bad_q[i])) older = 1'b1;
    end
  end

  initial begin
    {in_q, out_q, count_q, repair_q, asked_in_q, asked_out_q, asked_count_q, held_rd_q, held_wr_q, held_rsp_q} = '0;
  end
  always_ff @(posedge clk_i) begin
    if (put) begin
      beat_q[in_q]     <= take ? beat_i : repair_beat_q;
      partial_q[in_q]  <= take ? partial_i : 1'b1;
      mask_q[in_q]     <= take && mask_i;
      data_q[in_q]     <= take && data_i;
      read_q[in_q]     <= 1'b0;
      answered_q[in_q] <= 1'b0;
      bad_q[in_q]      <= 1'b0;
      in_q             <= in_q + 1'b1;
    end
    if (rd_fire && !look && some_read) read_q[next_read] <= 1'b1;
    if (rsp && !look_q[asked_out_q] && some_answer) begin
      answered_q[next_answer] <= 1'b1;
      bad_q[next_answer]      <= bad_i;
    end
    if (pop) out_q <= out_q + 1'b1;
    count_q <= count_q + count_t'(put) - count_t'(pop);

    // If a scrubber's read finds a correctable error, a write with no bytes enters the list.
    repair_q <= rsp && look_q[asked_out_q] && fixed_i && !bad_i;
    if (rd_fire && look) repair_beat_q <= rd_beat;

    if (rd_fire) begin
      look_q[asked_in_q]  <= look;
      mine_q[asked_in_q]  <= !rd_beat;
      value_q[asked_in_q] <= mem_q;
      asked_in_q          <= asked_in_q + 1'b1;
    end
    if (rsp) asked_out_q <= asked_out_q + 1'b1;
    asked_count_q <= asked_count_q + (AskedBits + 1)'(rd_fire) - (AskedBits + 1)'(rsp);
    if (wr_fire && !wr_beat && wr_mask) mem_q <= wr_data[0];
    else if (past_i && !busy && !take) mem_q <= past_data_i;
    held_rd_q  <= rst_q && rd_valid && !rd_ready;
    held_wr_q  <= rst_q && wr_valid && !wr_ready;
    held_rsp_q <= rst_q && asked_count_q != '0 && !rsp;
  end

  // Turns: the writes accepted since the list was last empty, and the cycles for which it has now been empty.
  logic                      shut_q;
  count_t                    came_q;
  logic [$clog2(Rest+1)-1:0] empty_q;
  initial {shut_q, came_q, empty_q} = '0;
  always_ff @(posedge clk_i) begin
    came_q <= !rst_q || (!busy && !put) ? '0 : put && came_q != count_t'(Depth) ? came_q + 1'b1 : came_q;
    if (put && came_q == count_t'(Depth - 1)) shut_q <= 1'b1;
    else if (!busy && (quiet_i || 32'(empty_q) == Rest - 1)) shut_q <= 1'b0;
    empty_q <= !shut_q || busy ? '0 : 32'(empty_q) == Rest ? empty_q : empty_q + 1'b1;
  end

  logic [$clog2(Patience+1)-1:0] wait_q;
  initial wait_q = '0;
  always_ff @(posedge clk_i) wait_q <= (count_q == '0 && !busy) || pop ? '0 : 32'(wait_q) == Patience ? wait_q : wait_q + 1'b1;

  logic head_mask, head_bit;
  assign head_mask = partial_q[out_q] || mask_q[out_q];
  assign head_bit  = mask_q[out_q] ? data_q[out_q] : mem_q;
  assign order_o = wr_fire && (count_q == '0 || drop || wr_beat != beat_q[out_q]);
  assign bytes_o = wr_fire && !order_o && (wr_mask != head_mask || (partial_q[out_q] && !answered_q[out_q]) ||
                                           (wr_mask && (mask_q[out_q] || !wr_beat) && wr_data[0] != head_bit));
  assign early_o = rd_fire && !look && (!some_read || rd_beat != beat_q[next_read] || older);
  assign lost_o  = count_q != '0 && !drop && !busy;
  assign turn_o  = take && shut_q;
  assign stuck_o = Serve && 32'(wait_q) == Patience;
endmodule
