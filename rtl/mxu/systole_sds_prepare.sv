// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Data setup, preparation: computes the products that the walk needs and checks the descriptor, while the descriptor
// waits for its start. Products use shift-and-add instead of multipliers. Latency: one cycle per significant bit of the
// factors plus about 5 cycles, 8 to 16 cycles for most descriptors.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_sds_prepare
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_mxu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetNano)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,

    input  logic                     peek_i,    // desc_i is the next descriptor to start, and is stable until it has started
    // verilator lint_off UNUSEDSIGNAL
    input  matmul_desc_t             desc_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                     ready_o,   // the descriptor is prepared
    input  logic                     take_i,    // the walk takes the descriptor
    input  logic                     start_i,   // the descriptor starts; a bad one starts without the walk

    output logic                     bad_o,     // the descriptor faults with code_o and addr_o
    output fault_e                   code_o,
    output logic [AddrBits-1:0]      addr_o,
    output logic [AccAddrBits:0]     rows_o,    // accumulator rows, counted from acc
    output logic [24:0]              y_step_o,  // sy * pitch
    output logic [25:0]              p_step_o,  // t1_dy * pitch
    output logic signed [28:0]       base_o [Cfg.Segments],  // address of array row 0 of each segment, without ub_base
    output pos_t                     start_o [Cfg.Segments],
    output pos_t                     stop_o [Cfg.Segments]
);
  localparam logic        Bf16 = Cfg.Cell == CellBf16;
  localparam int unsigned S = Cfg.Segments;
  localparam int unsigned Rows = Cfg.Rows;
  localparam int unsigned Shift = $clog2(element_bytes(Cfg));
  localparam int unsigned RowBits = $clog2(Rows);
  localparam int unsigned BankRows = Cfg.AccRows / 2;
  typedef logic [AccAddrBits:0] count_t;  // number of vectors or rows; the top bit: saturated, more than any bank has
  typedef enum logic [2:0] {Idle, Vectors, Images, Passes, Check, Ready, Taken} state_e;

  // Shift-and-add: twice a, and a plus b. Both saturate.
  function automatic count_t twice(count_t a);
    return {a[AccAddrBits] | a[AccAddrBits-1], a[AccAddrBits-2:0], 1'b0};
  endfunction
  function automatic count_t plus(count_t a, count_t b);
    count_t sum;
    sum = {1'b0, a[AccAddrBits-1:0]} + {1'b0, b[AccAddrBits-1:0]};
    return {sum[AccAddrBits] | a[AccAddrBits] | b[AccAddrBits], sum[AccAddrBits-1:0]};
  endfunction

  state_e             state_q;
  logic [27:0]        pitch_q;                // pitch, shifted left
  logic signed [7:0]  dy_q [S];               // factors, shifted right
  logic [4:0]         sy_q;
  logic [5:0]         t1_dy_q;
  count_t             count_q, unit_q;        // running product; its shifted factor
  logic [13:0]        left_q;                 // the other factor, shifted right
  logic               load, multiplied, counted, transpose, bad_q;
  logic [S-1:0]       dy_left;

  assign transpose  = Bf16 && desc_i.flags[FlagMatmulTranspose];
  assign load       = state_q == Idle && peek_i;
  assign multiplied = dy_left == '0 && sy_q == '0 && t1_dy_q == '0;
  assign counted    = left_q == '0;
  assign ready_o    = state_q == Ready;
  assign rows_o     = count_q;
  assign bad_o      = bad_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:    if (peek_i) state_q <= Vectors;
        Vectors: if (counted) state_q <= Images;
        Images:  if (counted) state_q <= transpose ? Passes : Check;
        Passes:  if (counted) state_q <= Check;
        Check:   if (multiplied) state_q <= Ready;
        Ready:   if (start_i) state_q <= Idle;
                 else if (take_i) state_q <= Taken;
        default: if (start_i) state_q <= Idle;
      endcase
    end
  end

  // Row count: ny * nx, then times n. For transposed blocks: t0 * Rows, then times t1.
  logic many_q;  // more vectors than a transposed block holds
  always_ff @(posedge clk_i) begin
    if (load) begin
      count_q <= '0;
      unit_q  <= desc_i.ny;
      left_q  <= desc_i.nx;
    end else if (!counted) begin
      if (left_q[0]) count_q <= plus(count_q, unit_q);
      unit_q <= twice(unit_q);
      left_q <= left_q >> 1;
    end else if (state_q == Vectors) begin
      count_q <= '0;
      unit_q  <= count_q;
      left_q  <= 14'(desc_i.n);
    end else if (state_q == Images && transpose) begin
      many_q  <= 32'(count_q) > Rows;
      count_q <= '0;
      unit_q  <= {(desc_i.t0 >> (AccAddrBits - RowBits)) != '0, AccAddrBits'(desc_i.t0) << RowBits};
      left_q  <= 14'(desc_i.t1);
    end
  end

  // Multiples of the pitch. A negative factor shifts down to -1; subtracting the multiple then finishes the product.
  always_ff @(posedge clk_i) begin
    if (load) begin
      pitch_q  <= 28'(desc_i.pitch);
      sy_q     <= desc_i.sy;
      t1_dy_q  <= desc_i.t1_dy;
      y_step_o <= '0;
      p_step_o <= '0;
    end else begin
      pitch_q <= pitch_q << 1;
      sy_q    <= sy_q >> 1;
      t1_dy_q <= t1_dy_q >> 1;
      if (sy_q[0]) y_step_o <= y_step_o + pitch_q[24:0];
      if (t1_dy_q[0]) p_step_o <= p_step_o + pitch_q[25:0];
    end
  end

  for (genvar s = 0; s < S; s++) begin : gen_segment
    pos_t               n_start, n_stop;
    logic signed [28:0] multiple;
    if (s == 0) begin : gen_first
      assign n_start = '0;
    end else begin : gen_next
      assign n_start = gen_segment[s-1].n_stop;
    end
    assign n_stop     = pos_t'((RowBits + 1)'(n_start + pos_t'(desc_i.seg_len[s])));
    assign multiple   = $signed({1'b0, pitch_q});
    assign dy_left[s] = dy_q[s] != '0;
    always_ff @(posedge clk_i) begin
      if (load) begin
        start_o[s] <= n_start;
        stop_o[s]  <= n_stop;
        dy_q[s]    <= $signed(desc_i.seg_dy[s]);
        base_o[s]  <= 29'($signed(desc_i.seg_dx[s])) - $signed(29'(n_start) << Shift);
      end else begin
        dy_q[s] <= dy_q[s] == -8'sd1 ? 8'sd0 : dy_q[s] >>> 1;
        if (dy_q[s][0]) base_o[s] <= dy_q[s] == -8'sd1 ? base_o[s] - multiple : base_o[s] + multiple;
      end
    end
  end

  // Checks.
  logic [11:0]         seg_sum;
  logic                seg_beyond;  // the descriptor uses a segment that this core does not have
  logic                illegal, misaligned, rows_bad;
  logic                illegal_q, misaligned_q;
  logic [AddrBits-1:0] odd;  // the first value that is not a multiple of the element size

  assign seg_sum = 12'(desc_i.seg_len[0]) + 12'(desc_i.seg_len[1]) + 12'(desc_i.seg_len[2]) + 12'(desc_i.seg_len[3]);
  always_comb begin
    seg_beyond = 1'b0;
    for (int unsigned s = S; s < 4; s++) seg_beyond |= desc_i.seg_len[s] != '0;
  end
  assign illegal = desc_i.n == '0 || desc_i.ny == '0 || desc_i.nx == '0 || desc_i.t0 == '0 || desc_i.t1 == '0
                   || desc_i.lines == '0 || desc_i.line_bytes == '0 || seg_sum == '0 || 32'(seg_sum) > Rows
                   || seg_beyond || (Bf16 && desc_i.pad != '0);

  if (Bf16) begin : gen_alignment
    always_comb begin
      odd = '0;
      for (int unsigned s = S; s > 0; s--) if (desc_i.seg_dx[s-1][0]) odd = AddrBits'($signed(desc_i.seg_dx[s-1]));
      if (desc_i.t0_dx[0]) odd = AddrBits'(desc_i.t0_dx);
      if (desc_i.sx[0]) odd = AddrBits'(desc_i.sx);
      if (desc_i.line_bytes[0]) odd = AddrBits'(desc_i.line_bytes);
      if (desc_i.img_pitch[0]) odd = AddrBits'(desc_i.img_pitch);
      if (desc_i.pitch[0]) odd = AddrBits'(desc_i.pitch);
      if (desc_i.ub_base[0]) odd = AddrBits'(desc_i.ub_base);
    end
    assign misaligned = odd[0];
  end else begin : gen_bytes_only
    assign odd        = '0;
    assign misaligned = 1'b0;
  end
  // All rows must be in one bank.
  assign rows_bad = 32'(desc_i.acc) + 32'(count_q) > (32'(desc_i.acc) < BankRows ? BankRows : Cfg.AccRows);

  always_ff @(posedge clk_i) begin
    if (state_q == Vectors) begin
      illegal_q    <= illegal;
      misaligned_q <= misaligned;
    end
    if (state_q == Check) begin
      bad_q  <= illegal_q || (transpose && many_q) || misaligned_q || rows_bad;
      code_o <= illegal_q || (transpose && many_q) ? FaultIllegalDescriptor : misaligned_q ? FaultMisaligned : FaultAccRange;
      addr_o <= illegal_q || (transpose && many_q) ? '0 : misaligned_q ? odd : AddrBits'(desc_i.acc);
    end
  end

  // Checks: the descriptor stays until it starts, and starts only when it is prepared.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_peek : assert (state_q == Idle || peek_i);
      a_start : assert (!start_i || state_q inside {Ready, Taken});
    end
  end
endmodule
