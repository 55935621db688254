// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector unit: requant (one accumulator row a cycle; raw: one window a cycle), pool (one tap a cycle), add (three cycles a
// vector). Wires prepare -> issue -> read -> lanes -> write queue, and holds the ports, completion and faults.
// Docs: docs/vector.md, docs/isa.md, docs/numerics.md. Test: tests/rtl/vector/.

module systole_vector
  import systole_isa_pkg::*;
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano)
) (
    input  logic                                       clk_i,
    input  logic                                       rst_ni,

    // Descriptors (unit interface).
    input  logic                                       start_valid_i,
    output logic                                       start_ready_o,
    input  desc_t                                      start_desc_i,
    output logic                                       done_o,
    output logic                                       fault_valid_o,
    output fault_e                                     fault_code_o,
    output logic [systole_presets_pkg::AddrBits-1:0]   fault_addr_o,
    output logic                                       fault_newest_o,
    input  logic                                       freeze_i,
    output logic                                       progress_o,

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
    output logic                                       stall_ub_o    // the unified buffer held a request this cycle
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned CountBits = $clog2(OutDepth + 1);

  // Preparation.
  logic                 job_valid, job_take;
  job_t                 job;
  scalars_t             job_scalars;
  fault_e               verdict;
  walk_addr_t           verdict_addr;
  logic                 par_valid, par_ready, par_bank;
  ub_addr_t             par_addr;
  logic [3:0]           par_word;

  // Issue.
  logic                 idle, iss_valid, iss_ready, iss_acc_rd, iss_ub_rd, addr_fault;
  uop_t                 iss_uop;
  acc_addr_t            iss_row;
  ub_addr_t             iss_addr;
  walk_addr_t           addr_fault_addr;
  logic                 out_take;

  // Micro-op that asks for its data; then the two cycles until they come.
  logic                 req_valid_q, req_acc_q, req_ub_q, req_go;
  uop_t                 req_uop_q, d1_uop_q, d2_uop_q;
  acc_addr_t            req_row_q;
  ub_addr_t             req_addr_q;
  logic                 d1_valid_q, d2_valid_q;
  logic                 p1_valid_q, p2_valid_q, p1_bank_q, p2_bank_q;  // parameter words, likewise
  logic [3:0]           p1_word_q, p2_word_q;
  logic [24:0]          recip;

  // Results.
  scalars_t             scalars_q [2];
  logic [1:0]           bank_busy_q;
  logic                 sum_valid, out_valid, out_bank, out_room;
  dest_t                out_dest, wr_dest;
  logic [Cols*8-1:0]    out_data;
  logic                 wr_valid, written, avail, all_written, drained;
  logic [CountBits-1:0] credits, queued;

  systole_vector_prepare #(.Cfg(Cfg)) u_prepare (
      .clk_i,
      .rst_ni,
      .start_valid_i,
      .start_ready_o,
      .start_desc_i,
      .freeze_i,
      .bank_busy_i   (bank_busy_q),
      .drained_i     (drained),
      .in_flight_i   (CountBits'(OutDepth) - credits),
      .issue_i       (out_take),
      .issue_addr_i  (iss_uop.dest.addr),
      .written_i     (written),
      .rd_valid_o    (par_valid),
      .rd_ready_i    (par_ready),
      .rd_addr_o     (par_addr),
      .rd_word_o     (par_word),
      .rd_bank_o     (par_bank),
      .job_valid_o   (job_valid),
      .job_ready_i   (job_take),
      .job_o         (job),
      .scalars_o     (job_scalars),
      .verdict_o     (verdict),
      .verdict_addr_o(verdict_addr)
  );

  // A requant may follow at once; what reads the unified buffer waits for all earlier results.
  assign drained  = idle && all_written;
  assign job_take = job_valid && idle && verdict == FaultNone && (job.requant || all_written) && !freeze_i;

  systole_vector_issue #(.Cfg(Cfg)) u_issue (
      .clk_i,
      .rst_ni,
      .load_i      (job_take),
      .job_i       (job),
      .idle_o      (idle),
      .sum_valid_i (sum_valid),
      .out_avail_i (avail),
      .valid_o     (iss_valid),
      .ready_i     (iss_ready),
      .uop_o       (iss_uop),
      .acc_rd_o    (iss_acc_rd),
      .ub_rd_o     (iss_ub_rd),
      .acc_row_o   (iss_row),
      .ub_addr_o   (iss_addr),
      .fault_o     (addr_fault),
      .fault_addr_o(addr_fault_addr)
  );

  // A result may be issued when the write queue has room for it.
  systole_credit #(.Credits(OutDepth)) u_credit (
      .clk_i,
      .rst_ni,
      .take_i (out_take),
      .give_i (written),
      .avail_o(avail),
      .idle_o (all_written),
      .count_o(credits)
  );

  assign iss_ready = !req_valid_q || req_go;
  assign out_take  = iss_valid && iss_ready && iss_uop.out;

  always_ff @(posedge clk_i) begin
    if (iss_ready) begin
      req_uop_q  <= iss_uop;
      req_acc_q  <= iss_acc_rd;
      req_ub_q   <= iss_ub_rd;
      req_row_q  <= iss_row;
      req_addr_q <= iss_addr;
    end
    d1_uop_q <= req_uop_q;
    d2_uop_q <= d1_uop_q;
    if (job_take) scalars_q[job.bank] <= job_scalars;
  end

  // Reads. Parameter words go first, but a window that was asked for is kept until it is granted.
  logic win_req, win_held_q, par_sel;

  assign acc_rd_valid_o = req_valid_q && req_acc_q && !freeze_i;
  assign acc_rd_row_o   = req_row_q;
  assign win_req        = req_valid_q && req_ub_q && !freeze_i;
  assign par_sel        = par_valid && !win_held_q;
  assign vrd_valid_o    = par_sel || win_req;
  assign vrd_addr_o     = par_sel ? par_addr : req_addr_q;
  assign par_ready      = par_sel && vrd_ready_i;

  always_comb begin
    req_go = req_valid_q && !freeze_i;
    if (req_acc_q && !acc_rd_ready_i) req_go = 1'b0;
    if (req_ub_q && (par_sel || !vrd_ready_i)) req_go = 1'b0;
  end

  systole_vector_recip u_recip (
      .clk_i,
      .en_i   (d1_valid_q && d1_uop_q.out),
      .n_i    (d1_uop_q.taps),
      .recip_o(recip)
  );

  systole_vector_lanes #(.Cfg(Cfg)) u_lanes (
      .clk_i,
      .rst_ni,
      .param_valid_i(p2_valid_q),
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
      .out_dest_o   (out_dest),
      .out_bank_o   (out_bank),
      .out_data_o   (out_data),
      .saturated_o
  );

  systole_fifo #(
      .Width($bits(dest_t) + Cols * 8),
      .Depth(OutDepth)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid),
      .ready_o(out_room),
      .data_i ({out_dest, out_data}),
      .valid_o(wr_valid),
      .ready_i(written),
      .data_o ({wr_dest, vwr_data_o}),
      .count_o(queued)
  );

  assign vwr_valid_o = wr_valid && !freeze_i;
  assign vwr_addr_o  = wr_dest.addr;
  assign vwr_mask_o  = ~({Cols{1'b1}} << wr_dest.len);
  assign written     = vwr_valid_o && vwr_ready_i;

  // Completion and faults. A fault is told when all before it is done, so its descriptor is the oldest in flight.
  logic done_q, faulted_q, fault_now;

  assign fault_now      = !faulted_q && !freeze_i && all_written &&
                          (addr_fault || (job_valid && idle && verdict != FaultNone));
  assign done_o         = done_q;
  assign fault_newest_o = 1'b0;
  assign stall_ub_o     = (vrd_valid_o && !vrd_ready_i) || (vwr_valid_o && !vwr_ready_i);

  always_ff @(posedge clk_i) begin
    fault_code_o <= addr_fault ? FaultUbRange : verdict;
    fault_addr_o <= addr_fault ? addr_fault_addr : verdict_addr;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_valid_q   <= 1'b0;
      d1_valid_q    <= 1'b0;
      d2_valid_q    <= 1'b0;
      p1_valid_q    <= 1'b0;
      p2_valid_q    <= 1'b0;
      win_held_q    <= 1'b0;
      bank_busy_q   <= '0;
      done_q        <= 1'b0;
      faulted_q     <= 1'b0;
      fault_valid_o <= 1'b0;
      progress_o    <= 1'b0;
    end else begin
      if (iss_ready) req_valid_q <= iss_valid;
      d1_valid_q <= req_go;
      d2_valid_q <= d1_valid_q;
      p1_valid_q <= par_ready;
      p2_valid_q <= p1_valid_q;
      win_held_q <= win_req && !par_sel && !vrd_ready_i;
      if (out_valid && out_dest.last) bank_busy_q[out_bank] <= 1'b0;
      if (job_take) bank_busy_q[job.bank] <= 1'b1;
      done_q        <= written && wr_dest.last;
      fault_valid_o <= fault_now;
      if (fault_now) faulted_q <= 1'b1;
      progress_o <= req_go || par_ready || written;
    end
  end

  always_ff @(posedge clk_i) begin
    p1_bank_q <= par_bank;
    p1_word_q <= par_word;
    p2_bank_q <= p1_bank_q;
    p2_word_q <= p1_word_q;
  end

  // The write queue has room for every result; read data come exactly when they are expected; nothing is asked for outside
  // the memories; requests hold until they are granted.
  logic                     d1_ub_q, d2_ub_q, rd_held_q, wr_held_q, acc_held_q;
  ub_addr_t                 rd_last_q, wr_last_q;
  acc_addr_t                acc_last_q;

  always_ff @(posedge clk_i) begin
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
      a_credits : assert (32'(queued) + 32'(credits) <= OutDepth);
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

  logic started_q;  // two cycles after the reset the expected responses are known
  logic started1_q;

  always_ff @(posedge clk_i) begin
    started1_q <= rst_ni;
    started_q  <= rst_ni && started1_q;
    if (rst_ni && started_q) a_response : assert (vrd_rsp_valid_i == d2_ub_q);
  end
endmodule
