// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a core receives: the flits of WRITEs become beats for its memory, and a POST adds to a link flag when the memory has accepted
// all beats before it. Beats wait only for the memory, which never waits for what is sent. Throughput: a flit a cycle. Latency: a beat
// is offered two cycles after its last flit, a post made two cycles after its packet. clear_i forgets flits and the part of a beat;
// beats that are whole go to the memory all the same. Docs: docs/link.md. Test: tests/rtl/link.

module systole_link_gather
  import systole_link_pkg::*;
  import systole_isa_pkg::LinkFlags;
  import systole_isa_pkg::NumFlags;
  import systole_isa_pkg::PeerFlags;
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned D = 32,          // bytes of a beat
    parameter int unsigned FlitBytes = 16,
    parameter int unsigned MemBits = 30     // address bits of the core's memory
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   clear_i,

    // Flits: a WRITE's with their addresses, the last one of a packet with last_i.
    input  logic                   valid_i,
    output logic                   ready_o,
    input  head_t                  head_i,
    input  logic                   last_i,
    input  logic [FlitBytes*8-1:0] data_i,
    input  logic [FlitBytes-1:0]   mask_i,

    // Client of the memory.
    output logic                   wr_valid_o,
    input  logic                   wr_ready_i,
    output logic [AddrBits-1:0]    wr_addr_o,
    output logic [D*8-1:0]         wr_data_o,
    output logic [D-1:0]           wr_mask_o,

    output logic [LinkFlags-1:0]   post_o,       // pulses: add 1 to each
    output logic                   lost_o,       // pulse: a packet of this core was given up
    output logic [AddrBits-1:0]    lost_addr_o   // its address, with it
);
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned FlitShift = $clog2(FlitBytes);
  localparam int unsigned Parts = D / FlitBytes;
  localparam int unsigned FirstFlag = NumFlags - PeerFlags - LinkFlags;

  // What comes, behind a register each way.
  typedef struct packed {
    logic                   last;
    head_t                  head;
    logic [FlitBytes-1:0]   mask;
    logic [FlitBytes*8-1:0] data;
  } flit_t;
  // verilator lint_off UNUSEDSIGNAL
  flit_t flit;  // not all of the head
  // verilator lint_on UNUSEDSIGNAL
  logic  valid, ready;
  systole_skid #(.Width($bits(flit_t))) u_flits (
      .clk_i, .rst_ni(rst_ni && !clear_i), .valid_i, .ready_o, .data_i({last_i, head_i, mask_i, data_i}),
      .valid_o(valid), .ready_i(ready), .data_o(flit)
  );

  // The beat that grows, and in the skid those that are whole.
  logic [Parts-1:0][FlitBytes*8-1:0] data_q, data;
  logic [Parts-1:0][FlitBytes-1:0]   mask_q, mask;
  logic [Shift-FlitShift-1:0]        part;
  logic                              write, whole, room, take, hold;
  logic [MemBits-Shift-1:0]          out_beat;
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));
  assign write = flit.head.kind == KindWrite;
  assign part  = flit.head.address[Shift-1:FlitShift];
  assign whole = flit.last || part == '1;
  assign ready = (write ? room : !wr_valid_o) && !hold;
  assign take  = valid && ready && !clear_i;
  always_comb begin
    data = data_q;
    mask = mask_q;
    data[part] = flit.data;
    mask[part] = flit.mask;
  end
  always_ff @(posedge clk_i) begin
    if (take && write) data_q[part] <= flit.data;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) mask_q <= '0;
    else if (take && write) mask_q <= whole ? '0 : mask;
  end
  systole_skid #(.Width(MemBits - Shift + D * 9)) u_beats (
      .clk_i, .rst_ni, .valid_i(take && write && whole), .ready_o(room), .data_i({flit.head.address[MemBits-1:Shift], mask, data}),
      .valid_o(wr_valid_o), .ready_i(wr_ready_i), .data_o({out_beat, wr_mask_o, wr_data_o})
  );
  assign wr_addr_o = AddrBits'({out_beat, {Shift{1'b0}}});

  always_ff @(posedge clk_i) begin
    for (int unsigned f = 0; f < LinkFlags; f++) begin
      post_o[f] <= rst_ni && take && flit.head.kind == KindPost && 32'(flit.head.address[5:0]) == FirstFlag + f;
    end
    lost_o      <= rst_ni && take && flit.head.kind == KindPoison;
    lost_addr_o <= flit.head.address;
  end

  // Packets write inside of the memory and post link flags; a flit does not reach over its beat.
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid) begin
      a_kind : assert (flit.head.kind == KindWrite || flit.head.kind == KindPost || flit.head.kind == KindPoison);
      a_inside : assert (!write || flit.head.address[AddrBits-1:MemBits] == '0);
      a_part : assert (!write || flit.head.address[FlitShift-1:0] == '0);
      a_flag : assert (flit.head.kind != KindPost || (flit.head.address >= AddressBits'(FirstFlag)
                                                      && flit.head.address < AddressBits'(FirstFlag) + AddressBits'(LinkFlags)));
    end
  end
endmodule
