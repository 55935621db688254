// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Memory with one write port on the clock and Reads asynchronous read ports, for small memories: LUT RAM in an FPGA, with a copy
// for each read port. Latency of a read: none, rdata_o follows raddr_i. A word that is written can be read from the next cycle
// on; until then a read of it returns the old data. A read beyond Depth returns unknown data. Nothing resets the contents,
// which are unknown until they are written. Read port i has bits i*AddrBits+:AddrBits of raddr_i and i*Width+:Width of rdata_o.
// Docs: docs/cells.md. Test: tests/cells/small_cells_test.cc.

module systole_prim_ram_async #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    parameter int unsigned Reads = 1,
    parameter              Style = "auto",  // or "distributed": mappers may not choose registers. Yosys reads no type `string`
    localparam int unsigned AddrBits = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic                      clk_i,

    input  logic                      we_i,
    input  logic [AddrBits-1:0]       waddr_i,
    input  logic [Width-1:0]          wdata_i,

    input  logic [Reads*AddrBits-1:0] raddr_i,
    output logic [Reads*Width-1:0]    rdata_o
);
  (* ram_style = Style *) logic [Width-1:0] mem_q [Depth];

  for (genvar i = 0; i < Reads; i++) begin : gen_read
    assign rdata_o[i*Width+:Width] = mem_q[raddr_i[i*AddrBits+:AddrBits]];
  end

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[waddr_i] <= wdata_i;
  end
endmodule
