// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions exp2, log2, rcp, rsqrt and tanh of fp32 in Lanes lanes. Throughput: one row (all lanes, one function) per
// cycle, never stalls. Latency: SfuLatency cycles. The lanes are hardware (systole_vpu_sfu_lane) or their simulation
// view.
// Docs: docs/numerics.md, "Functions". Test: tests/rtl/sfu.

module systole_vpu_sfu
  import systole_sfu_pkg::*;
  import systole_vpu_types_pkg::FastView;
#(
    parameter int unsigned Lanes = 8,  // even
    parameter bit          Fast = FastView
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  sfu_op_e     op_i,
    input  logic [31:0] a_i [Lanes],
    output logic        valid_o,
    output logic [31:0] y_o [Lanes]
);
  logic [SfuLatency:1] valid_q;

  assign valid_o = valid_q[SfuLatency];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[SfuLatency-1:1], valid_i};
  end

  if (Fast) begin : gen_fast
    systole_vpu_sfu_fast #(.Lanes(Lanes)) u_lanes (.clk_i, .rst_ni, .valid_i, .op_i, .a_i, .y_o);
  end else begin : gen_lanes
    sfu_op_e op_q [1:7];
    always_ff @(posedge clk_i) begin
      op_q[1] <= op_i;
      for (int unsigned s = 2; s <= 7; s++) op_q[s] <= op_q[s-1];
    end
    for (genvar l = 0; l < Lanes; l += 2) begin : gen_pair
      // Two lanes share a table.
      logic [10:0]           entry [2];
      logic [SfuC0Bits-1:0]  c0 [2];
      logic [SfuC1Bits-1:0]  c1 [2];
      logic [SfuC2Bits-1:0]  c2 [2];
      systole_vpu_sfu_table u_table (.clk_i, .entry_i(entry), .c0_o(c0), .c1_o(c1), .c2_o(c2));
      for (genvar i = 0; i < 2; i++) begin : gen_lane
        systole_vpu_sfu_lane u_lane (
            .clk_i, .op1_i(op_q[1]), .op7_i(op_q[7]), .a_i(a_i[l+i]),
            .entry_o(entry[i]), .c0_i(c0[i]), .c1_i(signed'(c1[i])), .c2_i(signed'(c2[i])), .y_o(y_o[l+i])
        );
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_latency : assert (SfuLatency == 12);
      a_op : assert (!valid_i || op_i inside {SfuExp2, SfuLog2, SfuRcp, SfuRsqrt, SfuTanh});
    end
  end
endmodule
