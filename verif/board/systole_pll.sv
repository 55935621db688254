// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The board's clocks, for simulation: the output clock is the input clock, and the SDRAM's clock is half a period later (on the
// board a quarter).

module systole_pll (
    input  logic clkin,
    output logic clkout0,
    output logic clkout1,
    output logic locked
);
  assign clkout0 = clkin;
  assign clkout1 = !clkin;
  assign locked  = 1'b1;
endmodule
