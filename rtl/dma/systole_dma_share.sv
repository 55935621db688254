// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Several units share the unified buffer's port for reads of beats: in turn, a beat each while several ask. Answers come in the order
// of the requests. Latency: none. Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_dma_share
  import systole_presets_pkg::UbAddrBits;
#(
    parameter int unsigned Units = 2,     // 2 to 4
    parameter int unsigned InFlight = 32  // reads without an answer, at most
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic [Units-1:0]                 valid_i,
    output logic [Units-1:0]                 ready_o,
    input  logic [Units-1:0][UbAddrBits-1:0] addr_i,
    output logic [Units-1:0]                 rsp_valid_o,

    output logic                             ub_valid_o,
    input  logic                             ub_ready_i,
    output logic [UbAddrBits-1:0]            ub_addr_o,
    input  logic                             ub_rsp_valid_i
);
  localparam int unsigned PickBits = $clog2(Units);
  typedef logic [PickBits-1:0] pick_t;

  // The unit that asks, the next behind the one that was last; a request that was offered stays the one that is offered until it is
  // taken.
  logic  held_q, asked, owner_valid, room;
  pick_t pick_q, last_q, pick, owner;
  always_comb begin
    pick = last_q;
    for (int unsigned i = Units; i > 0; i--) begin
      if (valid_i[i-1] && i - 1 <= 32'(last_q)) pick = pick_t'(i - 1);
    end
    for (int unsigned i = Units; i > 0; i--) begin
      if (valid_i[i-1] && i - 1 > 32'(last_q)) pick = pick_t'(i - 1);
    end
    if (held_q) pick = pick_q;
  end
  assign asked      = valid_i[pick] && room;
  assign ub_valid_o = asked;
  assign ub_addr_o  = addr_i[pick];
  assign ready_o    = asked && ub_ready_i ? Units'(1) << pick : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_q <= '0;
      held_q <= 1'b0;
      pick_q <= '0;
    end else begin
      held_q <= asked && !ub_ready_i;
      pick_q <= pick;
      if (asked && ub_ready_i) last_q <= pick;
    end
  end

  logic [$clog2(InFlight+1)-1:0] count;
  systole_fifo #(.Width(PickBits), .Depth(InFlight)) u_owners (
      .clk_i, .rst_ni, .valid_i(asked && ub_ready_i), .ready_o(room), .data_i(pick),
      .valid_o(owner_valid), .ready_i(ub_rsp_valid_i), .data_o(owner), .count_o(count)
  );
  assign rsp_valid_o = ub_rsp_valid_i ? Units'(1) << owner : '0;

  // Each answer belongs to a read; a unit's request holds until it is taken.
  logic [Units-1:0] waits_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni ? valid_i & ~ready_o : '0;
    if (rst_ni) begin
      a_answer : assert (!ub_rsp_valid_i || owner_valid);
      a_count : assert (32'(count) <= InFlight);
      a_holds : assert ((waits_q & ~valid_i) == '0);
      a_pick : assert (32'(pick) < Units);
    end
  end
endmodule
