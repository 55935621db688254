// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Front of a unit: holds up to UnitDepth instructions in order and starts the rows of the oldest one, at most one a cycle, when the
// rows of its sources are there. Rows of instructions that follow each other start without a gap; the store unit's halts go with the
// last row before them, or, when there is none, as a row of their own.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_unit
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Sources = 3,
    parameter bit          Store = 1'b0  // waits for older loads; takes halts
) (
    input  logic        clk_i,
    input  logic        rst_ni,

    input  logic        push_i,
    output logic        ready_o,
    input  uop_t        uop_i,

    input  logic [63:0] present_i [8],  // by bank: row r of register n is bit 8 * n + r
    input  logic [1:0]  loaded_i,       // store: a load unit has asked for the last row of a load

    output logic        want_o,         // a row could start
    input  logic        go_i,           // it does
    output logic        first_o,        // it is the first one of its instruction
    output logic        last_o,
    output logic        halt_o,         // store: a program ends with it
    output row_t        row_o,
    output uop_t        uop_o,
    output fetch_t      fetch_o [Sources],

    output regs_t       reads_o,        // registers that an instruction held reads
    output held_t       held_o          // instructions held
);
  uop_t       uop_q [UnitDepth], uop_d [UnitDepth];
  regs_t      reads_q [UnitDepth], reads_d [UnitDepth];  // empty places: none
  held_t      count_q;
  row_t       row_q;
  logic       start, pop, rides;  // rides: the halt behind the oldest instruction goes with its last row
  logic [Sources-1:0] absent;
  logic [$clog2(UnitDepth)-1:0] place;  // of an instruction that comes in

  // verilator lint_off UNUSEDSIGNAL
  function automatic regs_t reads(uop_t u);
  // verilator lint_on UNUSEDSIGNAL
    regs_t r;
    r = '0;
    for (int unsigned s = 0; s < Sources; s++) begin
      if (u.source[s].used && u.source[s].from_reg) r |= regs_t'(1) << u.source[s].number;
    end
    return r;
  endfunction

  assign uop_o        = uop_q[0];
  assign held_o       = count_q;
  assign ready_o      = count_q != HeldBits'(UnitDepth);
  assign row_o        = row_q;
  assign first_o      = row_q == '0;
  assign last_o       = 4'(row_q) + 4'd1 == uop_q[0].rows;
  assign start        = want_o && go_i;
  assign pop          = start && last_o;
  assign place        = $clog2(UnitDepth)'(count_q - HeldBits'(pop) - HeldBits'(rides));
  assign rides        = Store && pop && count_q > HeldBits'(1) && uop_q[1].op == VopHalt && uop_q[1].older == '0;
  assign halt_o       = Store && (uop_q[0].op == VopHalt || rides);
  always_comb begin
    reads_o = '0;
    for (int unsigned i = 0; i < UnitDepth; i++) reads_o |= reads_q[i];
  end

  // Rows of the sources. Row 0 and scalars are taken with the first row and kept.
  for (genvar s = 0; s < Sources; s++) begin : gen_source
    source_t    src;
    row_t       row;
    logic       fetch;
    assign src       = uop_q[0].source[s];
    assign row       = s == 0 ? row_q + uop_q[0].turn : row_q;
    assign fetch     = src.used && (first_o || (src.from_reg && !src.row0));
    assign absent[s] = fetch && src.from_reg && !src.own && !present_i[src.number[5:3]][{src.number[2:0], row}];

    assign fetch_o[s].valid    = start && fetch;
    assign fetch_o[s].from_reg = src.from_reg;
    assign fetch_o[s].number   = src.number;
    assign fetch_o[s].row      = row;
    assign fetch_o[s].scalar   = uop_q[0].scalar[s];
  end

  assign want_o = count_q != '0 && absent == '0 && !(Store && uop_q[0].older != '0);

  // The queue: the oldest at 0.
  always_comb begin
    uop_d   = uop_q;
    reads_d = reads_q;
    if (Store) begin
      for (int unsigned i = 0; i < UnitDepth; i++) begin
        for (int unsigned u = 0; u < 2; u++) begin
          if (loaded_i[u] && uop_q[i].older[u] != '0) uop_d[i].older[u] = uop_q[i].older[u] - 1'b1;
        end
      end
    end
    if (pop) begin
      for (int unsigned i = 0; i < UnitDepth - 1; i++) begin
        uop_d[i]   = uop_d[i+1];
        reads_d[i] = reads_q[i+1];
      end
      reads_d[UnitDepth-1] = '0;
    end
    if (rides) begin
      for (int unsigned i = 0; i < UnitDepth - 1; i++) begin
        uop_d[i]   = uop_d[i+1];
        reads_d[i] = reads_d[i+1];
      end
    end
    if (push_i) begin
      uop_d[place]   = uop_i;
      reads_d[place] = reads(uop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i || pop || (Store && loaded_i != '0)) uop_q <= uop_d;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      row_q   <= '0;
      for (int unsigned i = 0; i < UnitDepth; i++) reads_q[i] <= '0;
    end else begin
      if (push_i || pop) count_q <= count_q + HeldBits'(push_i) - HeldBits'(pop) - HeldBits'(rides);
      if (start) row_q <= last_o ? '0 : row_q + 1'b1;
      if (push_i || pop) reads_q <= reads_d;
    end
  end

  // Nothing is pushed that has no place; rows stay within the instruction; places beyond the count read nothing.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push_i || ready_o);
      a_rows : assert (count_q == '0 || 4'(row_q) < uop_q[0].rows);
      a_depth : assert (32'(count_q) <= UnitDepth);
      a_empty : assert (count_q != '0 || reads_o == '0);
    end
  end
endmodule
