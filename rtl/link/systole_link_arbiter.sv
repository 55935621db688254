// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Round robin: of the requests the next one after that which was taken last. A request that stays is taken after at most N - 1 others.
// Combinational from request_i; the place changes with take_i. Docs: docs/link.md. Test: tests/rtl/link. Proof: verif/formal/link.py.

module systole_link_arbiter #(
    parameter int unsigned N = 9,
    localparam int unsigned Bits = $clog2(N)
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic [N-1:0]    request_i,
    input  logic            take_i,
    output logic            valid_o,
    output logic [Bits-1:0] pick_o
);
  logic [N-1:0]    after_q;  // requests after the one that was taken last
  logic [N-1:0]    later, one;

  assign later   = request_i & after_q;
  assign one     = later != '0 ? later & (~later + 1'b1) : request_i & (~request_i + 1'b1);
  assign valid_o = request_i != '0;

  always_comb begin
    pick_o = '0;
    for (int unsigned i = 0; i < N; i++) if (one[i]) pick_o |= Bits'(i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) after_q <= '0;
    else if (take_i && valid_o) after_q <= ~(one | (one - 1'b1));
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) a_one : assert (one == '0 || $onehot(one));
  end
endmodule
