// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Way of the writes into the write buffer. With ECC, partial writes and the writes behind them go through the list of
// systole_hbm_rmw, and the others pass; without, all pass. Combinational but for the list. A write that passes needs ready_i, one
// that enters the list needs room there. Docs: docs/hbm.md. Test: tests/hbm/ecc_test.cc.

module systole_hbm_partial
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned D = 32,  // bytes of a beat
    parameter bit Ecc = 1'b0,
    parameter bit Gate = 1'b1       // gate the clock of the list
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic           clk_i,
    input  logic           rst_ni,
    // verilator lint_on UNUSEDSIGNAL

    // Writes of the clients.
    input  logic           valid_i,
    output logic           ready_o,
    input  beat_t          beat_i,
    input  logic [D*8-1:0] data_i,
    input  logic [D-1:0]   mask_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic           partial_i,
    // verilator lint_on UNUSEDSIGNAL

    // Writes for the write buffer.
    output logic           valid_o,
    input  logic           ready_i,
    output beat_t          beat_o,
    output logic [D*8-1:0] data_o,
    output logic [D-1:0]   mask_o,

    // Reads of the list and of the scrubber; all but rd_valid_o is used with ECC only.
    output logic           busy_o,       // the list is not empty: no client may read
    output logic           rd_valid_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic           rd_ready_i,
    // verilator lint_on UNUSEDSIGNAL
    output beat_t          rd_beat_o,
    // verilator lint_off UNUSEDSIGNAL
    input  logic           rsp_valid_i,
    input  logic [D*8-1:0] rsp_data_i,
    input  logic           rsp_fixed_i,
    input  logic           rsp_bad_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic           look_o,       // the read is the scrubber's: no client asked for the data
    output logic           again_o,      // the error was already counted at the scrubber's own read
    // verilator lint_off UNUSEDSIGNAL
    input  logic [31:0]    scrub_i,      // cycles from one scrubbed beat to the next; 0: no scrubbing
    input  logic           quiet_i       // no client requests a read
    // verilator lint_on UNUSEDSIGNAL
);
  if (Ecc) begin : gen_ecc
    logic           room, take, wr_valid;
    beat_t          wr_beat;
    logic [D*8-1:0] wr_data;
    logic [D-1:0]   wr_mask;

    assign take    = valid_i && (partial_i || busy_o) && room;
    assign valid_o = busy_o ? wr_valid : valid_i && !partial_i;
    assign ready_o = take || (valid_o && ready_i && !busy_o);
    assign beat_o  = busy_o ? wr_beat : beat_i;
    assign data_o  = busy_o ? wr_data : data_i;
    assign mask_o  = busy_o ? wr_mask : mask_i;

    systole_hbm_rmw #(.D(D), .Gate(Gate)) u_rmw (
        .clk_i, .rst_ni,
        .take_i(take), .beat_i, .data_i, .mask_i, .partial_i, .room_o(room), .busy_o,
        .rd_valid_o, .rd_ready_i, .rd_beat_o, .rsp_valid_i, .rsp_data_i, .rsp_fixed_i, .rsp_bad_i,
        .wr_valid_o(wr_valid), .wr_ready_i(ready_i), .wr_beat_o(wr_beat), .wr_data_o(wr_data), .wr_mask_o(wr_mask),
        .look_o, .again_o, .scrub_i, .quiet_i
    );
  end else begin : gen_no_ecc
    assign valid_o = valid_i;
    assign ready_o = valid_i && ready_i;
    assign beat_o  = beat_i;
    assign data_o  = data_i;
    assign mask_o  = mask_i;
    assign {busy_o, rd_valid_o, rd_beat_o, look_o, again_o} = '0;
  end
endmodule
