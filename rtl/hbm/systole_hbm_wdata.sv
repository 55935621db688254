// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Write data of a group: beats wait here from their acceptance to their WR and go to the PHY tCWL and tCWL + 1 cycles after it,
// lower 16 bytes of each pseudo-channel's burst first. A beat every 2 cycles.
// Docs: docs/hbm.md. Test: tests/hbm/hbm_test.cc.

module systole_hbm_wdata
  import systole_hbm_pkg::*;
#(
    parameter int unsigned Lanes = 1,  // pseudo-channels of the group
    parameter int unsigned Depth = 32,  // beats, a power of two
    parameter timing_t Timing = HbmTiming,
    localparam int unsigned BeatBytes = BurstBytes * Lanes
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,

    input  logic                              push_i,
    output logic                              room_o,
    input  logic [BeatBytes*8-1:0]            data_i,
    input  logic [BeatBytes-1:0]              mask_i,

    input  logic                              wr_issue_i,  // WR is on the PHY in the next cycle
    output logic                              busy_o,      // beats are held or on their way
    output logic [Lanes-1:0][PhyBytes*8-1:0]  wdata_o,
    output logic [Lanes-1:0][PhyBytes-1:0]    wmask_o
);
  localparam int unsigned PtrBits = $clog2(Depth);
  localparam int unsigned Cwl = 32'(Timing.tcwl);

  (* ram_style = "block" *) logic [BeatBytes*8-1:0] data_mem_q[Depth];
  (* ram_style = "block" *) logic [BeatBytes-1:0]   mask_mem_q[Depth];
  logic [BeatBytes*8-1:0] data_q;
  logic [BeatBytes-1:0]   mask_q;
  logic [PtrBits:0]       wr_ptr_q, rd_ptr_q;
  logic [Cwl:0]           since_q;  // bit i: a WR was issued i + 1 cycles ago
  logic                   load;

  assign room_o = wr_ptr_q - rd_ptr_q != (PtrBits + 1)'(Depth);
  assign busy_o = wr_ptr_q != rd_ptr_q || since_q != '0;
  assign load   = since_q[Cwl-2];

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      data_mem_q[wr_ptr_q[PtrBits-1:0]] <= data_i;
      mask_mem_q[wr_ptr_q[PtrBits-1:0]] <= mask_i;
    end
    if (load) begin
      data_q <= data_mem_q[rd_ptr_q[PtrBits-1:0]];
      mask_q <= mask_mem_q[rd_ptr_q[PtrBits-1:0]];
    end
  end

  // A reset between WR and its data must not write stale bytes: the mask is cleared.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) wmask_o <= '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (rst_ni && since_q[Cwl-1]) begin
        wdata_o[l] <= data_q[l*BurstBytes*8+:PhyBytes*8];
        wmask_o[l] <= mask_q[l*BurstBytes+:PhyBytes];
      end else if (rst_ni && since_q[Cwl]) begin
        wdata_o[l] <= data_q[(l*BurstBytes+PhyBytes)*8+:PhyBytes*8];
        wmask_o[l] <= mask_q[l*BurstBytes+PhyBytes+:PhyBytes];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      since_q  <= '0;
    end else begin
      if (push_i) wr_ptr_q <= wr_ptr_q + 1'b1;
      if (load) rd_ptr_q <= rd_ptr_q + 1'b1;
      since_q <= {since_q[Cwl-1:0], wr_issue_i};
    end
  end

  // The shift register needs two stages; no overflow, no WR without data, bursts do not overlap.
  initial a_cwl : assert (Cwl >= 2);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push_i || room_o);
      a_data : assert (!load || wr_ptr_q != rd_ptr_q);
      a_burst : assert (!(wr_issue_i && since_q[0]));
    end
  end
endmodule
