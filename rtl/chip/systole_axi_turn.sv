// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Round-robin arbiter with a registered turn. A client keeps its turn for up to Burst transfers in a row while it requests.
// Then the next requesting client gets the turn, which costs one cycle. ready_o does not depend on valid_i. No client waits for
// more than (N - 1) x Burst transfers.
// Docs: docs/dram.md. Test: tests/rtl/dram.

module systole_axi_turn #(
    parameter int unsigned N = 4,
    parameter int unsigned Burst = 16,
    localparam int unsigned IdxBits = N > 1 ? $clog2(N) : 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [N-1:0]       valid_i,
    input  logic               room_i,   // the receiver of the transfers has room
    output logic [N-1:0]       ready_o,
    output logic [IdxBits-1:0] idx_o,    // the client whose turn it is
    output logic               take_o    // that client transfers in this cycle
);
  localparam int unsigned RunBits = $clog2(Burst + 1);

  logic [N-1:0]       turn_q;  // one-hot
  logic [N-1:0]       hold;
  logic [IdxBits-1:0] idx_q, next;
  logic [RunBits-1:0] run_q;   // transfers in a row, up to Burst
  logic               asks, others, move;

  // Test hook that stalls a client.
  systole_prim_hold #(.Streams(N)) u_hold (.clk_i, .hold_o(hold));

  assign ready_o = room_i ? turn_q & ~hold : '0;
  assign idx_o   = idx_q;
  assign asks    = (valid_i & turn_q) != '0;
  assign others  = (valid_i & ~turn_q) != '0;
  assign take_o  = (valid_i & ready_o) != '0;
  assign move    = others && (!asks || run_q == RunBits'(Burst) || (take_o && run_q == RunBits'(Burst - 1)));

  // The next requesting client in the round. The loop goes from the farthest client to the nearest, so the nearest wins.
  always_comb begin
    next = idx_q;
    for (int unsigned j = N - 1; j >= 1; j--) begin
      if (valid_i[IdxBits'((32'(idx_q) + j) % N)]) next = IdxBits'((32'(idx_q) + j) % N);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= N'(1);
      idx_q  <= '0;
      run_q  <= '0;
    end else if (move) begin
      turn_q <= N'(1) << next;
      idx_q  <= next;
      run_q  <= '0;
    end else if (!asks) begin
      run_q <= '0;
    end else if (take_o && run_q != RunBits'(Burst)) begin
      run_q <= run_q + 1'b1;
    end
  end

  // Checks: the turn is one-hot and agrees with the index; a run is not too long.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_turn : assert (turn_q == N'(1) << idx_q);
      a_run : assert (run_q <= RunBits'(Burst));
    end
  end
endmodule
