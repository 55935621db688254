// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Walks a load or store descriptor: one beat a cycle, no gap between runs or descriptors. Checks the descriptor before its first
// beat and each run, both sides, before the run's first beat; a fault is told once and ends all walking until the reset.
// Docs: docs/dma.md, docs/isa.md. Test: tests/rtl/dma.

module systole_dma_walk
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,          // bytes of a beat
    parameter int unsigned UbBytes = 65536
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  freeze_i,    // offer no beat, take no descriptor
    input  logic [AddrBits:0]     hbm_end_i,   // HBM accesses must end at or below

    input  logic                  start_valid_i,
    output logic                  start_ready_o,
    input  desc_t                 start_desc_i,
    output logic                  fault_valid_o,  // pulse; of the descriptor started last
    output fault_e                fault_code_o,
    output logic [AddrBits-1:0]   fault_addr_o,

    output logic                  beat_valid_o,
    input  logic                  beat_ready_i,
    output logic [AddrBits-$clog2(D)-1:0]   beat_hbm_o,   // number of the beat in the HBM
    output logic [UbAddrBits-$clog2(D)-1:0] beat_ub_o,    // number of the beat in the unified buffer
    output logic [$clog2(D)-1:0]  beat_tail_o,    // bytes of the beat that count, 0 = all
    output logic                  beat_last_o     // the descriptor's last beat
);
  localparam int unsigned Shift = $clog2(D);
  localparam int unsigned LenBits = 25;
  localparam int unsigned HbmBits = AddrBits + 1;   // with room for the first address beyond the end
  localparam int unsigned UbBits = UbAddrBits + 1;
  typedef logic [HbmBits-1:0] hbm_t;
  typedef logic [UbBits-1:0]  ub_t;

  // verilator lint_off UNUSEDSIGNAL
  load_desc_t d;     // a store has the same fields
  load_desc_t d_q;
  // verilator lint_on UNUSEDSIGNAL
  assign d = load_desc_t'(start_desc_i);

  logic                     active_q, stopped_q, run_first_q, desc_first_q;
  logic [LenBits-Shift:0]   run_beats_q, left_q;       // beats of a run; left of this one
  logic [15:0]              n1_left_q, n2_left_q;
  hbm_t                     hbm_q, hbm_run_q, hbm_row_q;   // this beat, this run, this inner loop
  ub_t                      ub_q, ub_run_q, ub_row_q;
  logic                     start, step, run_last, n1_last, n2_last;

  assign run_last = left_q == (LenBits - Shift + 1)'(1);
  assign n1_last  = n1_left_q == 16'd1;
  assign n2_last  = n2_left_q == 16'd1;

  // Checks of the descriptor.
  logic                illegal, misaligned;
  logic [AddrBits-1:0] misaligned_value;
  assign illegal = d_q.len == '0 || d_q.n1 == '0 || d_q.n2 == '0;
  always_comb begin
    misaligned       = 1'b1;
    misaligned_value = '0;
    if (d_q.hbm_addr[Shift-1:0] != '0) misaligned_value = d_q.hbm_addr;
    else if (d_q.ub_addr[Shift-1:0] != '0) misaligned_value = AddrBits'(d_q.ub_addr);
    else if (d_q.hbm_stride1[Shift-1:0] != '0) misaligned_value = d_q.hbm_stride1;
    else if (d_q.ub_stride1[Shift-1:0] != '0) misaligned_value = AddrBits'(d_q.ub_stride1);
    else if (d_q.hbm_stride2[Shift-1:0] != '0) misaligned_value = d_q.hbm_stride2;
    else if (d_q.ub_stride2[Shift-1:0] != '0) misaligned_value = AddrBits'(d_q.ub_stride2);
    else misaligned = 1'b0;
  end

  // Checks of a run; the address told is that of the first beat outside.
  hbm_t run_bytes, hbm_last;
  logic hbm_bad, ub_bad;
  assign run_bytes = hbm_t'(run_beats_q) << Shift;
  assign hbm_last  = {hbm_end_i[HbmBits-1:Shift], {Shift{1'b0}}};
  assign hbm_bad   = (HbmBits + 1)'(hbm_q) + (HbmBits + 1)'(run_bytes) > (HbmBits + 1)'(hbm_end_i);
  assign ub_bad    = hbm_t'(ub_q) + run_bytes > hbm_t'(UbBytes);

  always_comb begin
    fault_code_o = FaultNone;
    fault_addr_o = '0;
    if (active_q && run_first_q) begin
      if (desc_first_q && illegal) begin
        fault_code_o = FaultIllegalDescriptor;
      end else if (desc_first_q && misaligned) begin
        fault_code_o = FaultMisaligned;
        fault_addr_o = misaligned_value;
      end else if (hbm_bad) begin
        fault_code_o = FaultHbmRange;
        fault_addr_o = hbm_q > hbm_last ? AddrBits'(hbm_q) : AddrBits'(hbm_last);
      end else if (ub_bad) begin
        fault_code_o = FaultUbRange;
        fault_addr_o = ub_q > ub_t'(UbBytes) ? AddrBits'(ub_q) : AddrBits'(UbBytes);
      end
    end
  end
  assign fault_valid_o = fault_code_o != FaultNone && !freeze_i && !stopped_q;

  assign beat_valid_o    = active_q && fault_code_o == FaultNone && !freeze_i && !stopped_q;
  assign beat_hbm_o      = hbm_q[AddrBits-1:Shift];
  assign beat_ub_o       = ub_q[UbAddrBits-1:Shift];
  assign beat_tail_o     = run_last ? d_q.len[Shift-1:0] : '0;
  assign beat_last_o     = run_last && n1_last && n2_last;
  assign step            = beat_valid_o && beat_ready_i;
  assign start_ready_o   = (!active_q || (step && beat_last_o)) && !freeze_i && !stopped_q;
  assign start           = start_valid_i && start_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q  <= 1'b0;
      stopped_q <= 1'b0;
    end else begin
      if (fault_valid_o) stopped_q <= 1'b1;
      if (start) active_q <= 1'b1;
      else if (step && beat_last_o) active_q <= 1'b0;
    end
  end

  logic [LenBits-Shift:0] run_beats;  // of the new descriptor, rounded up
  assign run_beats = (LenBits - Shift + 1)'(d.len[LenBits-1:Shift]) + (LenBits - Shift + 1)'(d.len[Shift-1:0] != '0);

  hbm_t hbm_next;
  ub_t  ub_next;
  assign hbm_next = n1_last ? hbm_row_q + hbm_t'(d_q.hbm_stride2) : hbm_run_q + hbm_t'(d_q.hbm_stride1);
  assign ub_next  = n1_last ? ub_row_q + ub_t'(d_q.ub_stride2) : ub_run_q + ub_t'(d_q.ub_stride1);

  always_ff @(posedge clk_i) begin
    if (start) begin
      d_q          <= d;
      run_first_q  <= 1'b1;
      desc_first_q <= 1'b1;
      run_beats_q  <= run_beats;
      left_q       <= run_beats;
      n1_left_q    <= d.n1;
      n2_left_q    <= d.n2;
      hbm_q        <= hbm_t'(d.hbm_addr);
      hbm_run_q    <= hbm_t'(d.hbm_addr);
      hbm_row_q    <= hbm_t'(d.hbm_addr);
      ub_q         <= ub_t'(d.ub_addr);
      ub_run_q     <= ub_t'(d.ub_addr);
      ub_row_q     <= ub_t'(d.ub_addr);
    end else if (step) begin
      run_first_q  <= run_last;
      desc_first_q <= 1'b0;
      if (!run_last) begin
        left_q <= left_q - 1'b1;
        hbm_q  <= hbm_q + hbm_t'(D);
        ub_q   <= ub_q + ub_t'(D);
      end else begin
        left_q    <= run_beats_q;
        hbm_q     <= hbm_next;
        hbm_run_q <= hbm_next;
        ub_q      <= ub_next;
        ub_run_q  <= ub_next;
        n1_left_q <= n1_last ? d_q.n1 : n1_left_q - 1'b1;
        if (n1_last) begin
          hbm_row_q <= hbm_next;
          ub_row_q  <= ub_next;
          n2_left_q <= n2_left_q - 1'b1;
        end
      end
    end
  end

  // Every beat lies inside both memories and on the beat grid.
  always_ff @(posedge clk_i) begin
    if (rst_ni && beat_valid_o) begin
      a_hbm : assert (hbm_q + hbm_t'(D) <= hbm_end_i && hbm_q[Shift-1:0] == '0);
      a_ub : assert (32'(ub_q) + D <= UbBytes && ub_q[Shift-1:0] == '0);
    end
  end
endmodule
