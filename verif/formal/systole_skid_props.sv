// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_skid: words leave unchanged and in order, the handshake holds, and no output depends on an input in
// the same cycle. The proof follows one arbitrary word. The (* hierconn *) wires are the cell's own registers.

module systole_skid_props #(
    parameter int unsigned Width = 2
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic [Width-1:0] data_i,
    input logic             ready_i,
    input logic             watch
);
  (* hierconn *) wire \u_dut.out_valid_q ;
  (* hierconn *) wire \u_dut.spare_valid_q ;
  (* hierconn *) wire [Width-1:0] \u_dut.out_q ;
  (* hierconn *) wire [Width-1:0] \u_dut.spare_q ;

  logic             ready_o, valid_o;
  logic [Width-1:0] data_o;

  systole_skid #(
      .Width(Width)
  ) u_dut (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(valid_i),
      .ready_o(ready_o),
      .data_i(data_i),
      .valid_o(valid_o),
      .ready_i(ready_i),
      .data_o(data_o)
  );

  logic             reset_done_q = 1'b0;
  logic             watching_q;
  logic [Width-1:0] watched_q;
  logic             ahead_q;  // a word is in front of the watched one
  logic             held_q;
  logic [Width-1:0] held_data_q;
  logic             stopped_q, streamed_q;
  logic             push, pop;
  logic [1:0]       held;  // words in the cell

  assign push = valid_i && ready_o;
  assign pop  = valid_o && ready_i;
  assign held = 2'(\u_dut.out_valid_q ) + 2'(\u_dut.spare_valid_q );

  always_ff @(posedge clk_i) begin
    reset_done_q <= 1'b1;
    held_q       <= rst_ni && valid_o && !ready_i;
    held_data_q  <= data_o;
    if (!rst_ni) begin
      watching_q <= 1'b0;
      stopped_q  <= 1'b0;
      streamed_q <= 1'b0;
    end else begin
      stopped_q  <= stopped_q || !ready_o;
      streamed_q <= push && pop;
      if (!watching_q && push && watch) begin
        watching_q <= 1'b1;
        watched_q  <= data_i;
        ahead_q    <= held != 2'(pop);
      end else if (watching_q && pop) begin
        if (ahead_q) ahead_q <= 1'b0;
        else watching_q <= 1'b0;
      end
    end
  end

  always_comb begin
    assume (reset_done_q || !rst_ni);
    if (reset_done_q) begin
      // Invariants that the induction needs.
      a_order : assert (!\u_dut.spare_valid_q || \u_dut.out_valid_q );
      if (watching_q) begin
        a_stored_out : assert (ahead_q || (\u_dut.out_valid_q && \u_dut.out_q == watched_q));
        a_stored_spare : assert (!ahead_q || (\u_dut.spare_valid_q && \u_dut.spare_q == watched_q));
      end
      // Properties that users rely on.
      if (rst_ni) begin
        a_valid : assert (valid_o == (held != 0));
        a_ready : assert (ready_o == (held != 2));
        a_data : assert (!(watching_q && !ahead_q) || (valid_o && data_o == watched_q));
        a_hold : assert (!held_q || (valid_o && data_o == held_data_q));
        c_stop : cover (!ready_o);
        c_stream : cover (streamed_q && push && pop && stopped_q);
        c_drained : cover (stopped_q && !valid_o);
        c_watched : cover (watching_q && pop && stopped_q && watched_q == '1);
      end
    end
  end
endmodule
