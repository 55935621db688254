// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// FIFO on a block RAM for data that cannot be stalled: the writer holds credits. Throughput: one word per cycle in and
// out. Latency: two cycles. It holds Depth + 1 words; the last one is in the RAM's output register.
// Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_buffer #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 128  // a power of two
) (
    input  logic             clk_i,
    input  logic             rst_ni,

    input  logic             push_i,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);
  localparam int unsigned PtrBits = $clog2(Depth);

  logic [PtrBits:0] wr_ptr_q, rd_ptr_q;
  logic             out_valid_q, read;

  assign read    = wr_ptr_q != rd_ptr_q && (!out_valid_q || ready_i);
  assign valid_o = out_valid_q;

  systole_prim_ram_1r1w #(.Width(Width), .Depth(Depth), .AnyOnCollision(1'b1)) u_ram (
      .clk_i, .we_i(push_i), .waddr_i(wr_ptr_q[PtrBits-1:0]), .wdata_i(data_i), .re_i(read),
      .raddr_i(rd_ptr_q[PtrBits-1:0]), .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q    <= '0;
      rd_ptr_q    <= '0;
      out_valid_q <= 1'b0;
    end else begin
      if (push_i) wr_ptr_q <= wr_ptr_q + 1'b1;
      if (read) rd_ptr_q <= rd_ptr_q + 1'b1;
      if (read) out_valid_q <= 1'b1;
      else if (ready_i) out_valid_q <= 1'b0;
    end
  end

  // Check: the writer keeps to its credits.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_overflow : assert (!push_i || wr_ptr_q - rd_ptr_q != (PtrBits + 1)'(Depth));
    end
  end
endmodule
