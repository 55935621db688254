// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Order of reads behind writes: a read of a buffered beat stalls until the write drains; after that the controller's queue keeps
// the order. A read spends one cycle here, in a register. It carries one mark per buffered write of its beat. The mark is cleared
// when the write drains, before its entry is reused. Throughput: one read a cycle. Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_hazard
  import systole_hbm_pkg::*;
  import systole_hbm_front_pkg::*;
(
    input  logic   clk_i,
    input  logic   rst_ni,

    input  logic   valid_i,
    output logic   ready_o,
    input  read_t  read_i,
    input  marks_t same_i,    // entries of the write buffer that hold the beat of read_i
    input  marks_t held_i,    // entries of the write buffer that are in use

    output logic   valid_o,
    input  logic   ready_i,   // only while no hazard_o
    output read_t  read_o,
    output loc_t   loc_o,     // where its beat is
    output logic   hazard_o   // it waits for a write
);
  logic   valid_q, group_q, hazard_q;
  read_t  read_q;
  marks_t mark_q, mark_old;

  assign ready_o  = !valid_q || ready_i;
  assign mark_old = mark_q & held_i;
  assign valid_o  = valid_q;
  assign read_o   = read_q;
  assign hazard_o = hazard_q;
  always_comb begin
    loc_o       = locate(read_q.beat);
    loc_o.group = group_q;  // computed one cycle ahead
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (ready_o) valid_q <= valid_i;
    if (ready_o) {group_q, read_q} <= {group_of(read_i.beat), read_i};
    mark_q   <= ready_o ? same_i : mark_old;
    hazard_q <= rst_ni && (ready_o ? same_i != '0 : mark_old != '0);
  end

  // Check: no read passes a write of its beat.
  always_ff @(posedge clk_i) begin
    if (rst_ni) a_order : assert (!ready_i || (valid_q && !hazard_q));
  end
endmodule
