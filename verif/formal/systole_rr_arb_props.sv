// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_rr_arb: the grant goes to exactly one requester whenever there is one, holds until taken, and an arbitrary
// requester `who` that waits sees at most (N - 1) * MaxRun grants to others. The (* hierconn *) wires are the arbiter's registers.

module systole_rr_arb_props #(
    parameter int unsigned N = 4,
    parameter int unsigned MaxRun = 1
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic [N-1:0] req_i,
    input logic         ready_i
);
  localparam int unsigned IndexBits = N > 1 ? $clog2(N) : 1;
  localparam int unsigned RunBits = $clog2(MaxRun + 1);

  (* hierconn *) wire [N-1:0] \u_dut.last_q ;
  (* hierconn *) wire [RunBits-1:0] \u_dut.run_q ;
  (* hierconn *) wire [N-1:0] \u_dut.locked_q ;
  (* anyconst *) logic [IndexBits-1:0] who;

  logic                 valid_o;
  logic [N-1:0]         gnt_o;
  logic [IndexBits-1:0] index_o;

  systole_rr_arb #(
      .N(N),
      .MaxRun(MaxRun)
  ) u_dut (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .req_i(req_i),
      .valid_o(valid_o),
      .ready_i(ready_i),
      .gnt_o(gnt_o),
      .index_o(index_o)
  );

  logic                 reset_done_q = 1'b0;
  logic [N-1:0]         waiting_q;   // requests that were not taken in the last cycle
  logic                 offered_q;
  logic [N-1:0]         offered_gnt_q;
  logic [7:0]           others_q;    // grants to others since `who` began to wait
  logic [7:0]           distance;    // of `who` behind the last winner, 0 when it is next
  logic [7:0]           lock_steps;  // the same of the one whose grant was offered
  logic                 taken;

  assign taken = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    reset_done_q  <= 1'b1;
    offered_gnt_q <= gnt_o;
    if (!rst_ni) begin
      waiting_q <= '0;
      offered_q <= 1'b0;
      others_q  <= '0;
    end else begin
      waiting_q <= req_i & ~(taken ? gnt_o : '0);
      offered_q <= valid_o && !ready_i;
      if (!req_i[who] || (taken && gnt_o[who])) others_q <= '0;
      else if (taken) others_q <= others_q + 1'b1;
    end
  end

  always_comb begin
    distance   = '0;
    lock_steps = '0;
    for (int unsigned i = 0; i < N; i++) begin
      if (\u_dut.last_q [i]) distance = 8'(who) + 8'(N - 1 - i);
    end
    for (int unsigned i = 0; i < N; i++) begin
      for (int unsigned j = 0; j < N; j++) begin
        if (\u_dut.last_q [i] && offered_gnt_q[j]) lock_steps = 8'(j < i + 1 ? j + N - 1 - i : j - i - 1);
      end
    end
    if (distance >= 8'(N)) distance = distance - 8'(N);
  end

  always_comb begin
    assume (reset_done_q || !rst_ni);
    assume (32'(who) < N);
    assume (!rst_ni || (waiting_q & ~req_i) == '0);  // requests hold until taken
    if (reset_done_q) begin
      // Invariants that make the induction go through.
      a_last : assert (\u_dut.last_q != '0 && (\u_dut.last_q & (\u_dut.last_q - 1'b1)) == '0);
      a_run : assert (\u_dut.run_q != '0 && 32'(\u_dut.run_q ) <= MaxRun);
      a_lock : assert (\u_dut.locked_q == (offered_q ? offered_gnt_q : '0));
      a_lock_waits : assert ((\u_dut.locked_q & ~waiting_q) == '0);
      a_lock_one_hot : assert ((\u_dut.locked_q & (\u_dut.locked_q - 1'b1)) == '0);
      a_lock_turn : assert (!offered_q || others_q == '0 || lock_steps <= distance ||
                            (offered_gnt_q == \u_dut.last_q && 32'(\u_dut.run_q ) < MaxRun));
      a_zero : assert (waiting_q[who] || others_q == '0);
      a_budget : assert (\u_dut.last_q [who] ? others_q == '0 :
                         32'(others_q) <= (N - 2 - 32'(distance)) * MaxRun + 32'(\u_dut.run_q ));
      // What users rely on.
      if (rst_ni) begin
        a_valid : assert (valid_o == (req_i != '0));
        a_one : assert (valid_o == (gnt_o != '0) && (gnt_o & (gnt_o - 1'b1)) == '0);
        a_requester : assert ((gnt_o & ~req_i) == '0);
        a_index : assert (!valid_o || gnt_o == (N'(1) << index_o));
        a_hold : assert (!offered_q || gnt_o == offered_gnt_q);
        a_fair : assert (32'(others_q) <= (N - 1) * MaxRun);
        c_wait : cover (32'(others_q) == (N - 1) * MaxRun && gnt_o[who]);
        c_all : cover (req_i == '1 && taken && gnt_o[N-1]);
        c_held : cover (offered_q && taken);
      end
    end
  end
endmodule
