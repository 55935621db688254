// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// DRAM controller of a group of pseudo-channels that work in lockstep: refresher, bank machines, shared buses, and here the queue
// and its scheduler. Three pointers walk the queue in order: "pre" closes a bank that holds another row, "act" opens the row,
// "col" issues RD or WR; the first two run ahead, so row commands hide behind columns. Peak: a column every tCCD_S cycles.
// A request to an open row takes 3 cycles to its column. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc, tests/hbm/mutant_test.cc.

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
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned LowCount = 4;
  typedef logic [PtrBits:0] ptr_t;  // a lap bit, then the index

  // Queue: a memory for each field, read where the pointers are. What decides is read ahead into registers, at a pointer and behind it,
  // as only the end of a cycle tells where it goes.
  (* ram_style = "auto" *) logic                write_mem_q[Depth];
  (* ram_style = "auto" *) logic [BankBits-1:0] bank_mem_q [Depth];
  (* ram_style = "auto" *) logic [RowBits-1:0]  row_mem_q  [Depth];
  (* ram_style = "auto" *) logic [ColBits-1:0]  col_mem_q  [Depth];
  (* ram_style = "auto" *) logic                miss_q     [Depth];  // needs an ACT; valid from col to pre
  ptr_t tail_q, pre_q, act_q, col_q;
  ptr_t               pre_next;            // one further
  logic [PtrBits-1:0] act_next, col_next;  // and their places

  // What the pointers see.
  logic [BankBits-1:0] col_bank_q, act_bank_q, pre_bank_q;
  logic [RowBits-1:0]  act_row, pre_row_q;
  logic                col_write_q, act_miss;

  // What may be done: by the refresher, the bank, the buses.
  logic run, prea, refresh, late_ok, quiet;
  logic bank_rd_ok, bank_wr_ok, bank_act_ok, pre_ok, pre_open, pre_hit;
  logic bus_rd_ok, bus_wr_ok, bus_act_ok;

  // What is done. A step is a pointer's.
  logic col_issue, act_issue, act_step, pre_issue, pre_step;

  assign act_row  = row_mem_q[act_q[PtrBits-1:0]];
  assign act_miss = miss_q[act_q[PtrBits-1:0]];
  assign pre_next = pre_q + 1'b1;
  assign act_next = act_q[PtrBits-1:0] + 1'b1;
  assign col_next = col_q[PtrBits-1:0] + 1'b1;

  systole_hbm_refresh #(.Timing(Timing)) u_refresh (
      .clk_i, .rst_ni,
      .quiet_i(quiet), .run_o(run), .act_ok_o(late_ok), .prea_o(prea), .ref_o(refresh), .refresh_o
  );

  systole_hbm_banks #(.Depth(Depth), .Timing(Timing)) u_banks (
      .clk_i, .rst_ni, .clear_i(refresh),
      .col_bank_i(col_bank_q), .act_bank_i(act_bank_q), .pre_bank_i(pre_bank_q), .pre_row_i(pre_row_q),
      .rd_ok_o(bank_rd_ok), .wr_ok_o(bank_wr_ok), .act_ok_o(bank_act_ok),
      .pre_ok_o(pre_ok), .pre_open_o(pre_open), .pre_hit_o(pre_hit),
      .prepare_i(pre_step), .precharge_i(pre_issue), .activate_i(act_issue), .read_i(rd_issue_o), .write_i(wr_issue_o)
  );

  systole_hbm_buses #(.Timing(Timing)) u_buses (
      .clk_i, .rst_ni, .clear_i(refresh),
      .col_bg_i(col_bank_q[BankBits-1-:BgBits]), .act_bg_i(act_bank_q[BankBits-1-:BgBits]),
      .rd_ok_o(bus_rd_ok), .wr_ok_o(bus_wr_ok), .act_ok_o(bus_act_ok), .quiet_o(quiet),
      .activate_i(act_issue), .read_i(rd_issue_o), .write_i(wr_issue_o)
  );

  // Enqueue.
  ptr_t count;
  logic push;
  assign count = tail_q - col_q;
  assign req_ready_o = tail_q != (col_q ^ ptr_t'(Depth));
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
  always_comb begin
    rd_issue_o = run && col_q != act_q && !col_write_q && bank_rd_ok && bus_rd_ok && rsp_room_i;
    wr_issue_o = run && col_q != act_q && col_write_q && bank_wr_ok && bus_wr_ok;
    col_issue  = rd_issue_o || wr_issue_o;
  end

  // Activate: the next request that found its bank closed; hits pass.
  always_comb begin
    act_issue   = run && act_q != pre_q && act_miss && bank_act_ok && bus_act_ok && late_ok;
    act_step    = act_issue || (run && act_q != pre_q && !act_miss);
    act_issue_o = act_issue;
  end

  // Precharge: the newest request not looked at. A bank with another row is closed when no older request uses it.
  always_comb begin
    pre_issue = run && pre_q != tail_q && pre_open && !pre_hit && pre_ok && !act_issue;
    pre_step  = pre_issue || (run && pre_q != tail_q && (pre_hit || !pre_open));
  end

  always_ff @(posedge clk_i) begin
    if (pre_step) miss_q[pre_q[PtrBits-1:0]] <= !pre_hit;
  end

  // "act" and "col" come to a request when "pre" has looked at it, so the memory has it. "pre" may come to one that comes in now. After
  // a refresh all have long been read again when the controller runs.
  logic [BankBits-1:0] pre_bank_here, pre_bank_next;
  logic [RowBits-1:0]  pre_row_here, pre_row_next;

  always_comb begin
    pre_bank_here = bank_mem_q[pre_q[PtrBits-1:0]];
    pre_row_here  = row_mem_q[pre_q[PtrBits-1:0]];
    pre_bank_next = bank_mem_q[pre_next[PtrBits-1:0]];
    pre_row_next  = row_mem_q[pre_next[PtrBits-1:0]];
    if (pre_q == tail_q) begin
      pre_bank_here = req_bank_i;
      pre_row_here  = req_row_i;
    end
    if (pre_next == tail_q) begin
      pre_bank_next = req_bank_i;
      pre_row_next  = req_row_i;
    end
  end

  always_ff @(posedge clk_i) begin
    col_bank_q  <= col_issue ? bank_mem_q[col_next] : bank_mem_q[col_q[PtrBits-1:0]];
    col_write_q <= col_issue ? write_mem_q[col_next] : write_mem_q[col_q[PtrBits-1:0]];

    act_bank_q <= act_step ? bank_mem_q[act_next] : bank_mem_q[act_q[PtrBits-1:0]];
    pre_bank_q <= pre_step ? pre_bank_next : pre_bank_here;
    pre_row_q  <= pre_step ? pre_row_next : pre_row_here;
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
      row_bank_o <= act_bank_q;
      row_addr_o <= act_row;
    end else if (pre_issue) begin
      row_bank_o <= pre_bank_q;
    end
    if (col_issue) begin
      col_bank_o <= col_bank_q;
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

  // The pointers keep their order, and the refresher does not race the row bus.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_col : assert (!run || col_q == act_q ||
                      (col_bank_q == bank_mem_q[col_q[PtrBits-1:0]] && col_write_q == write_mem_q[col_q[PtrBits-1:0]]));
      a_act : assert (!run || act_q == pre_q || act_bank_q == bank_mem_q[act_q[PtrBits-1:0]]);
      a_pre : assert (!run || pre_q == tail_q || (pre_bank_q == bank_mem_q[pre_q[PtrBits-1:0]] && pre_row_q == row_mem_q[pre_q[PtrBits-1:0]]));
      a_order : assert (act_q - col_q <= pre_q - col_q && pre_q - col_q <= count && count <= ptr_t'(Depth));
      a_row_bus : assert (32'(act_issue) + 32'(pre_issue) + 32'(prea) + 32'(refresh) <= 1);
    end
  end
endmodule
