// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies between SMEM and HBM, one at a time: beats of D bytes on the HBM side, words on the SMEM side. Up to four beats are
// read ahead. A written beat has byte enables for the words that are copied. A misaligned copy, or one that leaves either
// memory or the window, is refused as a whole.
// Docs: docs/scalar.md. Test: tests/rtl/scalar.

module systole_scalar_copy
  import systole_scalar_pkg::*;
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned D = 64,
    parameter int unsigned SmemBytes = 32768,
    parameter logic [AddrBits:0] HbmBytes = '0
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                in_i,        // pulse: from HBM
    input  logic                out_i,       // pulse: to HBM
    input  logic [31:0]         len_i,       // bytes
    input  logic [AddrBits-1:0] hbm_addr_i,
    input  logic [31:0]         smem_addr_i,
    input  logic                window_i,    // 1: HBM accesses must lie in base..limit; 0 for the firmware's own copies
    input  logic [AddrBits-1:0] base_i,
    input  logic [AddrBits:0]   limit_i,
    output logic                busy_o,
    output logic                refused_o,   // pulse

    output smem_req_t           smem_req_o,
    // verilator lint_off UNUSEDSIGNAL
    input  smem_rsp_t           smem_rsp_i,  // an uncorrectable word is copied as read; the error counters report it
    // verilator lint_on UNUSEDSIGNAL

    // HBM clients.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,
    output logic                wr_valid_o,
    input  logic                wr_ready_i,
    output logic [AddrBits-1:0] wr_addr_o,
    output logic [D*8-1:0]      wr_data_o,
    output logic [D-1:0]        wr_mask_o
);
  localparam int unsigned Ahead = 4;
  localparam int unsigned Words = D / 4;  // of a beat
  localparam int unsigned WordBits = $clog2(Words);
  localparam logic [WordBits-1:0] LastWord = '1;

  typedef enum logic [1:0] {Idle, In, Out, Write} state_e;
  state_e              state_q;
  logic [29:0]         word_q, left_q;   // next word in SMEM; words left to copy
  logic [AddrBits-1:0] addr_q;           // address of the next HBM beat
  logic [29:0]         ask_left_q;       // words left to request
  logic [WordBits-1:0] part_q;           // word of the current beat
  logic                waits_q;          // a word of SMEM was requested and has not come

  // Copies that are refused.
  logic                legal, go;
  logic [AddrBits+1:0] hbm_end;
  assign hbm_end = (AddrBits + 2)'(hbm_addr_i) + (AddrBits + 2)'(len_i);
  always_comb begin
    legal = len_i[1:0] == '0 && len_i != '0 && smem_addr_i[1:0] == '0 && hbm_addr_i[$clog2(D)-1:0] == '0;
    if ({1'b0, smem_addr_i} + {1'b0, len_i} > 33'(SmemBytes)) legal = 1'b0;
    if (hbm_end > (AddrBits + 2)'(HbmBytes)) legal = 1'b0;
    if (window_i && (hbm_addr_i < base_i || hbm_end > (AddrBits + 2)'(limit_i))) legal = 1'b0;
  end
  assign go        = (in_i || out_i) && state_q == Idle && legal;
  assign refused_o = (in_i || out_i) && !go;
  assign busy_o    = state_q != Idle;

  // Beats that are read from HBM.
  logic                        beat_valid, beat_take, room;
  logic [D*8-1:0]              beat;
  logic [$clog2(Ahead+1)-1:0]  flying_q, held;
  assign rd_valid_o = state_q == In && ask_left_q != '0 && 32'(flying_q) + 32'(held) < Ahead;
  assign rd_addr_o  = addr_q;
  systole_fifo #(.Width(D * 8), .Depth(Ahead)) u_beats (
      .clk_i, .rst_ni, .valid_i(rd_rsp_valid_i), .ready_o(room), .data_i(rd_rsp_data_i),
      .valid_o(beat_valid), .ready_i(beat_take), .data_o(beat), .count_o(held)
  );

  // SMEM accesses, one word at a time.
  logic word_moves, last;
  assign last       = left_q == 30'd1;
  assign smem_req_o = '{
      valid: (state_q == In && beat_valid) || (state_q == Out && !waits_q), write: state_q == In, strobe: '1, word: word_q,
      data: beat[32'(part_q)*32+:32]};
  assign word_moves = smem_req_o.valid && smem_rsp_i.ready;
  assign beat_take  = state_q == In && word_moves && (part_q == LastWord || last);

  // The beat that is being assembled.
  logic [Words-1:0]    filled_q;
  logic [D*8-1:0]      data_q;
  assign wr_valid_o = state_q == Write;
  assign wr_addr_o  = addr_q;
  assign wr_data_o  = data_q;
  always_comb for (int unsigned i = 0; i < Words; i++) wr_mask_o[i*4+:4] = {4{filled_q[i]}};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      flying_q <= '0;
      waits_q  <= 1'b0;
      filled_q <= '0;
    end else begin
      flying_q <= flying_q + ($clog2(Ahead+1))'(rd_valid_o && rd_ready_i) - ($clog2(Ahead+1))'(rd_rsp_valid_i);
      unique case (state_q)
        Idle: begin
          filled_q <= '0;
          if (go) state_q <= in_i ? In : Out;
        end
        In: if (word_moves && last) state_q <= Idle;
        Out: begin
          if (word_moves) waits_q <= 1'b1;
          if (waits_q && smem_rsp_i.valid) begin
            waits_q          <= 1'b0;
            filled_q[part_q] <= 1'b1;
            if (part_q == LastWord || last) state_q <= Write;
          end
        end
        default: if (wr_ready_i) begin  // Write
          filled_q <= '0;
          state_q  <= left_q == '0 ? Idle : Out;
        end
      endcase
    end
  end

  logic word_done;
  assign word_done = state_q == Out ? waits_q && smem_rsp_i.valid : word_moves;
  always_ff @(posedge clk_i) begin
    if (go) begin
      word_q     <= smem_addr_i[31:2];
      left_q     <= len_i[31:2];
      ask_left_q <= len_i[31:2];
      addr_q     <= hbm_addr_i;
      part_q     <= '0;
    end else begin
      if (word_done) begin
        word_q <= word_q + 1'b1;
        left_q <= left_q - 1'b1;
        part_q <= part_q + 1'b1;
      end
      if ((rd_valid_o && rd_ready_i) || (wr_valid_o && wr_ready_i)) addr_q <= addr_q + AddrBits'(D);
      if (rd_valid_o && rd_ready_i) ask_left_q <= ask_left_q > 30'(Words) ? ask_left_q - 30'(Words) : '0;
    end
    if (waits_q && smem_rsp_i.valid) data_q[32'(part_q)*32+:32] <= smem_rsp_i.data;
  end

  // Checks: every beat that arrives was requested and finds room.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!rd_rsp_valid_i || room);
      a_flying : assert (!rd_rsp_valid_i || flying_q != '0);
    end
  end
endmodule
