// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bytes to frames: undoes the escapes, checks length and CRC, and gives out whole good frames without CRC, a byte each third cycle at most.
// A bad frame, or one for which the memory has no room, vanishes with a pulse. Bytes are taken always. Docs: docs/fpga.md.
// Test: tests/fpga.

module systole_serial_receive
  import systole_serial_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,

    input  logic       byte_valid_i,  // pulse
    input  logic [7:0] byte_data_i,

    output logic       valid_o,
    input  logic       ready_i,
    output logic [7:0] data_o,
    output logic       last_o,

    output logic       good_o,  // pulse: a frame came in
    output logic       bad_o    // pulse: a frame was dropped
);
  localparam int unsigned Bytes = 2048;
  localparam int unsigned AddrBits = $clog2(Bytes);
  localparam int unsigned Frames = 8;

  // What comes in: written from the end of the last good frame on.
  logic [AddrBits-1:0] write_q, commit_q, length_q;
  logic [31:0]         crc_q;
  logic                escape_q, overflow_q, room, good, bad, good_q, bad_q;
  logic [7:0]          data;

  // What goes out.
  logic [AddrBits-1:0] read_q, done_q, front_length;
  logic [3:0]          frames;
  logic                front_valid, lengths_ready, fetching_q, valid_q, pop;

  assign data = escape_q ? byte_data_i ^ EscapeXor : byte_data_i;
  assign room = AddrBits'(write_q + 1'b1) != read_q;
  assign good = byte_valid_i && byte_data_i == Flag && !escape_q && !overflow_q && crc_q == CrcResidue &&
                length_q >= AddrBits'(HeaderBytes + CrcBytes) && lengths_ready;
  assign bad  = byte_valid_i && byte_data_i == Flag && (length_q != '0 || escape_q) && !good;

  assign valid_o = valid_q;
  assign last_o  = done_q == front_length - 1'b1;
  assign good_o  = good_q;
  assign bad_o   = bad_q;
  assign pop     = valid_q && ready_i;

  always_ff @(posedge clk_i) begin
    good_q <= rst_ni && good;
    bad_q  <= rst_ni && bad;
    if (!rst_ni) begin
      write_q    <= '0;
      commit_q   <= '0;
      length_q   <= '0;
      crc_q      <= CrcBegin;
      escape_q   <= 1'b0;
      overflow_q <= 1'b0;
    end else if (byte_valid_i) begin
      if (byte_data_i == Flag) begin
        length_q   <= '0;
        crc_q      <= CrcBegin;
        escape_q   <= 1'b0;
        overflow_q <= 1'b0;
        write_q    <= good ? write_q - AddrBits'(CrcBytes) : commit_q;
        if (good) commit_q <= write_q - AddrBits'(CrcBytes);
      end else if (byte_data_i == Escape) begin
        escape_q <= 1'b1;
      end else begin
        escape_q <= 1'b0;
        crc_q    <= crc_byte(crc_q, data);
        if (room && !overflow_q) begin
          write_q  <= write_q + 1'b1;
          length_q <= length_q + 1'b1;
        end else begin
          overflow_q <= 1'b1;
        end
      end
    end
  end

  systole_fifo #(.Width(AddrBits), .Depth(Frames)) u_lengths (
      .clk_i, .rst_ni,
      .valid_i(good), .ready_o(lengths_ready), .data_i(length_q - AddrBits'(CrcBytes)),
      .valid_o(front_valid), .ready_i(pop && last_o), .data_o(front_length),
      .count_o(frames)
  );

  systole_prim_ram_1r1w #(.Width(8), .Depth(Bytes)) u_ram (
      .clk_i,
      // A flag or escape is written too; the next byte takes its place.
      .we_i(byte_valid_i && room && !overflow_q), .waddr_i(write_q), .wdata_i(data),
      .re_i(fetching_q), .raddr_i(read_q), .rdata_o(data_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q     <= '0;
      done_q     <= '0;
      fetching_q <= 1'b0;
      valid_q    <= 1'b0;
    end else begin
      fetching_q <= front_valid && !fetching_q && !valid_q;
      valid_q    <= fetching_q || (valid_q && !ready_i);
      if (pop) begin
        read_q <= read_q + 1'b1;
        done_q <= last_o ? '0 : done_q + 1'b1;
      end
    end
  end

  // What is given out was committed: the reader stays behind the last good frame's end.
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_frames : assert (front_valid == (frames != 0));
    if (rst_ni) a_committed : assert (!valid_q || read_q != commit_q);
  end
endmodule
