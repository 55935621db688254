// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_prim_hold: it stalls each stream in each cycle with probability rate/256. The random
// sequence depends on the seed and the instance's path. Rate and seed are read once, from verif/views/hold.h. A bench
// may drive `bench` by its hierarchical name. Docs: docs/cells.md. Test: tests/system.

module systole_prim_hold #(
    parameter int unsigned Streams = 1
) (
    input  logic               clk_i,
    output logic [Streams-1:0] hold_o
);
  import "DPI-C" function int unsigned systole_hold_rate();
  import "DPI-C" function int unsigned systole_hold_seed();

  logic [Streams-1:0] bench;
  logic [Streams-1:0] random_q = '0;
  logic [31:0]        state_q [Streams];
  int unsigned        rate = 0;

  assign hold_o = random_q | bench;

  function automatic logic [31:0] step(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  // A bench must drive it with `always @*`, because this process writes it, too.
  initial bench = '0;

  // Each generator is seeded with the seed, the instance's name and the number of the stream. It never starts at 0,
  // where it would stay.
  initial begin
    string       name;
    logic [31:0] mixed;
    rate  = systole_hold_rate();
    name  = $sformatf("%m");
    mixed = 32'h811C_9DC5 ^ systole_hold_seed();
    for (int i = 0; i < name.len(); i++) mixed = (mixed ^ {24'd0, name[i]}) * 32'h0100_0193;
    for (int unsigned s = 0; s < Streams; s++) begin
      mixed      = (mixed ^ s) * 32'h0100_0193 + 32'h9E37_79B9;
      state_q[s] = mixed | 32'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    logic [31:0]        next [Streams];
    logic [Streams-1:0] held;
    if (rate != 0) begin
      for (int unsigned s = 0; s < Streams; s++) begin
        held[s] = 32'(state_q[s][31:24]) < rate;
        next[s] = step(state_q[s]);
      end
      random_q <= held;
      state_q  <= next;
    end
  end
endmodule
