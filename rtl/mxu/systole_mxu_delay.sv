// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Shift register: q_o is d_i delayed by Cycles enabled cycles; Cycles = 0 is a wire. Holds while enable_i is low.
// Docs: docs/mxu.md. Test: tests/rtl/mxu.

module systole_mxu_delay #(
    parameter int unsigned Width = 32,
    parameter int unsigned Cycles = 1
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic             clk_i,
    input  logic             enable_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  if (Cycles == 0) begin : gen_wire
    assign q_o = d_i;
  end else if (Cycles == 1) begin : gen_register
    always_ff @(posedge clk_i) if (enable_i) q_o <= d_i;
  end else begin : gen_line
    logic [Cycles*Width-1:0] line_q;  // the newest element is in the lowest bits
    always_ff @(posedge clk_i) if (enable_i) line_q <= {line_q[(Cycles-1)*Width-1:0], d_i};
    assign q_o = line_q[(Cycles-1)*Width+:Width];
  end
endmodule
