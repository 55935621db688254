// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Double-data-rate output in the pad of an ECP5, for simulation. It drives a clock out of the chip.

module ODDRX1F (
    input  logic SCLK,
    input  logic RST,
    input  logic D0,
    input  logic D1,
    output logic Q
);
  assign Q = !RST && (SCLK ? D0 : D1);
endmodule
