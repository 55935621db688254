// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_network with its bundles as ports, those of the second core in the upper half.

module network_bench
  import systole_link_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned LinkBytes = 4,
    parameter int unsigned FlitBytes = 16,
    localparam int unsigned Cores = 2,
    localparam int unsigned FlitBits = 8 * FlitBytes,
    localparam int unsigned Links = Ports - 1,
    localparam int unsigned LinkBits = Lanes * (8 * LinkBytes / Lanes + 2)
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic [Cores-1:0]               send_valid_i,
    output logic [Cores-1:0]               send_ready_o,
    input  logic [Cores*$bits(send_t)-1:0] send_head_i,
    input  logic [Cores-1:0]               send_last_i,
    input  logic [Cores*FlitBits-1:0]      send_data_i,
    output logic [Cores-1:0]               recv_valid_o,
    input  logic [Cores-1:0]               recv_ready_i,
    output logic [HeadBits-1:0]            recv_head_o,
    output logic                           recv_last_o,
    output logic [FlitBits-1:0]            recv_data_o,
    output logic [FlitBytes-1:0]           recv_mask_o,
    output logic [Cores-1:0]               core_o,
    output logic [4:0]                     x_o,
    output logic [4:0]                     y_o,
    output logic [5:0]                     columns_o,
    output logic [5:0]                     rows_o,
    output logic [Cores-1:0]               down_o,
    output logic [1:0]                     down_link_o,
    output logic                           clear_o,
    output logic                           equal_o,  // what both cores see is the same
    input  logic [Cores-1:0]               reg_valid_i,
    input  logic                           reg_write_i,
    input  logic [2:0]                     reg_index_i,
    input  logic [31:0]                    reg_data_i,
    output logic [Cores-1:0]               ack_o,
    output logic [Cores-1:0][31:0]         reg_data_o,
    output logic [Links*LinkBits-1:0]      lanes_o,
    input  logic [Links*LinkBits-1:0]      lanes_i
);
  net_req_t            req [Cores];
  net_rsp_t            rsp [Cores];
  logic [FlitBits-1:0] data [Cores];
  for (genvar c = 0; c < Cores; c++) begin : gen_core
    assign req[c] = '{
        send_valid: send_valid_i[c], send_head: send_t'(send_head_i[c*$bits(send_t)+:$bits(send_t)]), send_last: send_last_i[c],
        recv_ready: recv_ready_i[c],
        registers: '{valid: reg_valid_i[c], write: reg_write_i, index: reg_index_i, data: reg_data_i}};
    assign data[c]         = send_data_i[c*FlitBits+:FlitBits];
    assign send_ready_o[c] = rsp[c].send_ready;
    assign recv_valid_o[c] = rsp[c].recv_valid;
    assign core_o[c]       = rsp[c].core;
    assign down_o[c]       = rsp[c].down;
    assign ack_o[c]        = rsp[c].ack;
    assign reg_data_o[c]   = rsp[c].data;
  end
  assign recv_head_o = rsp[0].recv_head;
  assign recv_last_o = rsp[0].recv_last;
  assign {x_o, y_o, columns_o, rows_o} = rsp[0].torus;
  assign down_link_o = rsp[0].down_link;
  assign clear_o     = rsp[0].clear;
  assign equal_o     = {rsp[0].recv_head, rsp[0].recv_last, rsp[0].torus, rsp[0].down_link, rsp[0].clear} ==
                       {rsp[1].recv_head, rsp[1].recv_last, rsp[1].torus, rsp[1].down_link, rsp[1].clear};

  systole_network #(.LinkBytes(LinkBytes), .FlitBytes(FlitBytes)) u_dut (
      .clk_i, .rst_ni, .net_req_i(req), .net_send_data_i(data), .net_rsp_o(rsp), .net_recv_data_o(recv_data_o),
      .net_recv_mask_o(recv_mask_o), .lanes_o, .lanes_i
  );
endmodule
