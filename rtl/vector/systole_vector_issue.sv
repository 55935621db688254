// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a job: walks its sources and results, and issues one micro-op a cycle together with its reads. Three stages: the walks
// choose a micro-op and step | its addresses are checked | it is issued, or dropped if an address is bad. After a read or a
// result outside the unified buffer, that micro-op and all later ones are dropped and fault_o rises. Results of earlier
// positions are still produced.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_issue
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano)
) (
    input  logic       clk_i,
    input  logic       rst_ni,

    input  logic       load_i,        // take job_i; only when idle_o
    input  job_t       job_i,
    output logic       idle_o,        // all micro-ops of the current job are chosen, or there is no job

    input  logic       sum_valid_i,   // pulse: one more sum in the sum memory
    input  logic       out_avail_i,   // there is room for one more result
    output logic       take_o,        // a result was chosen ...
    output ub_addr_t   take_addr_o,   // ... and will be written here, if that is in the unified buffer
    output logic       take_raw_o,    // ... or up to three windows further, if it is raw
    output logic       drop_o,        // a chosen result was dropped: it will not be written

    output logic       valid_o,
    input  logic       ready_i,       // registered
    output uop_t       uop_o,
    output dest_t      dest_o,        // destination of the micro-op's result, if it has one
    output logic       acc_rd_o,      // reads accumulator row acc_row_o
    output logic       ub_rd_o,       // reads the window at ub_addr_o
    output acc_addr_t  acc_row_o,
    output ub_addr_t   ub_addr_o,

    output logic       fault_o,       // stopped by a bad address; all results before it are issued
    output walk_addr_t fault_addr_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ColBits = $clog2(Cols);
  localparam int unsigned SumCountBits = $clog2(SumPairs + 1);
  typedef logic [systole_presets_pkg::UbAddrBits:0] limit_t;  // the last address from which an access of some length fits

  // A chosen micro-op.
  typedef struct packed {
    uop_t       uop;
    logic       acc_rd, ub_rd;
    acc_addr_t  row;
    walk_addr_t rd_addr, out_addr;
    logic [8:0] rd_len;
  } choice_t;

  // verilator lint_off UNUSEDSIGNAL
  job_t                           job_q;  // the base addresses are unused here: the walks hold them
  // verilator lint_on UNUSEDSIGNAL
  logic                           busy_q;
  logic                           step;  // the chosen micro-op moves to the next stage and the walks step

  // Results.
  walk_addr_t                     dst_addr, out_addr;
  logic                           dst_x_last, dst_last, dst_next;
  logic [1:0]                     part_q;
  acc_addr_t                      row_q;
  logic [8:0]                     out_len;
  logic                           out_last;

  // Sources.
  walk_addr_t [SourceStreams-1:0] src_addr;
  logic                           src_x_last, src_last, src_next;
  walk_addr_t                     tap_addr;
  logic                           tap_hit, tap_first, tap_last;
  logic [TapBits-1:0]             tap_offset;
  logic [8:0]                     tap_count;

  // Additions and products.
  logic                           second_q;    // the next operand is the second
  logic                           src_done_q;  // all operands are issued
  logic [SumCountBits-1:0]        pairs_q;     // operand pairs that were issued and whose sum was not issued yet
  logic [SumCountBits-1:0]        sums_q;      // sums in the memory
  logic                           sums_any_q;  // sums_q is not 0

  systole_vector_walk #(.Streams(1)) u_dst (
      .clk_i,
      .load_i,
      .base_i  (job_i.dst),
      .n_end_i (job_q.n_end),
      .y_end_i (job_q.y_end),
      .x_end_i (job_q.x_end),
      .img_i   (job_q.dst_img),
      .pitch_i (job_q.dst_pitch),
      .step_i  (job_q.dst_step),
      .next_i  (dst_next),
      .addr_o  (dst_addr),
      .x_last_o(dst_x_last),
      .last_o  (dst_last)
  );

  systole_vector_walk #(.Streams(SourceStreams)) u_src (
      .clk_i,
      .load_i,
      .base_i  (job_i.src),
      .n_end_i (job_q.n_end),
      .y_end_i (job_q.y_end),
      .x_end_i (job_q.x_end),
      .img_i   (job_q.src_img),
      .pitch_i (job_q.src_pitch),
      .step_i  (job_q.src_step),
      .next_i  (src_next),
      .addr_o  (src_addr),
      .x_last_o(src_x_last),
      .last_o  (src_last)
  );

  systole_vector_taps u_taps (
      .clk_i,
      .load_i,
      .next_i      (step && job_q.pool),
      .kh_end_i    (job_q.kh_end),
      .kw_end_i    (job_q.kw_end),
      .zero_i      (job_q.tap_zero),
      .kx_i        (job_q.kx),
      .pitch_i     (job_q.pitch),
      .lines_i     (job_q.lines),
      .line_bytes_i(job_q.line_bytes),
      .win_addr_i  (src_addr[0]),
      .win_line_i  (src_addr[1]),
      .win_byte_i  (src_addr[2]),
      .addr_o      (tap_addr),
      .hit_o       (tap_hit),
      .first_o     (tap_first),
      .last_o      (tap_last),
      .taps_o      (tap_count),
      .offset_o    (tap_offset)
  );

  // Second and third stage.
  choice_t                        choice, check_q;
  // verilator lint_off UNUSEDSIGNAL
  choice_t                        found_q;  // the micro-op after the check of its addresses
  // verilator lint_on UNUSEDSIGNAL
  logic                           check_valid_q, check_free, found_valid_q, found_free, operand, second;
  logic                           dropped, rd_bad_q, out_bad_q, bad, pass, finding;
  logic                           src_fault_q, stop_q;  // a bad source stops further operands, a bad result stops everything

  // First stage: the next micro-op.
  logic [8:0] raw_left;
  logic       want, sum_next, sum_take, pairs_room;

  // Bytes of a raw row (4 x cols bytes) that remain from this window on, at most Cols.
  always_comb begin
    logic [10:0] left;
    left     = {job_q.len, 2'b00} - (11'(part_q) << ColBits);
    raw_left = left > 11'(Cols) ? 9'(Cols) : left[8:0];
  end

  always_comb begin
    out_addr = dst_addr;
    out_len  = dst_x_last ? job_q.tail : job_q.len;
    out_last = dst_last;
    if (job_q.raw) begin
      out_addr = dst_addr + (WalkBits'(part_q) << ColBits);
      out_len  = raw_left;
      out_last = dst_last && part_q == job_q.last_part;
    end
  end

  assign sum_next   = sums_any_q && out_avail_i;
  assign pairs_room = 32'(pairs_q) + 32'(found_valid_q && second) < SumPairs;

  // The last address from which an access of this length fits into the unified buffer.
  function automatic limit_t limit(logic [8:0] len);
    return limit_t'(Cfg.UbBytes) - limit_t'(len);
  endfunction

  always_comb begin
    want             = 1'b0;
    choice           = '0;
    choice.row       = row_q;
    choice.rd_addr   = tap_addr;
    choice.rd_len    = job_q.len;
    choice.out_addr  = out_addr;
    choice.uop.src   = SrcAcc;
    choice.uop.bank  = job_q.bank;
    choice.uop.part  = part_q;
    choice.uop.taps  = 9'd1;
    choice.uop.len   = out_len;
    choice.uop.last  = out_last;
    choice.uop.first = tap_first;
    choice.uop.hit   = tap_hit;
    choice.uop.lookup   = job_q.lookup;
    choice.uop.residual = job_q.residual;
    choice.uop.offset   = tap_offset;
    if (job_q.requant) begin
      want           = out_avail_i;
      choice.acc_rd  = 1'b1;
      choice.ub_rd   = job_q.residual;
      choice.rd_addr = src_addr[0];
      choice.uop.src = job_q.raw ? SrcRaw : SrcAcc;
      choice.uop.out = 1'b1;
    end else if (job_q.pool) begin
      want            = out_avail_i || !tap_last;
      choice.ub_rd    = tap_hit;
      choice.uop.src  = SrcTap;
      choice.uop.out  = tap_last;
      choice.uop.taps = job_q.average ? tap_count : 9'd1;
    end else if (job_q.mul) begin
      want           = out_avail_i || !second_q;
      choice.ub_rd   = 1'b1;
      choice.rd_addr = src_addr[second_q];
      choice.uop.src = second_q ? SrcMul1 : SrcMul0;
      choice.uop.out = second_q;
    end else if (sum_next) begin
      want           = 1'b1;
      choice.uop.src = SrcSum;
      choice.uop.out = 1'b1;
    end else begin
      want           = !src_done_q && !src_fault_q && (!second_q || pairs_room);
      choice.ub_rd   = 1'b1;
      choice.rd_addr = src_addr[second_q];
      choice.rd_len  = src_x_last ? job_q.tail : job_q.len;
      choice.uop.src = second_q ? SrcAdd1 : SrcAdd0;
    end
  end

  assign found_free  = !found_valid_q || ready_i;
  assign check_free  = !check_valid_q || found_free;
  assign step        = busy_q && !stop_q && want && check_free;
  assign dst_next    = step && choice.uop.out && (!job_q.raw || part_q == job_q.last_part);
  assign src_next    = step && (job_q.pool ? tap_last : job_q.residual || choice.uop.src inside {SrcAdd1, SrcMul1});
  assign take_o      = step && choice.uop.out;
  assign take_addr_o = ub_addr_t'(dst_addr);
  assign take_raw_o  = job_q.raw;
  assign sum_take    = step && choice.uop.src == SrcSum;
  assign idle_o      = !busy_q;

  always_ff @(posedge clk_i) begin
    if (check_free) check_q <= choice;
    if (load_i) begin
      job_q  <= job_i;
      row_q  <= job_i.acc;
      part_q <= '0;
    end else if (step && job_q.requant) begin
      part_q <= part_q == job_q.last_part || !job_q.raw ? '0 : part_q + 1'b1;
      if (part_q == job_q.last_part || !job_q.raw) row_q <= row_q + 1'b1;
    end
  end

  // Second stage: the addresses.
  always_ff @(posedge clk_i) begin
    if (check_valid_q && found_free) begin
      found_q   <= check_q;
      rd_bad_q  <= check_q.ub_rd && check_q.rd_addr > WalkBits'(limit(check_q.rd_len));
      out_bad_q <= check_q.uop.out && check_q.out_addr > WalkBits'(limit(check_q.uop.len));
    end
  end

  // Third stage.
  assign operand = found_q.uop.src inside {SrcAdd0, SrcAdd1};
  assign second  = found_q.uop.src == SrcAdd1;
  assign dropped = stop_q || (src_fault_q && operand);
  assign bad     = rd_bad_q || out_bad_q;
  assign valid_o = found_valid_q && !dropped && !bad;
  assign pass    = valid_o && ready_i;
  assign finding = found_valid_q && !dropped && bad && ready_i;
  assign drop_o  = found_valid_q && ready_i && found_q.uop.out && (dropped || bad);

  assign uop_o     = found_q.uop;
  assign dest_o    = '{last: found_q.uop.last, addr: ub_addr_t'(found_q.out_addr), len: found_q.uop.len};
  assign acc_rd_o  = found_q.acc_rd;
  assign ub_rd_o   = found_q.ub_rd;
  assign acc_row_o = found_q.row;
  assign ub_addr_o = ub_addr_t'(found_q.rd_addr);
  assign fault_o   = stop_q;

  always_ff @(posedge clk_i) begin
    if (finding) fault_addr_o <= rd_bad_q ? found_q.rd_addr : found_q.out_addr;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      check_valid_q <= 1'b0;
      found_valid_q <= 1'b0;
      second_q      <= 1'b0;
      src_done_q    <= 1'b0;
      pairs_q       <= '0;
      sums_q        <= '0;
      sums_any_q    <= 1'b0;
      stop_q        <= 1'b0;
      src_fault_q   <= 1'b0;
    end else begin
      if (check_free) check_valid_q <= step;
      if (found_free) found_valid_q <= check_valid_q;
      if (load_i) begin
        busy_q     <= 1'b1;
        src_done_q <= 1'b0;
      end
      if (step && choice.uop.out && out_last) busy_q <= 1'b0;
      if (step && (choice.uop.src inside {SrcAdd0, SrcAdd1, SrcMul0, SrcMul1})) second_q <= !second_q;
      if (step && choice.uop.src == SrcAdd1 && src_last) src_done_q <= 1'b1;
      pairs_q <= pairs_q + SumCountBits'(pass && second) - SumCountBits'(pass && found_q.uop.src == SrcSum);
      sums_q  <= sums_q + SumCountBits'(sum_valid_i) - SumCountBits'(sum_take);
      if (sum_valid_i) sums_any_q <= 1'b1;
      else if (sum_take) sums_any_q <= sums_q != SumCountBits'(1);
      // After a bad operand, the sums of older pairs are still issued. If the result of one of them is bad, that is the earlier
      // fault.
      if (finding) begin
        if (operand) src_fault_q <= 1'b1;
        else stop_q <= 1'b1;
      end else if (src_fault_q && pairs_q == '0) begin
        stop_q <= 1'b1;
      end
    end
  end

  // Checks: each sum comes from a pair, and nothing is left when a job ends.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_load_idle : assert (!load_i || idle_o);
      a_sums : assert (sums_q <= pairs_q && 32'(pairs_q) <= SumPairs && sums_any_q == (sums_q != '0));
      a_end : assert (busy_q || stop_q || check_valid_q || found_valid_q || (pairs_q == '0 && !second_q));
    end
  end
endmodule
