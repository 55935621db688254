// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Merges beats of one tag and successive addresses into INCR bursts of up to MaxBeats that cross no 4 KiB boundary. A burst is
// offered when it is full, when the next beat does not continue it, or when no beat came for Linger cycles. Until it is taken,
// it still accepts beats. The user computes follows_i ahead of time, so the comparison is not in the path of the handshake.
// Order is kept. Throughput: one beat a cycle. Latency: a single beat is offered Linger + 1 cycles after it came.
// Docs: docs/dram.md. Test: tests/rtl/dram.

module systole_axi_burst #(
    parameter int unsigned D = 16,         // bytes of a beat
    parameter int unsigned BeatBits = 21,  // bits of a beat's number
    parameter int unsigned TagBits = 2,
    parameter int unsigned MaxBeats = 16,  // a power of two
    parameter int unsigned Linger = 2,
    localparam int unsigned LenBits = $clog2(MaxBeats)
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                valid_i,
    output logic                ready_o,
    input  logic [TagBits-1:0]  tag_i,
    input  logic [BeatBits-1:0] beat_i,
    input  logic                follows_i,  // the beat before this one has the same tag and the preceding address

    output logic                offer_o,
    input  logic                take_i,   // only while offer_o is high
    output logic [TagBits-1:0]  tag_o,
    output logic [BeatBits-1:0] beat_o,   // number of the first beat
    output logic [LenBits-1:0]  len_o,    // beats minus 1
    output logic                idle_o
);
  localparam int unsigned PageBits = $clog2(4096 / D);  // bits of a beat's number inside 4 KiB
  localparam int unsigned LingerBits = $clog2(Linger + 1);

  logic                  open_q, end_q, joins, accept;
  logic [TagBits-1:0]    tag_q;
  logic [BeatBits-1:0]   first_q;
  logic [LenBits-1:0]    len_q;
  logic [LingerBits-1:0] linger_q;

  assign joins   = open_q && !end_q && follows_i;
  assign offer_o = open_q && (end_q || (valid_i && !joins) || linger_q == LingerBits'(Linger));
  assign ready_o = !open_q || (joins && !take_i) || take_i;
  assign accept  = valid_i && ready_o;
  assign tag_o   = tag_q;
  assign beat_o  = first_q;
  assign len_o   = len_q;
  assign idle_o  = !open_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= 1'b0;
    else if (accept) open_q <= 1'b1;
    else if (take_i) open_q <= 1'b0;
  end

  // A beat that comes while the burst is taken begins the next burst, even if it could have joined.
  always_ff @(posedge clk_i) begin
    if (accept) begin
      tag_q    <= tag_i;
      linger_q <= '0;
      if (open_q && !take_i) begin
        len_q <= len_q + 1'b1;
        end_q <= len_q == LenBits'(MaxBeats - 2) || beat_i[PageBits-1:0] == '1;
      end else begin
        first_q <= beat_i;
        len_q   <= '0;
        end_q   <= beat_i[PageBits-1:0] == '1;
      end
    end else if (linger_q != LingerBits'(Linger)) begin
      linger_q <= linger_q + 1'b1;
    end
  end

  // Checks: only an offered burst is taken; a burst stays inside 4 KiB; follows_i is right.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_take : assert (!take_i || offer_o);
      a_page : assert (!open_q || 32'(first_q[PageBits-1:0]) + 32'(len_q) < 4096 / D);
      a_follows : assert (!valid_i || !open_q || follows_i == (tag_i == tag_q && beat_i == first_q + BeatBits'(len_q) + 1'b1));
    end
  end
endmodule
