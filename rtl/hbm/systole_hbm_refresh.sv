// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Refresh scheduler of a controller. After reset it closes and refreshes all banks. It then refreshes one bank at a
// time: each bank once per round, one round per tREFI on average. It prefers a bank without requests, refreshes in
// advance while the controller is idle, and refreshes a bank with requests only when Urgent refreshes are owed. Docs:
// docs/hbm.md. Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

module systole_hbm_refresh
  import systole_hbm_pkg::*;
#(
    parameter timing_t Timing = HbmTiming
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             idle_i,     // the controller has no requests
    input  logic             column_i,   // RD or WR is issued
    input  logic [Banks-1:0] some_i,     // per bank: has requests
    input  logic             next_i,     // the scheduler has listed REFSB of the requested bank
    input  logic             ref_sb_i,   // REFSB is issued
    input  logic             slot_i,     // the row bus is this controller's when a command of now is on it
    output logic             run_o,      // the controller may issue commands
    output logic             prea_o,     // issue PREA now
    output logic             ref_o,      // issue REF now
    output logic [Banks-1:0] want_o,     // one-hot: the bank to close, refresh, and keep closed until the refresh is done
    output logic             ask_o,      // the refresh of that bank has not been issued yet
    output logic [Banks-1:0] hold_o,     // accept no more requests of this bank
    output logic             refresh_o   // a refresh blocks requests of its bank, or all requests
);
  localparam int unsigned Interval = 32'(Timing.trefi) / Banks;
  localparam int unsigned Postpone = HbmRefreshPostpone * Banks;  // limit of refreshes owed, and of refreshes done in advance
  localparam int signed Urgent = int'(Postpone / 2);
  localparam int signed Patience = 2 * int'(Banks);  // owed refreshes above which any bank without requests may be chosen
  localparam int unsigned Window = 32;  // columns per window, a power of two
  localparam int unsigned Windows = 5;
  localparam int unsigned Fresh = 3;  // recent windows: interleaved streams return to a bank within them
  localparam int signed Ahead = -int'(Postpone - 2 * Banks);
  localparam int unsigned IdleCycles = 1024;  // idle cycles before refreshes in advance: no program is running
  localparam int unsigned OwedBits = $clog2(Postpone) + 2;
  localparam int unsigned IntervalBits = $clog2(Interval + 1);
  localparam int unsigned WaitBits = 16;
  typedef logic signed [OwedBits-1:0] owed_t;

  // A reset may interrupt a refresh: the first wait is tRFC, the longest time that the banks may still need.
  typedef enum logic [2:0] {StReset, StPrecharge, StAll, StRun, StBank} state_e;
  state_e                     state_q, state_d;
  logic [WaitBits-1:0]        wait_q;  // cycles left in the state
  logic                       over_q;
  logic [IntervalBits-1:0]    interval_q;
  logic [$clog2(IdleCycles+1)-1:0] idle_q;
  owed_t                      owed_q;
  logic [Banks-1:0]           done_q, done_d, want_q, quiet, quiet_q, left;
  logic [Windows-1:0][Banks-1:0] used_q;   // per window of columns, newest first: banks that had requests
  logic [Banks-1:0]           fresh, stale;  // used in the last Fresh windows; used in the windows before those
  logic [$clog2(Window)-1:0]  window_q;
  logic                       ask_q, hold_q, urgent_q, late_q, early_q, due_q, choose, drop;

  assign run_o     = state_q == StRun || state_q == StBank;
  assign want_o    = want_q;
  assign ask_o     = ask_q && !drop;
  assign hold_o    = hold_q ? want_q : '0;
  assign refresh_o = !run_o || (want_q & some_i) != '0;

  always_comb begin
    state_d = state_q;
    prea_o  = 1'b0;
    ref_o   = 1'b0;
    unique case (state_q)
      StReset:
      if (over_q && slot_i) begin
        prea_o  = 1'b1;
        state_d = StPrecharge;
      end
      StPrecharge:
      if (over_q && slot_i) begin
        ref_o   = 1'b1;
        state_d = StAll;
      end
      StAll: if (over_q) state_d = StRun;
      StRun: if (ref_sb_i) state_d = StBank;
      StBank: if (over_q) state_d = StRun;
      default: state_d = StReset;
    endcase
  end

  // Choice of a bank that this round has not refreshed, from the state of the last cycle. First: a bank that a stream
  // has just left, because a linear stream takes long to return to it. When more refreshes are owed, or the controller
  // is idle: any bank without requests. When Urgent refreshes are owed: any bank.
  always_comb begin
    left   = ~done_q;
    fresh  = '0;
    stale  = '0;
    for (int unsigned i = 0; i < Fresh; i++) fresh |= used_q[i];
    for (int unsigned i = Fresh; i < Windows; i++) stale |= used_q[i];
    quiet  = left & ~some_i & ~fresh & stale;
    if (quiet == '0 && (late_q || early_q)) quiet = left & ~some_i;
    if (quiet == '0 && urgent_q) quiet = left;
    choose = state_q == StRun && !ask_q && (due_q || early_q) && quiet_q != '0;
    drop   = ask_q && !hold_q && !next_i && !ref_sb_i && (want_q & some_i) != '0;  // the bank has new requests: choose another
    done_d = done_q | want_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StReset;
      wait_q     <= Timing.trfc;
      over_q     <= 1'b0;
      interval_q <= '0;
      idle_q     <= '0;
      owed_q     <= '0;
      done_q     <= '0;
      want_q     <= '0;
      quiet_q    <= '0;
      ask_q      <= 1'b0;
      hold_q     <= 1'b0;
      {urgent_q, late_q, early_q, due_q} <= '0;
      used_q     <= '0;
      window_q   <= '0;
    end else begin
      state_q <= state_d;
      quiet_q <= ask_q || state_q != StRun ? '0 : quiet;
      // The scheduler needs two cycles from the list to the command.
      wait_q <= prea_o ? Timing.trp - 16'd1 : ref_o ? Timing.trfc - 16'd4 : ref_sb_i ? Timing.trfcsb - 16'd4 :
                wait_q == '0 ? '0 : wait_q - 1'b1;
      over_q <= prea_o ? Timing.trp == 16'd1 : !ref_o && !ref_sb_i && wait_q <= 16'd1;

      interval_q <= interval_q == '0 ? IntervalBits'(Interval - 1) : interval_q - 1'b1;
      owed_q     <= owed_q + owed_t'(interval_q == '0 ? 1 : 0) - owed_t'(ref_sb_i ? 1 : 0);
      idle_q     <= !idle_i ? '0 : 32'(idle_q) == IdleCycles ? idle_q : idle_q + 1'b1;
      due_q      <= owed_q > owed_t'(0);
      late_q     <= owed_q > owed_t'(Patience);
      urgent_q   <= owed_q >= owed_t'(Urgent);
      early_q    <= owed_q > owed_t'(Ahead) && 32'(idle_q) == IdleCycles;

      if (column_i) window_q <= window_q + 1'b1;
      used_q[0] <= used_q[0] | some_i;
      if (column_i && window_q == '1) used_q <= {used_q[Windows-2:0], some_i};

      if (choose) begin
        want_q <= quiet_q & (~quiet_q + 1'b1);
        ask_q  <= 1'b1;
        hold_q <= urgent_q;
      end else if (drop) begin
        want_q <= '0;
        ask_q  <= 1'b0;
      end else if (ref_sb_i) begin
        ask_q  <= 1'b0;
        hold_q <= 1'b0;
        done_q <= &done_d ? '0 : done_d;
      end else if (state_q == StBank && over_q) begin
        want_q <= '0;
      end
    end
  end

  // Checks: the refreshes owed and done in advance stay within the standard's limits; one bank at a time is requested.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_owed : assert (owed_q < owed_t'(Postpone) && owed_q > -owed_t'(Postpone));
      a_one : assert ((want_q & (want_q - 1'b1)) == '0 && (!ask_q || want_q != '0));
    end
  end
endmodule
