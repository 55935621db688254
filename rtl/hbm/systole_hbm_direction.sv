// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Direction of the memory: reads flow until writes are due; writes then flow in batches, because each change of direction costs
// tRTW or tWTR. It hands the reads or the writes on to the controllers, one request a cycle. Combinational but for the direction
// itself. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_direction
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,

    // Reads.
    input  logic       rd_valid_i,
    output logic       rd_ready_o,
    input  loc_t       rd_loc_i,
    input  logic       rd_hazard_i,   // the read waits for a write
    input  logic       rd_more_i,     // another read comes
    input  logic [1:0] rd_room_i,     // by group: the read's data have a slot

    // Writes.
    input  logic       wr_valid_i,
    output logic       wr_ready_o,
    input  request_t   wr_request_i,
    input  logic       wr_high_i,     // many wait
    input  logic       wr_stalled_i,  // a client's write is not accepted

    // Requests to the controllers of the groups.
    output logic [1:0] valid_o,       // one-hot
    input  logic [1:0] ready_i,
    output request_t   request_o,
    input  logic [1:0] low_i          // by group: few requests are left
);
  localparam int unsigned Batch = 128;  // beats per batch while the other direction waits; a power of two
  localparam int unsigned BatchBits = $clog2(Batch + 1);
  typedef enum logic {DirRead, DirWrite} dir_e;

  dir_e                 dir_q, dir_d;
  logic [BatchBits-1:0] run_q;      // beats since the last change of direction, saturates at Batch
  logic                 stalled_q;  // a write was stalled in the last cycle
  logic                 push, reads, batch_done, wr_due;

  assign reads      = rd_valid_i || rd_more_i;
  assign batch_done = run_q[BatchBits-1];
  assign wr_due     = wr_high_i || stalled_q;

  always_comb begin
    dir_d = dir_q;
    unique case (dir_q)
      DirRead: if (wr_valid_i && (rd_hazard_i || (wr_due && (batch_done || !reads)) || (!reads && &low_i))) dir_d = DirWrite;
      DirWrite: if (!wr_valid_i || (batch_done && reads)) dir_d = DirRead;
      default: dir_d = DirRead;
    endcase
  end

  assign rd_ready_o = rd_valid_i && dir_q == DirRead && !rd_hazard_i && rd_room_i[rd_loc_i.group] && ready_i[rd_loc_i.group];
  assign wr_ready_o = wr_valid_i && dir_q == DirWrite && ready_i[wr_request_i.loc.group];
  assign push       = rd_ready_o || wr_ready_o;
  assign request_o  = dir_q == DirWrite ? wr_request_i : '{write: 1'b0, tag: '0, loc: rd_loc_i};
  assign valid_o    = {push && request_o.loc.group, push && !request_o.loc.group};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dir_q     <= DirRead;
      run_q     <= '0;
      stalled_q <= 1'b0;
    end else begin
      dir_q     <= dir_d;
      stalled_q <= wr_stalled_i;
      if (dir_d != dir_q) run_q <= '0;
      else if (push && !batch_done) run_q <= run_q + 1'b1;
    end
  end

  initial a_batch : assert (Batch == 1 << (BatchBits - 1));
endmodule
