// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stub of the sending lanes for the proof of the link (verif/formal/link.py). A flit is sent in one cycle.

module systole_link_lanes_tx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned LaneBits = 32
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic                             quiet_i,
    input  logic                             train_i,
    input  info_t                            info_i,
    input  logic [Lanes-1:0]                 use_i,
    output logic                             set_o,
    input  logic                             valid_i,
    output logic                             ready_o,
    input  logic                             first_i,
    input  logic [FlitBits-1:0]              data_i,
    output logic [Lanes-1:0][LaneBits+1:0]   lanes_o
);
  tag_e tag_q;
  logic [FlitBits-1:0] data_q;
  assign ready_o = 1'b1;
  assign set_o   = 1'b0;
  always_ff @(posedge clk_i) begin
    tag_q  <= !rst_ni || !valid_i || quiet_i ? TagQuiet : first_i ? TagStart : TagData;
    data_q <= data_i;
  end
  always_comb for (int unsigned l = 0; l < Lanes; l++) lanes_o[l] = {tag_q, data_q[l*LaneBits+:LaneBits]};
endmodule
