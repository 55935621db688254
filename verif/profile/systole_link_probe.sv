// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The counters of a chip's links, for systole profile. It is bound into systole_network for simulation, and the test bench
// reads counts_q. While the test bench sets `sampling`, counts_q are the counters of the previous cycle; otherwise nothing
// is copied. Docs: docs/profile.md. Test: tests/profile.

module systole_link_probe #(
    parameter int unsigned Links = 4,
    parameter int unsigned Counters = 9
) (
    input logic                                 clk_i,
    input logic [Links-1:0][Counters-1:0][31:0] count_i
);
  logic                                 sampling  /* verilator public_flat_rw */ = 1'b0;
  logic [Links-1:0][Counters-1:0][31:0] counts_q  /* verilator public_flat_rd */;

  always_ff @(posedge clk_i) if (sampling) counts_q <= count_i;
endmodule

bind systole_network systole_link_probe #(.Links(Links), .Counters(Counters)) u_profile (.clk_i, .count_i(count_q));
