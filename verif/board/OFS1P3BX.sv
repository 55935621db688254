// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Output flip-flop in the pad of an ECP5, for simulation.

module OFS1P3BX (
    input  logic SCLK,
    input  logic PD,
    input  logic SP,
    input  logic D,
    output logic Q
);
  always_ff @(posedge SCLK) begin
    if (PD) Q <= 1'b1;
    else if (SP) Q <= D;
  end
endmodule
