// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Splits a micro-op into beats: beat b holds the channels from b * Lanes on. With one lane per column there is one beat,
// without delay. With fewer lanes, each beat's part of the row is selected into a register in front of the lanes' first stage.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_beats
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano),
    localparam int unsigned Lanes = Cfg.VectorLanes,
    localparam int unsigned Beats = Cfg.Cols / Lanes,
    localparam int unsigned BeatBits = Beats > 1 ? $clog2(Beats) : 1,
    localparam int unsigned Slots = Lanes < 4 ? 4 : Lanes  // bytes in whole words
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic                  clk_i,  // unused with one lane per column
    input  logic                  rst_ni,
    // verilator lint_on UNUSEDSIGNAL

    // A micro-op with its data. Everything but valid_i holds for Beats cycles; no other micro-op comes during them.
    input  logic                  valid_i,
    input  uop_t                  uop_i,
    input  logic [24:0]           recip_i,
    input  logic signed [31:0]    acc_data_i [Cfg.Cols],
    input  logic [Cfg.Cols*8-1:0] ub_data_i,

    output logic                  valid_o,
    output logic [BeatBits-1:0]   beat_o,
    output logic                  row_end_o,     // the last beat of the row
    output uop_t                  uop_o,
    output logic [24:0]           recip_o,
    output logic signed [31:0]    acc_o [Lanes],
    output logic [Slots*8-1:0]    bytes_o        // bytes of the window, or of the accumulators in a raw requant
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Quarter = Cols / 4;  // channels whose bytes make one window of a raw row

  if (Beats == 1) begin : gen_whole
    assign {valid_o, beat_o, row_end_o} = {valid_i, 1'b0, 1'b1};
    assign uop_o   = uop_i;
    assign recip_o = recip_i;
    assign acc_o   = acc_data_i;

    always_comb begin
      bytes_o = ub_data_i;
      if (valid_i && uop_i.src == SrcRaw) begin
        for (int unsigned w = 0; w < Quarter; w++) begin
          bytes_o[w*32+:32] = uop_i.part[1] ? (uop_i.part[0] ? acc_data_i[3*Quarter+w] : acc_data_i[2*Quarter+w])
                                            : (uop_i.part[0] ? acc_data_i[Quarter+w] : acc_data_i[w]);
        end
      end
    end
  end else begin : gen_beats
    logic [BeatBits-1:0]        beat_q;
    logic                       active;
    logic [3:0][Quarter*32-1:0] row;
    logic [Quarter*32-1:0]      window;

    // The beat number is 0 when a micro-op arrives. It is a register, so the selection does not wait for valid_i.
    assign active = valid_i || beat_q != '0;
    assign window = row[uop_i.part];
    for (genvar c = 0; c < Cols; c++) begin : gen_channel
      assign row[c/Quarter][c%Quarter*32+:32] = acc_data_i[c];
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) beat_q <= '0;
      else if (active) beat_q <= beat_q + 1'b1;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_o <= 1'b0;
      else valid_o <= active;
    end

    always_ff @(posedge clk_i) begin
      if (active) begin
        beat_o    <= beat_q;
        row_end_o <= beat_q == BeatBits'(Beats - 1);
        uop_o     <= uop_i;
        recip_o   <= recip_i;
        bytes_o   <= uop_i.src == SrcRaw ? (Slots * 8)'(window[32'(beat_q)*Lanes*8+:Lanes*8])
                                         : (Slots * 8)'(ub_data_i[32'(beat_q)*Lanes*8+:Lanes*8]);
      end
    end

    for (genvar c = 0; c < Lanes; c++) begin : gen_lane
      logic [Beats-1:0][31:0] column;
      for (genvar b = 0; b < Beats; b++) begin : gen_beat
        assign column[b] = acc_data_i[b*Lanes+c];
      end
      always_ff @(posedge clk_i) begin
        if (active) acc_o[c] <= column[beat_q];
      end
    end

    // Checks: micro-ops come at least Beats cycles apart, and their data hold while beats are taken from them.
    uop_t               uop_last_q;
    logic signed [31:0] acc_last_q [Cols];
    logic [Cols*8-1:0]  ub_last_q;
    logic               acc_same, busy;

    assign busy = beat_q != '0;

    always_comb begin
      acc_same = 1'b1;
      for (int unsigned c = 0; c < Cols; c++) acc_same = acc_same && acc_data_i[c] == acc_last_q[c];
    end

    always_ff @(posedge clk_i) begin
      uop_last_q <= uop_i;
      acc_last_q <= acc_data_i;
      ub_last_q  <= ub_data_i;
      if (rst_ni) begin
        a_beats : assert ((Beats & (Beats - 1)) == 0);
        a_distance : assert (!(valid_i && busy));
        a_uop_holds : assert (!busy || uop_i == uop_last_q);
        a_acc_holds : assert (!busy || !(uop_i.src inside {SrcAcc, SrcRaw}) || acc_same);
        a_ub_holds : assert (!busy || !(uop_i.src inside {SrcAdd0, SrcAdd1, SrcMul0, SrcMul1} || uop_i.residual ||
                                         (uop_i.src == SrcTap && uop_i.hit)) ||
                             ub_data_i == ub_last_q);
      end
    end
  end
endmodule
