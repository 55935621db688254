// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector unit: requant (one accumulator row a cycle, with or without a residual addition; raw: one window a cycle), pool (one
// tap a cycle), add (three cycles a vector), mul (two cycles a vector), tables. This module connects the stages prepare ->
// issue -> read -> lanes -> write queue. It contains the ports, the completion and the fault report.
// Docs: docs/vector.md, docs/isa.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector
  import systole_isa_pkg::*;
  import systole_bus_pkg::unit_req_t;
  import systole_bus_pkg::unit_rsp_t;
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano),
    parameter bit Gate = 1'b1  // 1: the clock may be gated while the unit is idle
) (
    input  logic                                       clk_i,
    input  logic                                       rst_ni,

    // Descriptors (unit interface).
    // verilator lint_off UNUSEDSIGNAL
    input  unit_req_t                                   req_i,
    // verilator lint_on UNUSEDSIGNAL
    output unit_rsp_t                                   rsp_o,
    input  logic                                       freeze_i,

    // Unified buffer: one window read and one window write port.
    output logic                                       vrd_valid_o,
    input  logic                                       vrd_ready_i,
    output logic [systole_presets_pkg::UbAddrBits-1:0] vrd_addr_o,
    input  logic                                       vrd_rsp_valid_i,
    input  logic [Cfg.Rows*8-1:0]                      vrd_data_i,
    output logic                                       vwr_valid_o,
    input  logic                                       vwr_ready_i,
    output logic [systole_presets_pkg::UbAddrBits-1:0] vwr_addr_o,
    output logic [Cfg.Rows*8-1:0]                      vwr_data_o,
    output logic [Cfg.Rows-1:0]                        vwr_mask_o,

    // Accumulators.
    output logic                                       acc_rd_valid_o,
    input  logic                                       acc_rd_ready_i,
    output logic [systole_presets_pkg::AccAddrBits-1:0] acc_rd_row_o,
    input  logic signed [31:0]                         acc_rd_data_i [Cfg.Cols],

    // For status and counters.
    output logic                                       saturated_o,  // pulse: a bias addition saturated
    output logic                                       stall_ub_o    // the unified buffer stalled a request in this cycle
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned Beats = Cols / Cfg.VectorLanes;
  localparam int unsigned CountBits = $clog2(OutDepth + 1);

  // Signals to the unit's queue.
  logic                unit_ready, unit_done, unit_fault, unit_newest, unit_progress;
  fault_e              unit_code;
  logic [systole_presets_pkg::AddrBits-1:0] unit_addr;
  assign rsp_o = '{ready: unit_ready, done: unit_done, progress: unit_progress, fault: unit_fault, code: unit_code,
                   addr: unit_addr, newest: unit_newest};

  // The unit's clock is gated while all results are written and no work is pending. Only a descriptor starts new work.
  logic clk, work, rest;
  systole_idle_clock #(.Gate(Gate)) u_clock (.clk_i, .rst_ni, .work_i(work), .rest_i(rest), .clk_o(clk));

  // Preparation.
  logic                 empty, job_valid, job_take;
  job_t                 job;
  scalars_t             job_scalars;
  logic                 legal;
  fault_e               verdict;
  walk_addr_t           verdict_addr;
  logic                 par_valid, par_ready, par_bank;
  ub_addr_t             par_addr;
  logic [3:0]           par_word;

  logic                 par_busy, par_table, table_busy_q, table_loaded, table_done;

  // Issue.
  logic                 idle, iss_valid, iss_ready, iss_acc_rd, iss_ub_rd, addr_fault;
  uop_t                 iss_uop;
  dest_t                iss_dest;
  acc_addr_t            iss_row;
  ub_addr_t             iss_addr, take_addr;
  walk_addr_t           addr_fault_addr;
  logic                 out_take, out_drop, take_raw;

  // The micro-op that requests its data, and its registers for the two cycles until the data arrive.
  logic                 req_valid, req_acc, req_ub, req_open, req_go;
  uop_t                 req_uop, d1_uop_q, d2_uop_q;
  acc_addr_t            req_row;
  ub_addr_t             req_addr;
  logic                 d1_valid_q, d2_valid_q;
  logic                 p1_valid_q, p2_valid_q, p1_bank_q, p2_bank_q;  // the same registers for parameter words
  logic [3:0]           p1_word_q, p2_word_q;
  logic                 p1_table_q, p2_table_q;
  logic [24:0]          recip;

  // Results.
  scalars_t             scalars_q [2];
  logic [1:0]           bank_busy_q;
  logic                 sum_valid, out_valid, out_last, out_bank, out_room;
  dest_t                wr_dest;
  logic [Cols*8-1:0]    out_data;
  logic                 wr_valid, written, dest_valid, dest_room, avail, all_written, drained;
  logic [CountBits-1:0] flying_q, queued, dests;

  systole_vector_prepare #(.Cfg(Cfg)) u_prepare (
      .clk_i(clk),
      .rst_ni,
      .start_valid_i(req_i.valid),
      .idle_o        (empty),
      .start_desc_i(req_i.desc),
      .freeze_i,
      .bank_busy_i   (bank_busy_q),
      .drained_i     (drained),
      .in_flight_i   (flying_q),
      .issue_i       (out_take),
      .issue_addr_i  (take_addr),
      .issue_raw_i   (take_raw),
      .written_i     (written),
      .rd_valid_o    (par_valid),
      .rd_ready_i    (par_ready),
      .rd_addr_o     (par_addr),
      .rd_word_o     (par_word),
      .rd_bank_o     (par_bank),
      .rd_busy_o     (par_busy),
      .rd_table_o    (par_table),
      .table_ready_i (!table_busy_q),
      .table_loaded_i(!table_busy_q),
      .table_done_o  (table_done),
      .job_valid_o   (job_valid),
      .job_ready_i   (job_take),
      .job_o         (job),
      .scalars_o     (job_scalars),
      .legal_o       (legal),
      .verdict_o     (verdict),
      .verdict_addr_o(verdict_addr)
  );

  // A requant may start at once if its results leave the lanes at the same stage as those of the previous job. Any other job
  // waits until all earlier results are written.
  logic lookup_q, residual_q, follows;

  assign follows  = job.requant && job.lookup == lookup_q && !job.residual && !residual_q;
  assign drained  = idle && all_written;
  assign job_take = job_valid && idle && legal && (follows || all_written) && !freeze_i;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      lookup_q   <= 1'b0;
      residual_q <= 1'b0;
    end else if (job_take) begin
      lookup_q   <= job.lookup;
      residual_q <= job.residual;
    end
  end

  systole_vector_issue #(.Cfg(Cfg)) u_issue (
      .clk_i(clk),
      .rst_ni,
      .load_i      (job_take),
      .job_i       (job),
      .idle_o      (idle),
      .sum_valid_i (sum_valid),
      .out_avail_i (avail),
      .take_o      (out_take),
      .take_addr_o (take_addr),
      .take_raw_o  (take_raw),
      .drop_o      (out_drop),
      .valid_o     (iss_valid),
      .ready_i     (iss_ready),
      .uop_o       (iss_uop),
      .dest_o      (iss_dest),
      .acc_rd_o    (iss_acc_rd),
      .ub_rd_o     (iss_ub_rd),
      .acc_row_o   (iss_row),
      .ub_addr_o   (iss_addr),
      .fault_o     (addr_fault),
      .fault_addr_o(addr_fault_addr)
  );

  // At most OutDepth results are in flight, so the write queue always has room for them.
  assign avail       = flying_q != CountBits'(OutDepth);
  assign all_written = flying_q == '0;

  always_ff @(posedge clk) begin
    if (!rst_ni) flying_q <= '0;
    else flying_q <= flying_q + CountBits'(out_take) - CountBits'(out_drop) - CountBits'(written);
  end

  // Skid buffer for the requests: its register ends the combinational path of the grants.
  systole_skid #(.Width($bits(uop_t) + 2 + $bits(acc_addr_t) + $bits(ub_addr_t))) u_request (
      .clk_i(clk),
      .rst_ni,
      .valid_i(iss_valid),
      .ready_o(iss_ready),
      .data_i ({iss_uop, iss_acc_rd, iss_ub_rd, iss_row, iss_addr}),
      .valid_o(req_valid),
      .ready_i(req_go),
      .data_o ({req_uop, req_acc, req_ub, req_row, req_addr})
  );

  // The beats of a micro-op occupy the lanes for Cols / Lanes cycles. Its window data must stay valid that long.
  logic gap, gap_ub_q;

  if (Beats > 1) begin : gen_gap
    logic [$clog2(Beats)-1:0] gap_q;
    assign gap = gap_q != '0;
    always_ff @(posedge clk) begin
      if (!rst_ni) gap_q <= '0;
      else if (req_go) gap_q <= '1;
      else if (gap) gap_q <= gap_q - 1'b1;
      if (req_go) gap_ub_q <= req_ub;
    end
  end else begin : gen_no_gap
    assign gap      = 1'b0;
    assign gap_ub_q = 1'b0;
  end

  always_ff @(posedge clk) begin
    d1_uop_q <= req_uop;
    if (d1_valid_q) d2_uop_q <= d1_uop_q;
    if (job_take) scalars_q[job.bank] <= job_scalars;
  end

  // Reads. Parameter words have priority, but a window request is not withdrawn before it is granted.
  logic win_req, win_held_q, par_sel;

  // A requant requests its rows only after its last parameter word was requested. Reads continue during a freeze, until their
  // results stall at the write port. This is harmless, because reads change no state. Gating them with the freeze would
  // lengthen the path from here to the banks' addresses, which is long.
  assign req_open       = req_valid && !gap && !(req_uop.src == SrcAcc && par_busy && req_uop.bank == par_bank);
  assign acc_rd_valid_o = req_open && req_acc;
  assign acc_rd_row_o   = req_row;
  assign win_req        = req_open && req_ub;
  assign par_sel        = par_valid && !win_held_q && !(gap && gap_ub_q);
  assign vrd_valid_o    = par_sel || win_req;
  assign vrd_addr_o     = par_sel ? par_addr : req_addr;
  assign par_ready      = par_sel && vrd_ready_i;

  always_comb begin
    req_go = req_open;
    if (req_acc && !acc_rd_ready_i) req_go = 1'b0;
    if (req_ub && (par_sel || !vrd_ready_i)) req_go = 1'b0;
  end

  systole_vector_recip u_recip (
      .clk_i(clk),
      .en_i   (d1_valid_q && d1_uop_q.out),
      .n_i    (d1_uop_q.taps),
      .recip_o(recip)
  );

  systole_vector_lanes #(.Cfg(Cfg)) u_lanes (
      .clk_i(clk),
      .rst_ni,
      .table_valid_i(p2_valid_q && p2_table_q),
      .table_loaded_o(table_loaded),
      .param_valid_i(p2_valid_q && !p2_table_q),
      .param_bank_i (p2_bank_q),
      .param_word_i (p2_word_q),
      .scalars_i    (scalars_q),
      .valid_i      (d2_valid_q),
      .uop_i        (d2_uop_q),
      .recip_i      (recip),
      .acc_data_i   (acc_rd_data_i),
      .ub_data_i    (vrd_data_i),
      .sum_valid_o  (sum_valid),
      .out_valid_o  (out_valid),
      .out_last_o   (out_last),
      .out_bank_o   (out_bank),
      .out_data_o   (out_data),
      .saturated_o
  );

  // Destinations, which wait from issue to write, and results.
  systole_fifo #(.Width($bits(dest_t)), .Depth(OutDepth)) u_dest (
      .clk_i(clk),
      .rst_ni,
      .valid_i(iss_valid && iss_ready && iss_uop.out),
      .ready_o(dest_room),
      .data_i (iss_dest),
      .valid_o(dest_valid),
      .ready_i(written),
      .data_o (wr_dest),
      .count_o(dests)
  );

  systole_fifo #(.Width(Cols * 8), .Depth(OutDepth)) u_out (
      .clk_i(clk),
      .rst_ni,
      .valid_i(out_valid),
      .ready_o(out_room),
      .data_i (out_data),
      .valid_o(wr_valid),
      .ready_i(written),
      .data_o (vwr_data_o),
      .count_o(queued)
  );

  assign vwr_valid_o = wr_valid && !freeze_i;
  assign vwr_addr_o  = wr_dest.addr;
  assign vwr_mask_o  = ~({Cols{1'b1}} << wr_dest.len);
  assign written     = vwr_valid_o && vwr_ready_i;

  assign work = req_i.valid || !empty || !idle || !all_written;
  assign rest = {vrd_valid_o, acc_rd_valid_o, wr_valid, iss_valid, req_valid, d1_valid_q, d2_valid_q, p1_valid_q, p2_valid_q, sum_valid,
                 out_valid, win_held_q, bank_busy_q, rsp_o.done, rsp_o.fault, rsp_o.progress, saturated_o} == '0;

  // Completion and faults. A fault is reported when everything before it is complete. So its descriptor is the oldest one in
  // flight.
  logic done_q, faulted_q, fault_now;

  assign fault_now      = !faulted_q && !freeze_i && all_written &&
                          (addr_fault || (job_valid && idle && !legal));
  assign unit_ready  = empty && !freeze_i;
  assign unit_done   = done_q;
  assign unit_newest = 1'b0;
  assign stall_ub_o  = (vrd_valid_o && !vrd_ready_i) || (vwr_valid_o && !vwr_ready_i);

  always_ff @(posedge clk) begin
    unit_code <= addr_fault ? FaultUbRange : verdict;
    unit_addr <= addr_fault ? addr_fault_addr : verdict_addr;
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      d1_valid_q    <= 1'b0;
      d2_valid_q    <= 1'b0;
      p1_valid_q    <= 1'b0;
      p2_valid_q    <= 1'b0;
      win_held_q    <= 1'b0;
      bank_busy_q   <= '0;
      table_busy_q  <= 1'b0;
      done_q        <= 1'b0;
      faulted_q     <= 1'b0;
      unit_fault    <= 1'b0;
      unit_progress <= 1'b0;
    end else begin
      d1_valid_q <= req_go;
      d2_valid_q <= d1_valid_q;
      p1_valid_q <= par_ready;
      p2_valid_q <= p1_valid_q;
      win_held_q <= win_req && !par_sel && !vrd_ready_i;
      if (out_valid && out_last) bank_busy_q[out_bank] <= 1'b0;
      if (job_take) bank_busy_q[job.bank] <= 1'b1;
      if (par_ready && par_table) table_busy_q <= 1'b1;
      else if (table_loaded) table_busy_q <= 1'b0;
      done_q     <= (written && wr_dest.last) || table_done;
      unit_fault <= fault_now;
      if (fault_now) faulted_q <= 1'b1;
      unit_progress <= req_go || par_ready || written;
    end
  end

  always_ff @(posedge clk) begin
    p1_bank_q  <= par_bank;
    p1_word_q  <= par_word;
    p1_table_q <= par_table;
    p2_bank_q  <= p1_bank_q;
    p2_word_q  <= p1_word_q;
    p2_table_q <= p1_table_q;
  end

  // Checks: the write queue has room for every result; read data come exactly when they are expected; no request is outside the
  // memories; requests hold until they are granted.
  logic                     d1_ub_q, d2_ub_q, rd_held_q, wr_held_q, acc_held_q;
  ub_addr_t                 rd_last_q, wr_last_q;
  acc_addr_t                acc_last_q;

  always_ff @(posedge clk) begin
    d1_ub_q    <= vrd_valid_o && vrd_ready_i;
    d2_ub_q    <= d1_ub_q;
    rd_held_q  <= vrd_valid_o && !vrd_ready_i;
    wr_held_q  <= vwr_valid_o && !vwr_ready_i;
    acc_held_q <= acc_rd_valid_o && !acc_rd_ready_i;
    rd_last_q  <= vrd_addr_o;
    wr_last_q  <= vwr_addr_o;
    acc_last_q <= acc_rd_row_o;
    if (rst_ni) begin
      a_out_room : assert (!out_valid || out_room);
      a_dest_room : assert (!(iss_valid && iss_uop.out) || dest_room);
      a_flying : assert (queued <= dests && dests <= flying_q && 32'(flying_q) <= OutDepth);
      a_dest : assert (!wr_valid || dest_valid);
      a_rd_range : assert (!vrd_valid_o || 32'(vrd_addr_o) < Cfg.UbBytes);
      a_wr_range : assert (!vwr_valid_o || 32'(vwr_addr_o) + 32'(wr_dest.len) <= Cfg.UbBytes);
      a_acc_range : assert (!acc_rd_valid_o || 32'(acc_rd_row_o) < Cfg.AccRows);
      a_len : assert (!vwr_valid_o || (wr_dest.len != '0 && 32'(wr_dest.len) <= Cols));
    end
    if (rst_ni && !freeze_i) begin
      a_rd_holds : assert (!rd_held_q || (vrd_valid_o && vrd_addr_o == rd_last_q));
      a_wr_holds : assert (!wr_held_q || (vwr_valid_o && vwr_addr_o == wr_last_q));
      a_acc_holds : assert (!acc_held_q || (acc_rd_valid_o && acc_rd_row_o == acc_last_q));
    end
  end

  logic started_q;  // which responses to expect is known two cycles after the reset
  logic started1_q;

  always_ff @(posedge clk) begin
    started1_q <= rst_ni;
    started_q  <= rst_ni && started1_q;
    if (rst_ni && started_q) a_response : assert (vrd_rsp_valid_i == d2_ub_q);
  end
endmodule
