// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// In the place of systole_network: shows at its lanes what comes from the nodes (lanes_i says which core's and which part), and answers
// each of them with bytes that tell the core and the part.

module systole_network
  import systole_link_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned LinkBytes = 4,
    parameter int unsigned FlitBytes = 16,
    localparam int unsigned Cores = 2,
    localparam int unsigned FlitBits = 8 * FlitBytes,
    localparam int unsigned LaneBits = 8 * LinkBytes / Lanes,
    localparam int unsigned Links = Ports - 1
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    input  net_req_t                                  net_req_i [Cores],
    input  logic [FlitBits-1:0]                       net_send_data_i [Cores],
    output net_rsp_t                                  net_rsp_o [Cores],
    output logic [FlitBits-1:0]                       net_recv_data_o,
    output logic [FlitBytes-1:0]                      net_recv_mask_o,
    output logic [Links-1:0][Lanes-1:0][LaneBits+1:0] lanes_o,
    input  logic [Links-1:0][Lanes-1:0][LaneBits+1:0] lanes_i
);
  logic core, data;
  assign {data, core}    = lanes_i[0][0][1:0];
  assign lanes_o         = $bits(lanes_o)'(data ? (FlitBits + 128)'(net_send_data_i[core]) : (FlitBits + 128)'(net_req_i[core]));
  assign net_rsp_o[0]    = $bits(net_rsp_t)'({32{8'h60}});
  assign net_rsp_o[1]    = $bits(net_rsp_t)'({32{8'h61}});
  assign net_recv_data_o = {FlitBytes{8'h72}};
  assign net_recv_mask_o = {FlitBytes / 8{8'h82}};
endmodule
