// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_fifo: words leave unchanged and in order, and the handshake holds. The proof follows one arbitrary
// word: `watch` picks it, and `ahead_q` counts the words in front of it. The (* hierconn *) wires are the FIFO's own
// registers.

module systole_fifo_props #(
    parameter int unsigned Width = 2,
    parameter int unsigned Depth = 4
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic [Width-1:0] data_i,
    input logic             ready_i,
    input logic             watch
);
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned PtrBits = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned MaxDepth = 8;  // number of memory words declared below

  (* hierconn *) wire [PtrBits-1:0] \u_dut.wr_ptr_q ;
  (* hierconn *) wire [PtrBits-1:0] \u_dut.rd_ptr_q ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[0] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[1] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[2] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[3] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[4] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[5] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[6] ;
  (* hierconn *) wire [Width-1:0] \u_dut.u_mem.mem_q[7] ;
  wire [MaxDepth*Width-1:0] words = {
    \u_dut.u_mem.mem_q[7] , \u_dut.u_mem.mem_q[6] , \u_dut.u_mem.mem_q[5] , \u_dut.u_mem.mem_q[4] ,
    \u_dut.u_mem.mem_q[3] , \u_dut.u_mem.mem_q[2] , \u_dut.u_mem.mem_q[1] , \u_dut.u_mem.mem_q[0]
  };

  logic                 ready_o, valid_o;
  logic [Width-1:0]     data_o;
  logic [CountBits-1:0] count_o;

  systole_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(valid_i),
      .ready_o(ready_o),
      .data_i(data_i),
      .valid_o(valid_o),
      .ready_i(ready_i),
      .data_o(data_o),
      .count_o(count_o)
  );

  logic                 reset_done_q = 1'b0;
  logic                 watching_q;
  logic [Width-1:0]     watched_q;
  logic [CountBits-1:0] ahead_q;
  logic                 held_q;
  logic [Width-1:0]     held_data_q;
  logic                 was_full_q;
  logic                 push, pop;
  int unsigned          slot, used;

  assign push = valid_i && ready_o;
  assign pop  = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    reset_done_q <= 1'b1;
    held_q       <= rst_ni && valid_o && !ready_i;
    held_data_q  <= data_o;
    if (!rst_ni) begin
      watching_q <= 1'b0;
      was_full_q <= 1'b0;
    end else begin
      was_full_q <= was_full_q || !ready_o;
      if (!watching_q && push && watch) begin
        watching_q <= 1'b1;
        watched_q  <= data_i;
        ahead_q    <= count_o - CountBits'(pop);
      end else if (watching_q && pop) begin
        if (ahead_q == '0) watching_q <= 1'b0;
        else ahead_q <= ahead_q - 1'b1;
      end
    end
  end

  // The slot of the watched word, and the number of words between the pointers.
  always_comb begin
    slot = 32'(\u_dut.rd_ptr_q ) + 32'(ahead_q);
    if (slot >= Depth) slot = slot - Depth;
    used = 32'(\u_dut.wr_ptr_q ) - 32'(\u_dut.rd_ptr_q );
    if (\u_dut.wr_ptr_q < \u_dut.rd_ptr_q ) used = used + Depth;
  end

  always_comb begin
    assume (reset_done_q || !rst_ni);
    if (reset_done_q) begin
      // Invariants that the induction needs.
      a_pointers : assert (32'(count_o) == used || (32'(count_o) == Depth && used == 0));
      if (watching_q) begin
        a_inside : assert (ahead_q < count_o);
        a_stored : assert (words[slot*Width+:Width] == watched_q);
      end
      // Properties that users rely on.
      if (rst_ni) begin
        a_valid : assert (valid_o == (count_o != 0));
        a_ready : assert (ready_o == (32'(count_o) < Depth));
        a_data : assert (!(watching_q && ahead_q == '0) || (valid_o && data_o == watched_q));
        a_hold : assert (!held_q || (valid_o && data_o == held_data_q));
        c_full : cover (!ready_o);
        c_drained : cover (was_full_q && !valid_o);
        c_both : cover (was_full_q && (Depth == 1 ? pop : push && pop && 32'(count_o) == Depth / 2));
        c_watched : cover (watching_q && pop && ahead_q == '0 && watched_q == '1);
      end
    end
  end
endmodule
