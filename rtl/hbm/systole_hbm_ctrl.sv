// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// DRAM controller of a group of pseudo-channels that work in lockstep: queue, bank times, refresher, and here the scheduler. Each bus
// has two steps: choose a bank among those whose command is wanted and allowed, then issue. Requests leave out of order, with their
// tags. Peak: a column every 2 cycles. A request to an open row takes 4 cycles to its column. Docs: docs/hbm.md.
// Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

module systole_hbm_ctrl
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 16,  // requests of a row queue
    parameter int unsigned TagBits = 6,
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
    input  logic [TagBits-1:0]  req_tag_i,
    output logic                low_o,          // few requests left

    output logic                rd_issue_o,     // RD, WR: on the PHY in the next cycle
    output logic                wr_issue_o,
    output logic [TagBits-1:0]  tag_o,          // theirs
    output logic                act_issue_o,
    output logic                refresh_o,

    output row_cmd_e            row_cmd_o,
    output logic [BankBits-1:0] row_bank_o,
    output logic [RowBits-1:0]  row_addr_o,
    output col_cmd_e            col_cmd_o,
    output logic [BankBits-1:0] col_bank_o,
    output logic [ColBits-1:0]  col_addr_o
);
  typedef logic [Banks-1:0] banks_t;

  banks_t open, rd_ok, wr_ok, act_ok, pre_ok, ref_ok;      // what the times allow
  banks_t serve, some, both, busy, yield, want_ref, hold;        // what is wanted
  logic   write, run, any, ask_ref, prea, refresh;
  logic [RowBits-1:0] act_row;
  logic [ColBits-1:0] col;

  // The choices, and in the next cycle the commands.
  banks_t              col_req, col_one, col_one_q, row_req, row_one, row_one_q;
  logic                col_any, row_any, col_q, col_write_q, act_q, pre_q, refsb_q;
  logic [BankBits-1:0] col_idx, row_idx, col_bank_q, row_bank_q;
  banks_t              ref_req, act_req, pre_req;

  systole_hbm_queue #(.Depth(Depth), .TagBits(TagBits)) u_queue (
      .clk_i, .rst_ni,
      .req_valid_i, .req_ready_o, .req_write_i, .req_bank_i, .req_row_i, .req_col_i, .req_tag_i, .low_o, .any_o(any),
      .open_i(open), .hold_i(hold), .write_o(write), .serve_o(serve), .some_o(some), .both_o(both), .busy_o(busy), .yield_o(yield),
      .act_i(act_q), .act_bank_i(row_bank_q), .act_row_o(act_row),
      .pop_i(col_q), .pop_bank_i(col_bank_q), .pop_col_o(col), .pop_tag_o(tag_o)
  );

  systole_hbm_banks #(.Timing(Timing)) u_banks (
      .clk_i, .rst_ni,
      .open_o(open), .rd_ok_o(rd_ok), .wr_ok_o(wr_ok), .pre_ok_o(pre_ok), .act_ok_o(act_ok), .ref_ok_o(ref_ok),
      .act_i(act_q ? row_one_q : '0), .pre_i(pre_q ? row_one_q : '0), .refsb_i(refsb_q ? row_one_q : '0),
      .rd_i(rd_issue_o ? col_one_q : '0), .wr_i(wr_issue_o ? col_one_q : '0)
  );

  systole_hbm_refresh #(.Timing(Timing)) u_refresh (
      .clk_i, .rst_ni,
      .idle_i(!any), .column_i(col_q), .some_i(some), .ref_sb_i(refsb_q),
      .run_o(run), .prea_o(prea), .ref_o(refresh), .want_o(want_ref), .ask_o(ask_ref), .hold_o(hold), .refresh_o
  );

  // Columns: banks whose open row has requests of this epoch. One that is being closed has none left.
  always_comb begin
    col_req = serve & open & (write ? wr_ok : rd_ok);
    if (pre_q) col_req &= ~row_one_q;
    if (col_q || !run) col_req = '0;
  end

  systole_hbm_pick #(.N(Banks)) u_col (
      .clk_i, .rst_ni, .req_i(col_req), .any_o(col_any), .one_o(col_one), .idx_o(col_idx), .take_i(col_any)
  );

  // Rows: the refresh asked for, else a bank to open (first those that have no room for a third row), else one to close. What ACT and
  // REFSB do to the times shows a cycle later.
  always_comb begin
    ref_req = ask_ref ? want_ref & ~open & ref_ok : '0;
    act_req = some & ~open & ~want_ref & act_ok;
    pre_req = open & (yield | (want_ref & ~busy)) & pre_ok;
    if (act_q || refsb_q || !run) ref_req = '0;
    if (act_q || refsb_q || !run) act_req = '0;
    if (pre_q) pre_req &= ~row_one_q;
    if (!run) pre_req = '0;
    if ((act_req & both) != '0) act_req &= both;
    row_req = ref_req != '0 ? ref_req : act_req != '0 ? act_req : pre_req;
  end

  systole_hbm_pick #(.N(Banks)) u_row (
      .clk_i, .rst_ni, .req_i(row_req), .any_o(row_any), .one_o(row_one), .idx_o(row_idx), .take_i(row_any)
  );

  always_ff @(posedge clk_i) begin
    col_one_q   <= col_one;
    col_bank_q  <= col_idx;
    col_write_q <= write;
    row_one_q   <= row_one;
    row_bank_q  <= row_idx;
    col_q       <= rst_ni && col_any;
    refsb_q     <= rst_ni && row_any && ref_req != '0;
    act_q       <= rst_ni && row_any && ref_req == '0 && act_req != '0;
    pre_q       <= rst_ni && row_any && ref_req == '0 && act_req == '0;
  end

  assign rd_issue_o  = col_q && !col_write_q;
  assign wr_issue_o  = col_q && col_write_q;
  assign act_issue_o = act_q;

  // Command registers.
  always_ff @(posedge clk_i) begin
    row_bank_o <= row_bank_q;
    row_addr_o <= act_row;
    col_bank_o <= col_bank_q;
    col_addr_o <= col;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_cmd_o <= RowNop;
      col_cmd_o <= ColNop;
    end else begin
      row_cmd_o <= act_q ? RowAct : pre_q ? RowPre : refsb_q ? RowRefsb : prea ? RowPrea : refresh ? RowRef : RowNop;
      col_cmd_o <= rd_issue_o ? ColRd : wr_issue_o ? ColWr : ColNop;
    end
  end

  // A command a bus and cycle; a bank that is closed has no column on its way.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_row_bus : assert (32'(act_q) + 32'(pre_q) + 32'(refsb_q) + 32'(prea) + 32'(refresh) <= 1);
      a_closing : assert (!(pre_q && col_q && row_bank_q == col_bank_q));
      a_refresh : assert (!refsb_q || row_one_q == want_ref);
    end
  end
endmodule
