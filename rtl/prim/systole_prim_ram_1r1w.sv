// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Memory with one write port and one read port on one clock. Read data come one cycle after re_i and hold until the next read.
// A read of the word that is written in the same cycle returns the old data. With AnyOnCollision, the data of such a read are
// undefined (unknown in simulation), and no bypass is built. The memory is a plain vector, so that tools infer a block RAM.
// LaneBits is the width of a write lane; we_i has one bit per lane. LaneBits = Width makes one lane. The contents are unknown
// until they are written; with Zero, which goes with AnyOnCollision, they are 0 at power-on. No reset changes them.
// Docs: docs/cells.md. Test: tests/cells/small_cells_test.cc.

module systole_prim_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 64,
    parameter int unsigned LaneBits = Width,
    parameter bit          AnyOnCollision = 1'b0,
    parameter bit          Zero = 1'b0,
    parameter string       Style = "auto",      // or "block", "distributed": kind of memory that tools infer
    localparam int unsigned AddrBits = Depth > 1 ? $clog2(Depth) : 1,
    localparam int unsigned Lanes = Width / LaneBits
) (
    input  logic                clk_i,

    input  logic [Lanes-1:0]    we_i,
    input  logic [AddrBits-1:0] waddr_i,
    input  logic [Width-1:0]    wdata_i,

    input  logic                re_i,
    input  logic [AddrBits-1:0] raddr_i,
    output logic [Width-1:0]    rdata_o
);
  logic [Width-1:0] rdata_q;

  assign rdata_o = rdata_q;

  // Only a declaration may give a variable of an always_ff its first value (IEEE 1800), so there is one of each kind of memory.
  if (Zero) begin : gen_zero
    (* no_rw_check, ram_style = Style *) logic [Width-1:0] mem_q [Depth] = '{default: '0};
    always_ff @(posedge clk_i) begin
      if (Lanes == 1) begin
        if (we_i[0]) mem_q[waddr_i] <= wdata_i;
      end else begin
        for (int unsigned i = 0; i < Lanes; i++) begin
          if (we_i[i]) mem_q[waddr_i][i*LaneBits+:LaneBits] <= wdata_i[i*LaneBits+:LaneBits];
        end
      end
      if (re_i) rdata_q <= mem_q[raddr_i];
`ifndef SYNTHESIS
      if (re_i && we_i != '0 && raddr_i == waddr_i) rdata_q <= 'x;  // as below
`endif  // SYNTHESIS
    end
  end else if (AnyOnCollision) begin : gen_any
    (* no_rw_check, ram_style = Style *) logic [Width-1:0] mem_q [Depth];
    always_ff @(posedge clk_i) begin
      if (Lanes == 1) begin
        if (we_i[0]) mem_q[waddr_i] <= wdata_i;
      end else begin
        for (int unsigned i = 0; i < Lanes; i++) begin
          if (we_i[i]) mem_q[waddr_i][i*LaneBits+:LaneBits] <= wdata_i[i*LaneBits+:LaneBits];
        end
      end
      if (re_i) rdata_q <= mem_q[raddr_i];
`ifndef SYNTHESIS
      // The data are unknown. Builds that randomise unknown values make them differ from the old data, so a user that depends
      // on them fails.
      if (re_i && we_i != '0 && raddr_i == waddr_i) rdata_q <= 'x;
`endif  // SYNTHESIS
    end
  end else begin : gen_old
    (* ram_style = Style *) logic [Width-1:0] mem_q [Depth];
    always_ff @(posedge clk_i) begin
      if (Lanes == 1) begin
        if (we_i[0]) mem_q[waddr_i] <= wdata_i;
      end else begin
        for (int unsigned i = 0; i < Lanes; i++) begin
          if (we_i[i]) mem_q[waddr_i][i*LaneBits+:LaneBits] <= wdata_i[i*LaneBits+:LaneBits];
        end
      end
      if (re_i) rdata_q <= mem_q[raddr_i];
    end
  end

  // Checks: the lanes fill the word; contents of 0 go with any data on collision.
  always_ff @(posedge clk_i) begin
    a_lanes : assert (Lanes * LaneBits == Width);
    a_zero  : assert (!Zero || AnyOnCollision);
  end
endmodule
