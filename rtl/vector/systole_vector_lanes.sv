// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The lanes: source (2 stages), scale (6), zero point (1), clamp (1). These ten stages never stall. A table (2 more) or a
// residual addition (16 more) may follow. With fewer lanes than columns, one more stage comes first. A micro-op occupies the
// lanes for Cols / Lanes cycles, one per beat, and produces a whole row. The operands of an addition leave before the zero
// point; their sum enters again at the source.
// Docs: docs/vector.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector_lanes
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,

    // ub_data_i holds a word of the table.
    input  logic                  table_valid_i,
    output logic                  table_loaded_o,  // pulse: the word is in the table

    // ub_data_i holds word param_word_i of the parameter block.
    input  logic                  param_valid_i,
    input  logic                  param_bank_i,
    input  logic [3:0]            param_word_i,
    input  scalars_t              scalars_i [2],  // by bank

    // A micro-op with its data. Everything but valid_i holds for Cols / Lanes cycles; no other micro-op comes during them.
    input  logic                  valid_i,
    input  uop_t                  uop_i,
    input  logic [24:0]           recip_i,        // reciprocal of uop_i.taps (systole_vector_recip)
    input  logic signed [31:0]    acc_data_i [Cfg.Cols],
    input  logic [Cfg.Cols*8-1:0] ub_data_i,

    output logic                  sum_valid_o,    // pulse: one more sum in the sum memory
    output logic                  out_valid_o,
    output logic                  out_last_o,     // last result of its descriptor
    output logic                  out_bank_o,
    output logic [Cfg.Cols*8-1:0] out_data_o,
    output logic                  saturated_o     // pulse: a bias addition saturated in a channel that is written
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Lanes = Cfg.VectorLanes;
  localparam int unsigned Beats = Cols / Lanes;
  localparam int unsigned BeatBits = Beats > 1 ? $clog2(Beats) : 1;
  localparam int unsigned SumBits = $clog2(SumPairs * Beats);
  localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes;
  localparam int unsigned ScaleEnd = 8;  // stage that writes the scaled value
  localparam int unsigned End = 10;      // stage that writes the result
  localparam logic signed [31:0] Max = 32'sh7fff_ffff;
  localparam logic signed [31:0] Min = 32'sh8000_0000;

  // Control that travels with the data of a stage.
  typedef struct packed {
    logic add0, add1;  // an operand of an addition
    logic bank;
    logic last;        // last micro-op of its descriptor
    logic lookup, residual;
    logic row_end;     // last beat
  } tag_t;

  logic [BeatBits-1:0] beat;
  logic                active, row_end, bytes;
  uop_t                uop;
  logic [24:0]         recip;
  logic signed [31:0]  acc [Lanes];
  logic [Slots*8-1:0]  from;
  logic [End:1]        valid_q;
  tag_t                tag_q [1:End];
  round_t              round_q [1:2];
  scalars_t            sc_in;
  // verilator lint_off UNUSEDSIGNAL
  scalars_t            sc_zp, sc_clamp;  // each stage uses only some of the fields
  // verilator lint_on UNUSEDSIGNAL
  logic signed [31:0]  x [Lanes], m [Lanes], r [Lanes];
  logic signed [7:0]   s [Lanes];
  logic                sum_we;
  logic [SumBits-1:0]  sum_wr_q;
  logic [Lanes*32-1:0] sum;

  systole_vector_beats #(.Cfg(Cfg)) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i,
      .uop_i,
      .recip_i,
      .acc_data_i,
      .ub_data_i,
      .valid_o  (active),
      .beat_o   (beat),
      .row_end_o(row_end),
      .uop_o    (uop),
      .recip_o  (recip),
      .acc_o    (acc),
      .bytes_o  (from)
  );

  assign sc_in = scalars_i[uop.bank];
  assign bytes = uop.src == SrcRaw || (uop.src == SrcTap && !sc_in.sum);

  // Control of the stages.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[End-1:1], active && (uop.out || uop.src inside {SrcAdd0, SrcAdd1})};
  end

  always_ff @(posedge clk_i) begin
    tag_q[1] <= '{add0: uop.src == SrcAdd0, add1: uop.src == SrcAdd1, bank: uop.bank, last: uop.last,
                  lookup: uop.lookup, residual: uop.residual, row_end: row_end};
    for (int unsigned i = 2; i <= End; i++) tag_q[i] <= tag_q[i-1];
    round_q[1].trunc <= bytes;
    round_q[1].twice <= !bytes && !sc_in.single;
    round_q[2]       <= round_q[1];
  end

  systole_vector_source #(.Cfg(Cfg)) u_source (
      .clk_i,
      .rst_ni,
      .param_valid_i,
      .param_bank_i,
      .param_word_i,
      .param_i   (ub_data_i),
      .valid_i   (active),
      .beat_i    (beat),
      .uop_i     (uop),
      .scalars_i (sc_in),
      .recip_i   (recip),
      .acc_i     (acc),
      .bytes_i   (from),
      .sum_we_i  (sum_we),
      .sum_addr_i(sum_wr_q),
      .sum_data_i(sum),
      .x_o       (x),
      .m_o       (m),
      .s_o       (s),
      .saturated_o
  );

  systole_vector_scale #(.Lanes(Lanes)) u_scale (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[2]),
      .round_i(round_q[2]),
      .x_i    (x),
      .m_i    (m),
      .s_i    (s),
      .r_o    (r)
  );

  // Additions: the first operand waits for the second, beat by beat.
  logic signed [31:0]  first_q [Beats][Lanes];
  logic [BeatBits-1:0] first_ptr_q;

  function automatic logic [31:0] add_sat(logic signed [31:0] a, logic signed [31:0] b);
    logic signed [31:0] t;
    t = a + b;
    return ((a ^ t) & (b ^ t)) < 0 ? (a < 0 ? Min : Max) : t;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_q[ScaleEnd] && tag_q[ScaleEnd].add0) first_q[first_ptr_q] <= r;
  end

  always_comb begin
    sum = '0;
    if (sum_we) begin
      for (int unsigned c = 0; c < Lanes; c++) sum[c*32+:32] = add_sat(first_q[first_ptr_q][c], r[c]);
    end
  end

  assign sum_we = valid_q[ScaleEnd] && tag_q[ScaleEnd].add1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_ptr_q <= '0;
      sum_wr_q    <= '0;
    end else begin
      if (valid_q[ScaleEnd] && (tag_q[ScaleEnd].add0 || tag_q[ScaleEnd].add1)) begin
        first_ptr_q <= tag_q[ScaleEnd].row_end ? '0 : first_ptr_q + 1'b1;
      end
      if (sum_we) sum_wr_q <= sum_wr_q + 1'b1;
    end
  end

  assign sum_valid_o = valid_q[ScaleEnd+1] && tag_q[ScaleEnd+1].add1 && tag_q[ScaleEnd+1].row_end;

  // Zero point and clamp.
  logic [Slots*8-1:0] clamped;

  assign sc_zp    = scalars_i[tag_q[ScaleEnd].bank];
  assign sc_clamp = scalars_i[tag_q[ScaleEnd+1].bank];

  systole_vector_clamp #(.Lanes(Lanes)) u_clamp (
      .clk_i,
      .valid_i (valid_q[ScaleEnd]),
      .r_i     (r),
      .zp_i    (sc_zp.zp),
      .valid1_i(valid_q[ScaleEnd+1]),
      .min_i   (sc_clamp.clamp_min),
      .max_i   (sc_clamp.clamp_max),
      .data_o  (clamped)
  );

  // A table or a residual addition may follow the clamp. The unit ensures that results do not overtake each other.
  logic               ended, looked, lookup_valid, residual_valid, added;
  // verilator lint_off UNUSEDSIGNAL
  tag_t               looked_tag_q, lookup1_tag_q;  // of results in the table, after its first and second stage
  // verilator lint_on UNUSEDSIGNAL
  logic               added_bank, added_last, added_row_end;
  logic [Slots*8-1:0] found, total;

  assign ended          = valid_q[End] && !tag_q[End].add0 && !tag_q[End].add1;
  assign lookup_valid   = ended && tag_q[End].lookup;
  assign residual_valid = ended && tag_q[End].residual;

  systole_vector_table #(.Cols(Cols), .Lanes(Lanes)) u_table (
      .clk_i,
      .rst_ni,
      .load_i  (table_valid_i),
      .word_i  (ub_data_i),
      .loaded_o(table_loaded_o),
      .valid_i (lookup_valid),
      .data_i  (clamped),
      .valid_o (looked),
      .data_o  (found)
  );

  always_ff @(posedge clk_i) begin
    if (lookup_valid) lookup1_tag_q <= tag_q[End];
    looked_tag_q <= lookup1_tag_q;
  end

  if (Cfg.Residual != 0) begin : gen_residual
    systole_vector_residual #(.Lanes(Lanes)) u_residual (
        .clk_i,
        .rst_ni,
        .operand_valid_i(active && uop.residual),
        .operand_i      (from),
        .valid_i        (residual_valid),
        .data_i         (clamped),
        .bank_i         (tag_q[End].bank),
        .last_i         (tag_q[End].last),
        .row_end_i      (tag_q[End].row_end),
        .scalars_i,
        .valid_o        (added),
        .data_o         (total),
        .bank_o         (added_bank),
        .last_o         (added_last),
        .row_end_o      (added_row_end)
    );
  end else begin : gen_no_residual
    assign {added, total, added_bank, added_last, added_row_end} = '0;
    always_ff @(posedge clk_i) begin
      if (rst_ni) a_no_residual : assert (!residual_valid);
    end
  end

  // The beats of a row are collected in out_data_o, the first one in the lowest bytes.
  // verilator lint_off UNUSEDSIGNAL
  logic [Slots*8-1:0] result;  // with fewer than 4 lanes, only the lowest bytes are used
  // verilator lint_on UNUSEDSIGNAL
  logic               plain, result_valid, result_row_end;

  assign plain = ended && !tag_q[End].lookup && !tag_q[End].residual;

  always_comb begin
    result         = clamped;
    result_valid   = plain;
    result_row_end = tag_q[End].row_end;
    out_last_o     = tag_q[End].last;
    out_bank_o     = tag_q[End].bank;
    if (looked) begin
      result         = found;
      result_valid   = 1'b1;
      result_row_end = looked_tag_q.row_end;
      out_last_o     = looked_tag_q.last;
      out_bank_o     = looked_tag_q.bank;
    end
    if (added) begin
      result         = total;
      result_valid   = 1'b1;
      result_row_end = added_row_end;
      out_last_o     = added_last;
      out_bank_o     = added_bank;
    end
  end

  if (Beats == 1) begin : gen_out_whole
    assign out_data_o = result;
  end else begin : gen_out_beats
    logic [Cols*8-Lanes*8-1:0] rest_q;
    assign out_data_o = {result[Lanes*8-1:0], rest_q};
    always_ff @(posedge clk_i) begin
      if (result_valid) rest_q <= out_data_o[Cols*8-1:Lanes*8];
    end
  end

  assign out_valid_o = result_valid && result_row_end;

  always_ff @(posedge clk_i) begin
    if (rst_ni) a_one_result : assert (32'(plain) + 32'(looked) + 32'(added) <= 1);
  end
endmodule
