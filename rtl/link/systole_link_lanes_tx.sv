// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Puts flits, fills and training sets on the lanes. A flit is striped over the lanes in use, LaneBytes each in a cycle, the lowest
// bytes first and on the lowest of these lanes: FlitBytes / (LaneBytes x lanes in use) cycles a flit. All symbols of a flit have its tag.
// Without a flit a fill is sent; a lane that is not in use is quiet. Latency: one cycle to the first symbol. Docs: docs/link.md.
// Test: tests/rtl/link.

module systole_link_lanes_tx
  import systole_link_pkg::*;
#(
    parameter int unsigned FlitBits = 128,
    parameter int unsigned LaneBits = 32,
    localparam int unsigned SymbolBits = LaneBits + 2
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,

    input  logic                                quiet_i,  // nothing is sent
    input  logic                                train_i,  // training sets, on all lanes
    input  info_t                               info_i,
    input  logic [Lanes-1:0]                    use_i,    // lanes of flits: one, two or all
    output logic                                set_o,    // the last symbol of a set

    input  logic                                valid_i,
    output logic                                ready_o,
    input  logic                                first_i,
    input  logic [FlitBits-1:0]                 data_i,

    output logic [Lanes-1:0][SymbolBits-1:0]    lanes_o   // {tag, bytes}
);
  localparam int unsigned Symbols = FlitBits / LaneBits;  // of a flit on one lane
  localparam int unsigned CountBits = $clog2(Symbols) + 1;
  localparam int unsigned LaneBytes = LaneBits / 8;

  // A training symbol: every byte the same, odd ones inverted.
  function automatic logic [LaneBits-1:0] spread(logic [7:0] code);
    for (int unsigned i = 0; i < LaneBytes; i++) spread[8*i+:8] = i % 2 == 1 ? ~code : code;
  endfunction

  logic [1:0]                       set_q;          // symbol of a set
  info_t                            info_q;         // what it says, to its end
  logic [CountBits-1:0]             count_q, step;  // symbols of the flit that are still to be sent, of one lane
  logic [FlitBits-1:0]              data_q, data;   // they are the lowest of these
  tag_e                             tag_q, tag;
  logic [Lanes-1:0][SymbolBits-1:0] lanes_q, lanes_d;
  logic                             next;

  assign step    = &use_i ? CountBits'(Lanes) : $onehot(use_i) ? CountBits'(1) : CountBits'(2);
  assign next    = !train_i && !quiet_i && count_q == '0;
  assign ready_o = next;
  assign set_o   = train_i && set_q == 2'd3;
  assign lanes_o = lanes_q;

  // The flit at hand, or a new one, or a fill, which lasts as long.
  always_comb begin
    data = data_q;
    tag  = tag_q;
    if (next) begin
      data = valid_i ? data_i : {Symbols{spread(CodeFill)}};
      tag  = !valid_i ? TagTrain : first_i ? TagStart : TagData;
    end
  end

  always_comb begin
    automatic logic [7:0] code = CodeComma;
    automatic int unsigned rank = 0;
    case (set_q)
      2'd0: code = CodeComma;
      2'd1: code = info_q;
      2'd2: code = ~info_q;
      default: code = info_q ^ CodeMark;
    endcase
    lanes_d = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (train_i) begin
        lanes_d[l] = {TagTrain, spread(code)};
      end else if (use_i[l] && !quiet_i) begin
        lanes_d[l] = {tag, data[rank*LaneBits+:LaneBits]};
        rank++;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    data_q <= data >> (LaneBits * 32'(step));
    tag_q  <= tag;
    if (set_q == 2'd0) info_q <= info_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      set_q   <= '0;
      count_q <= '0;
      lanes_q <= '0;
    end else begin
      set_q   <= train_i ? set_q + 1'b1 : '0;
      if (train_i || quiet_i) count_q <= '0;
      else count_q <= (next ? CountBits'(Symbols) : count_q) - step;
      lanes_q <= lanes_d;
    end
  end

  // A flit takes whole cycles of the lanes in use.
  always_ff @(posedge clk_i) begin
    if (rst_ni && !train_i && !quiet_i) begin
      a_use : assert (&use_i || $countones(use_i) == 1 || $countones(use_i) == 2);
      a_step : assert (count_q == '0 || count_q >= step);
    end
  end
endmodule
