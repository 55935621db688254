// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A bank of the unified buffer: words of WordBytes with byte enables, one write and one registered read port, cut into
// memories of eight bytes. A read of the word written in the same cycle returns the old bytes.
// Docs: docs/unified_buffer.md. Test: tests/rtl/unified_buffer.

module systole_ub_bank #(
    parameter int unsigned WordBytes = 32,
    parameter int unsigned Depth = 64,
    parameter int unsigned RowBits = $clog2(Depth)  // derived, do not set
) (
    input  logic                   clk_i,

    input  logic [WordBytes-1:0]   we_i,
    input  logic [RowBits-1:0]     waddr_i,
    input  logic [WordBytes*8-1:0] wdata_i,

    input  logic                   re_i,
    input  logic [RowBits-1:0]     raddr_i,
    output logic [WordBytes*8-1:0] rdata_o  // the cycle after re_i, held until the next
);
  for (genvar g = 0; g < WordBytes / 8; g++) begin : gen_group
    logic [63:0] mem_q [Depth];
    logic [63:0] rdata_q;
    logic [7:0]  we;

    assign we = we_i[g*8+:8];
    assign rdata_o[g*64+:64] = rdata_q;

    always_ff @(posedge clk_i) begin
      if (|we) begin
        for (int unsigned i = 0; i < 8; i++) begin
          if (we[i]) mem_q[waddr_i][i*8+:8] <= wdata_i[g*64+i*8+:8];
        end
      end
      if (re_i) rdata_q <= mem_q[raddr_i];
    end
  end
endmodule
