// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Data setup, walk: the loops of a matmul descriptor. Throughput: one vector per cycle. Latency: the sums of a vector's
// segments follow two cycles later (with step_i high). Running sums replace multiplications. Addresses wrap modulo
// 2^36; a coordinate beyond any line saturates.
// Docs: docs/mxu.md, docs/isa.md. Test: tests/rtl/mxu.

module systole_sds_walk
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano)
) (
    input  logic               clk_i,
    input  logic               rst_ni,

    // A prepared descriptor (systole_sds_prepare).
    input  logic               ready_i,
    output logic               take_o,
    // verilator lint_off UNUSEDSIGNAL
    input  matmul_desc_t       desc_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [24:0]        y_step_i,
    input  logic [25:0]        p_step_i,
    input  logic signed [28:0] base_i [Cfg.Segments],
    input  pos_t               start_i [Cfg.Segments],
    input  pos_t               stop_i [Cfg.Segments],

    // Vectors.
    input  logic               step_i,     // advance
    output logic               busy_o,     // vectors are left
    output logic               valid_o,
    output logic               first_o,    // first vector of its descriptor
    output vector_t            vector_o,
    output logic [19:0]        line_bytes_o,
    output sums_t              sums_o [Cfg.Segments]
);
  localparam logic        Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned S = Cfg.Segments;
  typedef logic [22:0] coord_t;  // the top bit: beyond any line

  // Loops: steps left, and the sums at the start of each loop's body.
  // verilator lint_off UNUSEDSIGNAL
  matmul_desc_t d_q;
  // verilator lint_on UNUSEDSIGNAL
  logic               active_q, first_q, first_pass_q;
  logic [13:0]        x_q, y_q;
  logic [9:0]         i_q;
  logic [11:0]        p0_q;
  logic [5:0]         p1_q;
  address_t           ax_q, ay_q, ai_q, a0_q, a1_q;  // at the start of a vector, line, image, inner pass, outer pass
  coord_t             bx_q, b0_q;                    // x*sx + p0*t0_dx; p0*t0_dx
  logic [19:0]        ly_q, l1_q;                    // y*sy + p1*t1_dy; p1*t1_dy
  logic [24:0]        y_step_q;
  logic [25:0]        p_step_q;
  logic signed [28:0] base_q [S];
  pos_t               start_q [S], stop_q [S];
  logic [AccAddrBits-1:0] row_q;
  logic               take_q;  // the current pass takes a tile and has not begun (with transpose: has not ended)

  // Last step of each loop; loops of one step.
  logic x_last, y_last, i_last, p0_last, p1_last, x_one, y_one, i_one, p0_one;
  logic pass_last, desc_last, transpose, next_line, next_image, next_pass, next_outer;

  assign pass_last  = x_last && y_last && i_last;
  assign desc_last  = pass_last && p0_last && p1_last;
  assign next_line  = x_last && !y_last;
  assign next_image = x_last && y_last && !i_last;
  assign next_pass  = pass_last && !p0_last;
  assign next_outer = pass_last && p0_last;
  assign transpose  = Bf16 && d_q.flags[FlagMatmulTranspose];
  assign take_o     = ready_i && (!active_q || (step_i && desc_last));
  assign busy_o     = active_q || valid_o;

  // Sums of the loop that steps.
  address_t    a_sum;
  coord_t      b_sum;
  logic [19:0] l_sum;
  always_comb begin
    a_sum = (next_outer ? a1_q : next_pass ? a0_q : next_image ? ai_q : next_line ? ay_q : ax_q)
            + (next_outer ? AddrBits'(p_step_q) : next_pass ? AddrBits'(d_q.t0_dx) : next_image ? AddrBits'(d_q.img_pitch)
               : next_line ? AddrBits'(y_step_q) : AddrBits'(d_q.sx));
    b_sum = next_pass ? b0_q + coord_t'(d_q.t0_dx) : bx_q[22] ? bx_q : bx_q + coord_t'(d_q.sx);
    l_sum = next_outer ? l1_q + 20'(d_q.t1_dy) : ly_q + 20'(d_q.sy);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      take_q   <= 1'b0;
    end else if (take_o) begin
      active_q <= 1'b1;
      take_q   <= !desc_i.flags[FlagMatmulKeepWeights];
    end else if (step_i && active_q) begin
      take_q <= transpose ? take_q && !pass_last : pass_last;
      if (desc_last) active_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_o) begin
      d_q          <= desc_i;
      first_q      <= 1'b1;
      first_pass_q <= 1'b1;
      x_q          <= desc_i.nx - 1'b1;
      y_q          <= desc_i.ny - 1'b1;
      i_q          <= desc_i.n - 1'b1;
      p0_q         <= desc_i.t0 - 1'b1;
      p1_q         <= desc_i.t1 - 1'b1;
      x_last       <= desc_i.nx == 14'd1;
      y_last       <= desc_i.ny == 14'd1;
      i_last       <= desc_i.n == 10'd1;
      p0_last      <= desc_i.t0 == 12'd1;
      p1_last      <= desc_i.t1 == 6'd1;
      x_one        <= desc_i.nx == 14'd1;
      y_one        <= desc_i.ny == 14'd1;
      i_one        <= desc_i.n == 10'd1;
      p0_one       <= desc_i.t0 == 12'd1;
      ax_q         <= AddrBits'(desc_i.ub_base);
      ay_q         <= AddrBits'(desc_i.ub_base);
      ai_q         <= AddrBits'(desc_i.ub_base);
      a0_q         <= AddrBits'(desc_i.ub_base);
      a1_q         <= AddrBits'(desc_i.ub_base);
      bx_q         <= '0;
      b0_q         <= '0;
      ly_q         <= '0;
      l1_q         <= '0;
      row_q        <= desc_i.acc;
      y_step_q     <= y_step_i;
      p_step_q     <= p_step_i;
    end else if (step_i && active_q) begin
      first_q <= 1'b0;
      x_q     <= (x_last ? d_q.nx : x_q) - 1'b1;
      x_last  <= x_last ? x_one : x_q == 14'd1;
      ax_q    <= a_sum;
      bx_q    <= next_outer ? '0 : x_last && !next_pass ? b0_q : b_sum;
      if (!transpose) row_q <= pass_last ? d_q.acc : row_q + 1'b1;
      else if (pass_last) row_q <= row_q + AccAddrBits'(Cfg.Rows);
      if (x_last) begin
        y_q    <= (y_last ? d_q.ny : y_q) - 1'b1;
        y_last <= y_last ? y_one : y_q == 14'd1;
        ay_q <= a_sum;
        ly_q <= next_line || next_outer ? l_sum : l1_q;
        if (y_last) begin
          i_q    <= (i_last ? d_q.n : i_q) - 1'b1;
          i_last <= i_last ? i_one : i_q == 10'd1;
          ai_q <= a_sum;
          if (i_last) begin
            first_pass_q <= 1'b0;
            p0_q         <= (p0_last ? d_q.t0 : p0_q) - 1'b1;
            p0_last      <= p0_last ? p0_one : p0_q == 12'd1;
            a0_q         <= a_sum;
            b0_q         <= p0_last ? '0 : b_sum;
            if (p0_last) begin
              p1_q    <= p1_q - 1'b1;
              p1_last <= p1_q == 6'd1;
              a1_q <= a_sum;
              l1_q <= l_sum;
            end
          end
        end
      end
    end
  end

  // Per segment: address, coordinate, line.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (step_i) valid_o <= active_q;
  end
  always_ff @(posedge clk_i) begin
    if (step_i && active_q) begin
      first_o      <= first_q;
      line_bytes_o <= d_q.line_bytes;
      vector_o     <= '{take: take_q, accumulate: d_q.flags[FlagMatmulAccumulate] || (!transpose && !first_pass_q),
                        transpose: transpose, pass_last: pass_last, done: desc_last, row: row_q, pad: d_q.pad,
                        total: stop_q[S-1]};
    end
  end

  for (genvar s = 0; s < S; s++) begin : gen_segment
    logic signed [20:0] line;
    assign line = $signed({1'b0, ly_q}) + 21'($signed(d_q.seg_dy[s]));
    always_ff @(posedge clk_i) begin
      if (take_o) begin
        base_q[s]  <= base_i[s];
        start_q[s] <= start_i[s];
        stop_q[s]  <= stop_i[s];
      end
      if (step_i && active_q) begin
        sums_o[s] <= '{addr: ax_q + AddrBits'(base_q[s]), first: $signed({1'b0, bx_q}) + 24'($signed(d_q.seg_dx[s])),
                       present: start_q[s] != stop_q[s] && line >= 0 && line < $signed(21'({1'b0, d_q.lines})),
                       start: start_q[s], stop: stop_q[s]};
      end
    end
  end
endmodule
