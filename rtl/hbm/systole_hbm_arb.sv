// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sticky round robin: a client keeps the grant for up to its Burst transfers in a row while it keeps asking, then the next asking
// client after it has its turn. Combinational; no client waits for more transfers than the others' Bursts together.
// Docs: docs/hbm.md. Test: tests/hbm/arb_test.cc.

module systole_hbm_arb #(
    parameter int unsigned N = 4,
    parameter logic [N-1:0][7:0] Burst = {N{8'd64}},  // of each client, 1 to 128
    localparam int unsigned IdxBits = N > 1 ? $clog2(N) : 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [N-1:0]       req_i,
    output logic               any_o,
    output logic [IdxBits-1:0] idx_o,     // the granted client, when any_o
    input  logic               accept_i   // the granted client's transfer happens
);
  localparam int unsigned RunBits = 8;

  logic [IdxBits-1:0] last_q;  // who transferred last
  logic [RunBits-1:0] run_q;   // transfers in a row
  logic               full_q;  // run_q is at its end
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
