// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instruction queue of a unit: holds up to UnitDepth instructions in order and starts the rows of the oldest one, a step
// of Sublanes rows or (load and store units, some moves of the cross unit) one row per cycle, when the steps of its
// sources are present. There is no bubble between instructions. A halt of the store unit goes with the last row before
// it, or as a row of its own if it arrives too late for that.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_unit
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Sources = 3,
    parameter int unsigned Sublanes = 1,
    parameter bit          Wide = 1'b1,   // takes steps
    parameter bit          Store = 1'b0,  // waits for older loads; accepts halts
    parameter bit          Load = 1'b0    // reads no registers
) (
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic        push_i,
    output logic        ready_o,
    input  uop_t        uop_i,

    input  logic [63:0] present_i [8],  // [bank]: bit 8 * n + s is set if step s of register n can be read from the next cycle on
    input  logic [1:0]  loaded_i,       // store: a load unit has requested the last row of a load

    output logic        want_o,         // a row or step could start
    input  logic        go_i,           // it starts
    output logic        first_o,        // it is the first one of its instruction
    output logic        last_o,
    output logic        halt_o,         // store: a program ends with it
    output row_t        row_o,          // the first one
    output place_t      place_o,        // where its results go in the destination
    output uop_t        uop_o,
    output fetch_t      fetch_o [Sources],

    input  logic [5:0]  number_i [2],   // lookup: does an instruction held here read this register?
    output logic [1:0]  reads_o,
    output held_t       held_o          // number of instructions held
);
  // Fields that are looked up in all held instructions, the oldest at index 0. The other fields are in the FIFO, and in
  // head_q for the running instruction.
  typedef struct packed {
    held_t [1:0] older;
    row_t        turn;
    logic [Sources-1:0]      from_reg;  // the source is a register
    logic [Sources-1:0]      look;      // its rows must be present
    logic [Sources-1:0]      row0;
    logic [Sources-1:0][5:0] number;
  } scan_t;

  localparam int unsigned PlaceBits = $clog2(UnitDepth);
  localparam int unsigned SublaneBits = $clog2(Sublanes);

  uop_t   head_q;
  // verilator lint_off UNUSEDSIGNAL
  uop_t   next;                 // its count of older loads is in scan_q
  logic [HeldBits-1:0] queued;
  // verilator lint_on UNUSEDSIGNAL
  logic   head_valid_q, head_halt_q, next_valid, room, move, absorb;
  scan_t  scan_q [UnitDepth], scan_d [UnitDepth];
  held_t  count_q;
  row_t   row_q, row0_q;        // row0_q: row of source 0
  row_t   by;                   // rows that start together
  logic   wide_q;
  logic [Sources-1:0] there_q;  // the next row of each source is present
  logic   start, pop;
  logic [PlaceBits-1:0] place;  // index for an incoming instruction

  systole_fifo #(.Width($bits(uop_t)), .Depth(UnitDepth - 1)) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push_i),
      .ready_o(room),
      .data_i (uop_i),
      .valid_o(next_valid),
      .ready_i(move || absorb),
      .data_o (next),
      .count_o(queued)
  );

  assign uop_o   = head_q;
  assign held_o  = count_q;
  assign ready_o = count_q != HeldBits'(UnitDepth);
  assign row_o   = row_q;
  assign first_o = row_q == '0;
  assign by      = wide_q ? row_t'(Sublanes) : row_t'(1);
  assign last_o  = count_t'(row_q) + count_t'(by) >= head_q.rows;
  assign start   = want_o && go_i;
  assign pop     = start && last_o;
  assign move    = next_valid && (!head_valid_q || pop);
  // A halt behind a store joins it while the store runs.
  assign absorb  = Store && next_valid && next.op == VopHalt && scan_q[1].older == '0 && head_valid_q && !pop &&
                   head_q.op != VopHalt && !head_halt_q;
  assign halt_o  = Store && (head_q.op == VopHalt || (head_halt_q && last_o));
  assign place   = PlaceBits'(count_q - HeldBits'(pop) - HeldBits'(absorb));

  // Whether a row of a source is present. A source that needs no check counts as present.
  function automatic step_t step_of(row_t row);
    return step_t'(row >> SublaneBits);
  endfunction
  function automatic sublane_t sublane_of(row_t row);
    return sublane_t'(row & row_t'(Sublanes - 1));
  endfunction
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic row_there(logic look, logic [5:0] number, row_t row, logic [63:0] present [8]);
    return !look || present[number[5:3]][{number[2:0], step_of(row)}];
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Where the results go.
  always_comb begin
    place_o.step = step_of(row_q);
    for (int unsigned s = 0; s < MaxSublanes; s++) begin
      place_o.mask[s] = s < Sublanes && (wide_q ? 32'(row_q) + s < 32'(head_q.rows) : 32'(sublane_of(row_q)) == s);
    end
    place_o.whole = wide_q || last_o || 32'(sublane_of(row_q)) == Sublanes - 1;
  end

  // The row of source 0 that follows: rows turn within a register.
  row_t after0;
  assign after0 = (row0_q + by) & row_t'(Sublanes * VpuVectorSteps - 1);

  // Rows of the sources. Row 0 and scalars are read with the first row and held.
  for (genvar s = 0; s < Sources; s++) begin : gen_source
    // verilator lint_off UNUSEDSIGNAL
    source_t src;
    // verilator lint_on UNUSEDSIGNAL
    row_t    row, first_row, row_then;
    assign src       = head_q.source[s];
    assign row       = src.row0 ? '0 : s == 0 ? row0_q : row_q;
    assign row_then  = scan_q[0].row0[s] ? '0 : s == 0 ? after0 : row + by;
    assign first_row = s == 0 ? scan_q[0].turn : '0;

    always_ff @(posedge clk_i) begin
      if (pop) there_q[s] <= row_there(scan_q[1].look[s], scan_q[1].number[s], s == 0 ? scan_q[1].turn : '0, present_i);
      else there_q[s] <= row_there(scan_q[0].look[s], scan_q[0].number[s], !head_valid_q ? first_row : start ? row_then : row, present_i);
    end

    assign fetch_o[s].valid    = start && src.used && (first_o || (src.from_reg && !src.row0));
    assign fetch_o[s].from_reg = src.from_reg;
    assign fetch_o[s].number   = src.number;
    assign fetch_o[s].pick     = src.row0 || !wide_q;
    assign fetch_o[s].step     = step_of(row);
    assign fetch_o[s].sublane  = sublane_of(row);
    assign fetch_o[s].scalar   = head_q.scalar[s];
  end

  assign want_o = head_valid_q && there_q == '1 && !(Store && scan_q[0].older != '0);

  always_comb begin
    reads_o = '0;
    for (int unsigned i = 0; i < UnitDepth; i++) begin
      if (!Load && scan_q[i].from_reg != '0) begin
        for (int unsigned s = 0; s < Sources; s++) begin
          for (int unsigned k = 0; k < 2; k++) reads_o[k] |= scan_q[i].from_reg[s] && scan_q[i].number[s] == number_i[k];
        end
      end
    end
  end

  always_comb begin
    scan_d = scan_q;
    if (Store && loaded_i != '0) begin
      for (int unsigned i = 0; i < UnitDepth; i++) begin
        for (int unsigned u = 0; u < 2; u++) begin
          if (loaded_i[u] && scan_q[i].older[u] != '0) scan_d[i].older[u] = scan_q[i].older[u] - 1'b1;
        end
      end
    end
    if (pop || absorb) begin
      for (int unsigned i = 0; i < UnitDepth - 1; i++) begin
        if (i != 0 || pop) scan_d[i] = scan_d[i+1];
      end
      scan_d[UnitDepth-1].from_reg = '0;
    end
    if (push_i) begin
      scan_d[place].older = uop_i.older;
      scan_d[place].turn  = uop_i.turn;
      for (int unsigned s = 0; s < Sources; s++) begin
        scan_d[place].from_reg[s] = !Load && uop_i.source[s].used && uop_i.source[s].from_reg;
        scan_d[place].look[s]     = !Load && uop_i.source[s].used && uop_i.source[s].from_reg && !uop_i.source[s].own;
        scan_d[place].row0[s]     = uop_i.source[s].row0;
        scan_d[place].number[s]   = uop_i.source[s].number;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i || pop || absorb || (Store && loaded_i != '0)) scan_q <= scan_d;
    if (!rst_ni) begin
      for (int unsigned i = 0; i < UnitDepth; i++) scan_q[i].from_reg <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) head_q <= next;
    if (move) wide_q <= Wide && !by_row(next.op);
    if (move) row0_q <= next.turn;
    else if (start) row0_q <= after0;
    if (!rst_ni) begin
      head_valid_q <= 1'b0;
      head_halt_q  <= 1'b0;
      count_q      <= '0;
      row_q        <= '0;
    end else begin
      if (move || pop) head_valid_q <= move;
      if (pop) head_halt_q <= 1'b0;
      else if (absorb) head_halt_q <= 1'b1;
      if (push_i || pop || absorb) count_q <= count_q + HeldBits'(push_i) - HeldBits'(pop) - HeldBits'(absorb);
      if (start) row_q <= last_o ? '0 : row_q + by;
    end
  end

  // Checks: a push has room; rows stay within the instruction; the counts agree; unused entries read nothing.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push_i || (ready_o && room));
      a_rows : assert (!head_valid_q || count_t'(row_q) < head_q.rows);
      a_step : assert (!head_valid_q || !wide_q || (sublane_of(row_q) == '0 && sublane_of(row0_q) == '0));
      a_depth : assert (32'(count_q) <= UnitDepth && count_q == HeldBits'(queued) + HeldBits'(head_valid_q));
      a_empty : assert (count_q != '0 || reads_o == '0);
    end
  end
endmodule
