// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// DRAM controller of a group of pseudo-channels in lockstep: request queue, bank timing, refresher, and the scheduler,
// which is in this file. The scheduler has three steps for each command bus: list the banks whose command is wanted and
// allowed, choose one, issue. Requests are served out of order and carry tags. The other group's pseudo-channels share
// the command buses: this controller lists a command in a slot of its own, and what it lists in cycle n is on the bus
// in cycle n + 3. ACT takes the bus for two cycles. Throughput: one column every 2 cycles. Latency of a request to an
// open row: 5 cycles to its column, and up to one more to a slot. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc,
// tests/hbm/mutant_test.cc.

module systole_hbm_ctrl
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 16,  // requests per row queue
    parameter int unsigned TagBits = 6,
    parameter timing_t Timing = HbmTiming
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    // Slots of the command buses that are this controller's: what may be listed in this cycle.
    input  logic                col_slot_i,     // a column command
    input  logic                act_slot_i,     // ACT, whose two cycles on the bus begin here
    input  logic                row_slot_i,     // PRE, PREA, REF or REFSB

    input  logic                req_valid_i,
    output logic                req_ready_o,
    input  logic                req_write_i,
    input  logic [BankBits-1:0] req_bank_i,
    input  logic [RowBits-1:0]  req_row_i,
    input  logic [ColBits-1:0]  req_col_i,
    input  logic [TagBits-1:0]  req_tag_i,
    output logic                low_o,          // few requests are left

    output logic                rd_issue_o,     // RD is on the PHY in the next cycle
    output logic                wr_issue_o,     // WR is on the PHY in the next cycle
    output logic [TagBits-1:0]  tag_o,          // tag of that RD or WR
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

  banks_t open, rd_ok, wr_ok, pre_ok, new_ok;              // allowed by the times
  logic   any_ok, act_ok, new_go, ref_go, act_go;
  banks_t new_ok_q;        // of the last cycle, as any_ok_q and act_last_q
  logic   any_ok_q, act_last_q;
  logic [1:0] row_slot_q;  // of the last two cycles
  banks_t serve, some, both, busy, yield, want_ref, hold;        // wanted by the queue and the refresher
  logic   write, run, any, ask_ref, prea, refresh;
  logic [RowBits-1:0] act_row;
  logic [ColBits-1:0] col;

  // Scheduler pipeline: list of banks, choice, issue.
  typedef enum logic [1:0] {KindPre, KindAct, KindRef} kind_e;
  banks_t              col_d, col_list_q, col_one, col_one_q, ref_d, act_d, both_d, pre_d, row_d, row_list_q, row_one, row_one_q;
  kind_e               kind_d, kind_q;
  logic                col_any, row_any, col_list_write_q, col_q, col_write_q, act_q, pre_q, refsb_q, ref_next_q;
  banks_t              closing, shuts;  // bank closed in this cycle; bank closed in the next cycle
  logic [BankBits-1:0] col_idx, row_idx, col_bank_q, row_bank_q;

  systole_hbm_queue #(.Depth(Depth), .TagBits(TagBits)) u_queue (
      .clk_i, .rst_ni,
      .req_valid_i, .req_ready_o, .req_write_i, .req_bank_i, .req_row_i, .req_col_i, .req_tag_i, .low_o, .any_o(any),
      .open_i(open), .hold_i(hold), .write_o(write), .serve_o(serve), .some_o(some), .both_o(both), .busy_o(busy), .yield_o(yield),
      .act_i(act_q), .act_bank_i(row_bank_q), .act_row_o(act_row),
      .pop_i(col_q), .pop_bank_i(col_bank_q), .pop_col_o(col), .pop_tag_o(tag_o)
  );

  systole_hbm_banks #(.Timing(Timing)) u_banks (
      .clk_i, .rst_ni,
      .open_o(open), .rd_ok_o(rd_ok), .wr_ok_o(wr_ok), .pre_ok_o(pre_ok),
      .new_ok_o(new_ok), .any_ok_o(any_ok), .act_ok_o(act_ok),
      .act_i(act_q ? row_one_q : '0), .pre_i(pre_q ? row_one_q : '0), .refsb_i(refsb_q ? row_one_q : '0),
      .rd_i(rd_issue_o ? col_one_q : '0), .wr_i(wr_issue_o ? col_one_q : '0)
  );

  systole_hbm_refresh #(.Timing(Timing)) u_refresh (
      .clk_i, .rst_ni,
      .idle_i(!any), .column_i(col_q), .some_i(some), .next_i(ref_next_q), .ref_sb_i(refsb_q),
      .run_o(run), .prea_o(prea), .ref_o(refresh), .want_o(want_ref), .ask_o(ask_ref), .hold_o(hold), .refresh_o,
      .slot_i(row_slot_q[1])
  );
  always_ff @(posedge clk_i) begin
    row_slot_q <= {row_slot_q[0], row_slot_i};
    new_ok_q   <= new_ok;
    any_ok_q   <= any_ok;
    act_last_q <= act_q;
  end

  // Column list: banks whose open row has requests of this epoch. The bank state shows a command one cycle after its
  // issue, so the list leaves out a bank that closes in this cycle or the next, and the bank group of the column issued
  // in this cycle.
  function automatic banks_t group_of_bank(banks_t one);
    for (int unsigned g = 0; g < BankGroups; g++) begin
      group_of_bank[g*BanksPerGroup+:BanksPerGroup] = {BanksPerGroup{one[g*BanksPerGroup+:BanksPerGroup] != '0}};
    end
  endfunction

  assign closing = pre_q ? row_one_q : '0;
  assign shuts   = kind_q == KindPre ? row_one : '0;
  always_comb begin
    col_d = serve & open & (write ? wr_ok : rd_ok) & ~closing;
    if (col_q) col_d &= ~group_of_bank(col_one_q);
    if (!run || !col_slot_i) col_d = '0;
  end

  systole_hbm_pick #(.N(Banks)) u_col (
      .clk_i, .rst_ni, .req_i(col_q ? '0 : col_list_q), .any_o(col_any), .one_o(col_one), .idx_o(col_idx), .take_i(col_any)
  );

  // Row list, by priority: the requested refresh; banks to open, those with both ways taken first; banks to close. ACT
  // and REFSB suppress further ACT and REFSB until the bank timing has seen them. ACT counts from its second cycle on the
  // bus, so from ACT to REFSB it takes a cycle longer than from ACT to ACT.
  always_comb begin
    ref_d  = want_ref & ~open & new_ok & new_ok_q & {Banks{any_ok_q}};
    act_d  = some & ~open & ~want_ref & new_ok;
    both_d = act_d & both;
    pre_d  = open & (yield | (want_ref & ~busy)) & pre_ok & ~closing;
    new_go = any_ok && !act_q && !refsb_q;
    ref_go = new_go && !act_last_q && row_slot_i && ask_ref && ref_d != '0;
    act_go = new_go && act_slot_i && act_ok && act_d != '0;
    kind_d = ref_go ? KindRef : act_go ? KindAct : KindPre;
    row_d  = ref_go ? ref_d : !act_go ? pre_d : both_d != '0 ? both_d : act_d;
    if (!run || !row_slot_i) row_d = '0;
  end

  systole_hbm_pick #(.N(Banks)) u_row (
      .clk_i, .rst_ni, .req_i(act_q || (refsb_q && kind_q != KindPre) ? '0 : row_list_q),
      .any_o(row_any), .one_o(row_one), .idx_o(row_idx), .take_i(row_any)
  );

  always_ff @(posedge clk_i) begin
    col_list_q       <= rst_ni ? col_d & ~shuts : '0;
    col_list_write_q <= write;
    row_list_q       <= rst_ni ? row_d & ~shuts : '0;
    kind_q           <= kind_d;
    ref_next_q       <= rst_ni && ref_go;
    col_one_q        <= col_one;
    col_bank_q       <= col_idx;
    col_write_q      <= col_list_write_q;
    row_one_q        <= row_one;
    row_bank_q       <= row_idx;
    col_q            <= rst_ni && col_any;
    refsb_q          <= rst_ni && row_any && kind_q == KindRef;
    act_q            <= rst_ni && row_any && kind_q == KindAct;
    pre_q            <= rst_ni && row_any && kind_q == KindPre;
  end

  assign rd_issue_o  = col_q && !col_write_q;
  assign wr_issue_o  = col_q && col_write_q;
  assign act_issue_o = act_q;

  // Output registers of the command buses.
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

  // Checks: one row command per cycle, none in the second cycle of ACT; a bank that is being closed has no column in flight; REFSB goes to the requested
  // bank.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_row_bus : assert (32'(act_q) + 32'(pre_q) + 32'(refsb_q) + 32'(prea) + 32'(refresh) <= 1);
      a_act : assert (row_cmd_o != RowAct || !(act_q || pre_q || refsb_q));
      a_closing : assert (!(pre_q && col_q && row_bank_q == col_bank_q));
      a_refresh : assert (!refsb_q || row_one_q == want_ref);
    end
  end
endmodule
