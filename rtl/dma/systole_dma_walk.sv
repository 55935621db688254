// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Walks a load or store descriptor in two stages: the current run, one beat per cycle from registers, and the next run.
// Both addresses of a run are checked when it moves to the first stage. There is no bubble between runs. A fault is
// reported once, after all earlier beats have moved, and stops the walk until reset. The runs of an indexed descriptor's inner loop
// start at rows from its table.
// Docs: docs/dma.md, docs/isa.md. Test: tests/rtl/dma.

module systole_dma_walk
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,          // bytes per beat
    parameter int unsigned UbBytes = 65536,
    parameter int unsigned TagBits = 1,     // of what goes with each beat of a descriptor
    parameter logic Indexed = 1'b0          // there are indexed descriptors
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,    // offer no beat, take no descriptor
    // verilator lint_off UNUSEDSIGNAL
    input  logic [AddrBits-1:0]   hbm_base_i,  // lower bound of HBM accesses, a multiple of the beat
    input  logic [AddrBits:0]     hbm_end_i,   // end of HBM accesses, in whole beats
    // verilator lint_on UNUSEDSIGNAL

    input  logic                  start_valid_i,
    output logic                  start_ready_o,
    input  desc_t                 start_desc_i,
    input  logic [TagBits-1:0]    start_tag_i,
    input  logic                  start_illegal_i,  // the descriptor is illegal for another reason
    output logic                  fault_valid_o,  // pulse; belongs to the newest descriptor
    output fault_e                fault_code_o,
    output logic [AddrBits-1:0]   fault_addr_o,

    output logic                  start_indexed_o,  // the descriptor that is offered is indexed

    // Unified buffer, for tables.
    output logic                  index_valid_o,
    input  logic                  index_ready_i,
    output logic [UbAddrBits-1:0] index_addr_o,
    input  logic                  index_rsp_valid_i,
    input  logic [D*8-1:0]        index_data_i,

    output logic                  beat_valid_o,
    input  logic                  beat_ready_i,
    output logic [AddrBits-$clog2(D)-1:0]   beat_hbm_o,   // HBM address in beats
    output logic [UbAddrBits-$clog2(D)-1:0] beat_ub_o,    // unified buffer address in beats
    output logic [$clog2(D)-1:0]  beat_tail_o,    // valid bytes of the beat, 0 = all
    output logic                  beat_end_o,     // last beat of the run
    output logic                  beat_last_o,    // last beat of the descriptor
    output logic [TagBits-1:0]    beat_tag_o,
    output logic                  idle_o          // nothing is being walked
);
  // All addresses are in beats: a misaligned descriptor is a fault. Each address has one more bit, for the first
  // address beyond the memory, and its limit has a sign.
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned LenBits = 25;
  localparam int unsigned HbmBits = AddrBits - Shift + 1;
  localparam int unsigned UbBits = UbAddrBits - Shift + 1;
  localparam int unsigned UbBeats = UbBytes / D;
  typedef logic [HbmBits-1:0]      hbm_t;
  typedef logic [UbBits-1:0]       ub_t;
  typedef logic signed [HbmBits:0] hbm_limit_t;
  typedef logic signed [UbBits:0]  ub_limit_t;
  typedef logic [LenBits-Shift:0]  beats_t;

  // verilator lint_off UNUSEDSIGNAL
  load_desc_t d;     // a store has the same fields
  load_desc_t d_q;
  // verilator lint_on UNUSEDSIGNAL
  assign d = load_desc_t'(start_desc_i);

  // A descriptor when it is taken: beats per run, the last address at which a run fits, and what is wrong with it.
  beats_t     beats_whole, beats;
  logic       beats_part;
  hbm_limit_t hbm_limit;
  ub_limit_t  ub_limit;
  logic       start, indexed, illegal_q, misaligned_q;
  logic [TagBits-1:0] tag_q, run_tag_q;
  beats_t     beats_q;
  hbm_limit_t hbm_limit_q;
  ub_limit_t  ub_limit_q;

  assign indexed     = Indexed && d.flags[FlagLoadIndexed];
  assign beats_whole = beats_t'(d.len[LenBits-1:Shift]);
  assign beats_part  = d.len[Shift-1:0] != '0;
  assign beats       = beats_whole + beats_t'(beats_part);
  // verilator lint_off UNUSEDSIGNAL
  logic [HbmBits+1:0] hbm_room;  // twice the limits: a partial beat subtracts one more through the borrow
  logic [UbBits+1:0]  ub_room;
  // verilator lint_on UNUSEDSIGNAL
  assign hbm_room    = {1'b0, hbm_end_i[AddrBits:Shift], 1'b0} - (HbmBits + 2)'({beats_whole, beats_part});
  assign ub_room     = {(UbBits + 1)'(UbBeats), 1'b0} - (UbBits + 2)'({beats_whole, beats_part});
  assign hbm_limit   = hbm_limit_t'(hbm_room[HbmBits+1:1]);
  assign ub_limit    = ub_limit_t'(ub_room[UbBits+1:1]);

  always_ff @(posedge clk_i) begin
    if (start) begin
      d_q          <= d;
      beats_q      <= beats;
      hbm_limit_q  <= hbm_limit;
      ub_limit_q   <= ub_limit;
      illegal_q    <= d.len == '0 || d.n1 == '0 || d.n2 == '0 || start_illegal_i;
      tag_q        <= start_tag_i;
      misaligned_q <= (d.hbm_addr[Shift-1:0] | d.hbm_stride1[Shift-1:0] | d.hbm_stride2[Shift-1:0]
                       | d.ub_addr[Shift-1:0] | d.ub_stride1[Shift-1:0] | d.ub_stride2[Shift-1:0]
                       | (indexed ? d.index_addr[Shift-1:0] : '0)) != '0;
    end
  end

  // Its table ends inside the unified buffer.
  localparam int unsigned EntryBits = UbAddrBits - 1;
  logic                 indexed_q, started_q, outside, faulty;
  logic [EntryBits-1:0] table_end_q;  // in entries
  assign outside = indexed_q && 32'(table_end_q) > UbBytes / 4;
  always_ff @(posedge clk_i) begin
    if (start) begin
      indexed_q   <= indexed;
      table_end_q <= EntryBits'(d.index_addr[UbAddrBits-1:2]) + EntryBits'(d.n2);
    end
  end
  always_ff @(posedge clk_i) started_q <= rst_ni && start;
  assign start_indexed_o = indexed;
  assign faulty          = illegal_q || misaligned_q || outside;

  localparam int unsigned RowBits = 34;
  logic               row_valid, row_ready;
  logic [RowBits-1:0] row;
  if (Indexed) begin : gen_index
    systole_dma_index #(.D(D)) u_index (
        .clk_i, .rst_ni, .freeze_i, .start_i(started_q && indexed_q && !faulty), .table_i(d_q.index_addr[UbAddrBits-1:Shift]),
        .entries_i(d_q.n2), .base_i(d_q.hbm_addr[AddrBits-1:Shift]), .row_valid_o(row_valid), .row_ready_i(row_ready), .row_o(row),
        .ub_valid_o(index_valid_o), .ub_ready_i(index_ready_i), .ub_addr_o(index_addr_o), .ub_rsp_valid_i(index_rsp_valid_i),
        .ub_data_i(index_data_i)
    );
  end else begin : gen_no_index
    assign {row_valid, row, index_valid_o, index_addr_o} = '0;
    logic unused;
    assign unused = &{1'b0, row_ready, started_q, index_ready_i, index_rsp_valid_i, index_data_i};
  end

  hbm_t hbm_base;
  assign hbm_base = hbm_t'(hbm_base_i[AddrBits-1:Shift]);

  // The next run: its first beat and its position in the loops.
  logic        next_valid_q, move, n1_last, n2_last, next_row, waits_q, over_q;
  logic [15:0] n1_left_q, n2_left_q;
  hbm_t        hbm_next_q, hbm_row_q, hbm_after;
  ub_t         ub_next_q, ub_row_q, ub_after;

  assign n1_last   = n1_left_q == 16'd1;
  assign n2_last   = n2_left_q == 16'd1;
  assign hbm_after = (n1_last ? hbm_row_q : hbm_next_q)
                     + (n1_last ? hbm_t'(d_q.hbm_stride2[AddrBits-1:Shift]) : hbm_t'(d_q.hbm_stride1[AddrBits-1:Shift]));
  assign ub_after  = (n1_last ? ub_row_q : ub_next_q)
                     + (n1_last ? ub_t'(d_q.ub_stride2[UbAddrBits-1:Shift]) : ub_t'(d_q.ub_stride1[UbAddrBits-1:Shift]));

  // A run that begins a repetition of an indexed descriptor waits for its row. A row that is there comes at once.
  assign next_row  = move && n1_last && !n2_last && indexed_q;
  assign row_ready = next_row || (waits_q && next_valid_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= 1'b0;
    else if (start) waits_q <= indexed;
    else if (row_ready) waits_q <= !row_valid;
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      n1_left_q  <= d.n1;
      n2_left_q  <= d.n2;
      hbm_next_q <= hbm_t'(d.hbm_addr[AddrBits-1:Shift]);
      hbm_row_q  <= hbm_t'(d.hbm_addr[AddrBits-1:Shift]);
      ub_next_q  <= ub_t'(d.ub_addr[UbAddrBits-1:Shift]);
      ub_row_q   <= ub_t'(d.ub_addr[UbAddrBits-1:Shift]);
    end else if (move) begin
      n1_left_q  <= n1_last ? d_q.n1 : n1_left_q - 1'b1;
      hbm_next_q <= hbm_after;
      ub_next_q  <= ub_after;
      if (n1_last) begin
        n2_left_q <= n2_left_q - 1'b1;
        hbm_row_q <= hbm_after;
        ub_row_q  <= ub_after;
      end
    end
    if (!start && row_ready) hbm_next_q <= row[HbmBits-1:0];
    over_q <= !start && (row_ready ? row[RowBits-1:HbmBits] != '0 : over_q);
  end

  // The current run.
  typedef struct packed {
    logic illegal;
    logic misaligned;
    logic outside;  // the table
    logic hbm;
    logic ub;
  } bad_t;
  logic             active_q, stopped_q, step, run_last, last_run_q, over_run_q;
  bad_t             bad_q;
  beats_t           left_q;  // beats left
  hbm_t             hbm_q;
  ub_t              ub_q;
  logic [Shift-1:0] tail_q;

  assign run_last = left_q == beats_t'(1);
  assign move     = next_valid_q && (!waits_q || faulty) && (!active_q || (step && run_last));

  always_ff @(posedge clk_i) begin
    if (move) begin
      left_q           <= beats_q;
      tail_q           <= d_q.len[Shift-1:0];
      last_run_q       <= n1_last && n2_last;
      run_tag_q        <= tag_q;
      hbm_q            <= hbm_next_q;
      ub_q             <= ub_next_q;
      bad_q.illegal    <= illegal_q;  // applies to all runs, so there is no second run
      bad_q.misaligned <= misaligned_q;
      bad_q.outside    <= outside;
      over_run_q       <= over_q;
      bad_q.hbm        <= hbm_limit_t'({1'b0, hbm_next_q}) > hbm_limit_q || hbm_next_q < hbm_base || over_q;
      bad_q.ub         <= ub_limit_t'({1'b0, ub_next_q}) > ub_limit_q;
    end else if (step) begin
      left_q <= left_q - 1'b1;
      hbm_q  <= hbm_q + hbm_t'(1);
      ub_q   <= ub_q + ub_t'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      active_q     <= 1'b0;
      stopped_q    <= 1'b0;
    end else begin
      if (fault_valid_o) stopped_q <= 1'b1;
      if (start) next_valid_q <= 1'b1;
      else if (move && n1_last && n2_last) next_valid_q <= 1'b0;
      if (move) active_q <= 1'b1;
      else if (step && run_last) active_q <= 1'b0;
    end
  end

  assign start_ready_o = !next_valid_q && !(active_q && bad_q != '0) && !freeze_i && !stopped_q;
  assign start         = start_valid_i && start_ready_o;
  assign beat_valid_o  = active_q && bad_q == '0 && !freeze_i && !stopped_q;
  assign beat_hbm_o    = hbm_q[AddrBits-Shift-1:0];
  assign beat_ub_o     = ub_q[UbAddrBits-Shift-1:0];
  assign beat_tail_o   = run_last ? tail_q : '0;
  assign beat_end_o    = run_last;
  assign beat_last_o   = run_last && last_run_q;
  assign beat_tag_o    = run_tag_q;
  assign idle_o        = !next_valid_q && !active_q;
  assign step          = beat_valid_o && beat_ready_i;

  // Fault. The next descriptor has not been taken, so d_q is the faulting one. Out of range: the address of the first
  // beat outside.
  assign fault_valid_o = active_q && bad_q != '0 && !freeze_i && !stopped_q;
  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = '0;
    if (!fault_valid_o) begin
      fault_code_o = FaultNone;
    end else if (bad_q.illegal) begin
      fault_code_o = FaultIllegalDescriptor;
    end else if (bad_q.misaligned) begin
      fault_code_o = FaultMisaligned;
      if (d_q.hbm_addr[Shift-1:0] != '0) fault_addr_o = d_q.hbm_addr;
      else if (d_q.ub_addr[Shift-1:0] != '0) fault_addr_o = AddrBits'(d_q.ub_addr);
      else if (d_q.hbm_stride1[Shift-1:0] != '0) fault_addr_o = d_q.hbm_stride1;
      else if (d_q.ub_stride1[Shift-1:0] != '0) fault_addr_o = AddrBits'(d_q.ub_stride1);
      else if (d_q.hbm_stride2[Shift-1:0] != '0) fault_addr_o = d_q.hbm_stride2;
      else if (d_q.ub_stride2[Shift-1:0] != '0 || !indexed_q) fault_addr_o = AddrBits'(d_q.ub_stride2);
      else fault_addr_o = AddrBits'(d_q.index_addr);
    end else if (bad_q.outside) begin
      fault_code_o = FaultUbRange;
      fault_addr_o = 32'(d_q.index_addr) > UbBytes ? AddrBits'(d_q.index_addr) : AddrBits'(UbBytes);
    end else if (bad_q.hbm) begin
      fault_code_o = FaultHbmRange;
      fault_addr_o = {(AddrBits - Shift)'(over_run_q || hbm_q < hbm_base || hbm_q > hbm_end_i[AddrBits:Shift]
          ? hbm_q : hbm_end_i[AddrBits:Shift]), {Shift{1'b0}}};
    end else begin
      fault_code_o = FaultUbRange;
      fault_addr_o = AddrBits'({ub_q > ub_t'(UbBeats) ? ub_q : ub_t'(UbBeats), {Shift{1'b0}}});
    end
  end

  // Checks: every beat is inside both memories; the unified buffer is a whole number of beats.
  always_ff @(posedge clk_i) begin
    if (rst_ni && beat_valid_o) begin
      a_hbm : assert (hbm_q >= hbm_base && hbm_q < hbm_end_i[AddrBits:Shift]);
      a_ub : assert (32'(ub_q) < UbBeats && UbBeats * D == UbBytes);
      a_left : assert (left_q != '0);
    end
  end
endmodule
