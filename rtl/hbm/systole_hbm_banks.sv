// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bank machines of a controller: which row each bank has open or will have, how many prepared requests still use it, and down
// counters to its next PRE, ACT, RD and WR, each with a flag that it is 0. Answers for the banks that the scheduler looks at, at once.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

module systole_hbm_banks
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 32,  // requests that may use a bank
    parameter timing_t Timing = HbmTiming
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                clear_i,      // REF: all banks are closed and owe nothing

    // The banks that are looked at: the oldest request's, the next to activate, the next to prepare.
    input  logic [BankBits-1:0] col_bank_i,
    input  logic [BankBits-1:0] act_bank_i,
    input  logic [BankBits-1:0] pre_bank_i,
    input  logic [RowBits-1:0]  pre_row_i,
    output logic                rd_ok_o,
    output logic                wr_ok_o,
    output logic                act_ok_o,
    output logic                pre_ok_o,     // nobody needs the row and the bank may be closed
    output logic                pre_open_o,   // another request was prepared for the bank
    output logic                pre_hit_o,    // for this row

    // What happens in this cycle, at these banks.
    input  logic                prepare_i,    // the bank will hold pre_row_i and has one more user
    input  logic                precharge_i,
    input  logic                activate_i,
    input  logic                read_i,       // RD, WR: one user less
    input  logic                write_i
);
  localparam int unsigned WrToPre = 32'(Timing.tcwl) + BurstCycles + 32'(Timing.twr);
  localparam int unsigned UserBits = $clog2(Depth + 1);
  localparam int unsigned WaitBits = $clog2(32'(Timing.trc));  // the longest wait of a bank
  typedef logic [WaitBits-1:0] wait_t;
  typedef wait_t waits_t [Banks];
  typedef logic flags_t [Banks];

  // Cycles from the one after a command to the first in which the other is allowed.
  localparam wait_t ActToRd = WaitBits'(Timing.trcdrd - 16'd1);
  localparam wait_t ActToWr = WaitBits'(Timing.trcdwr - 16'd1);
  localparam wait_t ActToPre = WaitBits'(Timing.tras - 16'd1);
  localparam wait_t ActToAct = WaitBits'(Timing.trc - 16'd1);
  localparam wait_t PreToAct = WaitBits'(Timing.trp - 16'd2);
  // What a column or a precharge does to its bank is done a cycle later, from registers: until then the bank still has its user, and
  // is not activated.
  localparam wait_t RdToPre = WaitBits'(Timing.trtp - 16'd2);
  localparam wait_t ColWrToPre = WaitBits'(WrToPre - 2);

  logic [Banks-1:0]    open_q;
  logic [UserBits-1:0] users_q [Banks];
  waits_t              rd_q, wr_q, act_q, pre_q;
  // The flags are registers: what the scheduler sees is one bit a bank.
  flags_t              rd_free_q, wr_free_q, act_free_q, pre_free_q, unused_q;
  logic                column, column_q, written_q, closed_q;
  logic [BankBits-1:0] column_bank_q, closed_bank_q;

  // A cycle later; and whether a wait is over then. Whether the flags say which waits are over.
  function automatic waits_t less(waits_t left);
    for (int unsigned b = 0; b < Banks; b++) less[b] = left[b] == '0 ? '0 : left[b] - 1'b1;
  endfunction
  function automatic flags_t ends(waits_t left);
    for (int unsigned b = 0; b < Banks; b++) ends[b] = left[b] <= WaitBits'(1);
  endfunction
  function automatic logic right(flags_t free, waits_t left);
    right = 1'b1;
    for (int unsigned b = 0; b < Banks; b++) right &= free[b] == (left[b] == '0);
  endfunction
  function automatic wait_t later(wait_t a, wait_t b);
    return a > b ? a : b;
  endfunction

  // Rows: read where the scheduler prepares.
  (* ram_style = "auto" *) logic [RowBits-1:0] row_q [Banks];

  always_ff @(posedge clk_i) begin
    if (prepare_i) row_q[pre_bank_i] <= pre_row_i;
  end

  assign rd_ok_o    = rd_free_q[col_bank_i];
  assign wr_ok_o    = wr_free_q[col_bank_i];
  assign act_ok_o   = act_free_q[act_bank_i] && !(closed_q && closed_bank_q == act_bank_i);
  assign pre_ok_o   = pre_free_q[pre_bank_i] && unused_q[pre_bank_i];
  assign pre_open_o = open_q[pre_bank_i];
  assign pre_hit_o  = pre_open_o && row_q[pre_bank_i] == pre_row_i;
  assign column     = read_i || write_i;

  always_ff @(posedge clk_i) begin
    column_q      <= rst_ni && column;
    written_q     <= write_i;
    column_bank_q <= col_bank_i;
    closed_q      <= rst_ni && precharge_i;
    closed_bank_q <= pre_bank_i;
  end

  always_ff @(posedge clk_i) begin : machines
    waits_t rd_v, wr_v, act_v, pre_v;
    flags_t rd_free, wr_free, act_free, pre_free;
    rd_v     = less(rd_q);
    wr_v     = less(wr_q);
    act_v    = less(act_q);
    pre_v    = less(pre_q);
    rd_free  = ends(rd_q);
    wr_free  = ends(wr_q);
    act_free = ends(act_q);
    pre_free = ends(pre_q);
    if (closed_q) begin
      act_v[closed_bank_q] = later(act_v[closed_bank_q], PreToAct);
      if (PreToAct != '0) act_free[closed_bank_q] = 1'b0;
    end
    if (column_q) begin
      pre_v[column_bank_q] = written_q ? later(pre_v[column_bank_q], ColWrToPre) : later(pre_v[column_bank_q], RdToPre);
      if ((written_q ? ColWrToPre : RdToPre) != '0) pre_free[column_bank_q] = 1'b0;
    end
    if (activate_i) begin
      rd_v[act_bank_i]  = ActToRd;
      wr_v[act_bank_i]  = ActToWr;
      act_v[act_bank_i] = ActToAct;
      pre_v[act_bank_i] = ActToPre;

      rd_free[act_bank_i]  = ActToRd == '0;
      wr_free[act_bank_i]  = ActToWr == '0;
      act_free[act_bank_i] = ActToAct == '0;
      pre_free[act_bank_i] = ActToPre == '0;
    end
    if (!rst_ni || clear_i) begin
      rd_v  = '{default: '0};
      wr_v  = '{default: '0};
      act_v = '{default: '0};
      pre_v = '{default: '0};

      rd_free  = '{default: 1'b1};
      wr_free  = '{default: 1'b1};
      act_free = '{default: 1'b1};
      pre_free = '{default: 1'b1};
    end
    rd_q       <= rd_v;
    wr_q       <= wr_v;
    act_q      <= act_v;
    pre_q      <= pre_v;
    rd_free_q  <= rd_free;
    wr_free_q  <= wr_free;
    act_free_q <= act_free;
    pre_free_q <= pre_free;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      open_q   <= '0;
      users_q  <= '{default: '0};
      unused_q <= '{default: 1'b1};
    end else begin
      if (prepare_i) open_q[pre_bank_i] <= 1'b1;
      if (prepare_i && !(column_q && column_bank_q == pre_bank_i)) begin
        users_q[pre_bank_i]  <= users_q[pre_bank_i] + 1'b1;
        unused_q[pre_bank_i] <= 1'b0;
      end
      if (column_q && !(prepare_i && column_bank_q == pre_bank_i)) begin
        users_q[column_bank_q]  <= users_q[column_bank_q] - 1'b1;
        unused_q[column_bank_q] <= users_q[column_bank_q] == UserBits'(1);
      end
    end
  end

  function automatic logic unused_right();
    unused_right = 1'b1;
    for (int unsigned b = 0; b < Banks; b++) unused_right &= unused_q[b] == (users_q[b] == '0);
  endfunction

  // No wait is longer than tRC, and a column has prepared its bank.
  initial begin
    a_longest : assert (Timing.tras <= Timing.trc && Timing.trp <= Timing.trc && Timing.trcdrd <= Timing.trc &&
                        Timing.trcdwr <= Timing.trc && Timing.trtp <= Timing.trc && WrToPre <= 32'(Timing.trc) &&
                        Timing.trtp >= 16'd2 && Timing.trp >= 16'd2);
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_users : assert (!column || (open_q[col_bank_i] && users_q[col_bank_i] != '0));
      // A flag says that its counter is 0.
      a_flags : assert (right(rd_free_q, rd_q) && right(wr_free_q, wr_q) && right(act_free_q, act_q) && right(pre_free_q, pre_q) &&
                        unused_right());
      a_one_column : assert (!(read_i && write_i));
    end
  end
endmodule
