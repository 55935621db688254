// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// DRAM controller of a group of pseudo-channels that work in lockstep. Requests wait in one queue that three pointers walk in
// order: "pre" closes a bank that holds another row, "act" opens the row, "col" issues RD or WR; the first two run ahead, so row
// commands hide behind columns. Peak: a column every tCCD_S cycles. A request to an open row takes 3 cycles to its column.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

module systole_hbm_ctrl
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 32,  // requests in the queue, a power of two
    parameter timing_t Timing = HbmTiming
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                req_valid_i,
    output logic                req_ready_o,
    input  logic                req_write_i,
    input  logic [BankBits-1:0] req_bank_i,
    input  logic [RowBits-1:0]  req_row_i,
    input  logic [ColBits-1:0]  req_col_i,
    output logic                low_o,          // few requests left

    input  logic                rsp_room_i,     // the data of one more RD has room
    output logic                rd_issue_o,     // RD, WR: on the PHY in the next cycle
    output logic                wr_issue_o,
    output logic                act_issue_o,
    output logic                refresh_o,

    output row_cmd_e            row_cmd_o,
    output logic [BankBits-1:0] row_bank_o,
    output logic [RowBits-1:0]  row_addr_o,
    output col_cmd_e            col_cmd_o,
    output logic [BankBits-1:0] col_bank_o,
    output logic [ColBits-1:0]  col_addr_o
);
  localparam int unsigned TimeBits = 13;
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned LowCount = 4;
  typedef logic [TimeBits-1:0] time_t;
  typedef logic [PtrBits:0] ptr_t;  // a lap bit, then the index

  // Sums of the table.
  localparam time_t WrEnd = TimeBits'(Timing.tcwl) + TimeBits'(BurstCycles);  // WR to the end of its data
  localparam time_t WrToPre = WrEnd + TimeBits'(Timing.twr);
  localparam time_t WrToRdS = WrEnd + TimeBits'(Timing.twtr_s);
  localparam time_t WrToRdL = WrEnd + TimeBits'(Timing.twtr_l);

  function automatic time_t later(time_t a, time_t b);
    return a > b ? a : b;
  endfunction

  // Queue.
  logic                write_mem_q[Depth];
  logic [BankBits-1:0] bank_mem_q [Depth];
  logic [RowBits-1:0]  row_mem_q  [Depth];
  logic [ColBits-1:0]  col_mem_q  [Depth];
  logic [Depth-1:0]    miss_q;  // needs an ACT; valid from col to pre
  ptr_t tail_q, pre_q, act_q, col_q;

  // Banks, as they will be when every request before "pre" is served. Times are those of systole_hbm_refresh.
  logic [Banks-1:0]   open_q;
  logic [RowBits-1:0] open_row_q[Banks];
  ptr_t               users_q   [Banks];       // requests from col to pre
  time_t              act_at_q  [Banks];       // last ACT
  time_t              pre_from_q[Banks];       // earliest PRE after columns
  time_t              act_from_q[Banks];       // earliest ACT after PRE
  // Pseudo-channel.
  time_t       rrd_s_q, rd_s_q, wr_s_q, quiet_q;
  time_t       rrd_l_q [BankGroups];
  time_t       rd_l_q  [BankGroups];
  time_t       wr_l_q  [BankGroups];
  time_t       faw_q   [4];
  logic [1:0]  faw_ptr_q;

  time_t now;
  logic run, prea, refresh;

  systole_hbm_refresh #(.Timing(Timing), .TimeBits(TimeBits)) u_refresh (
      .clk_i, .rst_ni,
      .quiet_i(quiet_q), .now_o(now), .run_o(run), .prea_o(prea), .ref_o(refresh), .refresh_o
  );

  // Enqueue.
  ptr_t count;
  logic push;
  assign count = tail_q - col_q;
  assign req_ready_o = count != ptr_t'(Depth);
  assign push = req_valid_i && req_ready_o;
  assign low_o = count <= ptr_t'(LowCount);

  always_ff @(posedge clk_i) begin
    if (push) begin
      write_mem_q[tail_q[PtrBits-1:0]] <= req_write_i;
      bank_mem_q[tail_q[PtrBits-1:0]]  <= req_bank_i;
      row_mem_q[tail_q[PtrBits-1:0]]   <= req_row_i;
      col_mem_q[tail_q[PtrBits-1:0]]   <= req_col_i;
    end
  end

  // Column: the oldest request, once its row is open long enough and the buses are free.
  logic [BankBits-1:0] col_bank;
  logic [BgBits-1:0]   col_bg;
  logic                col_write, col_issue;
  always_comb begin
    col_bank  = bank_mem_q[col_q[PtrBits-1:0]];
    col_bg    = col_bank[BankBits-1-:BgBits];
    col_write = write_mem_q[col_q[PtrBits-1:0]];
    col_issue = 1'b0;
    if (run && col_q != act_q) begin
      if (col_write) begin
        col_issue = now >= act_at_q[col_bank] + TimeBits'(Timing.trcdwr) && now >= wr_s_q && now >= wr_l_q[col_bg];
      end else begin
        col_issue = now >= act_at_q[col_bank] + TimeBits'(Timing.trcdrd) && now >= rd_s_q && now >= rd_l_q[col_bg] && rsp_room_i;
      end
    end
    rd_issue_o = col_issue && !col_write;
    wr_issue_o = col_issue && col_write;
  end

  // Activate: the next request that found its bank closed; hits pass.
  logic [BankBits-1:0] act_bank;
  logic [BgBits-1:0]   act_bg;
  logic                act_issue, act_step;
  always_comb begin
    act_bank  = bank_mem_q[act_q[PtrBits-1:0]];
    act_bg    = act_bank[BankBits-1-:BgBits];
    act_issue = 1'b0;
    act_step  = 1'b0;
    if (run && act_q != pre_q) begin
      act_issue = miss_q[act_q[PtrBits-1:0]] && now >= act_from_q[act_bank] && now >= act_at_q[act_bank] + TimeBits'(Timing.trc) &&
                  now >= rrd_s_q && now >= rrd_l_q[act_bg] && now >= faw_q[faw_ptr_q] && now >= TimeBits'(Timing.trfc);
      act_step  = act_issue || !miss_q[act_q[PtrBits-1:0]];
    end
    act_issue_o = act_issue;
  end

  // Precharge: the newest request not looked at. A bank with another row is closed when no older request uses it.
  logic [BankBits-1:0] pre_bank;
  logic [RowBits-1:0]  pre_row;
  logic                pre_hit, pre_issue, pre_step;
  always_comb begin
    pre_bank  = bank_mem_q[pre_q[PtrBits-1:0]];
    pre_row   = row_mem_q[pre_q[PtrBits-1:0]];
    pre_hit   = open_q[pre_bank] && open_row_q[pre_bank] == pre_row;
    pre_issue = 1'b0;
    pre_step  = 1'b0;
    if (run && pre_q != tail_q) begin
      pre_issue = open_q[pre_bank] && !pre_hit && users_q[pre_bank] == '0 && !act_issue && now >= pre_from_q[pre_bank] &&
                  now >= act_at_q[pre_bank] + TimeBits'(Timing.tras);
      pre_step  = pre_issue || pre_hit || !open_q[pre_bank];
    end
  end

  // Bank state and time stamps.
  time_t quiet_d;
  always_comb begin
    quiet_d = quiet_q;
    if (act_issue) quiet_d = later(quiet_d, now + TimeBits'(Timing.tras));
    if (rd_issue_o) quiet_d = later(quiet_d, now + TimeBits'(Timing.trtp));
    if (wr_issue_o) quiet_d = later(quiet_d, now + WrToPre);
  end

  always_ff @(posedge clk_i) begin
    if (pre_step) begin
      open_row_q[pre_bank] <= pre_row;
      miss_q[pre_q[PtrBits-1:0]] <= !pre_hit;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || refresh) begin
      open_q     <= '0;
      faw_ptr_q  <= '0;
      rrd_s_q    <= '0;
      rd_s_q     <= '0;
      wr_s_q     <= '0;
      quiet_q    <= '0;
      users_q    <= '{default: '0};
      act_at_q   <= '{default: '0};
      pre_from_q <= '{default: '0};
      act_from_q <= '{default: '0};
      rrd_l_q    <= '{default: '0};
      rd_l_q     <= '{default: '0};
      wr_l_q     <= '{default: '0};
      faw_q      <= '{default: '0};
    end else begin
      quiet_q <= quiet_d;
      if (pre_step) open_q[pre_bank] <= 1'b1;
      if (pre_step && !(col_issue && col_bank == pre_bank)) users_q[pre_bank] <= users_q[pre_bank] + 1'b1;
      if (col_issue && !(pre_step && col_bank == pre_bank)) users_q[col_bank] <= users_q[col_bank] - 1'b1;
      if (pre_issue) act_from_q[pre_bank] <= now + TimeBits'(Timing.trp);
      if (act_issue) begin
        act_at_q[act_bank] <= now;
        rrd_s_q            <= now + TimeBits'(Timing.trrd_s);
        rrd_l_q[act_bg]    <= now + TimeBits'(Timing.trrd_l);
        faw_q[faw_ptr_q]   <= now + TimeBits'(Timing.tfaw);
        faw_ptr_q          <= faw_ptr_q + 1'b1;
      end
      if (rd_issue_o) begin
        pre_from_q[col_bank] <= later(pre_from_q[col_bank], now + TimeBits'(Timing.trtp));
        rd_s_q               <= now + TimeBits'(Timing.tccd_s);
        rd_l_q[col_bg]       <= now + TimeBits'(Timing.tccd_l);
        wr_s_q               <= now + TimeBits'(Timing.trtw);
      end
      if (wr_issue_o) begin
        pre_from_q[col_bank] <= later(pre_from_q[col_bank], now + WrToPre);
        wr_s_q               <= now + TimeBits'(Timing.tccd_s);
        wr_l_q[col_bg]       <= now + TimeBits'(Timing.tccd_l);
        rd_s_q               <= now + WrToRdS;
        rd_l_q[col_bg]       <= now + WrToRdL;
      end
    end
  end

  // Pointers. A refresh closes all banks: the requests that were prepared are prepared again.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tail_q <= '0;
      pre_q  <= '0;
      act_q  <= '0;
      col_q  <= '0;
    end else begin
      if (push) tail_q <= tail_q + 1'b1;
      if (refresh) begin
        pre_q <= col_q;
        act_q <= col_q;
      end else begin
        if (pre_step) pre_q <= pre_q + 1'b1;
        if (act_step) act_q <= act_q + 1'b1;
        if (col_issue) col_q <= col_q + 1'b1;
      end
    end
  end

  // Command registers.
  always_ff @(posedge clk_i) begin
    if (act_issue) begin
      row_bank_o <= act_bank;
      row_addr_o <= row_mem_q[act_q[PtrBits-1:0]];
    end else if (pre_issue) begin
      row_bank_o <= pre_bank;
    end
    if (col_issue) begin
      col_bank_o <= col_bank;
      col_addr_o <= col_mem_q[col_q[PtrBits-1:0]];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_cmd_o <= RowNop;
      col_cmd_o <= ColNop;
    end else begin
      row_cmd_o <= act_issue ? RowAct : pre_issue ? RowPre : prea ? RowPrea : refresh ? RowRef : RowNop;
      col_cmd_o <= rd_issue_o ? ColRd : wr_issue_o ? ColWr : ColNop;
    end
  end

  // The pointers keep their order, a column finds its row open, and the refresher does not race the row bus.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_order : assert (act_q - col_q <= pre_q - col_q && pre_q - col_q <= count && count <= ptr_t'(Depth));
      a_open : assert (!col_issue || (open_q[col_bank] && open_row_q[col_bank] == row_mem_q[col_q[PtrBits-1:0]]));
      a_users : assert (!col_issue || users_q[col_bank] != '0);
      a_row_bus : assert (32'(act_issue) + 32'(pre_issue) + 32'(prea) + 32'(refresh) <= 1);
    end
  end
endmodule
