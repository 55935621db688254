// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_link_arbiter (verif/formal/link.py), for all requests and all time. The proof follows one arbitrary
// request, which stays until it is taken. The outputs must never be high:
//   right_o  the pick is not a request, or valid does not say whether there is a request
//   late_o   N other requests are taken while the watched one waits

module systole_link_arbiter_props #(
    parameter int unsigned N = 5,
    localparam int unsigned Bits = $clog2(N)
) (
    input  logic            clk_i,
    input  logic [N-1:0]    request_i,
    input  logic            take_i,
    input  logic [Bits-1:0] watch_i,
    output logic            right_o, late_o
);
  logic            rst_q, waits_q, valid, mine;
  logic [Bits-1:0] watch_q, pick;
  logic [Bits:0]   others_q;
  logic [N-1:0]    request;
  initial {rst_q, waits_q} = '0;

  assign request = request_i | (waits_q ? N'(1) << watch_q : '0);
  assign mine    = request[watch_q];
  systole_link_arbiter #(.N(N)) u_dut (.clk_i, .rst_ni(rst_q), .request_i(request), .take_i, .valid_o(valid), .pick_o(pick));

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b1;
    if (!rst_q) begin
      watch_q  <= 32'(watch_i) < N ? watch_i : '0;
      waits_q  <= 1'b0;
      others_q <= '0;
    end else begin
      waits_q <= mine && !(take_i && pick == watch_q);
      if (!mine || (take_i && pick == watch_q)) others_q <= '0;
      else if (take_i && 32'(others_q) < N) others_q <= others_q + 1'b1;
    end
  end
  assign right_o = rst_q && (valid != (request != '0) || (valid && !request[pick]));
  assign late_o  = rst_q && 32'(others_q) >= N;
endmodule
