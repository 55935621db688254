// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What all banks of a controller share: down counters to the next ACT (tRRD, tFAW), RD and WR (tCCD, tWTR, tRTW), apart for
// the bank group that the scheduler looks at, and to the time at which all banks may be closed; each with a flag that it is 0.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

module systole_hbm_buses
  import systole_hbm_pkg::*;
#(
    parameter timing_t Timing = HbmTiming
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              clear_i,   // REF: nothing is owed

    input  logic [BgBits-1:0] col_bg_i,
    input  logic [BgBits-1:0] act_bg_i,
    output logic              rd_ok_o,
    output logic              wr_ok_o,
    output logic              act_ok_o,
    output logic              quiet_o,   // all banks may be closed

    // What happens in this cycle, in these bank groups.
    input  logic              activate_i,
    input  logic              read_i,
    input  logic              write_i
);
  localparam int unsigned WrEnd = 32'(Timing.tcwl) + BurstCycles;  // WR to the end of its data
  localparam int unsigned WaitBits = 6;
  localparam int unsigned ActWindow = 4;  // activates in tFAW
  typedef logic [WaitBits-1:0] wait_t;

  // Cycles from the one after a command to the first in which the other is allowed.
  localparam wait_t RrdS = WaitBits'(Timing.trrd_s - 16'd1);
  localparam wait_t RrdL = WaitBits'(Timing.trrd_l - 16'd1);
  localparam wait_t Faw = WaitBits'(Timing.tfaw - 16'd1);
  localparam wait_t CcdS = WaitBits'(Timing.tccd_s - 16'd1);
  localparam wait_t CcdL = WaitBits'(Timing.tccd_l - 16'd1);
  localparam wait_t RdToWr = WaitBits'(Timing.trtw - 16'd1);
  localparam wait_t WrToRdS = WaitBits'(WrEnd + 32'(Timing.twtr_s) - 1);
  localparam wait_t WrToRdL = WaitBits'(WrEnd + 32'(Timing.twtr_l) - 1);
  // To the time of quiet it is a cycle less: nobody looks in the cycle after a command, so it counts from a register.
  localparam wait_t ActToPre = WaitBits'(Timing.tras - 16'd2);
  localparam wait_t RdToPre = WaitBits'(Timing.trtp - 16'd2);
  localparam wait_t WrToPre = WaitBits'(WrEnd + 32'(Timing.twr) - 2);

  wait_t rrd_s_q, rd_s_q, wr_s_q, quiet_q;
  wait_t rrd_l_q [BankGroups], rd_l_q [BankGroups], wr_l_q [BankGroups];
  wait_t faw_q [ActWindow];  // of the last activates, the oldest at faw_ptr_q
  logic [$clog2(ActWindow)-1:0] faw_ptr_q;
  // The flags are registers.
  logic                  rrd_s_free_q, rd_s_free_q, wr_s_free_q, quiet_free_q;
  logic [BankGroups-1:0] rrd_l_free_q, rd_l_free_q, wr_l_free_q;
  logic [ActWindow-1:0]  faw_free_q;
  logic                  activated_q, read_q, written_q;  // in the cycle before

  function automatic wait_t less(wait_t left);
    return left == '0 ? '0 : left - 1'b1;
  endfunction
  function automatic wait_t later(wait_t a, wait_t b);
    return a > b ? a : b;
  endfunction

  assign rd_ok_o  = rd_s_free_q && rd_l_free_q[col_bg_i];
  assign wr_ok_o  = wr_s_free_q && wr_l_free_q[col_bg_i];
  assign act_ok_o = rrd_s_free_q && rrd_l_free_q[act_bg_i] && faw_free_q[faw_ptr_q];
  assign quiet_o  = quiet_free_q;

  // The same command's own wait is over when it is given, so it is set; the other's may be longer already only for quiet_q.
  always_ff @(posedge clk_i) begin : waits
    wait_t                 rrd_l_v [BankGroups], rd_l_v [BankGroups], wr_l_v [BankGroups], faw_v [ActWindow], quiet_v;
    logic [BankGroups-1:0] rrd_l_free, rd_l_free, wr_l_free;
    logic [ActWindow-1:0]  faw_free;
    logic                  rrd_s_free, rd_s_free, wr_s_free, quiet_free;
    for (int unsigned i = 0; i < BankGroups; i++) begin
      rrd_l_v[i] = less(rrd_l_q[i]);
      rd_l_v[i]  = less(rd_l_q[i]);
      wr_l_v[i]  = less(wr_l_q[i]);

      rrd_l_free[i] = rrd_l_q[i] <= WaitBits'(1);
      rd_l_free[i]  = rd_l_q[i] <= WaitBits'(1);
      wr_l_free[i]  = wr_l_q[i] <= WaitBits'(1);
    end
    for (int unsigned i = 0; i < ActWindow; i++) begin
      faw_v[i]    = less(faw_q[i]);
      faw_free[i] = faw_q[i] <= WaitBits'(1);
    end
    quiet_v    = less(quiet_q);
    quiet_free = quiet_q <= WaitBits'(1);
    rrd_s_free = rrd_s_q <= WaitBits'(1);
    rd_s_free  = rd_s_q <= WaitBits'(1);
    wr_s_free  = wr_s_q <= WaitBits'(1);
    rrd_s_q <= less(rrd_s_q);
    rd_s_q  <= less(rd_s_q);
    wr_s_q  <= less(wr_s_q);
    if (activate_i) begin
      rrd_s_q           <= RrdS;
      rrd_l_v[act_bg_i] = RrdL;
      faw_v[faw_ptr_q]  = Faw;

      rrd_s_free           = RrdS == '0;
      rrd_l_free[act_bg_i] = RrdL == '0;
      faw_free[faw_ptr_q]  = Faw == '0;
    end
    if (read_i) begin
      rd_s_q           <= CcdS;
      rd_l_v[col_bg_i] = CcdL;
      wr_s_q           <= RdToWr;

      rd_s_free           = CcdS == '0;
      rd_l_free[col_bg_i] = CcdL == '0;
      wr_s_free           = RdToWr == '0;
    end
    if (write_i) begin
      wr_s_q           <= CcdS;
      wr_l_v[col_bg_i] = CcdL;
      rd_s_q           <= WrToRdS;
      rd_l_v[col_bg_i] = WrToRdL;

      wr_s_free           = CcdS == '0;
      wr_l_free[col_bg_i] = CcdL == '0;
      rd_s_free           = WrToRdS == '0;
      rd_l_free[col_bg_i] = WrToRdL == '0;
    end
    if (activated_q) begin
      quiet_v = later(quiet_v, ActToPre);
      if (ActToPre != '0) quiet_free = 1'b0;
    end
    if (read_q) begin
      quiet_v = later(quiet_v, RdToPre);
      if (RdToPre != '0) quiet_free = 1'b0;
    end
    if (written_q) begin
      quiet_v = later(quiet_v, WrToPre);
      if (WrToPre != '0) quiet_free = 1'b0;
    end
    if (!rst_ni || clear_i) begin
      rrd_s_q <= '0;
      rd_s_q  <= '0;
      wr_s_q  <= '0;
      rrd_l_v = '{default: '0};
      rd_l_v  = '{default: '0};
      wr_l_v  = '{default: '0};
      faw_v   = '{default: '0};
      quiet_v = '0;

      {rrd_s_free, rd_s_free, wr_s_free, quiet_free} = '1;
      rrd_l_free = '1;
      rd_l_free  = '1;
      wr_l_free  = '1;
      faw_free   = '1;
    end
    rrd_l_q <= rrd_l_v;
    rd_l_q  <= rd_l_v;
    wr_l_q  <= wr_l_v;
    faw_q   <= faw_v;
    quiet_q <= quiet_v;

    activated_q <= rst_ni && activate_i;
    read_q      <= rst_ni && read_i;
    written_q   <= rst_ni && write_i;

    rrd_s_free_q <= rrd_s_free;
    rd_s_free_q  <= rd_s_free;
    wr_s_free_q  <= wr_s_free;
    quiet_free_q <= quiet_free;
    rrd_l_free_q <= rrd_l_free;
    rd_l_free_q  <= rd_l_free;
    wr_l_free_q  <= wr_l_free;
    faw_free_q   <= faw_free;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) faw_ptr_q <= '0;
    else if (activate_i) faw_ptr_q <= faw_ptr_q + 1'b1;
  end

  // A flag says that its counter is 0.
  logic [BankGroups-1:0] rrd_l_zero, rd_l_zero, wr_l_zero;
  logic [ActWindow-1:0]  faw_zero;
  always_comb begin
    for (int unsigned i = 0; i < BankGroups; i++) begin
      rrd_l_zero[i] = rrd_l_q[i] == '0;
      rd_l_zero[i]  = rd_l_q[i] == '0;
      wr_l_zero[i]  = wr_l_q[i] == '0;
    end
    for (int unsigned i = 0; i < ActWindow; i++) faw_zero[i] = faw_q[i] == '0;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_shared : assert ({rrd_s_free_q, rd_s_free_q, wr_s_free_q, quiet_free_q} ==
                         {rrd_s_q == '0, rd_s_q == '0, wr_s_q == '0, quiet_q == '0});
      a_apart : assert ({rrd_l_free_q, rd_l_free_q, wr_l_free_q, faw_free_q} == {rrd_l_zero, rd_l_zero, wr_l_zero, faw_zero});
    end
  end

  // Every wait fits its counter.
  initial begin
    a_longest : assert (Timing.tfaw <= 16'd64 && Timing.tras <= 16'd64 && Timing.trtw <= 16'd64 && Timing.trrd_l <= 16'd64 &&
                        Timing.tras >= 16'd2 && Timing.trtp >= 16'd2 &&
                        Timing.tccd_l <= 16'd64 && WrEnd + 32'(Timing.twtr_l) <= 64 && WrEnd + 32'(Timing.twr) <= 64);
  end
endmodule
