// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bank state and timing of one controller: which banks are open, and which commands the timing table allows, one bit
// per bank. Each bank has its own times (tRCD, tRAS, tRP, tRTP, tWR), each bank group has its own, and the rest are
// shared by all banks (tRRD, tFAW, tCCD, tWTR, tRTW, tRREFD). A command allowed in this cycle may be issued two cycles
// later, after the scheduler's other two steps. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc,
// tests/hbm/mutant_test.cc.

module systole_hbm_banks
  import systole_hbm_pkg::*;
#(
    parameter timing_t Timing = HbmTiming
) (
    input  logic             clk_i,
    input  logic             rst_ni,

    output logic [Banks-1:0] open_o,
    output logic [Banks-1:0] rd_ok_o,   // RD is allowed, if the bank is open
    output logic [Banks-1:0] wr_ok_o,   // WR is allowed, if the bank is open
    output logic [Banks-1:0] pre_ok_o,  // PRE is allowed
    output logic [Banks-1:0] new_ok_o,  // a closed bank's own and its bank group's times allow ACT and REFSB
    output logic             any_ok_o,  // the shared times allow ACT and REFSB
    output logic             act_ok_o,  // the four-activate window (tFAW) allows ACT

    // Commands issued in this cycle, one bit per bank.
    input  logic [Banks-1:0] act_i,
    input  logic [Banks-1:0] pre_i,
    input  logic [Banks-1:0] refsb_i,
    input  logic [Banks-1:0] rd_i,
    input  logic [Banks-1:0] wr_i
);
  localparam int unsigned WrEnd = 32'(Timing.tcwl) + BurstCycles;  // from WR to the end of its data
  localparam int unsigned ActWindow = 4;  // activates per tFAW
  typedef logic [BankGroups-1:0] groups_t;

  logic [Banks-1:0] open_q, rcdrd, rcdwr, ras, rtp, wtp, rp;
  groups_t          rrd_l, rd_l, wr_l, wtr_l;
  logic             rrd_s, wtr_s, rtw, refd;
  logic [ActWindow-1:0] faw, window_q;  // window_q: one-hot, the oldest of the last four activates
  groups_t          act_group, rd_group, wr_group;
  logic             act, rd, wr;

  function automatic groups_t groups(logic [Banks-1:0] banks);
    for (int unsigned g = 0; g < BankGroups; g++) groups[g] = banks[g*BanksPerGroup+:BanksPerGroup] != '0;
  endfunction
  function automatic logic [Banks-1:0] each(groups_t g);
    for (int unsigned i = 0; i < BankGroups; i++) each[i*BanksPerGroup+:BanksPerGroup] = {BanksPerGroup{g[i]}};
  endfunction

  assign act_group = groups(act_i);
  assign rd_group  = groups(rd_i);
  assign wr_group  = groups(wr_i);
  assign {act, rd, wr} = {act_group != '0, rd_group != '0, wr_group != '0};

  // Times of each bank.
  systole_hbm_wait #(.Width(Banks), .Cycles(32'(Timing.trcdrd))) u_rcdrd (.clk_i, .rst_ni, .set_i(act_i), .free_o(rcdrd));
  systole_hbm_wait #(.Width(Banks), .Cycles(32'(Timing.trcdwr))) u_rcdwr (.clk_i, .rst_ni, .set_i(act_i), .free_o(rcdwr));
  systole_hbm_wait #(.Width(Banks), .Cycles(32'(Timing.tras))) u_ras (.clk_i, .rst_ni, .set_i(act_i), .free_o(ras));
  systole_hbm_wait #(.Width(Banks), .Cycles(32'(Timing.trtp))) u_rtp (.clk_i, .rst_ni, .set_i(rd_i), .free_o(rtp));
  systole_hbm_wait #(.Width(Banks), .Cycles(WrEnd + 32'(Timing.twr))) u_wtp (.clk_i, .rst_ni, .set_i(wr_i), .free_o(wtp));
  systole_hbm_wait #(.Width(Banks), .Cycles(32'(Timing.trp))) u_rp (.clk_i, .rst_ni, .set_i(pre_i), .free_o(rp));

  // Times of each bank group.
  systole_hbm_wait #(.Width(BankGroups), .Cycles(32'(Timing.trrd_l))) u_rrd_l (.clk_i, .rst_ni, .set_i(act_group), .free_o(rrd_l));
  systole_hbm_wait #(.Width(BankGroups), .Cycles(32'(Timing.tccd_l))) u_rd_l (.clk_i, .rst_ni, .set_i(rd_group), .free_o(rd_l));
  systole_hbm_wait #(.Width(BankGroups), .Cycles(32'(Timing.tccd_l))) u_wr_l (.clk_i, .rst_ni, .set_i(wr_group), .free_o(wr_l));
  systole_hbm_wait #(.Width(BankGroups), .Cycles(WrEnd + 32'(Timing.twtr_l))) u_wtr_l (
      .clk_i, .rst_ni, .set_i(wr_group), .free_o(wtr_l)
  );

  // Times shared by all banks.
  systole_hbm_wait #(.Width(1), .Cycles(32'(Timing.trrd_s))) u_rrd_s (.clk_i, .rst_ni, .set_i(act), .free_o(rrd_s));
  systole_hbm_wait #(.Width(1), .Cycles(32'(Timing.trrefd))) u_refd (.clk_i, .rst_ni, .set_i(refsb_i != '0), .free_o(refd));
  systole_hbm_wait #(.Width(1), .Cycles(WrEnd + 32'(Timing.twtr_s))) u_wtr_s (.clk_i, .rst_ni, .set_i(wr), .free_o(wtr_s));
  systole_hbm_wait #(.Width(1), .Cycles(32'(Timing.trtw))) u_rtw (.clk_i, .rst_ni, .set_i(rd), .free_o(rtw));
  systole_hbm_wait #(.Width(ActWindow), .Cycles(32'(Timing.tfaw))) u_faw (
      .clk_i, .rst_ni, .set_i(act ? window_q : '0), .free_o(faw)
  );

  assign open_o   = open_q;
  assign rd_ok_o  = rcdrd & each(rd_l & wtr_l) & {Banks{wtr_s}};
  assign wr_ok_o  = rcdwr & each(wr_l) & {Banks{rtw}};
  assign pre_ok_o = ras & rtp & wtp;
  assign new_ok_o = rp & each(rrd_l);
  assign any_ok_o = rrd_s && refd;
  assign act_ok_o = (faw & window_q) != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q   <= '0;
      window_q <= ActWindow'(1);
    end else begin
      open_q <= (open_q | act_i) & ~pre_i;
      if (act) window_q <= {window_q[ActWindow-2:0], window_q[ActWindow-1]};
    end
  end

  // Times without a counter. The scheduler's steps alone keep columns two cycles apart and all other commands three, so
  // no time may be shorter. tRAS + tRP covers tRC, and tRREFD covers the time from REFSB to ACT in the same bank group.
  initial begin
    a_times : assert (Timing.trc <= Timing.tras + Timing.trp && Timing.trrd_l <= Timing.trrefd && Timing.trrd_s >= 16'd3 &&
                      Timing.trp >= 16'd3 && Timing.trtp >= 16'd3 && Timing.trtw >= 16'd3 && Timing.trcdrd >= 16'd3 &&
                      Timing.trcdwr >= 16'd3 && Timing.tccd_s == 16'd2 && Timing.tfaw >= 16'd3);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_open : assert ((rd_i & ~open_q) == '0 && (wr_i & ~open_q) == '0 && (act_i & open_q) == '0 && (refsb_i & open_q) == '0);
    end
  end
endmodule
