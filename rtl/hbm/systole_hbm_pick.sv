// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Round robin over the banks: the first that asks behind the one taken last, as one bit and as a number. Combinational; a bank that
// keeps asking is chosen after at most N - 1 others. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_pick #(
    parameter int unsigned N = 16,
    localparam int unsigned IdxBits = $clog2(N)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic [N-1:0]       req_i,
    output logic               any_o,
    output logic [N-1:0]       one_o,   // at most one bit
    output logic [IdxBits-1:0] idx_o,
    input  logic               take_i   // the choice counts
);
  logic [N-1:0] behind_q;  // those behind the one taken last
  logic [N-1:0] ahead, behind_d;

  // Places behind the first one of a list; log2(N) steps.
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
