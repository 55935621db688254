// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// First-word fall-through FIFO of any depth >= 1. One write and one read a cycle, also when full at Depth >= 2
// (a full FIFO does not look at ready_i, so that no path runs from ready_i to ready_o). Latency: one cycle.
// Docs: docs/cells.md. Test: tests/cells/stream_test.cc. Proof: verif/formal/systole_fifo_props.sv.

module systole_fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 4,
    localparam int unsigned CountBits = $clog2(Depth + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic                 valid_i,
    output logic                 ready_o,
    input  logic [Width-1:0]     data_i,

    output logic                 valid_o,
    input  logic                 ready_i,
    output logic [Width-1:0]     data_o,

    output logic [CountBits-1:0] count_o  // words held
);
  localparam int unsigned PtrBits = Depth > 1 ? $clog2(Depth) : 1;
  localparam logic [PtrBits-1:0] LastPtr = PtrBits'(Depth - 1);
  localparam logic [CountBits-1:0] Full = CountBits'(Depth);

  logic [PtrBits-1:0]   wr_ptr_q, rd_ptr_q;
  logic [CountBits-1:0] count_q;
  logic                 push, pop;

  assign ready_o = count_q != Full;
  assign valid_o = count_q != '0;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign count_o = count_q;

  systole_prim_ram_async #(.Width(Width), .Depth(Depth)) u_mem (
      .clk_i, .we_i(push), .waddr_i(wr_ptr_q), .wdata_i(data_i), .raddr_i(rd_ptr_q), .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      count_q  <= '0;
    end else begin
      if (push) wr_ptr_q <= wr_ptr_q == LastPtr ? '0 : wr_ptr_q + 1'b1;
      if (pop) rd_ptr_q <= rd_ptr_q == LastPtr ? '0 : rd_ptr_q + 1'b1;
      if (push && !pop) count_q <= count_q + 1'b1;
      if (pop && !push) count_q <= count_q - 1'b1;
    end
  end

  // The pointers stay inside the memory and the count within the depth.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_count : assert (32'(count_q) <= Depth);
      a_wr_ptr : assert (32'(wr_ptr_q) < Depth);
      a_rd_ptr : assert (32'(rd_ptr_q) < Depth);
    end
  end
endmodule
