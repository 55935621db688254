// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checks a descriptor and makes its job. The verdict is the first fault in the order illegal, misaligned, accumulator range,
// parameter block range. ready_o rises a few cycles after new_i, because one multiplier computes all products in turn.
// Docs: docs/vector.md, docs/isa.md. Test: tests/rtl/vector/.

module systole_vector_check
  import systole_isa_pkg::*;
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano)
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       new_i,           // first cycle of desc_i
    input  desc_t      desc_i,          // holds until the next new_i
    input  kind_e      kind_i,          // decoded from its opcode
    input  logic       bank_i,

    output logic       block_o,         // combinational: the descriptor has a readable parameter block or table
    output ub_addr_t   block_addr_o,    // its address
    output logic       ready_o,         // the following outputs are valid
    output logic       legal_o,         // no fault
    output fault_e     verdict_o,
    output walk_addr_t verdict_addr_o,
    output job_t       job_o,
    output scalars_t   scalars_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ColBits = $clog2(Cols);
  localparam int unsigned WordBits = $clog2(Cfg.Rows);
  localparam int unsigned HalfRows = Cfg.AccRows / 2;
  localparam int unsigned HalfBits = $clog2(HalfRows) + 1;  // counts up to HalfRows
  localparam int unsigned ParamBytes = ParamWords * Cfg.Rows;

  // verilator lint_off UNUSEDSIGNAL
  requant_desc_t rq;  // the header's other fields are unused: the queue evaluates them
  pool_desc_t    po;
  add_desc_t     ad;
  mul_desc_t     mu;
  table_desc_t   tb;
  // verilator lint_on UNUSEDSIGNAL
  logic          is_requant, is_pool, is_add, is_mul, is_table, raw, residual, sum;

  assign rq         = desc_i;
  assign po         = desc_i;
  assign ad         = desc_i;
  assign mu         = desc_i;
  assign tb         = desc_i;
  assign is_requant = kind_i == KindRequant;
  assign is_pool    = kind_i == KindPool;
  assign is_add     = kind_i == KindAdd;
  assign is_mul     = kind_i == KindMul;
  assign is_table   = kind_i == KindTable;
  assign raw        = rq.flags[FlagRequantRaw];
  assign residual   = is_requant && rq.flags[FlagRequantResidual];
  assign sum        = po.flags[FlagPoolSum];

  // Products. requant: ny * nx, then n * (ny * nx). pool: dy * pitch and sy * pitch, each with the lower half of the pitch
  // first and then the upper half; then the number of taps, kh * kw.
  localparam int unsigned FactorBits = HalfBits > 11 ? HalfBits + 1 : 12;  // signed

  logic [2:0]                     step, step_q, last_step;  // cycles since new_i
  logic                           done_q;
  logic signed [FactorBits-1:0]   a, b;
  logic signed [2*FactorBits-1:0] product_q;
  logic                           many_q;      // ny, nx or ny * nx exceeds the rows of an accumulator bank
  logic signed [28:0]             dy_q;        // dy * pitch + dx
  logic [24:0]                    sy_q;        // sy * pitch
  logic [13:0]                    taps_q;      // kh * kw
  logic                           outside_q;   // the rows do not all lie in one bank
  logic [HalfBits-2:0]            row_in_bank;

  assign step      = new_i ? 3'd0 : step_q;
  assign last_step = is_pool ? 3'd6 : 3'd3;

  always_comb begin
    a = signed'(FactorBits'(rq.ny[HalfBits-1:0]));
    b = signed'(FactorBits'(rq.nx[HalfBits-1:0]));
    if (is_pool && step[2]) begin
      a = signed'(FactorBits'(po.kh));
      b = signed'(FactorBits'(po.kw));
    end else if (is_pool) begin
      a = step[1] ? signed'(FactorBits'(po.sy)) : FactorBits'(po.dy);
      b = step[0] ? signed'(FactorBits'(po.src_pitch[19:10])) : signed'(FactorBits'(po.src_pitch[9:0]));
    end else if (step[0]) begin
      a = signed'(FactorBits'(rq.n));
      b = signed'(FactorBits'(product_q[HalfBits-1:0]));
    end
  end

  always_ff @(posedge clk_i) begin
    product_q <= (2 * FactorBits)'(a) * (2 * FactorBits)'(b);
    unique case (step)
      3'd0: many_q <= rq.ny > 14'(HalfRows) || rq.nx > 14'(HalfRows);
      3'd1: begin
        if (32'(unsigned'(product_q)) > HalfRows) many_q <= 1'b1;
        dy_q <= 29'(product_q) + 29'(po.dx);
      end
      3'd2: begin
        outside_q <= 32'(rq.acc) >= Cfg.AccRows || many_q || 32'(unsigned'(product_q)) > HalfRows - 32'(row_in_bank);
        dy_q      <= dy_q + (29'(product_q) <<< 10);
      end
      3'd3: sy_q <= 25'(unsigned'(product_q));
      3'd4: sy_q <= sy_q + (25'(unsigned'(product_q)) << 10);
      3'd5: taps_q <= product_q[13:0];
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= '0;
      done_q <= 1'b0;
    end else begin
      done_q <= !new_i && (done_q || step == last_step);
      step_q <= new_i ? 3'd1 : step == '0 || step == last_step ? 3'd0 : step + 1'b1;
    end
  end

  assign ready_o = done_q && !new_i;

  // Verdict.
  logic                illegal, has_block, over, misaligned;

  assign row_in_bank = rq.acc[HalfBits-2:0];
  assign has_block    = (is_requant && !raw) || is_table;
  assign block_addr_o = is_table ? tb.src : rq.params;
  assign over         = Cfg.UbBytes < ParamBytes || 32'(block_addr_o) > (is_table ? Cfg.UbBytes - TableBytes : Cfg.UbBytes - ParamBytes);
  assign misaligned   = block_addr_o[WordBits-1:0] != '0;
  assign block_o      = has_block && !misaligned && !over;

  always_comb begin
    unique case (1'b1)
      is_requant: illegal = rq.n == '0 || rq.ny == '0 || rq.nx == '0 || rq.cols == '0 || 32'(rq.cols) > Cols ||
                            32'(raw) + 32'(residual) + 32'(rq.flags[FlagRequantTable]) > 1 || (residual && Cfg.Residual == 0);
      is_pool: illegal = po.n == '0 || po.ny == '0 || po.nx == '0 || po.cols == '0 || 32'(po.cols) > Cols ||
                         taps_q == '0 || (sum ? po.flags[FlagPoolAverage] : taps_q > 14'd256);
      is_add: illegal = ad.ny == '0 || ad.line_bytes == '0;
      is_mul: illegal = mu.n == '0 || mu.ny == '0 || mu.nx == '0 || mu.cols == '0 || 32'(mu.cols) > Cols;
      is_table: illegal = 1'b0;
      default: illegal = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    legal_o        <= 1'b0;
    verdict_o      <= FaultNone;
    verdict_addr_o <= '0;
    if (illegal) begin
      verdict_o <= FaultIllegalDescriptor;
    end else if (has_block && misaligned) begin
      verdict_o      <= FaultMisaligned;
      verdict_addr_o <= WalkBits'(block_addr_o);
    end else if (is_requant && outside_q) begin
      verdict_o      <= FaultAccRange;
      verdict_addr_o <= WalkBits'(rq.acc);
    end else if (has_block && over) begin
      // The address of the first byte of the block that is outside the buffer.
      verdict_o      <= FaultUbRange;
      verdict_addr_o <= 32'(block_addr_o) > Cfg.UbBytes ? WalkBits'(block_addr_o) : WalkBits'(Cfg.UbBytes);
    end else begin
      legal_o <= 1'b1;
    end
  end

  // The job.
  logic [10:0] raw_bytes;

  assign raw_bytes = {rq.cols, 2'b00};

  always_comb begin
    job_o           = '0;
    job_o.bank      = bank_i;
    job_o.requant   = is_requant;
    job_o.raw       = is_requant && raw;
    job_o.pool      = is_pool;
    job_o.add       = is_add;
    job_o.mul       = is_mul;
    job_o.residual  = residual;
    job_o.lookup    = !is_table && rq.flags[FlagRequantTable];  // the same bit in requant, pool, add and mul
    job_o.tap_zero  = is_pool && sum ? 9'(po.src_zp) + 9'd128 : 9'd0;
    job_o.average   = is_pool && po.flags[FlagPoolAverage];
    job_o.acc       = rq.acc;
    job_o.last_part = 2'((raw_bytes - 1'b1) >> ColBits);
    job_o.kh_end    = po.kh - 1'b1;
    job_o.kw_end    = po.kw - 1'b1;
    job_o.kx        = po.kx;
    job_o.pitch     = po.src_pitch;
    job_o.lines     = po.lines;

    if (is_add) begin
      job_o.n_end        = '0;
      job_o.y_end        = ad.ny - 1'b1;
      job_o.x_end        = 18'((ad.line_bytes - 1'b1) >> ColBits);
      job_o.dst          = WalkBits'(ad.dst);
      job_o.dst_pitch    = WalkBits'(ad.dst_pitch);
      job_o.dst_step     = WalkBits'(Cols);
      job_o.len          = 9'(Cols);
      job_o.tail         = ad.line_bytes[ColBits-1:0] == '0 ? 9'(Cols) : 9'(ad.line_bytes[ColBits-1:0]);
      job_o.src[0]       = WalkBits'(ad.src0);
      job_o.src[1]       = WalkBits'(ad.src1);
      job_o.src_pitch[0] = WalkBits'(ad.pitch0);
      job_o.src_pitch[1] = WalkBits'(ad.pitch1);
      job_o.src_step[0]  = WalkBits'(Cols);
      job_o.src_step[1]  = WalkBits'(Cols);
    end else if (is_pool) begin
      job_o.n_end        = po.n - 1'b1;
      job_o.y_end        = po.ny - 1'b1;
      job_o.x_end        = 18'(po.nx) - 1'b1;
      job_o.dst          = WalkBits'(po.dst);
      job_o.dst_img      = WalkBits'(po.dst_img_pitch);
      job_o.dst_pitch    = WalkBits'(po.dst_pitch);
      job_o.dst_step     = WalkBits'(po.dst_sx);
      job_o.len          = po.cols;
      job_o.tail         = po.cols;
      job_o.src[0]       = WalkBits'(po.src) + WalkBits'(dy_q);
      job_o.src_img[0]   = WalkBits'(po.src_img_pitch);
      job_o.src_pitch[0] = WalkBits'(sy_q);
      job_o.src_step[0]  = WalkBits'(po.src_sx);
      job_o.src[1]       = WalkBits'(po.dy);
      job_o.src_pitch[1] = WalkBits'(po.sy);
      job_o.src[2]       = WalkBits'(po.dx);
      job_o.src_step[2]  = WalkBits'(po.src_sx);
      job_o.line_bytes   = po.line_bytes;
    end else if (is_mul) begin
      job_o.n_end        = mu.n - 1'b1;
      job_o.y_end        = mu.ny - 1'b1;
      job_o.x_end        = 18'(mu.nx) - 1'b1;
      job_o.dst          = WalkBits'(mu.dst);
      job_o.dst_img      = WalkBits'(mu.dst_img_pitch);
      job_o.dst_pitch    = WalkBits'(mu.dst_pitch);
      job_o.dst_step     = WalkBits'(mu.dst_sx);
      job_o.len          = mu.cols;
      job_o.tail         = mu.cols;
      job_o.src[0]       = WalkBits'(mu.src0);
      job_o.src[1]       = WalkBits'(mu.src1);
      job_o.src_img[0]   = WalkBits'(mu.img_pitch0);
      job_o.src_img[1]   = WalkBits'(mu.img_pitch1);
      job_o.src_pitch[0] = WalkBits'(mu.pitch0);
      job_o.src_pitch[1] = WalkBits'(mu.pitch1);
      job_o.src_step[0]  = WalkBits'(mu.sx0);
      job_o.src_step[1]  = WalkBits'(mu.sx1);
    end else begin
      job_o.n_end     = rq.n - 1'b1;
      job_o.y_end     = rq.ny - 1'b1;
      job_o.x_end     = 18'(rq.nx) - 1'b1;
      job_o.dst       = WalkBits'(rq.dst);
      job_o.dst_img   = WalkBits'(rq.dst_img_pitch);
      job_o.dst_pitch = WalkBits'(rq.dst_pitch);
      job_o.dst_step  = WalkBits'(rq.dst_sx);
      job_o.len       = rq.cols;
      job_o.tail      = rq.cols;
      if (residual) begin
        job_o.src[0]       = WalkBits'(rq.src);
        job_o.src_img[0]   = WalkBits'(rq.src_img_pitch);
        job_o.src_pitch[0] = WalkBits'(rq.src_pitch);
        job_o.src_step[0]  = WalkBits'(rq.src_sx);
      end
    end
  end

  // Constants that all lanes share.
  always_comb begin
    scalars_o = '0;
    if (is_add) begin
      scalars_o.single    = ad.flags[FlagAddSingleRound];
      scalars_o.zp        = ad.zp;
      scalars_o.zp0       = ad.zp0;
      scalars_o.zp1       = ad.zp1;
      scalars_o.mult      = ad.mult;
      scalars_o.mult0     = ad.mult0;
      scalars_o.mult1     = ad.mult1;
      scalars_o.shift     = ad.shift;
      scalars_o.shift0    = ad.shift0;
      scalars_o.shift1    = ad.shift1;
      scalars_o.clamp_min = ad.clamp_min;
      scalars_o.clamp_max = ad.clamp_max;
    end else if (is_mul) begin
      scalars_o.single    = mu.flags[FlagMulSingleRound];
      scalars_o.zp        = mu.zp;
      scalars_o.zp0       = mu.zp0;
      scalars_o.zp1       = mu.zp1;
      scalars_o.mult      = mu.mult;
      scalars_o.shift     = mu.shift;
      scalars_o.clamp_min = mu.clamp_min;
      scalars_o.clamp_max = mu.clamp_max;
    end else if (is_pool) begin
      scalars_o.zp        = sum ? po.zp : -8'sd128;  // the lanes hold a byte q as q + 128
      scalars_o.sum       = sum;
      scalars_o.single    = po.flags[FlagPoolSingleRound];
      scalars_o.mult      = po.mult;
      scalars_o.shift     = po.shift;
      scalars_o.average   = po.flags[FlagPoolAverage];
      scalars_o.clamp_min = po.clamp_min;
      scalars_o.clamp_max = po.clamp_max;
    end else if (raw) begin
      scalars_o.zp        = -8'sd128;
      scalars_o.clamp_min = -8'sd128;
      scalars_o.clamp_max = 8'sd127;
    end else begin
      scalars_o.single    = rq.flags[FlagRequantSingleRound];
      scalars_o.zp        = rq.zp;
      scalars_o.clamp_min = rq.clamp_min;
      scalars_o.clamp_max = rq.clamp_max;
      if (residual) begin
        scalars_o.wide       = rq.flags[FlagRequantResidualWide];
        scalars_o.sum_single = rq.flags[FlagRequantResidualSingle];
        scalars_o.zp1        = rq.src_zp;
        scalars_o.sum_zp     = rq.sum_zp;
        scalars_o.mult1      = rq.sum_mult1;
        scalars_o.shift1     = rq.sum_shift1;
        scalars_o.mult       = rq.sum_mult;
        scalars_o.shift      = rq.sum_shift;
        scalars_o.sum_min    = rq.sum_min;
        scalars_o.sum_max    = rq.sum_max;
      end
    end
  end
endmodule
