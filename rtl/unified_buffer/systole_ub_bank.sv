// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A bank of the unified buffer: words of WordBytes with byte enables, one write port and one registered read port. It is built
// from memories of at most 64 bytes a word. A read of a byte that is written in the same cycle returns the old byte in
// simulation and an undefined byte in hardware; no user depends on it. It is a memory of its own beside systole_prim_ram_1r1w,
// whose writes go lane by lane: at a lane for each byte this would take simulations several times as long.
// Docs: docs/unified_buffer.md. Test: tests/rtl/unified_buffer.

module systole_ub_bank #(
    parameter int unsigned WordBytes = 32,
    parameter int unsigned Depth = 64,
    localparam int unsigned RowBits = $clog2(Depth)
) (
    input  logic                   clk_i,

    input  logic [WordBytes-1:0]   we_i,
    input  logic [RowBits-1:0]     waddr_i,
    input  logic [WordBytes*8-1:0] wdata_i,

    input  logic                   re_i,
    input  logic [RowBits-1:0]     raddr_i,
    output logic [WordBytes*8-1:0] rdata_o  // valid one cycle after re_i; holds until the next read
);
  localparam int unsigned Bytes = WordBytes < 64 ? WordBytes : 64;
  typedef logic [Bytes*8-1:0] part_t;

  // Writes the whole part in one assignment: bytes without a write enable get their old value. Synthesis infers byte enables
  // from this. Simulation loops over the bytes only if some of them are not enabled.
  function automatic part_t merge(part_t old, part_t data, logic [Bytes-1:0] we);
    part_t merged;
    merged = data;
    if (we != '1) begin
      for (int unsigned i = 0; i < Bytes; i++) if (!we[i]) merged[i*8+:8] = old[i*8+:8];
    end
    return merged;
  endfunction

  for (genvar g = 0; g < WordBytes / Bytes; g++) begin : gen_part
    (* no_rw_check, ram_style = "auto" *) part_t mem_q [Depth];
    part_t            rdata_q;
    logic [Bytes-1:0] we;

    assign we = we_i[g*Bytes+:Bytes];
    assign rdata_o[g*Bytes*8+:Bytes*8] = rdata_q;

    always_ff @(posedge clk_i) begin
      if (we != '0) mem_q[waddr_i] <= merge(mem_q[waddr_i], wdata_i[g*Bytes*8+:Bytes*8], we);
      if (re_i) rdata_q <= mem_q[raddr_i];
    end
  end
endmodule
