// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The SDRAM's model with its data bus in parts.

module sdram_bench (
    input  logic        clk_i,
    input  logic        cke,
    input  logic        csn,
    input  logic        rasn,
    input  logic        casn,
    input  logic        wen,
    input  logic [12:0] a,
    input  logic [1:0]  ba,
    input  logic [1:0]  dqm,
    input  logic        drive,
    input  logic [15:0] data,
    output logic [15:0] dq
);
  wire [15:0] bus;

  assign bus = drive ? data : 16'hzzzz;
  assign dq  = bus;

  sdram_device #(.ClockHz(100_000_000)) u_sdram (.clk(clk_i), .cke, .csn, .rasn, .casn, .wen, .a, .ba, .dqm, .dq(bus));
endmodule
