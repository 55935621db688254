// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Credit counter: Credits at reset; take_i uses one (only while avail_o), give_i returns one. Both may happen in one cycle.
// A returned credit can be used from the next cycle. Docs: docs/cells.md.
// Test: tests/cells/small_cells_test.cc. Proof: verif/formal/systole_credit_props.sv.

module systole_credit #(
    parameter int unsigned Credits = 4,
    localparam int unsigned CountBits = $clog2(Credits + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic                 take_i,
    input  logic                 give_i,

    output logic                 avail_o,  // a credit is left
    output logic                 idle_o,   // all credits are back
    output logic [CountBits-1:0] count_o   // credits left
);
  logic [CountBits-1:0] count_q;

  assign avail_o = count_q != '0;
  assign idle_o  = count_q == CountBits'(Credits);
  assign count_o = count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= CountBits'(Credits);
    end else begin
      if (take_i && !give_i) count_q <= count_q - 1'b1;
      if (give_i && !take_i) count_q <= count_q + 1'b1;
    end
  end

  // Nothing is taken that is not there, and nothing is returned that was not taken.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_underflow : assert (!take_i || avail_o);
      a_overflow : assert (!give_i || !idle_o);
      a_range : assert (32'(count_q) <= Credits);
    end
  end
endmodule
