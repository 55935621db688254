// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bounded proof of systole_hbm_ctrl at a reduced geometry and timing table (verif/formal/hbm.py). For all requests: no
// two commands are closer than the table allows, each command finds its banks open or closed as required, and at least
// one pending request is served every Patience cycles. The rules look only at the past commands on the PHY, not at the
// controller.

module systole_hbm_ctrl_props
  import systole_hbm_pkg::*;
#(
    parameter bit Serve = 1'b0,  // 1: proof of service, at the shortest times; 0: proof of the rules
    parameter bit Shared = 1'b0,  // 1: slots of one of two controllers that share buses; 0: buses of its own
    parameter int unsigned Patience = 20
) (
    input  logic                clk_i,
    input  logic                valid_i,
    input  logic                write_i,
    input  logic [BankBits-1:0] bank_i,
    input  logic [RowBits-1:0]  row_i,
    input  logic [ColBits-1:0]  col_i,
    output logic                close_o,  // two commands are too close
    output logic                state_o,  // the bank's state does not allow the command
    output logic                bus_o,    // a command on the other controller's bus slot, or on a busy bus
    output logic                stuck_o   // a request is pending and none is served
);
  localparam int unsigned Back = 16;  // cycles of command history that the rules look at
  localparam timing_t T = Serve ? '{
      tcl: 3, tcwl: 2, trcdrd: 3, trcdwr: 3, trp: 3, tras: 3, trc: 6, trrd_s: 3, trrd_l: 3, tfaw: 12, tccd_s: 2, tccd_l: 2,
      twtr_s: 2, twtr_l: 2, trtw: 3, twr: 2, trtp: 3, trfc: 4, trefi: 400, trfcsb: 5, trrefd: 3} : '{
      tcl: 3, tcwl: 2, trcdrd: 3, trcdwr: 4, trp: 3, tras: 5, trc: 8, trrd_s: 3, trrd_l: 4, tfaw: 14, tccd_s: 2, tccd_l: 3,
      twtr_s: 2, twtr_l: 3, trtw: 4, twr: 2, trtp: 3, trfc: 4, trefi: 48, trfcsb: 9, trrefd: 4};
  localparam int unsigned WrEnd = 32'(T.tcwl) + BurstCycles;

  logic                rst_q, ready, rd, wr;
  row_cmd_e            row_cmd;
  col_cmd_e            col_cmd;
  logic [BankBits-1:0] row_bank, col_bank;

  // A command that uses a slot is on the bus three cycles later.
  logic [1:0] slot_q, bus_slot;
  assign bus_slot = slot_q - 2'd3;
  initial slot_q = '0;
  always_ff @(posedge clk_i) slot_q <= slot_q + 1'b1;

  initial rst_q = 1'b0;
  always_ff @(posedge clk_i) rst_q <= 1'b1;

  systole_hbm_ctrl #(.Depth(2), .TagBits(2), .Timing(T)) u_dut (
      .clk_i, .rst_ni(rst_q), .col_slot_i(!Shared || !slot_q[0]), .act_slot_i(!Shared || slot_q == 2'd0), .row_slot_i(!Shared || !slot_q[1]),
      .req_valid_i(valid_i), .req_ready_o(ready), .req_write_i(write_i), .req_bank_i(bank_i), .req_row_i(row_i), .req_col_i(col_i),
      .req_tag_i('0), .low_o(), .rd_issue_o(rd), .wr_issue_o(wr), .tag_o(), .act_issue_o(), .refresh_o(),
      .row_cmd_o(row_cmd), .row_bank_o(row_bank), .row_addr_o(), .col_cmd_o(col_cmd), .col_bank_o(col_bank), .col_addr_o()
  );

  // The commands on the PHY i + 1 cycles ago.
  row_cmd_e            row_q [Back];
  col_cmd_e            col_q [Back];
  logic [BankBits-1:0] row_bank_q [Back], col_bank_q [Back];
  logic [Banks-1:0]    open_q;
  initial begin
    for (int i = 0; i < Back; i++) begin
      row_q[i] = RowNop;
      col_q[i] = ColNop;
    end
    open_q = '0;
  end
  always_ff @(posedge clk_i) begin
    row_q[0]      <= rst_q ? row_cmd : RowNop;  // the registers are undefined before the reset
    col_q[0]      <= rst_q ? col_cmd : ColNop;
    row_bank_q[0] <= row_bank;
    col_bank_q[0] <= col_bank;
    for (int i = 1; i < Back; i++) begin
      row_q[i]      <= row_q[i-1];
      col_q[i]      <= col_q[i-1];
      row_bank_q[i] <= row_bank_q[i-1];
      col_bank_q[i] <= col_bank_q[i-1];
    end
    if (rst_q && row_cmd == RowAct) open_q[row_bank] <= 1'b1;
    if (rst_q && row_cmd == RowPre) open_q[row_bank] <= 1'b0;
    if (rst_q && row_cmd == RowPrea) open_q <= '0;
  end

  function automatic logic group(logic [BankBits-1:0] a, logic [BankBits-1:0] b);
    return a[BankBits-1-:BgBits] == b[BankBits-1-:BgBits];
  endfunction

  int unsigned acts;
  logic        bank_opens, opens, refs, is_rd, is_wr;
  always_comb begin
    close_o = 1'b0;
    acts    = 0;
    opens   = row_cmd == RowAct;
    refs    = row_cmd == RowRefsb;
    is_rd   = col_cmd == ColRd;
    is_wr   = col_cmd == ColWr;
    for (int unsigned i = 0; i < Back; i++) begin
      automatic int unsigned ago = i + 1;
      automatic logic same = row_bank_q[i] == row_bank;
      // The row bus: to ACT and REFSB, to PRE, to REF.
      if (opens || refs) begin
        if (row_q[i] == RowAct && (ago < 32'(T.trrd_s) + 32'(refs) ||
                                   (group(row_bank_q[i], row_bank) && ago < 32'(T.trrd_l) + 32'(refs)) ||
                                   (same && ago < 32'(T.trc)))) close_o = 1'b1;
        if (row_q[i] == RowRefsb && (ago < 32'(T.trrefd) || (same && ago < 32'(T.trfcsb)))) close_o = 1'b1;
        if (row_q[i] == RowPre && same && ago < 32'(T.trp)) close_o = 1'b1;
        if (row_q[i] == RowPrea && ago < 32'(T.trp)) close_o = 1'b1;
        if (row_q[i] == RowRef && ago < 32'(T.trfc)) close_o = 1'b1;
      end
      if (row_q[i] == RowAct && ago < 32'(T.tfaw)) acts++;
      if (row_cmd == RowPre && same && row_q[i] == RowAct && ago < 32'(T.tras)) close_o = 1'b1;
      if (row_cmd == RowPre && col_bank_q[i] == row_bank && ((col_q[i] == ColRd && ago < 32'(T.trtp)) ||
                                                             (col_q[i] == ColWr && ago < WrEnd + 32'(T.twr)))) close_o = 1'b1;
      if (row_cmd == RowRef && ((row_q[i] == RowPrea && ago < 32'(T.trp)) || (row_q[i] == RowRef && ago < 32'(T.trfc)))) close_o = 1'b1;
      // The column bus.
      if (is_rd && row_q[i] == RowAct && row_bank_q[i] == col_bank && ago < 32'(T.trcdrd)) close_o = 1'b1;
      if (is_wr && row_q[i] == RowAct && row_bank_q[i] == col_bank && ago < 32'(T.trcdwr)) close_o = 1'b1;
      if ((is_rd && col_q[i] == ColRd) || (is_wr && col_q[i] == ColWr)) begin
        if (ago < 32'(T.tccd_s) || (group(col_bank_q[i], col_bank) && ago < 32'(T.tccd_l))) close_o = 1'b1;
      end
      if (is_wr && col_q[i] == ColRd && ago < 32'(T.trtw)) close_o = 1'b1;
      if (is_rd && col_q[i] == ColWr && (ago < WrEnd + 32'(T.twtr_s) ||
                                         (group(col_bank_q[i], col_bank) && ago < WrEnd + 32'(T.twtr_l)))) close_o = 1'b1;
    end
    if (opens && acts >= 4) close_o = 1'b1;
    if (!rst_q || Serve) close_o = 1'b0;

    bank_opens = opens && open_q[row_bank];
    state_o = rst_q && !Serve && (bank_opens || (refs && open_q[row_bank]) || (row_cmd == RowRef && open_q != '0) || ((is_rd || is_wr) && !open_q[col_bank]));
  end

  // ACT occupies the row bus for two cycles.
  always_comb begin
    bus_o = row_q[0] == RowAct && row_cmd != RowNop;
    if (Shared && row_cmd != RowNop && bus_slot[1]) bus_o = 1'b1;
    if (Shared && row_cmd == RowAct && bus_slot != 2'd0) bus_o = 1'b1;
    if (Shared && col_cmd != ColNop && bus_slot[0]) bus_o = 1'b1;
    if (!rst_q || Serve) bus_o = 1'b0;
  end

  // Accepted requests that are not served yet, and cycles since the last request was served.
  logic [4:0]                    held_q;
  logic [$clog2(Patience+1)-1:0] wait_q;
  logic                          up_q;  // all banks have been refreshed once since the reset
  initial begin
    held_q = '0;
    wait_q = '0;
    up_q   = 1'b0;
  end
  always_ff @(posedge clk_i) begin
    up_q   <= up_q || row_q[T.trfc-1] == RowRef;
    held_q <= !rst_q ? '0 : held_q + 5'(valid_i && ready) - 5'(rd || wr);
    wait_q <= !up_q || held_q == '0 || rd || wr ? '0 : 32'(wait_q) == Patience ? wait_q : wait_q + 1'b1;
  end
  assign stuck_o = 32'(wait_q) == Patience;
endmodule
