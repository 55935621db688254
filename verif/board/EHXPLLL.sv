// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// PLL of an ECP5, for simulation of a netlist, with the settings that ecppll gives for boards. As in systole_pll, the
// output clock is the input clock, and the SDRAM's clock is half a period later (on the board: a quarter). The netlist
// instantiates the PLL without its settings.

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
