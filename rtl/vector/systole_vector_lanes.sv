// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Cols lanes: select and add, shift left, multiply, round and shift, rounding shift right, zero point and clamp; seven
// stages that never stall, one micro-op a cycle, one 32 x 32 multiplier a lane. Also the channel parameters (two banks), the pool
// registers and the memory of sums of additions. Docs: docs/vector.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector_lanes
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,

    // Word param_word_i of the parameter block is in ub_data_i.
    input  logic                  param_valid_i,
    input  logic                  param_bank_i,
    input  logic [3:0]            param_word_i,
    input  scalars_t              scalars_i [2],  // by bank

    // Micro-op with its data.
    input  logic                  valid_i,
    input  uop_t                  uop_i,
    input  logic [24:0]           recip_i,        // of uop_i.taps
    input  logic signed [31:0]    acc_data_i [Cfg.Cols],
    input  logic [Cfg.Cols*8-1:0] ub_data_i,

    output logic                  sum_valid_o,    // pulse: one more sum in the sum memory
    output logic                  out_valid_o,
    output dest_t                 out_dest_o,
    output logic                  out_bank_o,
    output logic [Cfg.Cols*8-1:0] out_data_o,
    output logic                  saturated_o     // pulse: a bias addition saturated in a channel that is written
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Quarter = Cols / 4;
  localparam int unsigned SumPtrBits = $clog2(SumDepth);
  localparam logic signed [31:0] Max = 32'sh7fff_ffff;
  localparam logic signed [31:0] Min = 32'sh8000_0000;

  // Control of the stages: *N_q is beside the data that stage N wrote.
  logic                  valid_q [1:7];
  uop_t                  uop_q [1:7];
  round_e                round_q [1:6];
  logic                  go1;           // the micro-op goes on beyond stage 1
  round_e                round_d;
  logic [SumPtrBits-1:0] sum_rd_q, sum_wr_q;
  // verilator lint_off UNUSEDSIGNAL
  scalars_t              sc_in, sc_end;  // each end uses its fields
  // verilator lint_on UNUSEDSIGNAL

  // Data of the stages. Private to the one process below, which assigns them at once, last stage first: each stage
  // reads what the stage before it wrote one cycle ago. Written so because simulators turn these loops into vector code.
  logic signed [31:0] bias_q [2][Cols];
  logic signed [31:0] mult_q [2][Cols];
  logic signed [7:0]  shift_q [2][Cols];
  logic signed [7:0]  byte_v [Cols];    // ub_data_i as bytes
  logic signed [15:0] pool_q [Cols];    // |sum| of a window <= 256 * 128
  logic signed [31:0] x1_q [Cols], x2_q [Cols], m1_q [Cols], m2_q [Cols];
  logic signed [63:0] p3_q [Cols], p4_q [Cols];
  logic signed [31:0] q5_q [Cols], r6_q [Cols];
  logic signed [7:0]  s1_q [Cols], s2_q [Cols], s3_q [Cols], s4_q [Cols], s5_q [Cols];
  logic signed [31:0] first_q [Cols];   // first operand of an addition, rescaled
  logic signed [7:0]  y7_v [Cols];
  logic [Cols*8-1:0]  out_v;
  logic [Cols*32-1:0] sum_v;

  (* ram_style = "auto" *) logic [Cols*32-1:0] sum_mem_q [SumDepth];  // one write and one read port

  // Uniform multiplier and shift of the micro-op that enters.
  logic signed [31:0] mult_u;
  logic signed [7:0]  shift_u;

  assign sc_in  = scalars_i[uop_i.bank];
  assign sc_end = scalars_i[uop_q[6].bank];

  always_comb begin
    go1     = valid_i && (uop_i.src != SrcTap || uop_i.out);
    round_d = sc_in.single ? RoundSingle : RoundDouble;
    mult_u  = 32'(recip_i);
    shift_u = '0;
    unique case (uop_i.src)
      SrcAdd0: begin
        mult_u  = sc_in.mult0;
        shift_u = 8'(sc_in.shift0);
      end
      SrcAdd1: begin
        mult_u  = sc_in.mult1;
        shift_u = 8'(sc_in.shift1);
      end
      SrcSum: begin
        mult_u  = sc_in.mult;
        shift_u = 8'(sc_in.shift);
      end
      SrcRaw, SrcTap: round_d = RoundTrunc;
      default: ;
    endcase
  end

  // Arithmetic of a lane.

  function automatic logic signed [31:0] add_sat(logic signed [31:0] a, logic signed [31:0] b);
    logic signed [31:0] s;
    s = a + b;
    return ((a ^ s) & (b ^ s)) < 0 ? (a < 0 ? Min : Max) : s;
  endfunction

  // Left by s, if s > 0; saturates when a bit that leaves, or the new sign, differs from the sign.
  function automatic logic signed [31:0] shift_left_sat(logic signed [31:0] x, logic signed [7:0] s);
    logic signed [31:0] sign;
    logic [4:0]         n;
    n    = s < 0 ? 5'd0 : s[4:0];
    sign = x >>> 31;
    return ((x ^ sign) & ~(32'h7fff_ffff >> n)) != 0 ? (x < 0 ? Min : Max) : x <<< n;
  endfunction

  function automatic logic signed [31:0] sat_32(logic signed [63:0] v);
    return 64'(signed'(v[31:0])) == v ? v[31:0] : v < 0 ? Min : Max;
  endfunction

  // Rounding shift right by -s, if s < 0: halves away from zero when away, else up. The bits that leave: one half, the rest.
  function automatic logic signed [31:0] shift_right_round(logic signed [31:0] x, logic signed [7:0] s, logic away);
    logic [4:0]         n;
    logic [31:0]        mask, rest;
    logic               up;
    logic signed [31:0] q;
    n    = s < 0 ? 5'(-s) : 5'd0;
    mask = ~(32'hffff_ffff << n);
    rest = mask >> 1;
    up   = (x & (mask ^ rest)) != 0 && (!away || x >= 0 || (x & rest) != 0);
    q    = x >>> n;  // alone: an unsigned term beside it would make the shift logical
    return up ? q + 32'sd1 : q;
  endfunction

  // To nine bits.
  function automatic logic signed [31:0] sat_9(logic signed [31:0] v);
    return 32'(signed'(v[8:0])) == v ? 32'(signed'(v[8:0])) : v < 0 ? -32'sd256 : 32'sd255;
  endfunction

  // The stages. Blocking assignments, see above.
  // verilator lint_off BLKSEQ

  task automatic load_bytes();
    for (int unsigned w = 0; w < Quarter; w++) begin
      logic [31:0] word;
      word          = ub_data_i[w*32+:32];
      byte_v[4*w]   = word[7:0];
      byte_v[4*w+1] = word[15:8];
      byte_v[4*w+2] = word[23:16];
      byte_v[4*w+3] = word[31:24];
    end
  endtask

  // Word of the block into the quarter of the lanes that it holds.
  task automatic load_words(logic bank, logic [1:0] quarter, logic mult);
    for (int unsigned c = 0; c < Cols; c++) begin
      if (2'(c / Quarter) == quarter) begin
        if (mult) mult_q[bank][c] = ub_data_i[(c%Quarter)*32+:32];
        else bias_q[bank][c] = ub_data_i[(c%Quarter)*32+:32];
      end
    end
  endtask

  task automatic load_shifts(logic bank);
    for (int unsigned c = 0; c < Cols; c++) shift_q[bank][c] = byte_v[c];
  endtask

  task automatic stage1_acc(logic bank);
    for (int unsigned c = 0; c < Cols; c++) begin
      x1_q[c] = add_sat(acc_data_i[c], bias_q[bank][c]);
      m1_q[c] = mult_q[bank][c];
      s1_q[c] = shift_q[bank][c];
    end
  endtask

  function automatic logic bias_saturates(logic bank, logic [8:0] len);
    logic any;
    any = 1'b0;
    for (int unsigned c = 0; c < Cols; c++) begin
      logic signed [31:0] s;
      s   = acc_data_i[c] + bias_q[bank][c];
      any = any || (((acc_data_i[c] ^ s) & (bias_q[bank][c] ^ s)) < 0 && 9'(c) < len);
    end
    return any;
  endfunction

  task automatic stage1_raw(logic [1:0] part);
    for (int unsigned w = 0; w < Quarter; w++) begin
      logic [31:0] word;
      word        = part[1] ? (part[0] ? acc_data_i[3*Quarter+w] : acc_data_i[2*Quarter+w])
                            : (part[0] ? acc_data_i[Quarter+w] : acc_data_i[w]);
      x1_q[4*w]   = 32'(signed'(word[7:0]));
      x1_q[4*w+1] = 32'(signed'(word[15:8]));
      x1_q[4*w+2] = 32'(signed'(word[23:16]));
      x1_q[4*w+3] = 32'(signed'(word[31:24]));
    end
  endtask

  task automatic stage1_max(logic first, logic hit);
    for (int unsigned c = 0; c < Cols; c++) begin
      logic signed [15:0] old, tap;
      old       = first ? -16'sd128 : pool_q[c];
      tap       = hit ? 16'(byte_v[c]) : -16'sd128;
      pool_q[c] = tap > old ? tap : old;
      x1_q[c]   = 32'(pool_q[c]);
    end
  endtask

  task automatic stage1_average(logic first, logic hit);
    for (int unsigned c = 0; c < Cols; c++) begin
      pool_q[c] = (first ? 16'sd0 : pool_q[c]) + (hit ? 16'(byte_v[c]) : 16'sd0);
      x1_q[c]   = 32'(pool_q[c]);
    end
  endtask

  task automatic stage1_operand(logic signed [7:0] zp);
    for (int unsigned c = 0; c < Cols; c++) x1_q[c] = (32'(byte_v[c]) - 32'(zp)) <<< 20;
  endtask

  task automatic stage1_sum(logic [SumPtrBits-1:0] ptr);
    for (int unsigned c = 0; c < Cols; c++) x1_q[c] = sum_mem_q[ptr][c*32+:32];
  endtask

  task automatic stage1_uniform(logic signed [31:0] mult, logic signed [7:0] shift);
    for (int unsigned c = 0; c < Cols; c++) begin
      m1_q[c] = mult;
      s1_q[c] = shift;
    end
  endtask

  task automatic stage2(round_e round, logic [7:0] half);
    for (int unsigned c = 0; c < Cols; c++) begin
      x2_q[c] = round == RoundTrunc ? x1_q[c] + (x1_q[c] < 0 ? -32'(half) : 32'(half))
                                    : shift_left_sat(x1_q[c], round == RoundDouble ? s1_q[c] : 8'sd0);
      m2_q[c] = m1_q[c];
      s2_q[c] = s1_q[c];
    end
  endtask

  task automatic stage3();
    for (int unsigned c = 0; c < Cols; c++) begin
      p3_q[c] = 64'(x2_q[c]) * 64'(m2_q[c]);
      s3_q[c] = s2_q[c];
    end
  endtask

  // Shift of the product: 31 but for a single rounding with a shift left.
  function automatic logic [4:0] product_shift(round_e round, logic signed [7:0] s);
    return round == RoundTrunc ? 5'd24 : round == RoundSingle && s > 0 ? 5'd31 - s[4:0] : 5'd31;
  endfunction

  // Half of the last place, or what makes the shift of a negative product round towards zero. A single rounding with a shift
  // right happens in stage 6: nothing below bit 31 of the product decides it.
  task automatic stage4(round_e round);
    for (int unsigned c = 0; c < Cols; c++) begin
      logic [31:0] half;
      half    = round == RoundTrunc ? (p3_q[c] < 0 ? 32'h00ff_ffff : 32'h0)
              : round == RoundSingle && s3_q[c] < 0 ? 32'h0 : 32'h1 << (product_shift(round, s3_q[c]) - 5'd1);
      p4_q[c] = p3_q[c] + 64'(half);
      s4_q[c] = s3_q[c];
    end
  endtask

  task automatic stage5(round_e round);
    for (int unsigned c = 0; c < Cols; c++) begin
      q5_q[c] = sat_32(p4_q[c] >>> product_shift(round, s4_q[c]));
      s5_q[c] = s4_q[c];
    end
  endtask

  task automatic stage6(logic away);
    for (int unsigned c = 0; c < Cols; c++) r6_q[c] = shift_right_round(q5_q[c], s5_q[c], away);
  endtask

  // Beyond nine bits the clamps decide whatever the zero point.
  task automatic stage7_out(logic signed [7:0] zp, logic signed [7:0] low, logic signed [7:0] high);
    for (int unsigned c = 0; c < Cols; c++) begin
      logic signed [31:0] v;
      v = sat_9(r6_q[c]) + 32'(zp);
      v = v < 32'(low) ? 32'(low) : v;
      v = v > 32'(high) ? 32'(high) : v;
      y7_v[c] = v[7:0];
    end
    for (int unsigned w = 0; w < Quarter; w++) begin
      out_v[w*32+:32] = {y7_v[4*w+3], y7_v[4*w+2], y7_v[4*w+1], y7_v[4*w]};
    end
  endtask

  task automatic stage7_first();
    for (int unsigned c = 0; c < Cols; c++) first_q[c] = r6_q[c];
  endtask

  task automatic stage7_sum();
    for (int unsigned c = 0; c < Cols; c++) sum_v[c*32+:32] = add_sat(first_q[c], r6_q[c]);
  endtask

  always_ff @(posedge clk_i) begin : lanes
    if (valid_q[6]) begin
      if (uop_q[6].src == SrcAdd0) begin
        stage7_first();
      end else if (uop_q[6].src == SrcAdd1) begin
        stage7_sum();
        sum_mem_q[sum_wr_q] <= sum_v;
      end else begin
        stage7_out(sc_end.zp, sc_end.clamp_min, sc_end.clamp_max);
        out_data_o <= out_v;
      end
    end
    if (valid_q[5]) stage6(round_q[5] == RoundDouble);
    if (valid_q[4]) stage5(round_q[4]);
    if (valid_q[3]) stage4(round_q[3]);
    if (valid_q[2]) stage3();
    if (valid_q[1]) stage2(round_q[1], uop_q[1].taps[8:1]);

    saturated_o <= valid_i && uop_i.src == SrcAcc && bias_saturates(uop_i.bank, uop_i.dest.len);
    if (valid_i || param_valid_i) load_bytes();
    if (valid_i) begin
      unique case (uop_i.src)
        SrcRaw: stage1_raw(uop_i.part);
        SrcTap:
        if (sc_in.average) stage1_average(uop_i.first, uop_i.hit);
        else stage1_max(uop_i.first, uop_i.hit);
        SrcAdd0: stage1_operand(sc_in.zp0);
        SrcAdd1: stage1_operand(sc_in.zp1);
        SrcSum: stage1_sum(sum_rd_q);
        default: stage1_acc(uop_i.bank);
      endcase
      if (uop_i.src != SrcAcc) stage1_uniform(mult_u, shift_u);
    end
    if (param_valid_i) begin
      if (param_word_i[3]) load_shifts(param_bank_i);
      else load_words(param_bank_i, param_word_i[1:0], param_word_i[2]);
    end
  end
  // verilator lint_on BLKSEQ

  always_ff @(posedge clk_i) begin
    uop_q[1]   <= uop_i;
    round_q[1] <= round_d;
    for (int unsigned s = 2; s <= 7; s++) uop_q[s] <= uop_q[s-1];
    for (int unsigned s = 2; s <= 6; s++) round_q[s] <= round_q[s-1];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned s = 1; s <= 7; s++) valid_q[s] <= 1'b0;
      sum_rd_q <= '0;
      sum_wr_q <= '0;
    end else begin
      valid_q[1] <= go1;
      for (int unsigned s = 2; s <= 7; s++) valid_q[s] <= valid_q[s-1];
      if (valid_i && uop_i.src == SrcSum) sum_rd_q <= sum_rd_q + 1'b1;
      if (valid_q[6] && uop_q[6].src == SrcAdd1) sum_wr_q <= sum_wr_q + 1'b1;
    end
  end

  assign sum_valid_o = valid_q[7] && uop_q[7].src == SrcAdd1;
  assign out_valid_o = valid_q[7] && uop_q[7].out;
  assign out_dest_o  = uop_q[7].dest;
  assign out_bank_o  = uop_q[7].bank;

  // Words fill whole lanes, and a micro-op of the lanes ends in one place.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_config : assert (Cfg.Rows == Cfg.Cols && Cols % 8 == 0);
      a_one_end : assert (!valid_q[7] || uop_q[7].out != (uop_q[7].src inside {SrcAdd0, SrcAdd1}));
      a_bias_acc : assert (!(valid_i && uop_i.src == SrcAcc) || !(param_valid_i && param_bank_i == uop_i.bank));
    end
  end
endmodule
