// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pseudo-random bits of all lanes: mix(mix(base + lane) ^ key), where mix is x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15,
// x *= 0x846ca68b, x ^= x >> 16. A row a cycle, Latency cycles after valid_i.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_random #(
    parameter int unsigned Lanes = 8,
    localparam int unsigned Latency = 5
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [31:0] base_i,
    input  logic [31:0] key_i,
    output logic        valid_o,
    output logic [31:0] y_o [Lanes]
);
  logic        valid_q [1:Latency];
  logic [31:0] key_q [1:2];

  always_ff @(posedge clk_i) begin
    valid_q[1] <= rst_ni && valid_i;
    for (int unsigned s = 2; s <= Latency; s++) valid_q[s] <= rst_ni && valid_q[s-1];
    key_q[1] <= key_i;
    key_q[2] <= key_q[1];
  end
  assign valid_o = valid_q[Latency];

  function automatic logic [31:0] first(logic [31:0] x);
    logic [31:0] p;
    p = x * 32'h7feb_352d;
    return p ^ (p >> 15);
  endfunction
  function automatic logic [31:0] second(logic [31:0] x);
    logic [31:0] p;
    p = x * 32'h846c_a68b;
    return p ^ (p >> 16);
  endfunction

  // The stages, last one first: each reads what the stage before it wrote one cycle ago. Their state is declared in the block, so that
  // nothing else can read it, and in arrays, because simulators turn these loops into vector code.
  always_ff @(posedge clk_i) begin : lanes
    logic [31:0] x1_q [Lanes], x2_q [Lanes], x3_q [Lanes], x4_q [Lanes], y [Lanes];
    if (valid_q[4]) begin
      for (int unsigned l = 0; l < Lanes; l++) y[l] = second(x4_q[l]);
      y_o <= y;
    end
    if (valid_q[3]) for (int unsigned l = 0; l < Lanes; l++) x4_q[l] = first(x3_q[l]);
    if (valid_q[2]) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        logic [31:0] x;
        x       = second(x2_q[l]) ^ key_q[2];
        x3_q[l] = x ^ (x >> 16);
      end
    end
    if (valid_q[1]) for (int unsigned l = 0; l < Lanes; l++) x2_q[l] = first(x1_q[l]);
    if (valid_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        logic [31:0] x;
        x       = base_i + l;
        x1_q[l] = x ^ (x >> 16);
      end
    end
  end
endmodule
