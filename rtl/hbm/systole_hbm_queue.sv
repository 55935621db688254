// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Requests of a controller, sorted by row: each bank has two row queues ("ways") of one row and one direction each, first in first out.
// So a request to an open row passes those to other rows and banks; of a beat all keep their order. Reads and writes alternate in
// epochs: the next one's requests come in, and open rows, while the current one's are served. A new request is seen in 3 cycles.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_queue
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 16,  // requests of a row queue, a power of two
    parameter int unsigned TagBits = 6,
    parameter int unsigned AgeTick = 32  // cycles; a row that keeps another out takes no new requests after 1 to 2 of them
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
    output logic                low_o,      // few requests left
    output logic                any_o,      // there are some

    input  logic [Banks-1:0]    open_i,     // the row of the current way is open
    input  logic [Banks-1:0]    hold_i,     // take no more requests of these banks
    output logic                write_o,    // direction of this epoch
    output logic [Banks-1:0]    serve_o,    // the current way has requests of this epoch
    output logic [Banks-1:0]    some_o,     // the bank has requests
    output logic [Banks-1:0]    both_o,     // ... to two rows
    output logic [Banks-1:0]    busy_o,     // the current way has requests
    output logic [Banks-1:0]    yield_o,    // the open row is to be closed: it keeps another out, or is not used

    // What the scheduler does in this cycle.
    input  logic                act_i,      // opens act_row_o in act_bank_i: its way becomes the current one
    input  logic [BankBits-1:0] act_bank_i,
    output logic [RowBits-1:0]  act_row_o,
    input  logic                pop_i,      // issues the oldest request of the current way
    input  logic [BankBits-1:0] pop_bank_i,
    output logic [ColBits-1:0]  pop_col_o,
    output logic [TagBits-1:0]  pop_tag_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned CountBits = TagBits + 2;
  localparam int unsigned LowCount = 4;
  typedef logic [PtrBits-1:0] ptr_t;
  typedef logic [BankBits:0] queue_t;  // {way, bank}
  typedef struct packed {
    logic                write;
    logic [BankBits-1:0] bank;
    logic [RowBits-1:0]  row;
    logic [ColBits-1:0]  col;
    logic [TagBits-1:0]  tag;
  } request_t;

  request_t next, come, in, parked_q;  // next; to be compared with the rows of its bank; to go to a way; parked
  logic     next_valid, next_ready, parked_valid_q, in_valid_q, stale_q, push, park, keep, back, unpark, clear, turn_q;

  systole_skid #(.Width($bits(request_t))) u_in (
      .clk_i, .rst_ni,
      .valid_i(req_valid_i), .ready_o(req_ready_o), .data_i({req_write_i, req_bank_i, req_row_i, req_col_i, req_tag_i}),
      .valid_o(next_valid), .ready_i(next_ready), .data_o(next)
  );

  // A request is compared with its bank's rows, and in the next cycle goes to a way. One that finds none is parked, and others to other
  // banks go on; the parked one comes back in turn. A push to its bank makes a comparison stale.
  always_comb begin
    park   = in_valid_q && !push && !stale_q && !parked_valid_q;
    keep   = in_valid_q && !push && !park;
    clear  = next_valid && !(parked_valid_q && (next.bank == parked_q.bank || next.write != parked_q.write));
    back   = parked_valid_q && (!clear || turn_q);
    unpark = back && !keep;
    come   = back ? parked_q : next;
  end
  assign next_ready = !keep && !back && clear && !(park && (next.bank == in.bank || next.write != in.write));

  always_ff @(posedge clk_i) begin
    if (park) parked_q <= in;
    if (!keep) in <= come;
    stale_q <= push && come.bank == in.bank;
    turn_q  <= !unpark;
    if (!rst_ni) begin
      in_valid_q     <= 1'b0;
      parked_valid_q <= 1'b0;
    end else begin
      in_valid_q     <= keep || unpark || (next_valid && next_ready);
      parked_valid_q <= park || (parked_valid_q && !unpark);
    end
  end

  // Memories: requests, rows, pointers. Pointers are cleared after a reset, one row queue a cycle.
  (* ram_style = "distributed" *) logic [ColBits+TagBits-1:0] mem_q  [2*Banks*Depth];
  (* ram_style = "distributed" *) logic [RowBits-1:0]         row0_q [Banks];
  (* ram_style = "distributed" *) logic [RowBits-1:0]         row1_q [Banks];
  (* ram_style = "distributed" *) ptr_t                       tail_q [2*Banks];
  (* ram_style = "distributed" *) ptr_t                       head_q [2*Banks];
  queue_t clear_q;
  logic   ready_q;

  logic [1:0][Banks-1:0] some_q, write_q;  // of each way: it has requests, which are writes
  logic [Banks-1:0]      way_q;            // the current one: open, or opened last
  logic [Banks-1:0]      lost_q;           // the open row, which nobody needs, gave its way to another row
  logic                  dir_q;
  logic [1:0]            pending_q;        // of each direction
  logic [CountBits-1:0]  count_q [2];

  // The state of all banks at once.
  logic [Banks-1:0] cur_some, cur_write, cur_serve, oth_some, oth_write, oth_serve, next_way;
  always_comb begin
    cur_some  = (way_q & some_q[1]) | (~way_q & some_q[0]);
    oth_some  = (way_q & some_q[0]) | (~way_q & some_q[1]);
    cur_write = (way_q & write_q[1]) | (~way_q & write_q[0]);
    oth_write = (way_q & write_q[0]) | (~way_q & write_q[1]);
    cur_serve = cur_some & (dir_q ? cur_write : ~cur_write);
    oth_serve = oth_some & (dir_q ? oth_write : ~oth_write);
    // What a closed bank opens: this epoch's row before the next one's, of two the one that has waited.
    next_way = way_q ^ (oth_serve | (oth_some & ~cur_serve));
  end
  // Age: a bank in which a row waits for the open one, or whose open row has no requests, is noted at each tick, and counts as old or
  // unused at the next. An unused row is closed.
  localparam int unsigned TickBits = $clog2(AgeTick);
  logic [TickBits-1:0] tick_q;
  logic [Banks-1:0]    waits, noted_q, old_q, rests, rested_q, unused_q, tick;
  assign tick  = {Banks{tick_q == '0}};
  assign rests = open_i & ~some_o;
  assign waits = open_i & cur_some & oth_some & ~lost_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tick_q   <= '0;
      noted_q  <= '0;
      old_q    <= '0;
      rested_q <= '0;
      unused_q <= '0;
    end else begin
      tick_q   <= tick_q + 1'b1;
      noted_q  <= waits & (noted_q | tick);
      old_q    <= waits & (old_q | (noted_q & tick));
      rested_q <= rests & (rested_q | tick);
      unused_q <= rests & (unused_q | (rested_q & tick));
    end
  end

  assign write_o = dir_q;
  assign serve_o = cur_serve & ~lost_q;
  assign some_o  = some_q[0] | some_q[1];
  assign both_o  = some_q[0] & some_q[1];
  assign busy_o  = cur_some;
  assign yield_o = (oth_some & (~cur_some | lost_q)) | (oth_serve & ~cur_serve) | (unused_q & ~some_o);

  // Where the new request goes: to its row if a way has it, else to a way that has none. A row that is open without requests keeps its
  // way only as long as no other waits.
  logic [1:0]            holds, same, equal_q;
  logic [1:0][Banks-1:0] full_q;
  logic                  way, known, fits, keeps;
  queue_t                to, from;
  ptr_t                  to_tail, to_head, from_tail, from_head;
  always_comb begin
    keeps     = open_i[in.bank] && !lost_q[in.bank] && !oth_some[in.bank];
    holds     = {some_q[1][in.bank] || (keeps && way_q[in.bank]), some_q[0][in.bank] || (keeps && !way_q[in.bank])};
    same      = holds & equal_q;
    known     = same != '0;
    way       = known ? same[1] : holds[0];
    fits      = !known ? holds != '1 : !some_q[way][in.bank] || (write_q[way][in.bank] == in.write && !full_q[way][in.bank] &&
                                                                !(old_q[in.bank] && way == way_q[in.bank]));
    push      = in_valid_q && !stale_q && fits && ready_q && !hold_i[in.bank] && (in.write != dir_q || !pending_q[!dir_q]);
    to        = {way, in.bank};
    to_tail   = tail_q[to];
    to_head   = head_q[to];
    from      = {way_q[pop_bank_i], pop_bank_i};
    from_head = head_q[from];
    from_tail = tail_q[from];
  end

  always_ff @(posedge clk_i) begin
    equal_q <= keep ? {row1_q[in.bank] == in.row, row0_q[in.bank] == in.row} :
               {row1_q[come.bank] == come.row, row0_q[come.bank] == come.row};
    if (push) full_q[way][in.bank] <= to_tail + 1'b1 == to_head && some_q[way][in.bank];
    if (pop_i) full_q[from[BankBits]][pop_bank_i] <= 1'b0;
  end

  assign {pop_col_o, pop_tag_o} = mem_q[{from, from_head}];
  assign act_row_o = next_way[act_bank_i] ? row1_q[act_bank_i] : row0_q[act_bank_i];

  always_ff @(posedge clk_i) begin
    if (push) mem_q[{to, to_tail}] <= {in.col, in.tag};
    if (push && !way) row0_q[in.bank] <= in.row;
    if (push && way) row1_q[in.bank] <= in.row;
    if (push || !ready_q) tail_q[ready_q ? to : clear_q] <= ready_q ? to_tail + 1'b1 : '0;
    if (pop_i || !ready_q) head_q[ready_q ? from : clear_q] <= ready_q ? from_head + 1'b1 : '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clear_q <= '0;
      ready_q <= 1'b0;
      some_q  <= '0;
      way_q   <= '0;
      lost_q  <= '0;
    end else begin
      clear_q <= clear_q + 1'b1;
      if (&clear_q) ready_q <= 1'b1;
      if (pop_i && from_head + 1'b1 == from_tail) some_q[from[BankBits]][pop_bank_i] <= 1'b0;
      if (push) some_q[way][in.bank] <= 1'b1;
      if (push && !known && open_i[in.bank] && way == way_q[in.bank]) lost_q[in.bank] <= 1'b1;
      if (act_i) lost_q[act_bank_i] <= 1'b0;
      if (act_i) way_q[act_bank_i] <= next_way[act_bank_i];
    end
    if (push) write_q[way][in.bank] <= in.write;
  end

  // Epochs. The next one begins when the current one's requests are done.
  logic [1:0]           more, less;
  logic [CountBits-1:0] count_d [2];
  assign more = {push && in.write, push && !in.write};
  assign less = {pop_i && dir_q, pop_i && !dir_q};
  always_comb begin
    for (int unsigned i = 0; i < 2; i++) count_d[i] = count_q[i] + CountBits'(more[i]) - CountBits'(less[i]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dir_q     <= 1'b0;
      count_q   <= '{default: '0};
      pending_q <= '0;
      low_o     <= 1'b1;
    end else begin
      count_q   <= count_d;
      pending_q <= {count_d[1] != '0, count_d[0] != '0};
      low_o     <= count_d[0] <= CountBits'(LowCount) && count_d[1] <= CountBits'(LowCount);
      if (!pending_q[dir_q] && pending_q[!dir_q]) dir_q <= !dir_q;
    end
  end
  assign any_o = in_valid_q || parked_valid_q || next_valid || pending_q != '0;

  // Only what is there is served.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_pop : assert (!pop_i || (open_i[pop_bank_i] && cur_serve[pop_bank_i] && !lost_q[pop_bank_i]));
      a_act : assert (!act_i || (!open_i[act_bank_i] && some_o[act_bank_i]));
      a_pending : assert (pending_q == {count_q[1] != '0, count_q[0] != '0} && (some_o != '0) == (pending_q != '0));
    end
  end
endmodule
