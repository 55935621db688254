// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pseudo-random bits for all lanes: mix(mix(base + lane) ^ mix(key)), where mix is x ^= x >> 16, x *= 0x7feb352d, x ^=
// x >> 15, x *= 0x846ca68b, x ^= x >> 16. Throughput: one row per cycle. Latency: Latency cycles after valid_i. There
// is a hardware view and a simulation view.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_random
  import systole_vpu_types_pkg::FastView;
#(
    parameter int unsigned Lanes = 8,
    parameter bit          Fast = FastView,
    localparam int unsigned Latency = 6
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic [31:0] base_i,
    input  logic [31:0] key_i,
    output logic        valid_o,
    output logic [31:0] y_o [Lanes]
);
  localparam logic [31:0] First = 32'h7feb_352d;
  localparam logic [31:0] Second = 32'h846c_a68b;

  logic        valid_q [1:Latency];

  always_ff @(posedge clk_i) begin
    valid_q[1] <= rst_ni && valid_i;
    for (int unsigned s = 2; s <= Latency; s++) valid_q[s] <= rst_ni && valid_q[s-1];
  end
  assign valid_o = valid_q[Latency];

  if (Fast) begin : gen_fast
    logic [31:0] base_q, key1_q, key2_q, key3_q;

    function automatic logic [31:0] first(logic [31:0] x);
      logic [31:0] p;
      p = x * First;
      return p ^ (p >> 15);
    endfunction
    function automatic logic [31:0] second(logic [31:0] x);
      logic [31:0] p;
      p = x * Second;
      return p ^ (p >> 16);
    endfunction

    always_ff @(posedge clk_i) begin
      base_q <= base_i;
      key1_q <= key_i ^ (key_i >> 16);
      key2_q <= first(key1_q);
      key3_q <= second(key2_q);
    end

    // The stages, last one first: each reads what the stage before wrote one cycle ago. Their state is declared in this
    // block so that nothing else can read it, and in arrays because simulators vectorise these loops.
    always_ff @(posedge clk_i) begin : lanes
      logic [31:0] x1_q [Lanes], x2_q [Lanes], x3_q [Lanes], x4_q [Lanes], y [Lanes];
      if (valid_q[5]) begin
        for (int unsigned l = 0; l < Lanes; l++) y[l] = second(x4_q[l]);
        y_o <= y;
      end
      if (valid_q[4]) for (int unsigned l = 0; l < Lanes; l++) x4_q[l] = first(x3_q[l]);
      if (valid_q[3]) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] x;
          x       = second(x2_q[l]) ^ key3_q;
          x3_q[l] = x ^ (x >> 16);
        end
      end
      if (valid_q[2]) for (int unsigned l = 0; l < Lanes; l++) x2_q[l] = first(x1_q[l]);
      if (valid_q[1]) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          logic [31:0] x;
          x       = base_q + l;
          x1_q[l] = x ^ (x >> 16);
        end
      end
    end
  end else begin : gen_lanes
    // Products modulo 2^32, from words of 18 and 14 bits.
    typedef struct packed {
      logic [31:0] low;
      logic [13:0] middle;
      logic [13:0] also;
    } product_t;

    function automatic product_t parts(logic [31:0] x, logic [31:0] c);
      return '{low: 32'(36'(x[17:0]) * 36'(c[17:0])), middle: 14'(x[13:0] * c[31:18]), also: 14'(x[31:18] * c[13:0])};
    endfunction
    function automatic logic [31:0] whole(product_t p);
      return {p.low[31:18] + p.middle + p.also, p.low[17:0]};
    endfunction

    product_t    k1_q, k2_q;
    logic [31:0] k1, key;
    assign k1  = whole(k1_q);
    assign key = whole(k2_q) ^ (whole(k2_q) >> 16);
    always_ff @(posedge clk_i) begin
      k1_q <= parts(key_i ^ (key_i >> 16), First);
      k2_q <= parts(k1 ^ (k1 >> 15), Second);
    end

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      product_t    p1_q, p2_q, p4_q, p5_q;
      logic [31:0] x0, x1, x2, x3_q, x4, x5;
      assign x0 = base_i + l;
      assign x1 = whole(p1_q);
      assign x2 = whole(p2_q) ^ (whole(p2_q) >> 16) ^ key;
      assign x4 = whole(p4_q);
      assign x5 = whole(p5_q);
      always_ff @(posedge clk_i) begin
        p1_q   <= parts(x0 ^ (x0 >> 16), First);
        p2_q   <= parts(x1 ^ (x1 >> 15), Second);
        x3_q   <= x2 ^ (x2 >> 16);
        p4_q   <= parts(x3_q, First);
        p5_q   <= parts(x4 ^ (x4 >> 15), Second);
        y_o[l] <= x5 ^ (x5 >> 16);
      end
    end
  end
endmodule
