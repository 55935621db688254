// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Minimum time between two commands, one timer per bank, bank group or other item. After set_i in cycle n, free_o is
// low until cycle n + Cycles - 2; in that cycle the scheduler may list the second command, to choose it in the next and
// issue it in cycle n + Cycles. The timers are down-counters stored as bit planes: plane k holds bit k of every
// counter. Docs: docs/hbm.md. Test: tests/hbm/mutant_test.cc.

module systole_hbm_wait #(
    parameter int unsigned Width = 16,
    parameter int unsigned Cycles = 2
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [Width-1:0] set_i,   // the first command is issued
    output logic [Width-1:0] free_o
);
  localparam int unsigned Load = Cycles > 3 ? Cycles - 3 : 0;  // up to 3 cycles, the scheduler's own steps are enough

  if (Load == 0) begin : gen_none
    assign free_o = '1;
    // verilator lint_off UNUSEDSIGNAL
    logic unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = ^{clk_i, rst_ni, set_i};
  end else begin : gen_count
    localparam int unsigned Bits = $clog2(Load + 1);
    localparam logic [Bits-1:0] Start = Bits'(Load);

    logic [Bits-1:0][Width-1:0] left_q, left_d;
    logic [Width-1:0]           free_q, free_d, borrow;

    assign free_o = free_q;

    always_comb begin
      borrow = ~free_q;
      free_d = '1;
      left_d = left_q;
      for (int unsigned k = 0; k < Bits; k++) begin
        left_d[k] = Start[k] ? (left_q[k] ^ borrow) | set_i : (left_q[k] ^ borrow) & ~set_i;
        borrow &= ~left_q[k];
        free_d &= ~left_d[k];
      end
    end

    always_ff @(posedge clk_i) begin
      left_q <= rst_ni ? left_d : '0;
      free_q <= rst_ni ? free_d : '1;
    end

    // Check: free_q is set exactly when the counter is 0.
    logic [Width-1:0] any;
    always_comb begin
      any = '0;
      for (int unsigned k = 0; k < Bits; k++) any |= left_q[k];
    end
    always_ff @(posedge clk_i) begin
      if (rst_ni) a_free : assert (free_q == ~any);
    end
  end
endmodule
