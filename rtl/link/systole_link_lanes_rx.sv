// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Takes flits and training sets from the lanes, which come in one clock and in step with each other. train_i: each lane looks for sets
// and counts those in a row without an error. Otherwise the lanes in use carry flits: the first symbol after a set, where the next
// set would begin, is a flit's first. Fills are dropped. A flit whose tags disagree is delivered as wrong. Latency: one cycle, and those
// in which a flit's symbols come. Docs: docs/link.md. Test: tests/rtl/link.

module systole_link_lanes_rx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned LaneBits = 32,
    localparam int unsigned SymbolBits = LaneBits + 2
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,

    input  logic                             clear_i,   // forget the sets that were counted
    input  logic                             listen_i,  // flits may begin
    input  logic [Lanes-1:0]                 use_i,     // on these lanes: one, two or all
    output logic [Lanes-1:0]                 good_o,    // TrainSets sets in a row were right
    output logic [Lanes-1:0]                 some_o,    // two were
    output info_t                            info_o,    // of the lowest lane in use
    output info_t                            any_o,     // of the lowest lane with two sets that were right
    output logic                             data_o,    // flits have begun
    output logic                             lost_o,    // lanes in use without a signal for QuietCycles cycles

    output logic                             valid_o,
    output logic                             first_o,
    output logic                             error_o,
    output logic [FlitBits-1:0]              flit_o,

    input  logic [Lanes-1:0][SymbolBits-1:0] lanes_i
);
  localparam int unsigned Symbols = FlitBits / LaneBits;
  localparam int unsigned CountBits = $clog2(Symbols) + 1;
  localparam int unsigned LaneBytes = LaneBits / 8;
  localparam int unsigned SetBits = $clog2(TrainSets + 1);
  localparam int unsigned QuietBits = $clog2(QuietCycles + 1);

  function automatic logic [LaneBits-1:0] spread(logic [7:0] code);
    for (int unsigned i = 0; i < LaneBytes; i++) spread[8*i+:8] = i % 2 == 1 ? ~code : code;
  endfunction

  logic [Lanes-1:0][SymbolBits-1:0] lanes_q;
  tag_e                             tag   [Lanes];
  logic [LaneBits-1:0]              bytes [Lanes];

  // Training sets of each lane.
  logic [1:0]         place_q [Lanes];  // symbol of a set that is due; 0: a comma
  logic [SetBits-1:0] sets_q  [Lanes];
  info_t              new_q   [Lanes], info_q[Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic       match;
    logic [7:0] code;
    assign tag[l]    = tag_e'(lanes_q[l][LaneBits+:2]);
    assign bytes[l]  = lanes_q[l][LaneBits-1:0];
    assign good_o[l] = 32'(sets_q[l]) == TrainSets;
    assign some_o[l] = 32'(sets_q[l]) >= 2;
    always_comb begin
      case (place_q[l])
        2'd0: code = CodeComma;
        2'd1: code = bytes[l][7:0];
        2'd2: code = ~new_q[l];
        default: code = new_q[l] ^ CodeMark;
      endcase
      match = tag[l] == TagTrain && bytes[l] == spread(code) && (place_q[l] != 2'd1 || bytes[l][7]);
    end
    always_ff @(posedge clk_i) begin
      if (place_q[l] == 2'd1) new_q[l] <= info_t'(bytes[l][7:0]);
      if (place_q[l] == 2'd3 && match) info_q[l] <= new_q[l];
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) begin
        place_q[l] <= '0;
        sets_q[l]  <= '0;
      end else begin
        place_q[l] <= match ? place_q[l] + 1'b1 : '0;
        if (!match) sets_q[l] <= '0;
        else if (place_q[l] == 2'd3 && 32'(sets_q[l]) != TrainSets) sets_q[l] <= sets_q[l] + 1'b1;
      end
    end
  end

  // The lanes in use, lowest first; and what the lowest of them carries.
  logic [1:0]                   lane [Lanes];  // of each rank
  logic [2:0]                   used;
  logic [Lanes*LaneBits-1:0]    word;
  tag_e                         tag0;
  logic                         same, silent;
  always_comb begin
    used = '0;
    for (int unsigned r = 0; r < Lanes; r++) lane[r] = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (use_i[l]) begin
        lane[used[1:0]] = 2'(l);
        used++;
      end
    end
    tag0   = tag[lane[0]];
    same   = 1'b1;
    silent = 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (use_i[l] && tag[l] != tag0) same = 1'b0;
      if (use_i[l] && tag[l] != TagQuiet) silent = 1'b0;
    end
    for (int unsigned r = 0; r < Lanes; r++) word[r*LaneBits+:LaneBits] = bytes[lane[r]];
    info_o = info_q[lane[0]];
    any_o  = '0;
    for (int unsigned l = Lanes; l > 0; l--) if (some_o[l-1]) any_o = info_q[l-1];
  end

  // Flits.
  logic                 data_q, begins, on, wrong_q, wrong, done, fill;
  logic [CountBits-1:0] count_q, count;     // symbols of the flit that are there, of one lane
  tag_e                 first_tag_q, first_tag;
  logic [FlitBits-1:0]  flit_q, flit;
  logic [QuietBits-1:0] quiet_q;
  // Where a comma is due.
  assign begins = listen_i && !data_q && place_q[lane[0]] == 2'd0 && some_o[lane[0]] && same &&
                  (tag0 == TagData || tag0 == TagStart || (tag0 == TagTrain && bytes[lane[0]] == spread(CodeFill)));
  assign on     = data_q || begins;
  assign data_o = data_q;
  assign lost_o = 32'(quiet_q) == QuietCycles;

  always_comb begin
    count     = count_q + CountBits'(used);
    first_tag = count_q == '0 ? tag0 : first_tag_q;
    wrong     = (count_q != '0 && wrong_q) || !same || tag0 != first_tag || silent;
    done      = on && 32'(count) == Symbols;
    flit      = flit_q;
    // One, two or all lanes: the new symbols come in at the top.
    case (used)
      3'd1: flit = {word[LaneBits-1:0], flit_q[FlitBits-1:LaneBits]};
      3'd2: flit = {word[2*LaneBits-1:0], flit_q[FlitBits-1:2*LaneBits]};
      default: flit = FlitBits'({word, flit_q} >> (Lanes * LaneBits));
    endcase
    fill = flit == {Symbols{spread(CodeFill)}};
  end

  always_ff @(posedge clk_i) begin
    lanes_q <= lanes_i;
    flit_q  <= flit;
    wrong_q <= wrong;
    first_tag_q <= first_tag;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i || !listen_i) begin
      data_q  <= 1'b0;
      count_q <= '0;
      quiet_q <= '0;
    end else begin
      if (begins) data_q <= 1'b1;
      if (on) count_q <= done ? '0 : count;
      if (!data_q || !silent) quiet_q <= '0;
      else if (!lost_o) quiet_q <= quiet_q + 1'b1;
    end
  end

  assign valid_o = done && !(first_tag == TagTrain && !wrong && fill);
  assign first_o = first_tag == TagStart;
  assign error_o = wrong || first_tag == TagTrain;
  assign flit_o  = flit;
endmodule
