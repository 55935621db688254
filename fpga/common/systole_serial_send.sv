// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Frames to bytes: a flag, the frame's bytes and their CRC with escapes, a flag. Docs: docs/fpga.md. Test: tests/fpga.

module systole_serial_send
  import systole_serial_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,

    input  logic       valid_i,
    output logic       ready_o,
    input  logic [7:0] data_i,
    input  logic       last_i,

    output logic       byte_valid_o,
    input  logic       byte_ready_i,
    output logic [7:0] byte_data_o
);
  typedef enum logic [1:0] {Begin, Body, Crc, End} state_e;
  state_e      state_q;
  logic [31:0] crc_q;
  logic [1:0]  crc_byte_q;
  logic        escaped_q;  // the escape before this byte is out
  logic [7:0]  plain;
  logic        special, sent;

  assign plain   = state_q == Crc ? ~crc_q[7:0] : data_i;
  assign special = plain == Flag || plain == Escape;
  // The byte itself, not the escape before it, goes out.
  assign sent    = byte_valid_o && byte_ready_i && (!special || escaped_q);
  assign ready_o = state_q == Body && sent;

  always_comb begin
    byte_valid_o = state_q == Begin ? valid_i : state_q != Body || valid_i;
    byte_data_o  = Flag;
    if (state_q == Body || state_q == Crc) byte_data_o = !special ? plain : escaped_q ? plain ^ EscapeXor : Escape;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Begin;
      escaped_q <= 1'b0;
    end else if (byte_valid_o && byte_ready_i) begin
      escaped_q <= (state_q == Body || state_q == Crc) && special && !escaped_q;
      unique case (state_q)
        Begin: begin
          state_q    <= Body;
          crc_q      <= CrcBegin;
          crc_byte_q <= '0;
        end
        Body: if (sent) begin
          crc_q <= crc_byte(crc_q, data_i);
          if (last_i) state_q <= Crc;
        end
        Crc: if (sent) begin
          crc_q      <= crc_q >> 8;
          crc_byte_q <= crc_byte_q + 2'd1;
          if (crc_byte_q == 2'd3) state_q <= End;
        end
        End: state_q <= Begin;
        default: state_q <= Begin;
      endcase
    end
  end
endmodule
