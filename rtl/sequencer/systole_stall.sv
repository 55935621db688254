// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random stalls: each stream's bit is 1 with probability rate/256 each cycle. A 32-bit linear feedback shift register a stream,
// stepped by whole words (x ^= x << 13, x >> 17, x << 5: period 2^32 - 1), loaded from the seed while the rate is 0.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_stall #(
    parameter int unsigned Streams = 8
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [7:0]         rate_i,
    input  logic [15:0]        seed_i,
    output logic [Streams-1:0] stall_o
);
  logic [31:0]        state_q [Streams];
  logic [Streams-1:0] stall_q;
  logic [15:0]        seed_q;
  logic               load, run_q;

  assign stall_o = stall_q;
  assign load    = !rst_ni || rate_i == '0 || seed_i != seed_q;

  function automatic logic [31:0] step(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  // Never 0: bit 0 of the start value is set. Streams differ by a large odd step.
  function automatic logic [31:0] first(logic [15:0] seed, int unsigned stream);
    return (({seed, ~seed} ^ (32'(stream + 1) * 32'h9E37_79B9)) << 1) | 32'd1;
  endfunction

  always_ff @(posedge clk_i) begin
    seed_q <= seed_i;
    run_q  <= !load;
  end

  for (genvar i = 0; i < Streams; i++) begin : gen_stream
    always_ff @(posedge clk_i) begin
      if (!load) begin
        state_q[i] <= step(state_q[i]);
        stall_q[i] <= state_q[i][31:24] < rate_i;
      end else if (run_q || !rst_ni || seed_i != seed_q) begin
        state_q[i] <= first(seed_i, i);
        stall_q[i] <= 1'b0;
      end
    end
  end

  // 0 is the one state that never changes.
  always_ff @(posedge clk_i) begin
    if (rst_ni && run_q) begin
      for (int unsigned i = 0; i < Streams; i++) a_not_stuck : assert (state_q[i] != '0);
    end
  end
endmodule
