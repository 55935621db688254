// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The two crossings of a chip, joined as in systole_chip; the test bench is their clients and memories.

module crossing_bench
  import systole_presets_pkg::AddrBits;
  import systole_isa_pkg::PeerFlags;
  import systole_bus_pkg::*;
#(
    parameter int unsigned MemBits = 9,
    localparam int unsigned D = 8,
    localparam int unsigned Rds = 3,
    localparam int unsigned Wrs = 2
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic [Rds-1:0]       rd_valid_i [2],
    output logic [Rds-1:0]       rd_ready_o [2],
    input  logic [AddrBits-1:0]  rd_addr_i [2][Rds],
    output logic [Rds-1:0]       rd_rsp_valid_o [2],
    output logic [Rds-1:0]       rd_rsp_far_o [2],
    output logic [D*8-1:0]       far_rd_data_o [2],
    input  logic [Wrs-1:0]       wr_valid_i [2],
    output logic [Wrs-1:0]       wr_ready_o [2],
    input  logic [AddrBits-1:0]  wr_addr_i [2][Wrs],
    input  logic [D*8-1:0]       wr_data_i [2][Wrs],
    input  logic [D-1:0]         wr_mask_i [2][Wrs],
    output logic                 outstanding_o [2],
    output logic                 crossing_o [2],

    // Memories: the clients of the core, and bit or entry Rds, Wrs the other one's.
    output logic [Rds:0]         mem_rd_valid_o [2],
    input  logic [Rds:0]         mem_rd_ready_i [2],
    output logic [AddrBits-1:0]  mem_far_rd_addr_o [2],
    input  logic [Rds:0]         mem_rd_rsp_valid_i [2],
    input  logic [D*8-1:0]       mem_rd_data_i [2],
    output logic [Wrs:0]         mem_wr_valid_o [2],
    input  logic [Wrs:0]         mem_wr_ready_i [2],
    output logic [AddrBits-1:0]  mem_far_wr_addr_o [2],
    output logic [D*8-1:0]       mem_far_wr_data_o [2],
    output logic [D-1:0]         mem_far_wr_mask_o [2],

    input  logic [PeerFlags-1:0] posted_i [2],
    output logic [PeerFlags-1:0] post_take_o [2],
    output logic [PeerFlags-1:0] post_o [2]
);
  for (genvar c = 0; c < 2; c++) begin : gen_core
    localparam int unsigned Other = 1 - c;
    logic [Rds-1:0][AddrBits-1:0] rd_addr;
    logic [Wrs-1:0][AddrBits-1:0] wr_addr;
    logic [Wrs-1:0][D*8-1:0]      wr_data;
    logic [Wrs-1:0][D-1:0]        wr_mask;
    client_req_t                  far_req;
    client_rsp_t                  far_rsp;

    for (genvar r = 0; r < Rds; r++) begin : gen_rd
      assign rd_addr[r] = rd_addr_i[c][r];
    end
    for (genvar w = 0; w < Wrs; w++) begin : gen_wr
      assign wr_addr[w] = wr_addr_i[c][w];
      assign wr_data[w] = wr_data_i[c][w];
      assign wr_mask[w] = wr_mask_i[c][w];
    end
    assign far_rsp = '{
        rd_ready: mem_rd_ready_i[Other][Rds], rd_rsp_valid: mem_rd_rsp_valid_i[Other][Rds],
        wr_ready: mem_wr_ready_i[Other][Wrs]};
    assign mem_rd_valid_o[Other][Rds] = far_req.rd_valid;
    assign mem_wr_valid_o[Other][Wrs] = far_req.wr_valid;
    assign mem_far_rd_addr_o[Other]   = far_req.rd_addr;
    assign mem_far_wr_addr_o[Other]   = far_req.wr_addr;

    systole_crossing #(.D(D), .MemBits(MemBits), .Rds(Rds), .Wrs(Wrs), .Reads({8'd3, 8'd8, 8'd64}), .Writes({8'd5, 8'd64})) u_crossing (
        .clk_i, .rst_ni,
        .rd_valid_i(rd_valid_i[c]), .rd_ready_o(rd_ready_o[c]), .rd_addr_i(rd_addr), .rd_rsp_valid_o(rd_rsp_valid_o[c]),
        .rd_rsp_far_o(rd_rsp_far_o[c]), .far_rd_data_o(far_rd_data_o[c]),
        .wr_valid_i(wr_valid_i[c]), .wr_ready_o(wr_ready_o[c]), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
        .outstanding_o(outstanding_o[c]), .crossing_o(crossing_o[c]),
        .own_rd_valid_o(mem_rd_valid_o[c][Rds-1:0]), .own_rd_ready_i(mem_rd_ready_i[c][Rds-1:0]),
        .own_rd_rsp_valid_i(mem_rd_rsp_valid_i[c][Rds-1:0]),
        .own_wr_valid_o(mem_wr_valid_o[c][Wrs-1:0]), .own_wr_ready_i(mem_wr_ready_i[c][Wrs-1:0]),
        .far_req_o(far_req), .far_wr_data_o(mem_far_wr_data_o[Other]), .far_wr_mask_o(mem_far_wr_mask_o[Other]),
        .far_rsp_i(far_rsp), .far_rd_data_i(mem_rd_data_i[Other]),
        .posted_i(posted_i[c]), .post_take_o(post_take_o[c]), .post_o(post_o[Other])
    );
  end
endmodule
