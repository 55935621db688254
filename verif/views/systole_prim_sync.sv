// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Simulation view of systole_prim_sync. With SYSTOLE_SYNC_JITTER, a change is seen one cycle late with probability 1/2,
// as if it came at the clock edge. Docs: docs/cells.md. Test: tests/cells/small_cells_test.cc.

module systole_prim_sync #(
    parameter int unsigned Width = 1,
    parameter int unsigned Stages = 2
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);
  logic [Width-1:0] late, stage_q [Stages];

  assign q_o = stage_q[Stages-1];

`ifdef SYSTOLE_SYNC_JITTER
  logic [Width-1:0] before_q, chance_q;
  always_ff @(posedge clk_i) begin
    before_q <= d_i;
    chance_q <= Width'($urandom);
  end
  assign late = (d_i ^ before_q) & chance_q;
`else
  assign late = '0;
`endif

  always_ff @(posedge clk_i) begin
    stage_q[0] <= d_i ^ late;
    for (int unsigned i = 1; i < Stages; i++) stage_q[i] <= stage_q[i-1];
  end
endmodule
