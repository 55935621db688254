// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sticky round-robin arbiter. A client keeps the grant for up to its Burst transfers in a row while it keeps
// requesting; then the next requesting client has its turn. Combinational. No client waits for more transfers than the
// sum of the others' Bursts. Docs: docs/hbm.md. Test: tests/hbm/arb_test.cc.

module systole_hbm_arb #(
    parameter int unsigned N = 4,
    parameter logic [N-1:0][7:0] Burst = {N{8'd64}},  // longest turn of each client, 1 to 128 transfers
    localparam int unsigned IdxBits = N > 1 ? $clog2(N) : 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [N-1:0]       req_i,
    output logic               any_o,
    output logic [IdxBits-1:0] idx_o,     // the granted client; valid with any_o
    input  logic               accept_i   // the granted client's transfer takes place
);
  localparam int unsigned RunBits = 8;

  logic [IdxBits-1:0] last_q;  // client of the last transfer
  logic [RunBits-1:0] run_q;   // transfers of this turn
  logic               full_q;  // run_q has reached the client's Burst
  logic               keep;

  int unsigned c;
  always_comb begin
    keep = req_i[last_q] && !full_q;
    any_o = |req_i;
    idx_o = last_q;
    c     = 0;
    if (!keep) begin
      // Farthest first, so that the nearest asking client after last_q stands.
      for (int unsigned j = N; j >= 1; j--) begin
        c = 32'(last_q) + j;
        if (c >= N) c -= N;
        if (req_i[IdxBits'(c)]) idx_o = IdxBits'(c);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_q <= '0;
      run_q  <= '0;
      full_q <= 1'b0;
    end else if (accept_i) begin
      last_q <= idx_o;
      run_q  <= keep ? run_q + 1'b1 : RunBits'(1);
      full_q <= (keep ? run_q + 1'b1 : RunBits'(1)) == Burst[idx_o];
    end
  end

  // Only an asking client is granted, and runs end.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_accept : assert (!accept_i || (any_o && req_i[idx_o]));
      a_run : assert (run_q <= Burst[last_q] && full_q == (run_q == Burst[last_q] && run_q != '0));
    end
  end
endmodule
