// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Write buffer: writes whose requests are not in a controller's queue yet. A write spends one cycle in a register; then its data
// go to its group, which gives it a tag, and its beat number into the buffer. The beat numbers are in registers, which reads are
// compared with; a memory holds the locations and tags for the drain. ready_o is known one cycle ahead. Throughput: one write in
// and one out a cycle; they leave in order. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_buffer
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
#(
    parameter int unsigned D = 32  // bytes of a beat
) (
    input  logic            clk_i,
    input  logic            rst_ni,

    // Writes.
    input  logic            valid_i,
    output logic            ready_o,      // the buffer and both groups have room
    input  beat_t           beat_i,
    input  logic [D*8-1:0]  data_i,
    input  logic [D-1:0]    mask_i,

    // Their data, to the group of the beat, one cycle later.
    output logic [1:0]      put_valid_o,  // one-hot
    output logic [D*8-1:0]  put_data_o,
    output logic [D-1:0]    put_mask_o,
    input  tag_t            put_tag_i [2],  // tag of the beat, from each group
    input  logic [1:0]      put_room_i,   // each group has room for three beats

    // Comparison with a read: the entries that hold its beat; all entries.
    input  logic            look_valid_i,
    input  beat_t           look_beat_i,
    output marks_t          same_o,
    output marks_t          held_o,

    // The oldest write, for the controllers.
    output logic            valid_o,
    input  logic            ready_i,
    output request_t        request_o,
    output logic            high_o,       // so many that reads should make way
    output logic            busy_o        // a write is in the register
);
  localparam int unsigned PtrBits = $clog2(BufDepth);
  localparam int unsigned HighWater = BufDepth * 3 / 4;
  typedef logic [PtrBits:0] count_t;

  logic               open_q, put_q;
  beat_t              put_beat_q;
  logic [D*8-1:0]     put_data_q;
  logic [D-1:0]       put_mask_q;
  loc_t               put_loc, out_loc;
  tag_t               out_tag;
  beat_t              beat_q[BufDepth];
  marks_t             held_q;
  logic [PtrBits-1:0] in_q, out_q;
  count_t             count_q;

  // The register.
  assign ready_o     = open_q;
  assign put_loc     = locate(put_beat_q);
  assign put_valid_o = {put_q && put_loc.group, put_q && !put_loc.group};
  assign put_data_o  = put_data_q;
  assign put_mask_o  = put_mask_q;
  assign busy_o      = put_q;
  always_ff @(posedge clk_i) begin
    put_q <= rst_ni && valid_i && open_q;
    if (valid_i && open_q) begin
      put_beat_q <= beat_i;
      put_data_q <= data_i;
      put_mask_q <= mask_i;
    end
    // Room for three: one accepted in the last cycle, one put in this cycle, and the next one.
    open_q <= rst_ni && &put_room_i && count_q <= count_t'(BufDepth - 3);
  end

  // The entries.
  systole_prim_ram_async #(.Width(TagBits + $bits(loc_t)), .Depth(BufDepth), .Style("distributed")) u_locations (
      .clk_i, .we_i(put_q), .waddr_i(in_q), .wdata_i({put_tag_i[put_loc.group], put_loc}),
      .raddr_i(out_q), .rdata_o({out_tag, out_loc})
  );
  always_ff @(posedge clk_i) if (put_q) beat_q[in_q] <= put_beat_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q  <= '0;
      in_q    <= '0;
      out_q   <= '0;
      count_q <= '0;
    end else begin
      if (put_q) begin
        held_q[in_q] <= 1'b1;
        in_q <= in_q + 1'b1;
      end
      if (ready_i) begin
        held_q[out_q] <= 1'b0;
        out_q <= out_q + 1'b1;
      end
      count_q <= count_q + count_t'(put_q) - count_t'(ready_i);
    end
  end

  assign valid_o   = count_q != '0;
  assign request_o = '{write: 1'b1, tag: out_tag, loc: out_loc};
  assign high_o    = count_q >= count_t'(HighWater);
  assign held_o    = held_q;

  function automatic marks_t same(marks_t held, beat_t beats[BufDepth], beat_t beat);
    for (int unsigned i = 0; i < BufDepth; i++) same[i] = held[i] && beats[i] == beat;
  endfunction
  assign same_o = look_valid_i && valid_o ? same(held_q, beat_q, look_beat_i) : '0;

  // Checks: only a write that is there is taken; the count agrees with the entries.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_take : assert (!ready_i || valid_o);
      a_count : assert (valid_o == (held_q != '0) && count_q <= count_t'(BufDepth));
    end
  end
endmodule
