// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// ALU for all lanes of a step. Throughput: one step per cycle, never stalls. Latency: operands arrive two cycles after start_i,
// the result with write_o seven cycles after start_i; the pipeline has six stages. The lanes are hardware
// (systole_vpu_alu_lane) or their simulation view (systole_vpu_alu_fast).
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_alu
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter int unsigned Lanes = 8,
    parameter bit          Fast = FastView,
    localparam int unsigned Width = Lanes * 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             start_i,
    input  vpu_op_e          op_i,
    input  logic [2:0]       number_i,
    input  place_t           place_i,
    input  logic [Width-1:0] a_i,        // operands, two cycles after start_i
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] c_i,
    output write_t           soon_o,     // value of write_o in the next cycle
    output write_t           write_o,
    output logic [Width-1:0] wdata_o
);
  localparam int unsigned Stages = 6;

  // place_q[s]: destination of the step in stage s; s = 0 is the cycle before its operands arrive.
  write_t  place_q [Stages+1];
  vpu_op_e op_q;

  always_ff @(posedge clk_i) begin
    op_q       <= op_i;
    place_q[0] <= '{valid: rst_ni && start_i, number: number_i, place: place_i};
    for (int unsigned s = 1; s <= Stages; s++) begin
      place_q[s]       <= place_q[s-1];
      place_q[s].valid <= rst_ni && place_q[s-1].valid;
    end
  end

  assign soon_o  = place_q[Stages-1];
  assign write_o = place_q[Stages];

  if (Fast) begin : gen_fast
    systole_vpu_alu_fast #(.Lanes(Lanes)) u_lanes (
        .clk_i, .rst_ni, .start_i(place_q[0].valid), .op_i(op_q), .a_i, .b_i, .c_i, .wdata_o
    );
  end else begin : gen_lanes
    alu_ctl_t ctl_q [1:Stages];
    always_ff @(posedge clk_i) begin
      ctl_q[1] <= alu_control(op_q);
      for (int unsigned s = 2; s <= Stages; s++) ctl_q[s] <= ctl_q[s-1];
    end
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      systole_vpu_alu_lane u_lane (
          .clk_i, .ctl1_i(ctl_q[1]), .ctl2_i(ctl_q[2]), .ctl4_i(ctl_q[4]), .ctl6_i(ctl_q[6]),
          .a_i(a_i[l*32+:32]), .b_i(b_i[l*32+:32]), .c_i(c_i[l*32+:32]), .y_o(wdata_o[l*32+:32])
      );
    end
  end

  // Check: only ALU operations are started.
  always_ff @(posedge clk_i) begin
    if (rst_ni && start_i) begin
      a_class : assert (class_of(op_i) inside {ClassFloat, ClassSelect, ClassInteger, ClassConvert});
    end
  end
endmodule
