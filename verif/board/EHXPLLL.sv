// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// PLL of an ECP5 as ecppll sets it for boards, for simulation of a netlist: the input is the clock, and the SDRAM's is half a period later (the
// board's: a quarter), as in systole_pll. A netlist has it without its settings.

module EHXPLLL (
    input  logic RST,
    input  logic STDBY,
    input  logic CLKI,
    input  logic CLKFB,
    input  logic PHASESEL0,
    input  logic PHASESEL1,
    input  logic PHASEDIR,
    input  logic PHASESTEP,
    input  logic PHASELOADREG,
    input  logic PLLWAKESYNC,
    input  logic ENCLKOP,
    output logic CLKINTFB,
    output logic CLKOP,
    output logic CLKOS,
    output logic LOCK
);
  assign CLKOP    = CLKI;
  assign CLKOS    = !CLKI;
  assign CLKINTFB = CLKI;
  assign LOCK     = !RST;
endmodule
