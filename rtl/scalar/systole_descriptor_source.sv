// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Source of a program's descriptors in a chip with a scalar unit: either the list at prog_addr, or the issue port. The port
// delivers descriptors and lists in HBM; they run in the port's order. A descriptor of the port passes in the cycle in which it
// comes. A list costs five cycles and an HBM read before its first descriptor, and three cycles for each patch.
// Docs: docs/scalar.md. Test: tests/system.

module systole_descriptor_source
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 64  // bytes of a beat
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,       // pulse
    input  logic                issue_mode_i,  // 1: the descriptors come from the issue port; holds while a program runs
    input  logic                freeze_i,
    input  logic [AddrBits-1:0] prog_addr_i,
    input  logic [PcBits-1:0]   prog_len_i,
    input  logic [AddrBits-1:0] hbm_base_i,
    input  logic [AddrBits:0]   hbm_end_i,

    input  issue_req_t          issue_req_i,
    output logic                issue_ready_o,

    // HBM read client.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,

    output logic                desc_valid_o,
    input  logic                desc_ready_i,
    output desc_t               desc_o,
    output logic                misaligned_o,  // level, while a misaligned list is the next item
    output logic [AddrBits-1:0] misaligned_addr_o,
    output logic                out_of_range_o,
    output logic [AddrBits-1:0] list_addr_o,   // address of the list that the port delivers
    output logic                idle_o
);
  localparam int unsigned ProgAlign = 128;
  localparam int unsigned DescBytes = DescBits / 8;
  localparam int unsigned ListAlign = D > DescBytes ? D : DescBytes;

  // Start of a list of the port: the fetch is cleared, address and length settle for two cycles, and the fetch starts.
  typedef enum logic [2:0] {Off, Pass, Clear, Follow, Start, List} state_e;
  state_e      state_q;
  // verilator lint_off UNUSEDSIGNAL
  stream_t     list;
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] left_q;
  logic        fetch_start, fetch_valid, fetch_ready, fetch_outside, wrong;
  logic        list_valid, list_ready, list_full, list_desc_valid, list_desc_ready, list_ends;
  desc_t       fetch_desc, list_desc;

  assign list        = stream_t'(issue_req_i.desc);
  assign wrong       = list.addr[$clog2(ListAlign)-1:0] != '0;
  assign list_addr_o = list.addr;
  assign fetch_start = issue_mode_i ? state_q == Start : start_i && prog_addr_i[$clog2(ProgAlign)-1:0] == '0;
  assign list_ends   = list_desc_valid && list_desc_ready && left_q == 32'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Off;
    end else begin
      unique case (state_q)
        Off:     if (start_i && issue_mode_i) state_q <= Pass;
        Pass:    if (issue_req_i.valid && issue_req_i.stream && list.len != '0 && !wrong && !freeze_i) state_q <= Clear;
        Clear:   state_q <= Follow;
        Follow:  state_q <= Start;
        Start:   state_q <= List;
        List:    if (list_ends) state_q <= Pass;
        default: state_q <= Off;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Start) left_q <= list.len;
    else if (list_desc_valid && list_desc_ready) left_q <= left_q - 32'd1;
  end

  systole_fetch #(.D(D)) u_fetch (
      .clk_i, .rst_ni(rst_ni && state_q != Clear), .start_i(fetch_start), .freeze_i,
      .prog_addr_i(issue_mode_i ? list.addr : prog_addr_i), .prog_len_i(issue_mode_i ? list.len : prog_len_i),
      .hbm_base_i, .hbm_end_i,
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .desc_valid_o(fetch_valid), .desc_ready_i(fetch_ready), .desc_o(fetch_desc), .out_of_range_o(fetch_outside), .idle_o
  );

  // Lists of the port pass through the patch unit.
  assign list_valid      = state_q == List && fetch_valid;
  assign list_desc_ready = state_q == List && desc_ready_i;
  systole_patch u_patch (
      .clk_i, .rst_ni, .write_i(issue_req_i.patch), .start_i(state_q == Start), .first_i(list.first), .count_i(list.patches),
      .valid_i(list_valid), .ready_o(list_ready), .desc_i(fetch_desc),
      .valid_o(list_desc_valid), .ready_i(list_desc_ready), .desc_o(list_desc), .full_o(list_full)
  );

  assign out_of_range_o  = fetch_outside && !(issue_mode_i && list_full);

  // Selection of the next descriptor.
  logic passes, skips;
  assign passes            = state_q == Pass && issue_req_i.valid && !issue_req_i.stream;
  assign skips             = state_q == Pass && issue_req_i.valid && issue_req_i.stream && list.len == '0;
  assign desc_valid_o      = passes || (issue_mode_i ? list_desc_valid : fetch_valid);
  assign desc_o            = passes ? issue_req_i.desc : issue_mode_i ? list_desc : fetch_desc;
  assign fetch_ready       = issue_mode_i ? state_q == List && list_ready : desc_ready_i;
  assign issue_ready_o     = (passes && desc_ready_i) || skips || list_ends;
  assign misaligned_addr_o = issue_mode_i ? list.addr : prog_addr_i;
  assign misaligned_o      = issue_mode_i ? state_q == Pass && issue_req_i.valid && issue_req_i.stream && list.len != '0 && wrong
                                          : prog_addr_i[$clog2(ProgAlign)-1:0] != '0;

  // Check: an item of the port holds until it is accepted.
  logic       held_q;
  desc_t      req_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && state_q != Off && issue_req_i.valid && !issue_ready_o && !freeze_i;
    req_q  <= issue_req_i.desc;
    if (rst_ni) a_holds : assert (!held_q || freeze_i || (issue_req_i.valid && issue_req_i.desc == req_q));
  end
endmodule
