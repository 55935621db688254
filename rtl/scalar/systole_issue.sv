// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Issue port: the items that the firmware stores here become the program's next descriptors, in the order of the stores. An
// item is a descriptor in SMEM, which the port reads word by word, or a list in HBM, which the sequencer fetches and patches
// (systole_patch). An item is dropped if the port is full or no program runs; dropped_o reports it. Throughput: a descriptor in
// SMEM takes 18 cycles.
// Docs: docs/scalar.md. Test: tests/rtl/scalar, tests/system.

module systole_issue
  import systole_scalar_pkg::*;
  import systole_bus_pkg::*;
  import systole_presets_pkg::AddrBits;
  import systole_isa_pkg::*;
#(
    parameter int unsigned Places = 8
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                live_i,     // a program runs or starts and has no fault

    // New items; issue_i and stream_i are pulses.
    input  logic                issue_i,
    input  logic [31:0]         smem_addr_i,
    input  logic                stream_i,
    input  logic [AddrBits-1:0] stream_addr_i,
    input  logic [31:0]         stream_len_i,
    input  logic [2*PatchBits:0] stream_patches_i,  // number of the list's patch table entries, and the first entry
    input  patch_req_t          patch_i,
    output logic [3:0]          places_o,   // free places
    output logic                dropped_o,  // pulse

    // SMEM.
    output smem_req_t           smem_req_o,
    // verilator lint_off UNUSEDSIGNAL
    input  smem_rsp_t           smem_rsp_i,  // an uncorrectable word is read as all ones, which makes the descriptor illegal
    // verilator lint_on UNUSEDSIGNAL

    // Sequencer.
    output issue_req_t          issue_req_o,
    input  logic                issue_ready_i
);
  localparam int unsigned Words = DescBits / 32;

  typedef struct packed {
    logic                stream;
    logic [2*PatchBits:0] patches;
    logic [AddrBits-1:0] addr;
    logic [31:0]         len;
  } item_t;

  item_t                        item, head;
  logic                         push, room, head_valid, head_done;
  logic [$clog2(Places+1)-1:0]  count;

  assign item      = '{
      stream: stream_i, patches: stream_patches_i, addr: stream_i ? stream_addr_i : AddrBits'(smem_addr_i), len: stream_len_i};
  assign push      = (issue_i || stream_i) && live_i && room;
  assign dropped_o = (issue_i || stream_i) && !push;
  assign places_o  = 4'(Places - 32'(count));

  systole_fifo #(.Width($bits(item_t)), .Depth(Places)) u_items (
      .clk_i, .rst_ni(rst_ni && live_i), .valid_i(push), .ready_o(room), .data_i(item),
      .valid_o(head_valid), .ready_i(head_done), .data_o(head), .count_o(count)
  );

  // Words of the descriptor that are requested, and those that are received.
  logic [$clog2(Words):0] asked_q, here_q;
  logic [DescBits-1:0]    desc_q;
  logic                   whole;

  assign whole      = here_q == ($clog2(Words) + 1)'(Words);
  assign smem_req_o = '{
      valid: head_valid && !head.stream && asked_q != ($clog2(Words) + 1)'(Words), write: 1'b0, strobe: '0,
      word: {head.addr[31:6], asked_q[$clog2(Words)-1:0]}, data: '0};

  assign issue_req_o = '{
      patch: patch_i, valid: head_valid && (head.stream || whole), stream: head.stream,
      desc: head.stream ? DescBits'({head.patches, head.len, head.addr}) : desc_q};
  assign head_done   = issue_req_o.valid && issue_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !live_i || head_done) begin
      asked_q <= '0;
      here_q  <= '0;
    end else begin
      if (smem_req_o.valid && smem_rsp_i.ready) asked_q <= asked_q + 1'b1;
      if (smem_rsp_i.valid && here_q != asked_q) here_q <= here_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (smem_rsp_i.valid && here_q != asked_q) desc_q <= {smem_rsp_i.failed ? '1 : smem_rsp_i.data, desc_q[DescBits-1:32]};
  end

  // Checks: one item a cycle; a word comes only if it was requested.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one : assert (!(issue_i && stream_i));
      a_words : assert (here_q <= asked_q);
    end
  end
endmodule
