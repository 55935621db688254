// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a job: walks its sources and results and issues micro-ops, one a cycle, with their reads. A read or a result outside
// the unified buffer is not issued: the walk stops and fault_o rises, results of earlier positions still come.
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
    output logic       idle_o,

    input  logic       sum_valid_i,   // pulse: one more sum in the sum memory
    input  logic       out_avail_i,   // room for one more result

    output logic       valid_o,
    input  logic       ready_i,
    output uop_t       uop_o,
    output logic       acc_rd_o,      // reads accumulator row acc_row_o
    output logic       ub_rd_o,       // reads the window at ub_addr_o
    output acc_addr_t  acc_row_o,
    output ub_addr_t   ub_addr_o,

    output logic       fault_o,       // stopped by an address; all results before it are issued
    output walk_addr_t fault_addr_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ColBits = $clog2(Cols);
  localparam int unsigned SumCountBits = $clog2(SumDepth + 1);

  // verilator lint_off UNUSEDSIGNAL
  job_t                           job_q;  // the walks keep the bases
  // verilator lint_on UNUSEDSIGNAL
  logic                           busy_q;
  logic                           issue;

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
  logic [8:0]                     tap_count;

  // Additions.
  logic                           second_q;    // the next operand is the second
  logic                           src_done_q;  // all operands are issued
  logic [SumCountBits-1:0]        pairs_q;     // pairs whose sum is not yet issued
  logic [SumCountBits-1:0]        sums_q;      // sums in the memory

  systole_vector_walk #(.Streams(1)) u_dst (
      .clk_i,
      .load_i,
      .base_i  (job_i.dst),
      .n_i     (job_q.n),
      .ny_i    (job_q.ny),
      .nx_i    (job_q.nx),
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
      .n_i     (job_q.n),
      .ny_i    (job_q.ny),
      .nx_i    (job_q.nx),
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
      .next_i      (issue && job_q.pool),
      .kh_i        (job_q.kh),
      .kw_i        (job_q.kw),
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
      .taps_o      (tap_count)
  );

  // Faults: after one of a source only sums of earlier positions go on, after one of a result nothing does.
  logic                           finding, src_fault_q, stop_q;

  // The next micro-op.
  walk_addr_t rd_addr;
  logic [8:0] rd_len, raw_left;
  logic       want, sum_next, rd_bad, out_bad;

  function automatic logic outside(walk_addr_t addr, logic [8:0] len);
    return addr > WalkBits'(Cfg.UbBytes) - WalkBits'(len);
  endfunction

  // Bytes of a raw row (4 x cols) from this window on, at most Cols.
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

  assign sum_next = sums_q != '0 && out_avail_i;

  always_comb begin
    want        = 1'b0;
    acc_rd_o    = 1'b0;
    ub_rd_o     = 1'b0;
    rd_addr     = tap_addr;
    rd_len      = job_q.len;
    uop_o       = '0;
    uop_o.src   = SrcAcc;
    uop_o.bank  = job_q.bank;
    uop_o.part  = part_q;
    uop_o.taps  = 9'd1;
    uop_o.dest  = '{last: out_last, addr: ub_addr_t'(out_addr), len: out_len};
    uop_o.first = tap_first;
    uop_o.hit   = tap_hit;
    if (job_q.requant) begin
      want      = out_avail_i;
      acc_rd_o  = 1'b1;
      uop_o.src = job_q.raw ? SrcRaw : SrcAcc;
      uop_o.out = 1'b1;
    end else if (job_q.pool) begin
      want       = out_avail_i || !tap_last;
      ub_rd_o    = tap_hit;
      uop_o.src  = SrcTap;
      uop_o.out  = tap_last;
      uop_o.taps = job_q.average ? tap_count : 9'd1;
    end else if (sum_next) begin
      want      = 1'b1;
      uop_o.src = SrcSum;
      uop_o.out = 1'b1;
    end else begin
      want      = !src_done_q && !src_fault_q && (!second_q || pairs_q != SumCountBits'(SumDepth));
      ub_rd_o   = 1'b1;
      rd_addr   = src_addr[second_q];
      rd_len    = src_x_last ? job_q.tail : job_q.len;
      uop_o.src = second_q ? SrcAdd1 : SrcAdd0;
    end
  end

  assign rd_bad    = ub_rd_o && outside(rd_addr, rd_len);
  assign out_bad   = uop_o.out && outside(out_addr, out_len);
  assign acc_row_o = row_q;
  assign ub_addr_o = ub_addr_t'(rd_addr);
  assign idle_o    = !busy_q;

  assign valid_o  = busy_q && !stop_q && want && !rd_bad && !out_bad;
  assign issue    = valid_o && ready_i;
  assign dst_next = issue && uop_o.out && (!job_q.raw || part_q == job_q.last_part);
  assign src_next = issue && (job_q.pool ? tap_last : uop_o.src == SrcAdd1);
  assign fault_o  = stop_q;

  assign finding  = busy_q && !stop_q && want && (rd_bad || out_bad);

  always_ff @(posedge clk_i) begin
    if (finding) fault_addr_o <= rd_bad ? rd_addr : out_addr;
    if (load_i) begin
      job_q  <= job_i;
      row_q  <= job_i.acc;
      part_q <= '0;
    end else if (issue && job_q.requant) begin
      part_q <= part_q == job_q.last_part || !job_q.raw ? '0 : part_q + 1'b1;
      if (part_q == job_q.last_part || !job_q.raw) row_q <= row_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      second_q    <= 1'b0;
      src_done_q  <= 1'b0;
      pairs_q     <= '0;
      sums_q      <= '0;
      stop_q      <= 1'b0;
      src_fault_q <= 1'b0;
    end else begin
      if (load_i) begin
        busy_q     <= 1'b1;
        src_done_q <= 1'b0;
      end
      if (issue && uop_o.out && out_last) busy_q <= 1'b0;
      if (issue && (uop_o.src inside {SrcAdd0, SrcAdd1})) second_q <= !second_q;
      if (issue && uop_o.src == SrcAdd1 && src_last) src_done_q <= 1'b1;
      pairs_q <= pairs_q + SumCountBits'(issue && uop_o.src == SrcAdd1) - SumCountBits'(issue && uop_o.src == SrcSum);
      sums_q  <= sums_q + SumCountBits'(sum_valid_i) - SumCountBits'(issue && uop_o.src == SrcSum);
      // An operand's fault is not the first one while older sums may still find theirs.
      if (finding) begin
        if (uop_o.src inside {SrcAdd0, SrcAdd1}) src_fault_q <= 1'b1;
        else stop_q <= 1'b1;
      end else if (src_fault_q && pairs_q == '0) begin
        stop_q <= 1'b1;
      end
    end
  end

  // Sums exist only of pairs, and a job ends with nothing left.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_load_idle : assert (!load_i || !busy_q);
      a_sums : assert (sums_q <= pairs_q && 32'(pairs_q) <= SumDepth);
      a_end : assert (busy_q || (pairs_q == '0 && !second_q));
    end
  end
endmodule
