// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two units share the unified buffer's port for reads of beats: in turn, a beat each while both ask. Answers come in the order of the
// requests. Latency: none. Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_share
  import systole_presets_pkg::UbAddrBits;
#(
    parameter int unsigned InFlight = 32  // reads without an answer, at most
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic [1:0]                 valid_i,
    output logic [1:0]                 ready_o,
    input  logic [1:0][UbAddrBits-1:0] addr_i,
    output logic [1:0]                 rsp_valid_o,

    output logic                       ub_valid_o,
    input  logic                       ub_ready_i,
    output logic [UbAddrBits-1:0]      ub_addr_o,
    input  logic                       ub_rsp_valid_i
);
  // A request that was offered stays the one that is offered until it is taken.
  logic turn_q, held_q, pick_q, pick, asked, owner, owner_valid, room;
  assign pick       = held_q ? pick_q : valid_i == 2'b11 ? turn_q : valid_i[1];
  assign asked      = valid_i[pick] && room;
  assign ub_valid_o = asked;
  assign ub_addr_o  = addr_i[pick];
  assign ready_o    = asked && ub_ready_i ? 2'b01 << pick : 2'b00;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= 1'b0;
      held_q <= 1'b0;
      pick_q <= 1'b0;
    end else begin
      held_q <= asked && !ub_ready_i;
      pick_q <= pick;
      if (asked && ub_ready_i) turn_q <= !pick;
    end
  end

  logic [$clog2(InFlight+1)-1:0] count;
  systole_fifo #(.Width(1), .Depth(InFlight)) u_owners (
      .clk_i, .rst_ni, .valid_i(asked && ub_ready_i), .ready_o(room), .data_i(pick),
      .valid_o(owner_valid), .ready_i(ub_rsp_valid_i), .data_o(owner), .count_o(count)
  );
  assign rsp_valid_o = ub_rsp_valid_i ? 2'b01 << owner : 2'b00;

  // Each answer belongs to a read; a unit's request holds until it is taken.
  logic [1:0] waits_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni ? valid_i & ~ready_o : '0;
    if (rst_ni) begin
      a_answer : assert (!ub_rsp_valid_i || owner_valid);
      a_count : assert (32'(count) <= InFlight);
      a_holds : assert ((waits_q & ~valid_i) == '0);
    end
  end
endmodule
