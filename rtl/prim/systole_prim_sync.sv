// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Synchroniser of bits that change at any time: Stages registers in a row, which no mapper may share, move or make a shift register of;
// q_o follows a change of d_i after Stages cycles, or one more. Each bit by itself: bits that must be seen together need a handshake. No
// reset. This view is for every device; simulations may read that in verif/views, which takes the one more cycle at random.
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
