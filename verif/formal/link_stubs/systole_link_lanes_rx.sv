// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stub of the receiving lanes for the proof of the link (verif/formal/link.py). A flit arrives in one cycle. The tag of
// the last lane says that the lanes are in training.

module systole_link_lanes_rx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned LaneBits = 32
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic                             clear_i,
    input  logic                             listen_i,
    input  logic [Lanes-1:0]                 use_i,
    output logic [Lanes-1:0]                 good_o,
    output logic [Lanes-1:0]                 some_o,
    output info_t                            info_o,
    output info_t                            any_o,
    output logic                             data_o,
    output logic                             lost_o,
    output logic                             valid_o,
    output logic                             first_o,
    output logic                             error_o,
    output logic [FlitBits-1:0]              flit_o,
    input  logic [Lanes-1:0][LaneBits+1:0]   lanes_i
);
  assign {good_o, some_o, info_o, any_o, lost_o, error_o} = '0;
  assign data_o  = tag_e'(lanes_i[Lanes-1][LaneBits+:2]) != TagTrain;
  assign valid_o = data_o && tag_e'(lanes_i[0][LaneBits+:2]) != TagQuiet;
  assign first_o = tag_e'(lanes_i[0][LaneBits+:2]) == TagStart;
  always_comb for (int unsigned l = 0; l < Lanes; l++) flit_o[l*LaneBits+:LaneBits] = lanes_i[l][LaneBits-1:0];
endmodule
