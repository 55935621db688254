// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where a router sends a packet: along X by the shorter way, then along Y, then to the local port. Where both ways are as long, the
// packet's tie decides. On a ring a packet begins on virtual channel 0 and goes over to 1 with the link between the last place and place
// 0 (the dateline); so the channels of a ring depend on each other in no cycle. Combinational. Docs: docs/link.md.
// Test: tests/rtl/link/route_test.cc, which looks at every ring of up to 8 places.

module systole_link_route
  import systole_link_pkg::*;
(
    input  logic [CoordinateBits-1:0] x_i,       // this router
    input  logic [CoordinateBits-1:0] y_i,
    input  logic [CoordinateBits:0]   columns_i,  // of the torus, 1 to 32
    input  logic [CoordinateBits:0]   rows_i,
    input  logic [2:0]                from_i,    // the port that the packet came in by: 0 local, 1 X+, 2 X-, 3 Y+, 4 Y-
    input  logic                      vc_i,
    input  logic [CoordinateBits-1:0] dst_x_i,
    input  logic [CoordinateBits-1:0] dst_y_i,
    input  logic                      tie_i,
    output logic [2:0]                port_o,    // that it leaves by
    output logic                      vc_o
);
  typedef logic [CoordinateBits:0] place_t;

  // The negative way around a ring is the shorter one from a to b.
  function automatic logic backward(place_t a, place_t b, place_t ring, logic tie);
    automatic place_t ahead = b >= a ? b - a : b + ring - a;
    automatic logic [CoordinateBits+1:0] twice = {ahead, 1'b0};
    return twice == {1'b0, ring} ? tie : twice > {1'b0, ring};
  endfunction

  logic   along_x, along_y, back, wraps, turn;
  place_t here, places;

  assign along_x = dst_x_i != x_i;
  assign along_y = dst_y_i != y_i;
  assign here    = {1'b0, along_x ? x_i : y_i};
  assign places  = along_x ? columns_i : rows_i;
  assign back    = backward(here, {1'b0, along_x ? dst_x_i : dst_y_i}, places, tie_i);
  assign wraps   = back ? here == '0 : here == places - 1'b1;
  // A packet that comes from the local port or from the other dimension begins on a ring.
  assign turn    = along_x ? from_i != 3'd1 && from_i != 3'd2 : from_i != 3'd3 && from_i != 3'd4;
  assign port_o  = along_x ? (back ? 3'd2 : 3'd1) : along_y ? (back ? 3'd4 : 3'd3) : 3'd0;
  assign vc_o    = (along_x || along_y) && (wraps || (!turn && vc_i));
endmodule
