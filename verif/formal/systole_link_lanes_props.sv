// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_link_lanes_tx and systole_link_lanes_rx (verif/formal/link.py) with flits on the lanes Use. It
// begins with a few training sets. Any flits and idle cycles follow, and the wires have no faults. The outputs must
// never be high:
//   bytes_o  a flit arrives whose bytes or tag differ from those of the oldest flit in flight
//   more_o   a flit arrives that was not sent, or that is reported as wrong
//   stuck_o  a flit does not arrive within the time of its symbols and of the registers

module systole_link_lanes_props
  import systole_link_pkg::*;
#(
    parameter int unsigned Use = 15,
    parameter int unsigned LaneBits = 8,
    localparam int unsigned FlitBits = 4 * LaneBits
) (
    input  logic                clk_i,
    input  logic                valid_i, first_i,
    input  logic [FlitBits-1:0] data_i,
    output logic                bytes_o, more_o, stuck_o
);
  localparam int unsigned Sets = 3;
  localparam int unsigned Used = $countones(Use);
  localparam int unsigned Patience = 4 / Used + 3;
  logic                               rst_q, valid, ready, first, wrong, out, push;
  logic [4:0]                         time_q;
  logic [FlitBits-1:0]                flit;
  logic [Lanes-1:0][LaneBits+1:0]     lanes;
  logic [$clog2(Patience+1)-1:0]      wait_q;
  initial {rst_q, time_q} = '0;

  systole_link_lanes_tx #(.FlitBits(FlitBits), .LaneBits(LaneBits)) u_tx (
      .clk_i, .rst_ni(rst_q), .quiet_i(1'b0), .train_i(32'(time_q) < 4 * Sets), .info_i(info_t'(8'h9F)), .use_i(Lanes'(Use)), .set_o(),
      .valid_i, .ready_o(ready), .first_i, .data_i, .lanes_o(lanes)
  );
  systole_link_lanes_rx #(.FlitBits(FlitBits), .LaneBits(LaneBits)) u_rx (
      .clk_i, .rst_ni(rst_q), .clear_i(1'b0), .listen_i(1'b1), .use_i(Lanes'(Use)), .good_o(), .some_o(), .info_o(), .any_o(), .data_o(), .lost_o(),
      .valid_o(valid), .first_o(first), .error_o(wrong), .flit_o(flit), .lanes_i(lanes)
  );
  assign push = rst_q && valid_i && ready;
  assign out  = rst_q && valid;

  // Flits in flight, at most four.
  logic [3:0][FlitBits:0] held_q;
  logic [2:0]             count_q;
  logic [1:0]             in_q, out_q;
  always_ff @(posedge clk_i) begin
    rst_q <= 1'b1;
    if (push) held_q[in_q] <= {first_i, data_i};
    if (!rst_q) begin
      {time_q, count_q, in_q, out_q, wait_q} <= '0;
    end else begin
      if (32'(time_q) < 4 * Sets) time_q <= time_q + 1'b1;
      if (push) in_q <= in_q + 1'b1;
      if (out) out_q <= out_q + 1'b1;
      count_q <= count_q + 3'(push) - 3'(out);
      wait_q  <= count_q == '0 || out ? '0 : 32'(wait_q) == Patience ? wait_q : wait_q + 1'b1;
    end
  end
  assign more_o  = out && (count_q == '0 || wrong);
  assign bytes_o = out && count_q != '0 && {first, flit} != held_q[out_q];
  assign stuck_o = rst_q && 32'(wait_q) == Patience;
endmodule
