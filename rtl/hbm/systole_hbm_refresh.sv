// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Refresher of a controller. Every tREFI (and after reset) it stops the controller, closes all banks as soon as they may be
// closed, issues REF and lets the controller go on tRFC later.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_refresh
  import systole_hbm_pkg::*;
#(
    parameter timing_t Timing = HbmTiming
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                quiet_i,    // all banks may be closed
    output logic                run_o,      // the controller may issue commands ...
    output logic                act_ok_o,   // ... ACT too
    output logic                prea_o,     // issue PREA now
    output logic                ref_o,      // issue REF now: forget all banks and times
    output logic                refresh_o   // refreshing or about to
);
  // Reset may come at any time, in a refresh too: the longest wait, tRFC, covers all that the banks may still owe.
  typedef enum logic [1:0] {StClose, StPrecharge, StRefresh, StRun} state_e;

  state_e              state_q, state_d;
  logic [15:0]         wait_q;      // cycles to what the state waits for
  logic [15:0]         interval_q;
  logic                due_q, reset_wait_q;
  logic                over_q;      // wait_q is 0

  assign act_ok_o = over_q;
  assign run_o = state_q == StRun && !due_q;
  assign refresh_o = !run_o;

  always_comb begin
    state_d = state_q;
    prea_o  = 1'b0;
    ref_o   = 1'b0;
    unique case (state_q)
      StRun: if (due_q) state_d = StClose;
      StClose:
      if (quiet_i && (!reset_wait_q || over_q)) begin
        prea_o  = 1'b1;
        state_d = StPrecharge;
      end
      StPrecharge:
      if (over_q) begin
        ref_o   = 1'b1;
        state_d = StRefresh;
      end
      // One cycle early, for the controller's look at its queue; it holds ACT until tRFC itself.
      StRefresh: if (wait_q <= 16'd2) state_d = StRun;
      default: state_d = StClose;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= StClose;
      wait_q       <= Timing.trfc;
      over_q       <= Timing.trfc == '0;
      interval_q   <= Timing.trefi - 1'b1;
      due_q        <= 1'b1;
      reset_wait_q <= 1'b1;
    end else begin
      state_q <= state_d;
      wait_q  <= prea_o ? Timing.trp - 16'd1 : ref_o ? Timing.trfc - 16'd1 : wait_q == '0 ? '0 : wait_q - 1'b1;
      over_q  <= prea_o ? Timing.trp == 16'd1 : ref_o ? Timing.trfc == 16'd1 : wait_q <= 16'd1;
      // The interval runs on during a refresh, so that its average is tREFI.
      if (interval_q == '0) begin
        interval_q <= Timing.trefi - 1'b1;
        due_q      <= 1'b1;
      end else begin
        interval_q <= interval_q - 1'b1;
        if (ref_o) due_q <= 1'b0;
      end
      if (ref_o) reset_wait_q <= 1'b0;
    end
  end

  // No second refresh falls due before the first is done.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_over : assert (over_q == (wait_q == '0));
      a_owed : assert (interval_q != '0 || !due_q);
    end
  end
endmodule
