// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Read data of a group: joins the two halves of each burst to beats and holds them until their turn. Room is taken when RD
// is issued, so the PHY's data always fits. data_o is registered: valid in the cycle after pop_i.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_rdata
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Lanes = 1,  // pseudo-channels of the group
    parameter int unsigned Depth = 16,  // beats, a power of two
    parameter timing_t Timing = HbmTiming,
    localparam int unsigned BeatBytes = BurstBytes * Lanes
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,

    input  logic                             rd_issue_i,  // RD is on the PHY in the next cycle
    output logic                             room_o,      // for the data of one more RD
    input  logic [Lanes-1:0][PhyBytes*8-1:0] rdata_i,
    input  logic [Lanes-1:0]                 rdata_valid_i,

    output logic                             valid_o,     // a beat is complete
    input  logic                             pop_i,
    output logic [BeatBytes*8-1:0]           data_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned Cl = 32'(Timing.tcl);

  (* ram_style = "block" *) logic [BeatBytes*8-1:0]           mem_q[Depth];
  logic [BeatBytes*8-1:0]           beat;
  logic [Lanes-1:0][PhyBytes*8-1:0] first_q;
  logic [PtrBits:0]                 issue_ptr_q, wr_ptr_q, rd_ptr_q;
  logic                             second_q;  // the next half is a burst's second
  logic                             take;

  // Data of a RD from before a reset is dropped.
  assign take    = rdata_valid_i[0] && issue_ptr_q != wr_ptr_q;
  assign room_o  = issue_ptr_q - rd_ptr_q != (PtrBits + 1)'(Depth);
  assign valid_o = wr_ptr_q != rd_ptr_q;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      beat[l*BurstBytes*8+:PhyBytes*8]            = first_q[l];
      beat[(l*BurstBytes+PhyBytes)*8+:PhyBytes*8] = rdata_i[l];
    end
  end

  always_ff @(posedge clk_i) begin
    if (take && !second_q) first_q <= rdata_i;
    if (take && second_q) mem_q[wr_ptr_q[PtrBits-1:0]] <= beat;
    if (pop_i) data_o <= mem_q[rd_ptr_q[PtrBits-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      issue_ptr_q <= '0;
      wr_ptr_q    <= '0;
      rd_ptr_q    <= '0;
      second_q    <= 1'b0;
    end else begin
      if (rd_issue_i) issue_ptr_q <= issue_ptr_q + 1'b1;
      if (take) second_q <= !second_q;
      if (take && second_q) wr_ptr_q <= wr_ptr_q + 1'b1;
      if (pop_i) rd_ptr_q <= rd_ptr_q + 1'b1;
    end
  end

  // The PHY answers exactly tCL after RD and a cycle later, all pseudo-channels together; no over- or underflow.
  logic [Cl+1:0] since_q;  // bit i: RD was issued i + 1 cycles ago
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      since_q <= '0;
    end else begin
      since_q <= {since_q[Cl:0], rd_issue_i};
      a_latency : assert (take == (since_q[Cl] || since_q[Cl+1]));
      a_lockstep : assert (rdata_valid_i == {Lanes{rdata_valid_i[0]}});
      a_room : assert (!rd_issue_i || room_o);
      a_pop : assert (!pop_i || valid_o);
    end
  end
endmodule
