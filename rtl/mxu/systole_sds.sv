// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Systolic data setup: walks a matmul descriptor and reads, for each vector, one window a segment from the unified buffer; the
// windows' elements come out merged and padded. One vector a cycle, no bubble between passes or descriptors while windows are
// granted and the vector may go; it leaves three cycles after its last grant.
// Docs: docs/mxu.md, docs/isa.md. Test: tests/rtl/mxu.

module systole_sds
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano),
    localparam int unsigned S = Cfg.Segments,
    localparam int unsigned W = word_bytes(Cfg),                   // bytes of a window
    localparam int unsigned ElementBits = 8 * element_bytes(Cfg)
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         freeze_i,

    // Descriptors (docs/design.md).
    input  logic                         start_valid_i,
    output logic                         start_ready_o,
    input  desc_t                        start_desc_i,
    output logic                         fault_valid_o,
    output fault_e                       fault_code_o,
    output logic [AddrBits-1:0]          fault_addr_o,
    output logic [AccAddrBits:0]         start_rows_o,   // accumulator rows of start_desc_i, from its acc on

    // Windows of the unified buffer.
    output logic [S-1:0]                 win_valid_o,
    output logic [S-1:0][UbAddrBits-1:0] win_addr_o,
    output logic [S-1:0][1:0]            win_need_o,
    input  logic [S-1:0]                 win_ready_i,
    input  logic [S-1:0]                 win_rsp_valid_i,
    input  logic [S-1:0][W*8-1:0]        win_data_i,

    // The vector at the head of the walk. With transpose, row and take are those of its pass's block.
    output logic                         head_valid_o,
    output logic                         head_take_o,        // first of a pass that takes a tile
    output logic                         head_accumulate_o,
    output logic                         head_transpose_o,
    output logic                         head_pass_last_o,
    output logic                         head_done_o,        // last of its descriptor
    output logic [AccAddrBits-1:0]       head_row_o,
    input  logic                         go_i,               // it may go; stays high until it goes
    output logic                         step_o,             // it goes: all its windows are granted

    // Three cycles after the step.
    output logic                         vec_valid_o,
    output logic [ElementBits-1:0]       vec_o [Cfg.Rows],

    output logic                         stall_ub_o          // a vector waits for a window
);
  localparam logic        Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Shift = $clog2(element_bytes(Cfg));
  localparam int unsigned OffBits = $clog2(W);
  localparam int unsigned BankRows = Cfg.AccRows / 2;
  typedef logic signed [41:0] addr_t;   // unified buffer address; wide enough that no legal field can wrap it
  typedef logic signed [33:0] coord_t;  // byte coordinate in a line, likewise
  typedef logic signed [20:0] line_t;
  typedef logic [9:0]         pos_t;    // array row, 0..Rows

  // Walk of the current descriptor. Sums of the loops are kept, so that no step multiplies.
  // verilator lint_off UNUSEDSIGNAL
  matmul_desc_t d_q;
  // verilator lint_on UNUSEDSIGNAL
  logic         active_q;
  logic [13:0]  x_q, y_q;
  logic [9:0]   i_q;
  logic [11:0]  p0_q;
  logic [5:0]   p1_q;
  coord_t       bx_q, bp_q;           // x*sx, p0*t0_dx
  line_t        ly_q, lp_q;           // y*sy, p1*t1_dy
  addr_t        ay_q, ai_q, ap_q;     // y*sy*pitch, i*img_pitch, p1*t1_dy*pitch
  addr_t        y_step_q, p_step_q;   // sy*pitch, t1_dy*pitch
  addr_t        seg_base_q [S];       // ub_base + seg_dy*pitch + seg_dx
  pos_t         seg_start_q [S], seg_end_q [S];
  logic [AccAddrBits-1:0] row_q;
  logic         take_q;               // the current pass takes a tile and has not begun (transpose: is not over)

  logic x_last, y_last, i_last, p0_last, p1_last, pass_last, desc_last;
  logic step, transpose;

  assign x_last    = x_q == d_q.nx - 14'd1;
  assign y_last    = y_q == d_q.ny - 14'd1;
  assign i_last    = i_q == d_q.n - 10'd1;
  assign p0_last   = p0_q == d_q.t0 - 12'd1;
  assign p1_last   = p1_q == d_q.t1 - 6'd1;
  assign pass_last = x_last && y_last && i_last;
  assign desc_last = pass_last && p0_last && p1_last;
  assign transpose = Bf16 && d_q.flags[FlagMatmulTranspose];

  // Checks when a descriptor starts.
  matmul_desc_t n;
  logic [11:0]  n_seg_sum;
  logic [38:0]  n_vectors, n_rows;    // of a pass, of the accumulators
  logic         n_transpose, n_illegal, n_misaligned, n_acc_bad, start, fault_ub;
  logic [AddrBits-1:0] n_odd;         // the first value that is not a multiple of the element
  logic [AddrBits-1:0] fault_ub_addr;

  assign n         = start_desc_i;
  assign n_seg_sum = 12'(n.seg_len[0]) + 12'(n.seg_len[1]) + 12'(n.seg_len[2]) + 12'(n.seg_len[3]);
  assign n_vectors   = 39'(n.n) * 39'(n.ny) * 39'(n.nx);
  assign n_transpose = Bf16 && n.flags[FlagMatmulTranspose];
  assign n_rows      = n_transpose ? 39'(n.t0) * 39'(n.t1) * 39'(Rows) : n_vectors;
  assign n_illegal   = n.n == '0 || n.ny == '0 || n.nx == '0 || n.t0 == '0 || n.t1 == '0 || n.lines == '0
                       || n.line_bytes == '0 || n_seg_sum == '0 || 32'(n_seg_sum) > Rows
                       || (Bf16 && n.pad != '0) || (n_transpose && n_vectors > 39'(Rows));
  assign start_rows_o = n_rows[AccAddrBits:0];

  if (Bf16) begin : gen_alignment
    always_comb begin
      n_odd = '0;
      for (int unsigned s = S; s > 0; s--) if (n.seg_dx[s-1][0]) n_odd = AddrBits'($signed(n.seg_dx[s-1]));
      if (n.t0_dx[0]) n_odd = AddrBits'(n.t0_dx);
      if (n.sx[0]) n_odd = AddrBits'(n.sx);
      if (n.line_bytes[0]) n_odd = AddrBits'(n.line_bytes);
      if (n.img_pitch[0]) n_odd = AddrBits'(n.img_pitch);
      if (n.pitch[0]) n_odd = AddrBits'(n.pitch);
      if (n.ub_base[0]) n_odd = AddrBits'(n.ub_base);
    end
    assign n_misaligned = n_odd[0];
  end else begin : gen_bytes_only
    assign n_odd        = '0;
    assign n_misaligned = 1'b0;
  end
  // All rows in one bank.
  assign n_acc_bad = 39'(n.acc) + n_rows > (32'(n.acc) < BankRows ? 39'(BankRows) : 39'(Cfg.AccRows));

  logic stopped_q;  // after a fault, until reset
  assign start_ready_o = (!active_q || (step && desc_last)) && !freeze_i && !stopped_q;
  assign start         = start_valid_i && start_ready_o;

  assign fault_valid_o = (start && (n_illegal || n_misaligned || n_acc_bad)) || fault_ub;
  always_comb begin
    fault_code_o = FaultUbRange;
    fault_addr_o = fault_ub_addr;
    if (!fault_ub) begin
      fault_code_o = n_illegal ? FaultIllegalDescriptor : n_misaligned ? FaultMisaligned : FaultAccRange;
      fault_addr_o = n_illegal ? '0 : n_misaligned ? n_odd : AddrBits'(n.acc);
    end
  end

  // Windows of the current vector.
  logic [S-1:0] seg_used, seg_need, seg_bad;
  pos_t         seg_lo [S], seg_hi [S];   // array rows with elements from the buffer
  addr_t        seg_addr [S];             // address of the window's byte 0 = array row 0
  logic [AddrBits-1:0] seg_first [S];     // address of the first byte read
  logic [S-1:0] granted_q, want;

  for (genvar s = 0; s < S; s++) begin : gen_segment
    coord_t b, skip, most;  // first byte's coordinate; elements before the line, elements up to its end
    line_t  l;
    addr_t  first, a0, a1;
    pos_t   len;
    always_comb begin
      l     = ly_q + lp_q + line_t'($signed(d_q.seg_dy[s]));
      b     = bx_q + bp_q + coord_t'($signed(d_q.seg_dx[s]));
      len   = seg_end_q[s] - seg_start_q[s];
      first = seg_base_q[s] + ay_q + ai_q + ap_q + addr_t'(bx_q) + addr_t'(bp_q);
      seg_used[s] = len != '0;
      // Elements of the segment whose bytes lie in 0..line_bytes-1 on a line inside the image.
      skip      = -b >>> Shift;
      most      = (coord_t'({1'b0, d_q.line_bytes}) - b) >>> Shift;
      seg_lo[s] = skip > 0 ? (skip >= coord_t'({1'b0, len}) ? seg_end_q[s] : seg_start_q[s] + pos_t'(skip)) : seg_start_q[s];
      seg_hi[s] = most <= 0 ? seg_start_q[s]
                  : most >= coord_t'({1'b0, len}) ? seg_end_q[s] : seg_start_q[s] + pos_t'(most);
      if (l < 0 || l >= line_t'({1'b0, d_q.lines}) || !seg_used[s]) begin
        seg_lo[s] = seg_start_q[s];
        seg_hi[s] = seg_start_q[s];
      end
      seg_need[s] = seg_hi[s] > seg_lo[s];
      seg_addr[s] = first - (addr_t'({1'b0, seg_start_q[s]}) <<< Shift);
      // First and last byte that is really read.
      a0 = seg_addr[s] + (addr_t'({1'b0, seg_lo[s]}) <<< Shift);
      a1 = seg_addr[s] + (addr_t'({1'b0, seg_hi[s]}) <<< Shift) - addr_t'(1);
      seg_first[s] = a0[AddrBits-1:0];
      seg_bad[s] = seg_need[s] && (a0 < 0 || a1 >= addr_t'(Cfg.UbBytes));
    end
    // Words of the window that hold bytes to be read.
    pos_t boundary;  // first byte of the second word
    assign boundary = pos_t'(W) - pos_t'(seg_addr[s][OffBits-1:0]);
    assign win_addr_o[s]    = seg_addr[s][UbAddrBits-1:0];
    assign win_need_o[s][0] = seg_need[s] && pos_t'(seg_lo[s] << Shift) < boundary;
    assign win_need_o[s][1] = seg_need[s] && pos_t'(seg_hi[s] << Shift) > boundary;
    assign want[s]          = seg_need[s] && !granted_q[s];
  end

  logic running;
  assign running       = active_q && !freeze_i && !stopped_q;
  assign fault_ub      = running && |seg_bad;
  always_comb begin
    fault_ub_addr = '0;
    for (int unsigned s = S; s > 0; s--) if (seg_bad[s-1]) fault_ub_addr = seg_first[s-1];  // the first in walk order
  end
  assign win_valid_o = (running && go_i && seg_bad == '0) ? want : '0;
  assign step        = running && go_i && seg_bad == '0 && (want & ~win_ready_i) == '0;
  assign step_o      = step;
  assign stall_ub_o  = active_q && !freeze_i && go_i && !step;

  assign head_valid_o      = active_q;
  assign head_take_o       = take_q;
  assign head_accumulate_o = d_q.flags[FlagMatmulAccumulate] || (!transpose && (p0_q != '0 || p1_q != '0));
  assign head_transpose_o  = transpose;
  assign head_pass_last_o  = pass_last;
  assign head_done_o       = desc_last;
  assign head_row_o        = row_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q  <= 1'b0;
      stopped_q <= 1'b0;
      granted_q <= '0;
      take_q    <= 1'b0;
    end else begin
      if (fault_valid_o) stopped_q <= 1'b1;
      if (step) granted_q <= '0;
      else granted_q <= granted_q | (win_valid_o & win_ready_i);
      if (step) take_q <= transpose ? take_q && !pass_last : pass_last;
      if (start) begin
        active_q <= !n_illegal && !n_misaligned && !n_acc_bad;
        take_q   <= !n.flags[FlagMatmulKeepWeights];
      end else if (step && desc_last) begin
        active_q <= 1'b0;
      end
    end
  end

  // Loop counters and their sums.
  always_ff @(posedge clk_i) begin
    if (start) begin
      x_q   <= '0;
      y_q   <= '0;
      i_q   <= '0;
      p0_q  <= '0;
      p1_q  <= '0;
      bx_q  <= '0;
      bp_q  <= '0;
      ly_q  <= '0;
      lp_q  <= '0;
      ay_q  <= '0;
      ai_q  <= '0;
      ap_q  <= '0;
      row_q <= n.acc;
      d_q   <= n;
      y_step_q <= addr_t'({1'b0, n.pitch}) * addr_t'({1'b0, n.sy});
      p_step_q <= addr_t'({1'b0, n.pitch}) * addr_t'({1'b0, n.t1_dy});
    end else if (step) begin
      if (!transpose) row_q <= pass_last ? d_q.acc : row_q + 1'b1;
      else if (pass_last) row_q <= row_q + AccAddrBits'(Rows);
      x_q   <= x_last ? '0 : x_q + 1'b1;
      bx_q  <= x_last ? '0 : bx_q + coord_t'({1'b0, d_q.sx});
      if (x_last) begin
        y_q  <= y_last ? '0 : y_q + 1'b1;
        ly_q <= y_last ? '0 : ly_q + line_t'({1'b0, d_q.sy});
        ay_q <= y_last ? '0 : ay_q + y_step_q;
        if (y_last) begin
          i_q  <= i_last ? '0 : i_q + 1'b1;
          ai_q <= i_last ? '0 : ai_q + addr_t'({1'b0, d_q.img_pitch});
          if (i_last) begin
            p0_q <= p0_last ? '0 : p0_q + 1'b1;
            bp_q <= p0_last ? '0 : bp_q + coord_t'({1'b0, d_q.t0_dx});
            if (p0_last) begin
              p1_q <= p1_q + 1'b1;
              lp_q <= lp_q + line_t'({1'b0, d_q.t1_dy});
              ap_q <= ap_q + p_step_q;
            end
          end
        end
      end
    end
  end

  for (genvar s = 0; s < S; s++) begin : gen_segment_setup
    pos_t n_start;
    if (s == 0) begin : gen_first
      assign n_start = '0;
    end else begin : gen_next
      assign n_start = gen_segment_setup[s-1].n_start + pos_t'(n.seg_len[s-1]);
    end
    always_ff @(posedge clk_i) begin
      if (start) begin
        seg_base_q[s]  <= addr_t'({1'b0, n.ub_base})
                          + addr_t'($signed({1'b0, n.pitch})) * addr_t'($signed(n.seg_dy[s]))
                          + addr_t'($signed(n.seg_dx[s]));
        seg_start_q[s] <= n_start;
        seg_end_q[s]   <= n_start + pos_t'(n.seg_len[s]);
      end
    end
  end

  // Two cycles beside the buffer's answer, then the merge.
  typedef struct packed {
    logic       first;  // first grants of the vector: rows get their padding
    logic       last;   // complete with these grants
    logic [7:0] pad;
  } beat_t;
  beat_t        b0, b1_q, b2_q;
  logic         b1_valid_q, b2_valid_q;
  logic [S-1:0] got, got1_q, got2_q;
  pos_t         lo1_q [S], hi1_q [S], lo2_q [S], hi2_q [S], total1_q, total2_q;

  assign got = win_valid_o & win_ready_i;
  assign b0  = '{first: granted_q == '0, last: step, pad: d_q.pad};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b1_valid_q  <= 1'b0;
      b2_valid_q  <= 1'b0;
      vec_valid_o <= 1'b0;
    end else begin
      b1_valid_q  <= step || got != '0;
      b2_valid_q  <= b1_valid_q;
      vec_valid_o <= b2_valid_q && b2_q.last;
    end
  end

  for (genvar s = 0; s < S; s++) begin : gen_delay
    always_ff @(posedge clk_i) begin
      if (step || got != '0) begin
        lo1_q[s] <= seg_lo[s];
        hi1_q[s] <= seg_hi[s];
      end
      if (b1_valid_q) begin
        lo2_q[s] <= lo1_q[s];
        hi2_q[s] <= hi1_q[s];
      end
    end
  end

  // verilator lint_off BLKSEQ
  logic [ElementBits-1:0] data [S][Rows];
  for (genvar s = 0; s < S; s++) begin : gen_elements
    for (genvar i = 0; i < Rows; i++) begin : gen_element
      assign data[s][i] = win_data_i[s][i*ElementBits+:ElementBits];
    end
  end

  always_ff @(posedge clk_i) begin
    if (step || got != '0) begin
      b1_q     <= b0;
      got1_q   <= got;
      total1_q <= seg_end_q[S-1];
    end
    if (b1_valid_q) begin
      b2_q     <= b1_q;
      got2_q   <= got1_q;
      total2_q <= total1_q;
    end
    if (b2_valid_q) begin
      // Padding first, zero beyond the segments; then the elements that came with these grants.
      if (b2_q.first) begin
        for (int unsigned i = 0; i < Rows; i++) vec_o[i] = i < 32'(total2_q) ? ElementBits'(b2_q.pad) : '0;
      end
      for (int unsigned s = 0; s < S; s++) begin
        if (got2_q[s]) begin
          for (int unsigned i = 0; i < Rows; i++) begin
            vec_o[i] = (i >= 32'(lo2_q[s]) && i < 32'(hi2_q[s])) ? data[s][i] : vec_o[i];
          end
        end
      end
    end
  end
  // verilator lint_on BLKSEQ

  // Answers come when expected; a request once made holds until it is granted.
  logic [S-1:0] hold_q;
  always_ff @(posedge clk_i) begin
    hold_q <= rst_ni ? win_valid_o & ~win_ready_i : '0;
    if (rst_ni) begin
      a_answer : assert (win_rsp_valid_i == (b2_valid_q ? got2_q : '0));
      a_hold : assert (freeze_i || fault_valid_o || stopped_q || (hold_q & ~win_valid_o) == '0);
    end
  end
endmodule
