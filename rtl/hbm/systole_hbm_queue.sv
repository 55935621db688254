// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Request queue of a controller, sorted by row. Each bank has two FIFO row queues ("ways"), each of one row and one
// direction. A request to an open row overtakes requests to other rows and banks; requests to the same beat stay in
// order. Reads and writes alternate in epochs: requests of the next epoch enter and open their rows while the current
// epoch is served. Latency: a new request is visible to the scheduler after 3 cycles.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_queue
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Depth = 16,  // requests per row queue, a power of two
    parameter int unsigned TagBits = 6,
    parameter int unsigned AgeTick = 32  // cycles per age tick; an open row that blocks another takes no new requests after 1 to 2 ticks
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
    output logic                low_o,      // few requests are left
    output logic                any_o,      // there are requests

    input  logic [Banks-1:0]    open_i,     // per bank: the row of the current way is open
    input  logic [Banks-1:0]    hold_i,     // per bank: accept no more requests
    output logic                write_o,    // direction of this epoch
    output logic [Banks-1:0]    serve_o,    // the current way has requests of this epoch
    output logic [Banks-1:0]    some_o,     // the bank has requests
    output logic [Banks-1:0]    both_o,     // the bank has requests to two rows
    output logic [Banks-1:0]    busy_o,     // the current way has requests
    output logic [Banks-1:0]    yield_o,    // the open row should be closed: it blocks another row, or is unused

    // Command issued by the scheduler in this cycle.
    input  logic                act_i,      // ACT: opens act_row_o in act_bank_i, whose way becomes the current one
    input  logic [BankBits-1:0] act_bank_i,
    output logic [RowBits-1:0]  act_row_o,
    input  logic                pop_i,      // RD or WR: issues the oldest request of the current way
    input  logic [BankBits-1:0] pop_bank_i,
    output logic [ColBits-1:0]  pop_col_o,
    output logic [TagBits-1:0]  pop_tag_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned CountBits = TagBits + 2;
  localparam int unsigned LowCount = 4;
  typedef logic [PtrBits-1:0] ptr_t;
  typedef struct packed {
    logic                write;
    logic [BankBits-1:0] bank;
    logic [RowBits-1:0]  row;
    logic [ColBits-1:0]  col;
    logic [TagBits-1:0]  tag;
  } request_t;

  request_t next, come, in, parked_q;  // from the skid buffer; next or parked; looked up; parked
  logic                look_write;  // what is looked up
  logic [BankBits-1:0] look_bank;
  logic [RowBits-1:0]  look_row;
  logic     first_valid, next_valid, next_ready, parked_valid_q, in_valid_q, in_valid_d, stale_q, ready_q, push, park, keep;

  systole_skid #(.Width($bits(request_t))) u_in (
      .clk_i, .rst_ni,
      .valid_i(req_valid_i), .ready_o(req_ready_o), .data_i({req_write_i, req_bank_i, req_row_i, req_col_i, req_tag_i}),
      .valid_o(first_valid), .ready_i(next_ready), .data_o(next)
  );
  assign next_valid = first_valid && ready_q;

  // Lookup: a request reads the state of its bank, and one cycle later it enters a way. A request without a free way is
  // parked; meanwhile requests to other banks pass it, one every other cycle. A lookup is stale, and is repeated, after
  // a push to its bank and after each cycle of waiting.
  always_comb begin
    park = in_valid_q && !push && !stale_q && !parked_valid_q;
    keep = in_valid_q && !push && !park;
    come = parked_valid_q ? parked_q : next;
    look_write = stale_q ? in.write : come.write;
    look_bank  = stale_q ? in.bank : come.bank;
    look_row   = stale_q ? in.row : come.row;
  end
  assign next_ready = ready_q && !keep && !parked_valid_q && !(park && (next.bank == in.bank || next.write != in.write));
  assign in_valid_d = keep || parked_valid_q || (next_valid && next_ready);

  always_ff @(posedge clk_i) begin
    if (park) parked_q <= in;
    if (!keep) in <= come;
    if (!rst_ni) begin
      in_valid_q     <= 1'b0;
      stale_q        <= 1'b0;
      parked_valid_q <= 1'b0;
    end else begin
      in_valid_q     <= in_valid_d;
      stale_q        <= in_valid_d && (keep ? !stale_q : push && come.bank == in.bank);
      parked_valid_q <= park || (parked_valid_q && keep);
    end
  end

  logic [1:0][Banks-1:0] some_q, write_q, full_q;  // per way: has requests; they are writes; is full
  logic [Banks-1:0]      way_q;            // the current way: its row is open, or was opened last
  logic [Banks-1:0]      lost_q;           // the open row was idle, and its way was given to another row
  logic                  dir_q;
  logic [1:0]            pending_q;        // per direction: there are requests
  logic [CountBits-1:0]  count_q [2];

  // State of all banks in parallel.
  logic [Banks-1:0] cur_some, cur_write, cur_serve, oth_some, oth_write, oth_serve, next_way;
  always_comb begin
    cur_some  = (way_q & some_q[1]) | (~way_q & some_q[0]);
    oth_some  = (way_q & some_q[0]) | (~way_q & some_q[1]);
    cur_write = (way_q & write_q[1]) | (~way_q & write_q[0]);
    oth_write = (way_q & write_q[0]) | (~way_q & write_q[1]);
    cur_serve = cur_some & (dir_q ? cur_write : ~cur_write);
    oth_serve = oth_some & (dir_q ? oth_write : ~oth_write);
    // Way that a closed bank opens next: one with requests of this epoch before one of the next epoch; of two equal
    // ways, the one that is not current, which has waited.
    next_way = way_q ^ (oth_serve | (oth_some & ~cur_serve));
  end
  // Age. At each tick, a bank is noted when a row waits for its open row, or when its open row has no requests. If that
  // still holds at the next tick, the open row counts as old, or as unused. An unused row is closed.
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

  // What a lookup reads for each bank: held, the ways that are taken; and room, the ways that accept a request to their
  // row. An idle open row keeps its way only while no other row waits. hold_i marks both ways as taken and without
  // room.
  logic [Banks-1:0]           keeps;
  logic [1:0][Banks-1:0]      current, held;
  logic [1:0][1:0][Banks-1:0] room;  // [way][direction: 0 read, 1 write]
  always_comb begin
    keeps   = open_i & ~lost_q & ~oth_some;
    current = {way_q, ~way_q};
    for (int unsigned w = 0; w < 2; w++) begin
      held[w] = some_q[w] | (keeps & current[w]) | hold_i;
      for (int unsigned d = 0; d < 2; d++) begin
        room[w][d] = ~hold_i & (~some_q[w] | (~(write_q[w] ^ {Banks{d == 1}}) & ~full_q[w] & ~(old_q & current[w])));
      end
    end
  end

  // Choice of a way: the one that holds the request's row, else one that is not taken. The lookup is one cycle old. The
  // choice is still valid if the bank was opened or closed, or lost a request, since then.
  logic [1:0] equal, equal_q, held_q, room_q, same;
  logic       way, known, from;
  always_ff @(posedge clk_i) begin
    equal_q <= equal;
    for (int unsigned w = 0; w < 2; w++) begin
      held_q[w] <= held[w][look_bank];
      room_q[w] <= look_write ? room[w][1][look_bank] : room[w][0][look_bank];
    end
  end
  always_comb begin
    same  = held_q & equal_q;
    known = same != '0;
    way   = known ? same[1] : held_q[0];
    push  = in_valid_q && !stale_q && (known ? room_q[way] : held_q != '1) && (in.write != dir_q || !pending_q[!dir_q]);
  end

  // Memories of each way: requests, rows, pointers. After reset the pointers are cleared, one bank per cycle.
  logic [BankBits-1:0] clear_q;
  logic [1:0]          fills, last;  // a push fills the way; a pop empties it
  logic [RowBits-1:0]  rows [2];
  logic [ColBits+TagBits-1:0] pops [2];
  for (genvar w = 0; w < 2; w++) begin : gen_way
    ptr_t               tail, head, pop_tail, in_head;  // of the bank that is pushed to, popped; the other way round
    logic [RowBits-1:0] look_way_row;
    logic               put, get;

    assign put      = push && way == 1'(w);
    assign get      = pop_i && from == 1'(w);
    assign equal[w] = look_way_row == look_row;
    assign fills[w] = tail + 1'b1 == in_head;
    assign last[w]  = head + 1'b1 == pop_tail;

    systole_prim_ram_async #(.Width(ColBits + TagBits), .Depth(Banks * Depth), .Style("distributed")) u_requests (
        .clk_i, .we_i(put), .waddr_i({in.bank, tail}), .wdata_i({in.col, in.tag}), .raddr_i({pop_bank_i, head}), .rdata_o(pops[w])
    );
    systole_prim_ram_async #(.Width(RowBits), .Depth(Banks), .Reads(2), .Style("distributed")) u_row (
        .clk_i, .we_i(put), .waddr_i(in.bank), .wdata_i(in.row), .raddr_i({act_bank_i, look_bank}), .rdata_o({rows[w], look_way_row})
    );
    systole_prim_ram_async #(.Width(PtrBits), .Depth(Banks), .Reads(2), .Style("distributed")) u_tail (
        .clk_i, .we_i(put || !ready_q), .waddr_i(ready_q ? in.bank : clear_q), .wdata_i(ready_q ? tail + 1'b1 : '0),
        .raddr_i({pop_bank_i, in.bank}), .rdata_o({pop_tail, tail})
    );
    systole_prim_ram_async #(.Width(PtrBits), .Depth(Banks), .Reads(2), .Style("distributed")) u_head (
        .clk_i, .we_i(get || !ready_q), .waddr_i(ready_q ? pop_bank_i : clear_q), .wdata_i(ready_q ? head + 1'b1 : '0),
        .raddr_i({in.bank, pop_bank_i}), .rdata_o({in_head, head})
    );
  end

  assign from = way_q[pop_bank_i];
  assign {pop_col_o, pop_tag_o} = pops[from];
  assign act_row_o = rows[next_way[act_bank_i]];

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
      if (pop_i && last[from]) some_q[from][pop_bank_i] <= 1'b0;
      if (push) some_q[way][in.bank] <= 1'b1;
      if (push && !known && open_i[in.bank] && way == way_q[in.bank]) lost_q[in.bank] <= 1'b1;
      if (act_i) lost_q[act_bank_i] <= 1'b0;
      if (act_i) way_q[act_bank_i] <= next_way[act_bank_i];
    end
    if (push) write_q[way][in.bank] <= in.write;
    if (push) full_q[way][in.bank] <= fills[way] && some_q[way][in.bank];
    if (pop_i) full_q[from][pop_bank_i] <= 1'b0;
  end

  // Epochs. The next epoch begins when all requests of the current one have been served.
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
  assign any_o = in_valid_q || parked_valid_q || first_valid || pending_q != '0;

  // Checks: RD and WR serve a request of this epoch in an open row; ACT opens a closed bank that has requests.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_pop : assert (!pop_i || (open_i[pop_bank_i] && cur_serve[pop_bank_i] && !lost_q[pop_bank_i]));
      a_act : assert (!act_i || (!open_i[act_bank_i] && some_o[act_bank_i]));
      a_pending : assert (pending_q == {count_q[1] != '0, count_q[0] != '0} && (some_o != '0) == (pending_q != '0));
    end
  end
endmodule
