// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Order of the responses: that of acceptance. A FIFO holds the client and the group of each accepted read, and a register its head.
// When the group has the beat, it leaves, and one cycle later the response is there, for a client or for systole_hbm_partial.
// With ECC, a report of the errors follows one cycle after the response. An accepted read has its slot in systole_hbm_rdata, and
// the FIFO has an entry for each slot. Throughput: one response a cycle. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_order
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned NumRd = 4,
    parameter int unsigned AddrBits = 36,
    parameter int unsigned D = 32,  // bytes of a beat
    parameter bit Ecc = 1'b0,
    localparam int unsigned PlaceBits = $clog2(D / 8)  // index of an 8-byte word in a beat
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    // A read goes to the controllers.
    input  logic                 put_i,
    input  read_t                read_i,
    input  logic                 group_i,

    // Next beat of each group.
    input  logic [1:0]           beat_valid_i,
    output logic [1:0]           beat_pop_o,
    input  logic [D*8-1:0]       beat_data_i [2],   // one cycle after beat_pop_o, as all below
    input  logic [1:0]           beat_fixed_i,
    input  logic [1:0]           beat_bad_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [PlaceBits-1:0] beat_place_i [2],  // used with ECC
    // verilator lint_on UNUSEDSIGNAL

    // Responses.
    output logic [NumRd-1:0]     valid_o,           // one-hot
    output logic                 partial_valid_o,   // for systole_hbm_partial
    output logic [D*8-1:0]       data_o,
    output logic                 fixed_o,
    output logic                 bad_o,

    // ECC reports.
    // verilator lint_off UNUSEDSIGNAL
    input  logic                 look_i,            // what systole_hbm_partial reads is for the scrubber
    input  logic                 again_i,           // it was reported before
    // verilator lint_on UNUSEDSIGNAL
    output logic [NumRd:0]       ecc_fixed_o,       // by client, the top bit for systole_hbm_partial
    output logic [NumRd:0]       ecc_bad_o,
    output logic                 ecc_look_o,
    output logic [AddrBits-1:0]  ecc_addr_o,

    output logic                 pop_o,             // a beat leaves its group
    output logic                 busy_o             // reads are not answered
);
  localparam int unsigned Depth = 2 * Slots;
  localparam int unsigned RdBits = $clog2(NumRd + 1);  // of a client's number that is ever set
  localparam int unsigned IdxBits = NumRd > 1 ? $clog2(NumRd) : 1;
  localparam int unsigned Width = RdBits + 1 + (Ecc ? BeatBits : 0);
  localparam logic [RdBits-1:0] Partial = RdBits'(NumRd);

  logic                       kept_valid, kept_ready, room, head_valid, head_group, group_q, rsp_q;
  logic [Width-1:0]           kept, head;
  logic [RdBits-1:0]          head_client, client_q;
  logic [$clog2(Depth+1)-1:0] count;
  // verilator lint_off UNUSEDSIGNAL
  beat_t                      head_beat, beat_q;  // used with ECC only
  // verilator lint_on UNUSEDSIGNAL

  systole_fifo #(.Width(Width), .Depth(Depth)) u_order (
      .clk_i, .rst_ni,
      .valid_i(put_i), .ready_o(room), .data_i(Width'({read_i.beat, group_i, RdBits'(read_i.client)})),
      .valid_o(kept_valid), .ready_i(kept_ready), .data_o(kept),
      .count_o(count)
  );
  systole_skid #(.Width(Width)) u_head (
      .clk_i, .rst_ni,
      .valid_i(kept_valid), .ready_o(kept_ready), .data_i(kept),
      .valid_o(head_valid), .ready_i(pop_o), .data_o(head)
  );
  assign {head_beat, head_group, head_client} = (BeatBits + RdBits + 1)'(head);

  assign pop_o      = head_valid && beat_valid_i[head_group];
  assign beat_pop_o = {pop_o && head_group, pop_o && !head_group};

  always_ff @(posedge clk_i) begin
    group_q  <= head_group;
    client_q <= head_client;
    beat_q   <= head_beat;
    rsp_q    <= rst_ni && pop_o;
    valid_o  <= '0;
    if (rst_ni && pop_o && head_client != Partial) valid_o[IdxBits'(head_client)] <= 1'b1;
  end
  assign data_o          = beat_data_i[group_q];
  assign fixed_o         = beat_fixed_i[group_q];
  assign bad_o           = beat_bad_i[group_q];
  assign partial_valid_o = rsp_q && client_q == Partial;
  assign busy_o          = count != '0 || head_valid || valid_o != '0 || partial_valid_o;

  if (Ecc) begin : gen_ecc
    localparam int unsigned BeatShift = $clog2(D);
    always_ff @(posedge clk_i) begin
      ecc_fixed_o <= rst_ni && rsp_q && fixed_o && !(partial_valid_o && again_i) ? (NumRd + 1)'(1) << client_q : '0;
      ecc_bad_o   <= rst_ni && rsp_q && bad_o ? (NumRd + 1)'(1) << client_q : '0;
      ecc_look_o  <= partial_valid_o && look_i;
      ecc_addr_o  <= (AddrBits'(beat_q) << BeatShift) | (AddrBits'(beat_place_i[group_q]) << 3);
    end
  end else begin : gen_no_ecc
    assign {ecc_fixed_o, ecc_bad_o, ecc_look_o, ecc_addr_o} = '0;
  end

  // Check: every accepted read has an entry.
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_order : assert (!put_i || room);
  end
endmodule
