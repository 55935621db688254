// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_credit. If users keep the rules, free and taken credits always add up to Credits, no credit is
// offered unless one is free, and the cell's own assertions hold.

module systole_credit_props #(
    parameter int unsigned Credits = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic want,     // the user takes a credit if one is free
    input logic returns   // the other side returns a credit if it has one
);
  localparam int unsigned CountBits = $clog2(Credits + 1);

  logic                 avail_o, idle_o;
  logic [CountBits-1:0] count_o;
  logic                 take, give;

  logic                 reset_done_q = 1'b0;
  logic [CountBits-1:0] out_q;  // credits that the other side has
  logic                 empty_q;

  assign take = want && avail_o;
  assign give = returns && out_q != '0;

  systole_credit #(
      .Credits(Credits)
  ) u_dut (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .take_i(take),
      .give_i(give),
      .avail_o(avail_o),
      .idle_o(idle_o),
      .count_o(count_o)
  );

  always_ff @(posedge clk_i) begin
    reset_done_q <= 1'b1;
    if (!rst_ni) begin
      out_q   <= '0;
      empty_q <= 1'b0;
    end else begin
      out_q   <= out_q + CountBits'(take) - CountBits'(give);
      empty_q <= empty_q || !avail_o;
    end
  end

  always_comb begin
    assume (reset_done_q || !rst_ni);
    if (reset_done_q) begin
      a_sum : assert (32'(count_o) + 32'(out_q) == Credits);
      if (rst_ni) begin
        a_avail : assert (avail_o == (32'(out_q) < Credits));
        a_idle : assert (idle_o == (out_q == '0));
        c_empty : cover (!avail_o);
        c_refilled : cover (empty_q && idle_o);
        c_both : cover (empty_q && (take && give || Credits == 1));
      end
    end
  end
endmodule
