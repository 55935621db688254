// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// PLL of an ECP5 as ecppll sets it for boards, for simulation of a netlist: the input is the clock, and the SDRAM's is half a period later (the
// board's: a quarter), as in systole_pll. Its settings mean nothing here.

module EHXPLLL #(
    parameter PLLRST_ENA = "", INTFB_WAKE = "", STDBY_ENABLE = "", DPHASE_SOURCE = "", FEEDBK_PATH = "",
    parameter OUTDIVIDER_MUXA = "", OUTDIVIDER_MUXB = "", OUTDIVIDER_MUXC = "", OUTDIVIDER_MUXD = "",
    parameter CLKOP_ENABLE = "", CLKOS_ENABLE = "",
    parameter int CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 1, CLKOP_CPHASE = 0, CLKOP_FPHASE = 0,
    parameter int CLKOS_DIV = 1, CLKOS_CPHASE = 0, CLKOS_FPHASE = 0
) (
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
