// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Systolic data setup: for each vector of a matmul descriptor it reads one window per segment from the unified buffer,
// merges the elements and pads. Throughput: one vector per cycle, without bubbles between passes or descriptors, while
// windows are granted and go_i is high. Latency: three cycles from the last grant to the vector. Requests are
// registered.
// Docs: docs/mxu.md, docs/isa.md. Test: tests/rtl/mxu.

module systole_sds
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned S = Cfg.Segments,
    localparam int unsigned W = word_bytes(Cfg),                   // bytes per window
    localparam int unsigned ElementBits = 8 * element_bytes(Cfg)
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         freeze_i,

    // Descriptors (docs/design.md).
    input  logic                         start_peek_i,
    input  logic                         start_valid_i,
    output logic                         start_ready_o,
    input  desc_t                        start_desc_i,
    output logic                         fault_valid_o,  // fault of the newest descriptor
    output fault_e                       fault_code_o,
    output logic [AddrBits-1:0]          fault_addr_o,
    output logic [AccAddrBits:0]         start_rows_o,   // number of accumulator rows of start_desc_i, counted from its acc

    // Windows of the unified buffer. Requests in the same cycle have no bank in common.
    output logic [S-1:0]                 win_valid_o,
    output logic [S-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [S-1:0][1:0]            win_need_o,
    input  logic [S-1:0]                 win_ready_i,
    input  logic [S-1:0]                 win_rsp_valid_i,
    input  logic [S-1:0][W*8-1:0]        win_data_i,

    // The next vector. With transpose, row and take belong to the block that its pass fills.
    output logic                         head_valid_o,
    output logic                         head_take_o,        // first vector of a pass that takes a tile
    output logic                         head_accumulate_o,
    output logic                         head_transpose_o,
    output logic                         head_pass_last_o,
    output logic                         head_done_o,        // last vector of its descriptor
    output logic [AccAddrBits-1:0]       head_row_o,
    input  logic                         go_i,               // the vector may go; stays high until it goes
    output logic                         step_o,             // the vector goes: all its windows are granted

    // The vector, three cycles after its step.
    output logic                         vec_valid_o,
    output logic [ElementBits-1:0]       vec_o [Cfg.Rows],

    output logic                         stall_ub_o          // stall: a vector waits for a window
);
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Shift = $clog2(element_bytes(Cfg));
  localparam int unsigned RowBits = $clog2(Rows);
  localparam int unsigned OffBits = $clog2(W);
  localparam int unsigned BankBits = $clog2(Cfg.UbBanks);
  localparam int unsigned SizeBits = $clog2(Cfg.UbBytes);

  // Window of a segment: checked, then requested.
  typedef struct packed {
    address_t   addr;
    pos_t       lo, hi;  // array rows whose elements come from the buffer
    logic [1:0] need;    // words of the window that contain bytes to read
    logic       bad;     // a byte to read is outside the buffer
  } window_t;
  typedef struct packed {
    logic [UbAddrBits-1:0] addr;
    pos_t                  lo, hi;
    logic [1:0]            need;
  } request_t;
  // Bank of the first word of window t relative to that of window s, s < t: the same, the next, the previous.
  typedef struct packed {
    logic same, next, previous;
  } banks_t;
  typedef logic [S-1:0][S-1:0] pairs_t;  // [t][s], s < t: the two windows have a bank in common

  // Preparation and walk. The walk delivers the sums of each vector's segments.
  logic               prepared, prepared_bad, take, walk_busy, start, stopped_q;
  fault_e             prepared_code;
  logic [AddrBits-1:0] prepared_addr;
  logic [24:0]        y_step;
  logic [25:0]        p_step;
  logic signed [28:0] base [S];
  pos_t               seg_start [S], seg_stop [S];
  logic               advance;   // the stages before the check advance
  logic               b_valid, b_first;
  vector_t            b_vector;
  logic [19:0]        b_line_bytes;
  sums_t              b_sums [S];
  matmul_desc_t       start_desc;
  assign start_desc = matmul_desc_t'(start_desc_i);

  systole_sds_prepare #(.Cfg(Cfg)) u_prepare (
      .clk_i, .rst_ni, .peek_i(start_peek_i), .desc_i(start_desc), .ready_o(prepared), .take_i(take), .start_i(start),
      .bad_o(prepared_bad), .code_o(prepared_code), .addr_o(prepared_addr), .rows_o(start_rows_o),
      .y_step_o(y_step), .p_step_o(p_step), .base_o(base), .start_o(seg_start), .stop_o(seg_stop)
  );
  systole_sds_walk #(.Cfg(Cfg)) u_walk (
      .clk_i, .rst_ni, .ready_i(prepared && !prepared_bad), .take_o(take), .desc_i(start_desc),
      .y_step_i(y_step), .p_step_i(p_step), .base_i(base), .start_i(seg_start), .stop_i(seg_stop),
      .step_i(advance), .busy_o(walk_busy), .valid_o(b_valid), .first_o(b_first), .vector_o(b_vector),
      .line_bytes_o(b_line_bytes), .sums_o(b_sums)
  );

  // Array rows whose bytes are at coordinates 0 to line_bytes - 1 of a line inside the image. Coordinates further than
  // 2^NearBits from an end of the line are not counted exactly, because a segment is shorter than that.
  localparam int unsigned NearBits = $clog2(Rows) + Shift + 1;
  function automatic range_t inside_line(sums_t b, logic [19:0] line_bytes);
    logic signed [24:0]  left;        // bytes up to the end of the line
    logic [NearBits:0]   skip, most;  // elements before the line; elements up to its end
    pos_t                len;
    range_t              r;
    len    = b.stop - b.start;
    left   = $signed({5'b0, line_bytes}) - 25'(b.first);
    skip   = ({1'b1, {NearBits{1'b0}}} - {1'b0, b.first[NearBits-1:0]}) >> Shift;
    most   = {1'b0, left[NearBits-1:0]} >> Shift;
    r.addr = b.addr;
    r.lo   = b.first >= 0 ? b.start
             : b.first[23:NearBits] != '1 || 32'(skip) >= 32'(len) ? b.stop : b.start + pos_t'(skip);
    r.hi   = left < 0 ? b.start : left[24:NearBits] != '0 || 32'(most) >= 32'(len) ? b.stop : b.start + pos_t'(most);
    if (!b.present) begin
      r.lo = b.start;
      r.hi = b.start;
    end
    r.lo = pos_t'(r.lo[RowBits:0]);  // 0 to Rows
    r.hi = pos_t'(r.hi[RowBits:0]);
    return r;
  endfunction

  function automatic window_t check(range_t r);
    window_t           w;
    logic              need;
    logic [OffBits+1:0] lo, hi;  // first byte and end of the bytes to read, relative to the first word
    logic [SizeBits:0] stop;    // end address
    need      = r.hi > r.lo;
    lo        = (OffBits + 2)'(r.addr[OffBits-1:0]) + ((OffBits + 2)'(r.lo) << Shift);
    hi        = (OffBits + 2)'(r.addr[OffBits-1:0]) + ((OffBits + 2)'(r.hi) << Shift);
    stop      = {1'b0, r.addr[SizeBits-1:0]} + ((SizeBits + 1)'(r.hi) << Shift);
    w.addr    = r.addr;
    w.lo      = r.lo;
    w.hi      = r.hi;
    w.need[0] = need && 32'(lo) < W;
    w.need[1] = need && 32'(hi) > W;
    // A window may start before byte 0 of the buffer. The bytes that it reads still lie inside, because they have
    // coordinates of at least 0.
    w.bad     = need && r.addr[AddrBits-1:SizeBits] != '1 && (r.addr[AddrBits-1:SizeBits] != '0 || 32'(stop) > Cfg.UbBytes);
    return w;
  endfunction

  // Stage c: the rows whose elements come from the buffer. Stage d: the words to read, checked. A vector that reads a
  // byte outside the buffer stays in stage d.
  logic    c_valid_q, c_first_q, d_valid_q, d_wait_q, x_valid_q, d_bad, d_moves;
  vector_t c_vector_q, d_vector_q;
  range_t  c_q [S];
  window_t d_q [S];
  banks_t  d_banks_q [S][S];

  assign d_moves = d_valid_q && !d_bad && !x_valid_q;
  assign advance = !d_valid_q || (!d_bad && !x_valid_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      c_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
    end else if (advance) begin
      c_valid_q <= b_valid;
      d_valid_q <= c_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance && b_valid) begin
      c_first_q  <= b_first;
      c_vector_q <= b_vector;
    end
    if (advance && c_valid_q) d_vector_q <= c_vector_q;
  end

  logic [S-1:0] d_bads;
  assign d_bad = d_bads != '0;
  for (genvar s = 0; s < S; s++) begin : gen_segment
    assign d_bads[s] = d_q[s].bad;
    always_ff @(posedge clk_i) begin
      if (advance && b_valid) c_q[s] <= inside_line(b_sums[s], b_line_bytes);
      if (advance && c_valid_q) d_q[s] <= check(c_q[s]);
    end
    for (genvar t = s + 1; t < S; t++) begin : gen_other
      logic [BankBits-1:0] one, two;
      assign one = c_q[s].addr[OffBits+:BankBits];
      assign two = c_q[t].addr[OffBits+:BankBits];
      always_ff @(posedge clk_i) begin
        if (advance && c_valid_q) begin
          d_banks_q[s][t] <= '{same: one == two, next: BankBits'(one + 1'b1) == two, previous: BankBits'(two + 1'b1) == one};
        end
      end
    end
  end

  // Stage r: the vector whose windows are requested. Stage x: a skid buffer for the next vector when stage r is not
  // granted. Windows requested in the same cycle (r_now_q) have no bank in common; the others (r_rest_q) follow when
  // those are granted.
  logic         r_valid_q, r_wait_q, x_wait_q;  // wait: the vector's descriptor has not started
  logic         r_valid_d, r_wait_d, r_run_q;   // run: valid, and its descriptor has started
  vector_t      r_vector_q, x_vector_q;
  request_t     d_request [S], r_q [S], x_q [S];
  logic [S-1:0] r_now_q, r_rest_q, x_now_q, x_rest_q, d_now, d_rest, later;
  pairs_t       r_pairs_q, x_pairs_q, d_pairs;
  logic [S-1:0] got;
  logic         running, step;

  // Windows to request together: each one that has no bank in common with the ones chosen before it.
  function automatic logic [S-1:0] together(logic [S-1:0] want, pairs_t pairs);
    logic [S-1:0] go;
    go = '0;
    for (int unsigned s = 0; s < S; s++) go[s] = want[s] && (go & pairs[s]) == '0;
    return go;
  endfunction

  always_comb begin
    d_pairs = '0;
    for (int unsigned s = 0; s < S; s++) begin
      d_request[s] = '{addr: d_q[s].addr[UbAddrBits-1:0], lo: d_q[s].lo, hi: d_q[s].hi, need: d_q[s].need};
      for (int unsigned t = s + 1; t < S; t++) begin
        d_pairs[t][s] = (d_banks_q[s][t].same && (d_q[s].need & d_q[t].need) != '0)
                        || (d_banks_q[s][t].next && d_q[s].need[1] && d_q[t].need[0])
                        || (d_banks_q[s][t].previous && d_q[s].need[0] && d_q[t].need[1]);
      end
      d_rest[s] = d_q[s].need != '0;
    end
    d_now = together(d_rest, d_pairs);
    later = together(r_rest_q, r_pairs_q);
  end

  assign running     = r_run_q && !freeze_i && !stopped_q;
  assign win_valid_o = running && go_i ? r_now_q : '0;
  assign got         = win_valid_o & win_ready_i;
  assign step        = running && go_i && (r_now_q & ~win_ready_i) == '0 && r_rest_q == '0;
  assign step_o      = step;
  assign stall_ub_o  = r_run_q && !freeze_i && go_i && !step;
  for (genvar s = 0; s < S; s++) begin : gen_request
    assign win_addr_o[s] = r_q[s].addr;
    assign win_need_o[s] = r_q[s].need;
  end

  logic r_loads;
  assign r_loads   = step || !r_valid_q;
  assign r_valid_d = r_loads ? x_valid_q || d_moves : r_valid_q;
  assign r_wait_d  = (r_loads ? (x_valid_q ? x_wait_q : d_moves && d_wait_q) : r_wait_q) && !start;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      r_valid_q <= 1'b0;
      x_valid_q <= 1'b0;
      d_wait_q  <= 1'b0;
      x_wait_q  <= 1'b0;
      r_wait_q  <= 1'b0;
      r_run_q   <= 1'b0;
    end else begin
      r_valid_q <= r_valid_d;
      r_wait_q  <= r_wait_d;
      r_run_q   <= r_valid_d && !r_wait_d;
      x_valid_q <= !r_loads && (x_valid_q || d_moves);
      // The wait flag of a descriptor's first vector moves with the vector until the descriptor starts.
      d_wait_q <= advance ? c_valid_q && c_first_q : d_wait_q && !start;
      x_wait_q <= !r_loads && (x_valid_q ? x_wait_q : d_moves && d_wait_q) && !start;
    end
  end

  always_ff @(posedge clk_i) begin
    if (r_loads) begin
      r_vector_q <= x_valid_q ? x_vector_q : d_vector_q;
      r_now_q    <= x_valid_q ? x_now_q : d_now;
      r_rest_q   <= x_valid_q ? x_rest_q : d_rest & ~d_now;
      r_pairs_q  <= x_valid_q ? x_pairs_q : d_pairs;
    end else if ((r_now_q & ~got) == '0) begin
      r_now_q  <= later;
      r_rest_q <= r_rest_q & ~later;
    end else begin
      r_now_q <= r_now_q & ~got;
    end
    if (d_moves) begin
      x_vector_q <= d_vector_q;
      x_now_q    <= d_now;
      x_rest_q   <= d_rest & ~d_now;
      x_pairs_q  <= d_pairs;
    end
  end
  for (genvar s = 0; s < S; s++) begin : gen_request_stage
    always_ff @(posedge clk_i) begin
      if (r_loads) r_q[s] <= x_valid_q ? x_q[s] : d_request[s];
      if (d_moves) x_q[s] <= d_request[s];
    end
  end

  assign head_valid_o      = r_run_q;
  assign head_take_o       = r_vector_q.take;
  assign head_accumulate_o = r_vector_q.accumulate;
  assign head_transpose_o  = r_vector_q.transpose;
  assign head_pass_last_o  = r_vector_q.pass_last;
  assign head_done_o       = r_vector_q.done;
  assign head_row_o        = r_vector_q.row;

  // A descriptor starts when its first vector has reached stage d; all vectors before it have passed the check then. A
  // descriptor that failed its preparation starts when those vectors have left. After a fault the unit stops.
  logic empty;
  assign empty         = !walk_busy && !c_valid_q && !d_valid_q && !r_valid_q && !x_valid_q;
  assign start_ready_o = !freeze_i && !stopped_q && (d_wait_q || x_wait_q || r_wait_q || (prepared && prepared_bad && empty));
  assign start         = start_valid_i && start_ready_o;

  // Fault address: the first byte outside the buffer, in the first segment that has one. It is reported after all
  // vectors before it have left.
  logic     found, found_q;
  address_t found_addr_q;
  pos_t     found_lo_q;
  assign found = d_valid_q && d_bad && !d_wait_q && !r_valid_q && !x_valid_q && !freeze_i && !stopped_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stopped_q     <= 1'b0;
      found_q       <= 1'b0;
      fault_valid_o <= 1'b0;
    end else begin
      if (found || (start && prepared && prepared_bad)) stopped_q <= 1'b1;
      found_q       <= found;
      fault_valid_o <= found_q || (start && prepared && prepared_bad);
    end
  end
  always_ff @(posedge clk_i) begin
    if (found) begin
      for (int unsigned s = S; s > 0; s--) begin
        if (d_q[s-1].bad) begin
          found_addr_q <= d_q[s-1].addr;
          found_lo_q   <= d_q[s-1].lo;
        end
      end
    end
    fault_code_o <= found_q ? FaultUbRange : prepared_code;
    fault_addr_o <= found_q ? found_addr_q + (AddrBits'(found_lo_q) << Shift) : prepared_addr;
  end

  // Merge, after two cycles that match the latency of the buffer. The source of each array row is known one cycle
  // ahead: an element of these grants; padding, with the first grants of the vector (0 beyond the segments); or the
  // value held so far.
  typedef struct packed {
    logic       first;  // first grants of the vector
    logic       last;   // the vector is complete with these grants
    logic [7:0] pad;
    pos_t       total;
  } beat_t;
  typedef logic [Rows*ElementBits-1:0] elements_t;
  beat_t        b1_q;
  logic         began_q, b0_valid, b1_valid_q, b2_valid_q, last2_q;
  logic [S-1:0] got1_q, got2_q;
  pos_t         lo1_q [S], hi1_q [S];
  elements_t    rows1 [S], from_q [S];        // mask of the bits that come with these grants
  elements_t    covered, from_pad_q, from_held_q, merged_q;
  logic [7:0]   pad2_q;

  // Mask of the elements of rows 0 to n - 1.
  function automatic elements_t elements_below(pos_t n);
    return ~({Rows*ElementBits{1'b1}} << (32'(n) * ElementBits));
  endfunction

  assign b0_valid = step || got != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      began_q     <= 1'b0;
      b1_valid_q  <= 1'b0;
      b2_valid_q  <= 1'b0;
      vec_valid_o <= 1'b0;
    end else begin
      began_q     <= !step && (began_q || got != '0);
      b1_valid_q  <= b0_valid;
      b2_valid_q  <= b1_valid_q;
      vec_valid_o <= b2_valid_q && last2_q;
    end
  end

  for (genvar s = 0; s < S; s++) begin : gen_delay
    always_ff @(posedge clk_i) begin
      if (b0_valid) begin
        lo1_q[s] <= r_q[s].lo;
        hi1_q[s] <= r_q[s].hi;
      end
      if (b1_valid_q) from_q[s] <= rows1[s];
    end
  end
  always_comb begin
    covered = '0;
    for (int unsigned s = 0; s < S; s++) begin
      rows1[s] = '0;
      if (b1_valid_q && got1_q[s]) rows1[s] = elements_below(hi1_q[s]) & ~elements_below(lo1_q[s]);
      covered |= rows1[s];
    end
  end
  always_ff @(posedge clk_i) begin
    if (b0_valid) begin
      b1_q   <= '{first: !began_q, last: step, pad: r_vector_q.pad, total: r_vector_q.total};
      got1_q <= got;
    end
    if (b1_valid_q) begin
      last2_q     <= b1_q.last;
      got2_q      <= got1_q;
      pad2_q      <= b1_q.pad;
      from_pad_q  <= b1_q.first ? elements_below(b1_q.total) & ~covered : '0;
      from_held_q <= b1_q.first ? '0 : ~covered;
    end
  end

  always_ff @(posedge clk_i) begin
    automatic elements_t merged;
    if (b2_valid_q) begin
      merged = ({Rows{ElementBits'(pad2_q)}} & from_pad_q) | (merged_q & from_held_q);
      for (int unsigned s = 0; s < S; s++) merged |= win_data_i[s][Rows*ElementBits-1:0] & from_q[s];
      merged_q <= merged;
    end
  end
  for (genvar i = 0; i < Rows; i++) begin : gen_element
    assign vec_o[i] = merged_q[i*ElementBits+:ElementBits];
  end

  // Checks: answers come when expected; a request holds until it is granted; one descriptor at a time waits for its
  // start.
  logic [S-1:0] hold_q;
  always_ff @(posedge clk_i) begin
    hold_q <= rst_ni ? win_valid_o & ~win_ready_i : '0;
    if (rst_ni) begin
      a_answer : assert (win_rsp_valid_i == (b2_valid_q ? got2_q : '0));
      a_hold : assert (freeze_i || stopped_q || (hold_q & ~win_valid_o) == '0);
      a_wait : assert ($onehot0({d_wait_q, x_wait_q, r_wait_q}));
      a_x : assert (!x_valid_q || r_valid_q);
    end
  end
endmodule
