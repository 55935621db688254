// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Receive buffer of one virtual channel. A packet's flits are written as they arrive; the packet can be read from the cycle after its
// last flit on, if that was committed, and else its place is used again. limit_o, the flits that the other end may have sent since the
// start, is what was read plus the buffer's size: credits are totals, so that none is lost or doubled with the packet that told it.
// Throughput: a flit a cycle in and out. Latency: two cycles from the committed flit to valid_o. Docs: docs/link.md.
// Test: tests/rtl/link. Proof: verif/formal/link.py.

module systole_link_buffer
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned Depth = 128      // flits, a power of two
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,

    input  logic                  push_i,
    input  logic                  first_i,   // begins where the last committed packet ended
    input  logic                  last_i,
    input  logic                  commit_i,  // with last_i: the packet is right
    input  logic [FlitBits-1:0]   data_i,
    output logic [CreditBits-1:0] limit_o,

    output logic                  valid_o,
    input  logic                  ready_i,
    output logic                  last_o,
    output logic [FlitBits-1:0]   data_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  typedef logic [PtrBits:0] ptr_t;

  ptr_t                  write_q, commit_q, read_q, place;
  logic                  over_q, over, full, read, valid_q;
  logic [CreditBits-1:0] limit_q;

  // A flit that has no place is of no packet that will be committed: senders keep to their credits.
  assign place = first_i ? commit_q : write_q;
  assign full  = place - read_q == ptr_t'(Depth);
  assign over  = full || (over_q && !first_i);
  assign read  = commit_q != read_q && (!valid_q || ready_i);

  systole_prim_ram_1r1w #(.Width(FlitBits + 1), .Depth(Depth), .AnyOnCollision(1'b1)) u_ram (
      .clk_i, .we_i(push_i && !over), .waddr_i(place[PtrBits-1:0]), .wdata_i({last_i, data_i}), .re_i(read),
      .raddr_i(read_q[PtrBits-1:0]), .rdata_o({last_o, data_o})
  );

  assign valid_o = valid_q;
  assign limit_o = limit_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q  <= '0;
      commit_q <= '0;
      read_q   <= '0;
      over_q   <= 1'b0;
      valid_q  <= 1'b0;
      limit_q  <= CreditBits'(Depth);
    end else begin
      if (push_i) begin
        write_q <= place + 1'b1;
        over_q  <= over;
      end
      if (push_i && last_i && commit_i) commit_q <= place + 1'b1;
      if (read) begin
        read_q  <= read_q + 1'b1;
        limit_q <= limit_q + 1'b1;
        valid_q <= 1'b1;
      end else if (ready_i) begin
        valid_q <= 1'b0;
      end
    end
  end

  // A packet that is right had credits for all its flits.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_credits : assert (!(push_i && last_i && commit_i) || !over);
      a_depth : assert (32'(ptr_t'(commit_q - read_q)) <= Depth);
    end
  end
endmodule
