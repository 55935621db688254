// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Synchroniser for asynchronous bits: a chain of Stages registers, which no mapper may share, move or turn into a shift
// register. q_o follows a change of d_i after Stages cycles, or one more. The bits are independent: bits that must be seen
// together need a handshake. There is no reset. This view is for every device; simulations may use the one in verif/views,
// which adds the extra cycle at random.
// Docs: docs/cells.md. Test: tests/cells/small_cells_test.cc.

module systole_prim_sync #(
    parameter int unsigned Width = 1,
    parameter int unsigned Stages = 2
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  (* keep, async_reg = "true" *) logic [Width-1:0] stage_q [Stages];

  assign q_o = stage_q[Stages-1];

  always_ff @(posedge clk_i) begin
    stage_q[0] <= d_i;
    for (int unsigned i = 1; i < Stages; i++) stage_q[i] <= stage_q[i-1];
  end
endmodule
