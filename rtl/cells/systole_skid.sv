// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two-entry stream buffer that cuts every path: all outputs but data_o's multiplexer-free register come from flip-flops.
// Latency one cycle, one word a cycle. Docs: docs/cells.md.
// Test: tests/cells/stream_test.cc. Proof: verif/formal/systole_skid_props.sv.

module systole_skid #(
    parameter int unsigned Width = 8
) (
    input  logic             clk_i,
    input  logic             rst_ni,

    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);
  logic             out_valid_q, spare_valid_q;
  logic [Width-1:0] out_q, spare_q;
  logic             push, stalled;

  // Words leave from out_q; spare_q takes the one that arrives in the cycle in which the reader stops.
  assign ready_o = !spare_valid_q;
  assign valid_o = out_valid_q;
  assign data_o  = out_q;
  assign push    = valid_i && ready_o;
  assign stalled = out_valid_q && !ready_i;

  always_ff @(posedge clk_i) begin
    if (!stalled) out_q <= spare_valid_q ? spare_q : data_i;
    if (push) spare_q <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q   <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (stalled) begin
      spare_valid_q <= spare_valid_q || push;
    end else begin
      out_valid_q   <= spare_valid_q || push;
      spare_valid_q <= 1'b0;
    end
  end

  // The spare word is younger than the output word: it is never held alone.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_order : assert (!spare_valid_q || out_valid_q);
    end
  end
endmodule
