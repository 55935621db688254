// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Round-robin choice of a bank: the first requesting bank after the last one taken, one-hot and as an index.
// Combinational. A bank that keeps requesting waits for at most N - 1 others. Docs: docs/hbm.md. Test:
// tests/hbm/hbm_test.cc.

module systole_hbm_pick #(
    parameter int unsigned N = 16,
    localparam int unsigned IdxBits = $clog2(N)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [N-1:0]       req_i,
    output logic               any_o,
    output logic [N-1:0]       one_o,   // one-hot choice; zero without a request
    output logic [IdxBits-1:0] idx_o,
    input  logic               take_i   // the choice is used: the next one starts after it
);
  logic [N-1:0] behind_q;  // mask of the banks after the last one taken
  logic [N-1:0] ahead, behind_d;

  // Mask of the positions after the first one set in a list; log2(N) steps.
  function automatic logic [N-1:0] behind(logic [N-1:0] list);
    for (int unsigned s = 1; s < N; s *= 2) list |= list << s;
    return list << 1;
  endfunction

  always_comb begin
    ahead    = req_i & behind_q;
    behind_d = ahead != '0 ? behind(ahead) : behind(req_i);
    one_o    = (ahead != '0 ? ahead : req_i) & ~behind_d;
    any_o    = req_i != '0;
    idx_o    = '0;
    for (int unsigned k = 0; k < IdxBits; k++) begin
      for (int unsigned i = 0; i < N; i++) idx_o[k] |= one_o[i] && ((i >> k) & 1) == 1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) behind_q <= '0;
    else if (take_i) behind_q <= behind_d;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) a_one : assert (!any_o || (req_i[idx_o] && one_o == N'(1) << idx_o));
  end
endmodule
