// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads of the HBM front end: a sticky round robin among the clients and, before them, the reads of systole_hbm_partial. While
// that holds writes or reads itself, no client's read is accepted. Accepted reads leave through a register (a skid buffer), in
// order, one a cycle. Latency: one cycle. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_read_port
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned NumRd = 4,
    parameter int unsigned AddrBits = 36,
    parameter int unsigned BeatShift = 5,  // log2 of the bytes of a beat
    parameter logic [NumRd-1:0][7:0] Burst = {NumRd{8'd64}}
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,

    // Clients.
    input  logic [NumRd-1:0]               valid_i,
    output logic [NumRd-1:0]               ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [NumRd-1:0][AddrBits-1:0] addr_i,  // byte address; bits inside the beat and beyond the capacity are ignored
    // verilator lint_on UNUSEDSIGNAL
    input  logic [NumRd-1:0]               hold_i,  // clients that a test stalls

    // systole_hbm_partial.
    input  logic                           partial_busy_i,
    input  logic                           partial_valid_i,
    output logic                           partial_ready_o,
    input  beat_t                          partial_beat_i,

    // Accepted reads.
    output logic                           valid_o,
    input  logic                           ready_i,
    output read_t                          read_o
);
  localparam int unsigned IdxBits = NumRd > 1 ? $clog2(NumRd) : 1;
  localparam int unsigned RdBits = $clog2(NumRd + 1);  // of a client's number that is ever set
  localparam logic [RdBits-1:0] Partial = RdBits'(NumRd);

  logic [NumRd-1:0]   request;
  logic               any, room;
  logic [IdxBits-1:0] idx;
  logic [RdBits-1:0]  client;

  assign request = partial_busy_i || partial_valid_i ? '0 : valid_i & ~hold_i;

  systole_hbm_arb #(.N(NumRd), .Burst(Burst)) u_arb (
      .clk_i, .rst_ni, .req_i(request), .any_o(any), .idx_o(idx), .accept_i(any && room)
  );

  systole_skid #(.Width(RdBits + BeatBits)) u_accepted (
      .clk_i, .rst_ni,
      .valid_i(any || partial_valid_i), .ready_o(room),
      .data_i(partial_valid_i ? {Partial, partial_beat_i} : {RdBits'(idx), addr_i[idx][BeatShift+:BeatBits]}),
      .valid_o, .ready_i, .data_o({client, read_o.beat})
  );
  assign read_o.client   = client_t'(client);
  assign partial_ready_o = room;

  always_comb begin
    ready_o      = '0;
    ready_o[idx] = any && room;
  end

  // Checks: the number of clients fits; clients hold a request until it is accepted.
  initial a_clients : assert (NumRd < 1 << ClientBits);
  logic [NumRd-1:0]               held_q, dropped;
  logic [NumRd-1:0][AddrBits-1:0] addr_q;
  always_comb begin
    for (int unsigned i = 0; i < NumRd; i++) dropped[i] = held_q[i] && !(valid_i[i] && addr_i[i] == addr_q[i]);
  end
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni ? valid_i & ~ready_o : '0;
    addr_q <= addr_i;
    if (rst_ni) a_hold : assert (dropped == '0);
  end
endmodule
