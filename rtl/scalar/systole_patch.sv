// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Adds values from a table to fields of a list's descriptors, in three cycles a patch. A descriptor without a patch is delayed
// by one cycle. After an entry is used, its value grows by its step. So the next run of the list has new values without a
// store.
// Docs: docs/scalar.md. Test: tests/system.

module systole_patch
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_bus_pkg::*;
(
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  patch_req_t           write_i,   // has priority over the growth of an entry

    input  logic                 start_i,   // pulse: a list with these entries begins
    input  logic [PatchBits-1:0] first_i,
    input  logic [PatchBits:0]   count_i,

    input  logic                 valid_i,
    output logic                 ready_o,
    input  desc_t                desc_i,
    output logic                 valid_o,
    input  logic                 ready_i,
    output desc_t                desc_o,
    output logic                 full_o    // holds a descriptor
);
  localparam int unsigned Window = 64;  // two words
  typedef logic [Window-1:0] window_t;

  // None: no entry is left. Fetch: the next entry is read. Take: it arrives, and its grown value is written back. Have: it
  // waits for its descriptor.
  typedef enum logic [1:0] {None, Fetch, Take, Have} state_e;
  state_e               state_q;
  logic [PatchBits-1:0] entry_q;
  logic [PatchBits:0]   left_q;
  logic                 take, apply;

  // The table.
  patch_field_t        field;
  logic [AddrBits-1:0] value, step;
  assign take = state_q == Take && !write_i.value;
  systole_prim_ram_1r1w #(.Width($bits(patch_field_t)), .Depth(Patches)) u_field (
      .clk_i, .we_i(write_i.field), .waddr_i(write_i.entry), .wdata_i(write_i.data[$bits(patch_field_t)-1:0]),
      .re_i(state_q == Fetch), .raddr_i(entry_q), .rdata_o(field)
  );
  systole_prim_ram_1r1w #(.Width(AddrBits), .Depth(Patches)) u_step (
      .clk_i, .we_i(write_i.step), .waddr_i(write_i.entry), .wdata_i(write_i.data),
      .re_i(state_q == Fetch), .raddr_i(entry_q), .rdata_o(step)
  );
  systole_prim_ram_1r1w #(.Width(AddrBits), .Depth(Patches)) u_value (
      .clk_i, .we_i(write_i.value || take), .waddr_i(write_i.value ? write_i.entry : entry_q),
      .wdata_i(write_i.value ? write_i.data : value + step),
      .re_i(state_q == Fetch), .raddr_i(entry_q), .rdata_o(value)
  );

  // The current entry.
  logic [15:0] index_q, place_q;  // number of the entry's descriptor in the list, number of the current descriptor
  logic [3:0]  word_q;
  window_t     add_q, mask_q;

  // The current descriptor.
  logic                   full_q;
  desc_t                  desc_q;
  logic [DescBits+32-1:0] padded;
  window_t                old, patched;

  assign apply   = full_q && state_q == Have && index_q == place_q;
  assign valid_o = full_q && (state_q == None || (state_q == Have && index_q != place_q));
  assign ready_o = !full_q || (valid_o && ready_i);
  assign desc_o  = desc_q;
  assign full_o  = full_q;
  assign padded  = {32'b0, desc_q};
  assign old     = padded[32*32'(word_q)+:Window];
  assign patched = (old & ~mask_q) | ((old + add_q) & mask_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= None;
      full_q  <= 1'b0;
    end else if (start_i) begin
      state_q <= count_i != '0 ? Fetch : None;
      full_q  <= 1'b0;
    end else begin
      unique case (state_q)
        Fetch:   state_q <= Take;
        Take:    if (take) state_q <= Have;
        Have:    if (apply) state_q <= left_q != '0 ? Fetch : None;
        default: ;
      endcase
      if (ready_o) full_q <= valid_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      entry_q <= first_i;
      left_q  <= count_i;
      place_q <= '0;
    end else begin
      if (take) begin
        entry_q <= entry_q + 1'b1;
        left_q  <= left_q - 1'b1;
      end
      if (valid_o && ready_i) place_q <= place_q + 1'b1;
    end
    if (take) begin
      index_q <= field.index;
      word_q  <= field.lsb[8:5];
      mask_q  <= ((window_t'(2) << field.bits) - 1'b1) << field.lsb[4:0];
      add_q   <= window_t'(value) << field.lsb[4:0];
    end
    if (ready_o) desc_q <= desc_i;
    else if (apply) begin
      for (int unsigned w = 0; w < DescBits / 32; w++) begin
        if (word_q == 4'(w)) desc_q[32*w+:32] <= patched[31:0];
        if (5'(word_q) + 5'd1 == 5'(w)) desc_q[32*w+:32] <= patched[63:32];
      end
    end
  end

  // Check: no descriptor is held when a list begins.
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_start : assert (!start_i || !full_q);
  end
endmodule
