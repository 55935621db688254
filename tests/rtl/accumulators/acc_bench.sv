// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Accumulators of one preset, for accumulators_test.cc.

module acc_bench
  import systole_presets_pkg::*;
#(
    parameter int unsigned Preset = 0,
    localparam core_cfg_t Cfg = core_preset(Preset)
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   clear_i,
    input  logic                   stall_i,

    input  logic                   feed_valid_i,
    input  logic                   feed_read_i,
    input  logic [AccAddrBits-1:0] feed_row_i,
    output logic signed [31:0]     feed_data_o [Cfg.Cols],

    input  logic                   wr_valid_i,
    input  logic                   wr_accumulate_i,
    input  logic [AccAddrBits-1:0] wr_row_i,
    input  logic signed [31:0]     wr_data_i [Cfg.Cols],
    output logic                   wr_done_o,

    input  logic                   rd_valid_i,
    output logic                   rd_ready_o,
    input  logic [AccAddrBits-1:0] rd_row_i,
    output logic signed [31:0]     rd_data_o [Cfg.Cols],

    output logic                   saturated_o,
    output logic [15:0]            nan_o,
    output logic [15:0]            inf_o
);
  logic [$clog2(Cfg.Cols+1)-1:0] nan, inf;
  assign nan_o = 16'(nan);
  assign inf_o = 16'(inf);

  systole_accumulators #(.Cfg(Cfg)) u_accumulators (
      .clk_i, .rst_ni, .clear_i, .feed_valid_i, .feed_read_i, .feed_row_i, .feed_data_o, .wr_valid_i, .wr_accumulate_i, .wr_row_i, .wr_data_i, .wr_done_o,
      .rd_valid_i, .rd_ready_o, .rd_row_i, .rd_data_o, .saturated_o, .nan_o(nan), .inf_o(inf)
  );
  always @* u_accumulators.u_hold.bench = stall_i;
endmodule
