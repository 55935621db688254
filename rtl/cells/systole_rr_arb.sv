// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Round-robin arbiter. The grant is combinational, goes to a requester, and holds until ready_i takes it (so a granted stream
// holds too). A winner may be granted MaxRun times in a row while others wait (MaxRun = 1: plain round robin); a requester
// that waits sees at most (N - 1) * MaxRun grants to others. Docs: docs/cells.md.
// Test: tests/cells/rr_arb_test.cc. Proof: verif/formal/systole_rr_arb_props.sv.

module systole_rr_arb #(
    parameter int unsigned N = 4,
    parameter int unsigned MaxRun = 1,
    localparam int unsigned IndexBits = N > 1 ? $clog2(N) : 1
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic [N-1:0]         req_i,    // held until granted and taken

    output logic                 valid_o,
    input  logic                 ready_i,
    output logic [N-1:0]         gnt_o,    // one-hot while valid_o, otherwise 0
    output logic [IndexBits-1:0] index_o   // of the granted one
);
  localparam int unsigned RunBits = $clog2(MaxRun + 1);

  logic [N-1:0]       last_q;    // one-hot: the last winner
  logic [RunBits-1:0] run_q;     // grants in a row to it
  logic [N-1:0]       locked_q;  // grant that was offered but not taken yet, otherwise 0
  logic [N-1:0]       after, ahead, pick;
  logic               stay;

  // Requesters after the last winner go first: the lowest set bit of those, otherwise of all.
  assign after   = ~(last_q | (last_q - 1'b1));
  assign ahead   = (req_i & after) != '0 ? req_i & after : req_i;
  assign stay    = (req_i & last_q) != '0 && 32'(run_q) < MaxRun;
  assign pick    = stay ? last_q : ahead & (~ahead + 1'b1);
  assign gnt_o   = locked_q != '0 ? locked_q : pick;
  assign valid_o = req_i != '0;

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < N; i++) begin
      if (gnt_o[i]) index_o = index_o | IndexBits'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_q   <= {1'b1, {(N - 1) {1'b0}}};
      run_q    <= RunBits'(MaxRun);
      locked_q <= '0;
    end else if (valid_o && ready_i) begin
      last_q   <= gnt_o;
      run_q    <= gnt_o == last_q && 32'(run_q) < MaxRun ? run_q + 1'b1 : RunBits'(1);
      locked_q <= '0;
    end else begin
      locked_q <= gnt_o;
    end
  end

  // A request that was offered to the reader is not withdrawn; the grant is one of the requests.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_request_holds : assert ((locked_q & ~req_i) == '0);
      a_one_hot : assert ((gnt_o & (gnt_o - 1'b1)) == '0);
      a_granted_requests : assert ((gnt_o & ~req_i) == '0);
    end
  end
endmodule
