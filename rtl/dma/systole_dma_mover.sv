// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves a list of beats from one memory to another: asks the source (whose answers come in order and cannot be refused) for at
// most Depth beats that the destination has not taken yet. A beat a cycle while Depth covers the source's latency + 2.
// done_o comes one cycle after the last beat of a descriptor was taken. Docs: docs/dma.md.

module systole_dma_mover #(
    parameter int unsigned D = 32,                   // bytes of a beat
    parameter int unsigned Depth = 128,              // beats in flight
    parameter int unsigned SrcBits = 36,             // address bits
    parameter int unsigned DstBits = 25,
    parameter int unsigned ByteBits = $clog2(D) + 1  // derived, do not set
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                freeze_i,       // ask and write no more; answers are still taken

    // Beats to move.
    input  logic                beat_valid_i,
    output logic                beat_ready_o,
    input  logic [SrcBits-1:0]  beat_src_i,
    input  logic [DstBits-1:0]  beat_dst_i,
    input  logic [ByteBits-1:0] beat_bytes_i,   // 1..D
    input  logic                beat_last_i,    // of a descriptor
    output logic                done_o,
    output logic                progress_o,

    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [SrcBits-1:0]  rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,

    output logic                wr_valid_o,
    input  logic                wr_ready_i,
    output logic [DstBits-1:0]  wr_addr_o,
    output logic [D*8-1:0]      wr_data_o,
    output logic [D-1:0]        wr_mask_o
);
  logic                rd_taken, wr_taken, room;
  logic                answer_valid;
  logic [ByteBits-1:0] wr_bytes;
  logic                wr_last;
  logic                done_q, progress_q;

  assign rd_valid_o   = beat_valid_i && room && !freeze_i;
  assign rd_addr_o    = beat_src_i;
  assign rd_taken     = rd_valid_o && rd_ready_i;
  assign beat_ready_o = rd_taken;

  assign wr_valid_o   = answer_valid && !freeze_i;
  assign wr_taken     = wr_valid_o && wr_ready_i;
  assign wr_mask_o    = ~({D{1'b1}} << wr_bytes);
  assign done_o       = done_q;
  assign progress_o   = progress_q;

  always_ff @(posedge clk_i) begin
    done_q     <= rst_ni && wr_taken && wr_last;
    progress_q <= rst_ni && (rd_taken || wr_taken);
  end

  // verilator lint_off PINCONNECTEMPTY
  systole_credit #(
      .Credits(Depth)
  ) u_credit (
      .clk_i,
      .rst_ni,
      .take_i (rd_taken),
      .give_i (wr_taken),
      .avail_o(room),
      .idle_o (),
      .count_o()
  );

  // Where the beats asked for go.
  logic target_ready, target_valid;

  systole_fifo #(
      .Width(DstBits + ByteBits + 1),
      .Depth(Depth)
  ) u_targets (
      .clk_i,
      .rst_ni,
      .valid_i(rd_taken),
      .ready_o(target_ready),
      .data_i ({beat_dst_i, beat_bytes_i, beat_last_i}),
      .valid_o(target_valid),
      .ready_i(wr_taken),
      .data_o ({wr_addr_o, wr_bytes, wr_last}),
      .count_o()
  );

  logic answer_ready;

  systole_fifo #(
      .Width(D * 8),
      .Depth(Depth)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .valid_i(rd_rsp_valid_i),
      .ready_o(answer_ready),
      .data_i (rd_rsp_data_i),
      .valid_o(answer_valid),
      .ready_i(wr_taken),
      .data_o (wr_data_o),
      .count_o()
  );
  // verilator lint_on PINCONNECTEMPTY

  // Requests and writes hold until taken (only a freeze withdraws them); no answer is lost or comes unasked.
  logic               rd_held_q, wr_held_q;
  logic [SrcBits-1:0] rd_addr_q;
  logic [DstBits-1:0] wr_addr_q;

  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni && rd_valid_o && !rd_ready_i;
    wr_held_q <= rst_ni && wr_valid_o && !wr_ready_i;
    if (rd_valid_o) rd_addr_q <= rd_addr_o;
    if (wr_valid_o) wr_addr_q <= wr_addr_o;
    if (rst_ni) begin
      a_rd_holds : assert (!rd_held_q || freeze_i || (rd_valid_o && rd_addr_o == rd_addr_q));
      a_wr_holds : assert (!wr_held_q || freeze_i || (wr_valid_o && wr_addr_o == wr_addr_q));
      a_target_room : assert (!rd_taken || target_ready);
      a_answer_room : assert (!rd_rsp_valid_i || answer_ready);
      a_answer_target : assert (!answer_valid || target_valid);
    end
  end
endmodule
