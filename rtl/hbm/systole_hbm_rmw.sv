// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Beats that are read, changed and written back, one at a time: a write of some bytes of a burst, whose check bits cover the others too,
// and a beat in which the scrubber found a wrong bit. Meanwhile no client's request is accepted (busy_o). The scrubber walks the
// memory, a beat each scrub_i cycles, when no client asks; its read keeps nobody out. Docs: docs/hbm.md. Test: tests/hbm/ecc_test.cc.

module systole_hbm_rmw
  import systole_hbm_pkg::*;
#(
    parameter int unsigned D = 32  // bytes of a beat
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                take_i,      // a client's write, while idle_o
    input  logic [BeatBits-1:0] beat_i,
    input  logic [D*8-1:0]      data_i,
    input  logic [D-1:0]        mask_i,
    output logic                idle_o,
    output logic                busy_o,

    output logic                rd_valid_o,  // reads the beat
    input  logic                rd_ready_i,
    output logic [BeatBits-1:0] beat_o,
    input  logic                rsp_valid_i,
    input  logic [D*8-1:0]      rsp_data_i,
    input  logic                rsp_fixed_i,
    input  logic                rsp_bad_i,
    output logic                wr_valid_o,  // writes it, all of its bytes
    input  logic                wr_ready_i,
    output logic [D*8-1:0]      wr_data_o,

    output logic                look_o,      // what is read is the scrubber's: nobody asked for it
    output logic                again_o,     // it was counted when the scrubber read it

    input  logic [31:0]         scrub_i,     // cycles from a beat to the next, 0: none
    input  logic                quiet_i      // no client asks for a read
);
  localparam int unsigned PatienceBits = 10;  // cycles that a scrub waits for quiet

  typedef enum logic [1:0] {StIdle, StRead, StWait, StWrite} state_e;
  state_e                  state_q, state_d;
  logic                    scrub_q, scrub_d;  // the scrubber only looks
  logic                    due_q, begin_scrub;
  logic                    again_q;  // the scrubber found a wrong bit in it
  logic [31:0]             timer_q;
  logic [BeatBits-1:0]     beat_q, next_q;
  logic [D*8-1:0]          data_q;
  logic [D-1:0]            mask_q;
  logic [PatienceBits-1:0] waited_q;

  assign idle_o      = state_q == StIdle;
  assign busy_o      = state_q != StIdle && !scrub_q;
  assign rd_valid_o  = state_q == StRead && (!scrub_q || quiet_i || waited_q == '1);
  assign wr_valid_o  = state_q == StWrite;
  assign beat_o      = beat_q;
  assign wr_data_o   = data_q;
  assign begin_scrub = idle_o && !take_i && due_q;
  assign look_o      = scrub_q;
  assign again_o     = again_q;

  // What cannot be corrected is left as it is, so that each later read finds it too.
  always_comb begin
    state_d = state_q;
    scrub_d = scrub_q;
    unique case (state_q)
      StIdle: begin
        if (take_i || begin_scrub) state_d = StRead;
        scrub_d = !take_i;
      end
      StRead: if (rd_valid_o && rd_ready_i) state_d = StWait;
      StWait:
      if (rsp_valid_i) begin
        state_d = rsp_bad_i || (scrub_q && !rsp_fixed_i) ? StIdle : scrub_q ? StRead : StWrite;
        scrub_d = 1'b0;
      end
      StWrite: if (wr_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      scrub_q  <= 1'b0;
      again_q  <= 1'b0;
      due_q    <= 1'b0;
      timer_q  <= '0;
      next_q   <= '0;
      waited_q <= '0;
    end else begin
      state_q  <= state_d;
      scrub_q  <= scrub_d;
      again_q  <= state_q == StWait && scrub_q ? state_d == StRead : again_q && state_q != StIdle;
      timer_q  <= scrub_i == '0 || timer_q + 32'd1 >= scrub_i ? '0 : timer_q + 32'd1;
      due_q    <= scrub_i != '0 && (timer_q + 32'd1 >= scrub_i || (due_q && !begin_scrub));
      waited_q <= state_q != StRead ? '0 : waited_q == '1 ? waited_q : waited_q + 1'b1;
      if (begin_scrub) next_q <= next_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (idle_o) begin
      beat_q <= take_i ? beat_i : next_q;
      mask_q <= take_i ? mask_i : '0;
      data_q <= data_i;
    end
    if (state_q == StWait && rsp_valid_i) begin
      for (int unsigned i = 0; i < D; i++) if (!mask_q[i]) data_q[i*8+:8] <= rsp_data_i[i*8+:8];
    end
  end

  // A write is taken by the idle; a response belongs to a read.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_take : assert (!take_i || idle_o);
      a_rsp : assert (!rsp_valid_i || state_q == StWait);
    end
  end
endmodule
