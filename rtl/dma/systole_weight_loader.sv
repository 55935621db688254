// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight unit: streams tiles from HBM into the weight FIFO, one beat a cycle. Asks only for beats that the FIFO has room for, so
// answers go straight in. Up to InFlight descriptors are under way. Docs: docs/dma.md. Test: tests/rtl/dma.

module systole_weight_loader
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter cfg_t Cfg = preset(PresetNano),
    parameter int unsigned InFlight = 4,
    parameter int unsigned D = beat_bytes(Cfg)  // derived, do not set
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                freeze_i,
    input  logic [AddrBits:0]   hbm_end_i,

    // Unit interface (docs/design.md).
    input  logic                start_valid_i,
    output logic                start_ready_o,
    input  desc_t               start_desc_i,
    output logic                done_o,
    output logic                fault_valid_o,
    output fault_e              fault_code_o,
    output logic [AddrBits-1:0] fault_addr_o,
    output logic                fault_newest_o,
    output logic                progress_o,

    // HBM read client.
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,

    // Weight FIFO.
    output logic                wf_valid_o,
    output logic [D*8-1:0]      wf_data_o,
    input  logic [15:0]         wf_free_i,  // beats of room, those on their way not counted

    output logic                full_o      // a beat waits for room in the FIFO
);
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned TileBeats = Cfg.Rows * Cfg.Cols / D;
  localparam int unsigned BeatBits = 16 + $clog2(TileBeats);
  localparam int unsigned HbmBits = AddrBits + 1;
  typedef logic [HbmBits-1:0]  hbm_t;
  typedef logic [BeatBits-1:0] count_t;

  // verilator lint_off UNUSEDSIGNAL
  weights_desc_t d;
  // verilator lint_on UNUSEDSIGNAL
  assign d = weights_desc_t'(start_desc_i);

  // Requests.
  logic                active_q, stopped_q, first_q, illegal_q, misaligned_q;
  hbm_t                addr_q;
  count_t              left_q;
  logic                start, ask, last, offer, list_room, rd_valid_q;
  logic [AddrBits-1:0] rd_addr_q;
  logic [15:0]         under_way_q;  // beats asked for that have not come

  assign last          = left_q == count_t'(1);
  assign offer         = active_q && fault_code_o == FaultNone && !freeze_i && !stopped_q;
  assign full_o        = offer && under_way_q >= wf_free_i;
  assign ask           = offer && under_way_q < wf_free_i && (!rd_valid_q || rd_ready_i);
  assign start_ready_o = (!active_q || (ask && last)) && list_room && !freeze_i && !stopped_q;
  assign start         = start_valid_i && start_ready_o;
  assign rd_valid_o    = rd_valid_q;
  assign rd_addr_o     = rd_addr_q;

  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = addr_q[AddrBits-1:0];
    if (active_q) begin
      if (first_q && illegal_q) begin
        fault_code_o = FaultIllegalDescriptor;
        fault_addr_o = '0;
      end else if (first_q && misaligned_q) begin
        fault_code_o = FaultMisaligned;
      end else if (addr_q + hbm_t'(D) > hbm_end_i) begin
        fault_code_o = FaultHbmRange;
      end
    end
  end
  assign fault_valid_o  = fault_code_o != FaultNone && !freeze_i && !stopped_q;
  assign fault_newest_o = 1'b1;

  always_ff @(posedge clk_i) begin
    if (start) begin
      addr_q       <= hbm_t'(d.hbm_addr);
      left_q       <= count_t'(32'(d.tiles) * TileBeats);
      first_q      <= 1'b1;
      illegal_q    <= d.tiles == '0;
      misaligned_q <= d.hbm_addr[Shift-1:0] != '0;
    end else if (ask) begin
      addr_q  <= addr_q + hbm_t'(D);
      left_q  <= left_q - 1'b1;
      first_q <= 1'b0;
    end
    if (ask) rd_addr_q <= addr_q[AddrBits-1:0];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q    <= 1'b0;
      stopped_q   <= 1'b0;
      rd_valid_q  <= 1'b0;
      under_way_q <= '0;
    end else begin
      if (fault_valid_o) stopped_q <= 1'b1;
      if (start) active_q <= 1'b1;
      else if (ask && last) active_q <= 1'b0;
      if (ask) rd_valid_q <= 1'b1;
      else if (rd_ready_i) rd_valid_q <= 1'b0;
      under_way_q <= under_way_q + 16'(ask) - 16'(rd_rsp_valid_i);
    end
  end

  // Answers: the beats of each descriptor under way are counted off. A descriptor without tiles never gets here.
  count_t                          list_beats, come_q;
  logic                            list_valid, complete;
  logic [$clog2(InFlight+1)-1:0]   list_count;

  systole_fifo #(.Width(BeatBits), .Depth(InFlight)) u_list (
      .clk_i, .rst_ni,
      .valid_i(start), .ready_o(list_room), .data_i(count_t'(32'(d.tiles) * TileBeats)),
      .valid_o(list_valid), .ready_i(complete), .data_o(list_beats), .count_o(list_count)
  );
  assign complete   = rd_rsp_valid_i && come_q + count_t'(1) == list_beats;
  assign wf_valid_o = rd_rsp_valid_i;
  assign wf_data_o  = rd_rsp_data_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      come_q     <= '0;
      done_o     <= 1'b0;
      progress_o <= 1'b0;
    end else begin
      if (complete) come_q <= '0;
      else if (rd_rsp_valid_i) come_q <= come_q + 1'b1;
      done_o     <= complete;
      progress_o <= ask || rd_rsp_valid_i;
    end
  end

  // Answers belong to a descriptor and were asked for; requests hold until they are taken.
  logic                rd_held_q;
  logic [AddrBits-1:0] rd_last_q;
  always_ff @(posedge clk_i) begin
    rd_held_q <= rst_ni && rd_valid_o && !rd_ready_i;
    rd_last_q <= rd_addr_o;
    if (rst_ni) begin
      a_answer : assert (!rd_rsp_valid_i || (list_valid && under_way_q != '0));
      a_list : assert (32'(list_count) <= InFlight);
      a_rd_holds : assert (!rd_held_q || (rd_valid_o && rd_addr_o == rd_last_q));
    end
  end
endmodule
