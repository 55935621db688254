// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Scalar unit: processor, SMEM, boot ROM, timer, registers, copies between SMEM and HBM, issue port. It stays in reset until
// the host sets `run`. Then its firmware owns the core.
// Docs: docs/scalar.md. Test: tests/rtl/scalar, tests/system.

module systole_scalar
  import systole_scalar_pkg::*;
  import systole_bus_pkg::*;
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned SmemBytes = 32768,
    parameter int unsigned D = 32,
    parameter logic [AddrBits:0] HbmBytes = 37'h100000
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    // The registers that the host sees, and the unit's control of the core.
    input  host_reg_req_t          host_reg_i,
    output scalar_ctl_t            ctl_o,
    // verilator lint_off UNUSEDSIGNAL
    input  core_status_t           status_i,  // the upper half of the fault's cycle has no register
    // verilator lint_on UNUSEDSIGNAL
    input  logic                   resetting_i,

    // Sequencer and sync flags.
    output issue_req_t             issue_req_o,
    input  logic                   issue_ready_i,
    output flag_req_t              flag_req_o,
    input  flag_rsp_t              flag_rsp_i,

    // Clients of the memory.
    output client_req_t            mem_req_o,
    output logic [D*8-1:0]         mem_wr_data_o,
    output logic [D-1:0]           mem_wr_mask_o,
    input  client_rsp_t            mem_rsp_i,
    input  logic [D*8-1:0]         mem_rd_data_i
);
  // Owner of the core. Everything in the unit except the host's registers and the copies is in reset until `run` is set.
  logic        run, unit_rst_n, doorbell;
  logic [31:0] boot_addr, boot_flags, doorbell_value;
  systole_scalar_regs_pkg::systole_scalar_csr__in_t  hw_in;
  // verilator lint_off UNUSEDSIGNAL
  systole_scalar_regs_pkg::systole_scalar_csr__out_t hw_out;  // upper bits of addresses
  // verilator lint_on UNUSEDSIGNAL
  logic        host_ack, host_reset;
  logic [31:0] host_data;

  systole_scalar_host #(.SmemBytes(SmemBytes)) u_host (
      .clk_i, .rst_ni, .req_i(host_reg_i), .ack_o(host_ack), .data_o(host_data),
      .state_i(hw_out.state.value.value), .completed_i(hw_out.completed.value.value),
      .core_busy_i(status_i.running || resetting_i), .run_o(run), .owns_o(ctl_o.owns), .reset_core_o(host_reset),
      .boot_addr_o(boot_addr), .boot_flags_o(boot_flags), .doorbell_o(doorbell), .doorbell_value_o(doorbell_value)
  );
  always_ff @(posedge clk_i) unit_rst_n <= rst_ni && run;

  // Processor. Tests may stall its instruction and data streams.
  logic        instr_req, instr_gnt, instr_valid, instr_err, data_req, data_gnt, data_we, data_valid, data_err;
  logic [31:0] instr_addr, instr_data, data_addr, data_wdata, data_rdata;
  logic [3:0]  data_be;
  logic        timer_irq, doorbell_irq, hold_instr, hold_data;
  logic [14:0] fast_irq;

  systole_prim_hold u_hold_instr (.clk_i, .hold_o(hold_instr));
  systole_prim_hold u_hold_data (.clk_i, .hold_o(hold_data));

  systole_scalar_cpu u_cpu (
      .clk_i, .rst_ni(unit_rst_n), .boot_addr_i(RomBase),
      .instr_req_o(instr_req), .instr_gnt_i(instr_gnt), .instr_addr_o(instr_addr), .instr_rvalid_i(instr_valid),
      .instr_rdata_i(instr_data), .instr_err_i(instr_err),
      .data_req_o(data_req), .data_gnt_i(data_gnt), .data_we_o(data_we), .data_be_o(data_be), .data_addr_o(data_addr),
      .data_wdata_o(data_wdata), .data_rvalid_i(data_valid), .data_rdata_i(data_rdata), .data_err_i(data_err),
      .irq_timer_i(timer_irq), .irq_external_i(doorbell_irq), .irq_fast_i(fast_irq)
  );
  always_ff @(posedge clk_i) begin
    doorbell_irq <= unit_rst_n && hw_out.events.doorbell.value;
    fast_irq     <= unit_rst_n ? {12'b0, hw_out.events.flags.value, hw_out.events.fault.value, hw_out.events.done.value} : '0;
  end

  // SMEM. Its clients in order of priority: copies, issue port, data, instructions.
  localparam int unsigned Copy = 0, Issue = 1, Data = 2, Instr = 3;
  smem_req_t [3:0] smem_req;
  smem_rsp_t [3:0] smem_rsp;
  code_t           flip;
  logic            flip_used, ecc_corrected, ecc_failed;
  logic [29:0]     ecc_word;

  assign flip = {hw_out.ecc_flip_hi.value.value[CodeBits-33:0], hw_out.ecc_flip_lo.value.value};
  systole_smem #(.Bytes(SmemBytes), .Clients(4)) u_smem (
      .clk_i, .rst_ni(unit_rst_n), .req_i(smem_req), .rsp_o(smem_rsp), .flip_i(flip), .flip_used_o(flip_used),
      .corrected_o(ecc_corrected), .failed_o(ecc_failed), .word_o(ecc_word)
  );

  // Instruction fetches: SMEM or ROM.
  logic [31:0] rom_instr, rom_data;
  logic        instr_smem, instr_rom_q, instr_none_q, instr_other_q;
  assign instr_smem      = instr_addr[31:28] == RegionSmem;
  assign smem_req[Instr] = '{
      valid: instr_req && instr_smem && !hold_instr, write: 1'b0, strobe: '0, word: instr_addr[31:2], data: '0};
  assign instr_gnt       = instr_req && !hold_instr && (!instr_smem || smem_rsp[Instr].ready);
  assign instr_valid     = smem_rsp[Instr].valid || instr_other_q;
  assign instr_data      = instr_rom_q ? rom_instr : smem_rsp[Instr].data;
  assign instr_err       = instr_none_q || (smem_rsp[Instr].valid && smem_rsp[Instr].failed);

  // Data accesses: SMEM, ROM or registers.
  typedef enum logic [1:0] {None, Rom, Regs} place_e;
  place_e      place_q;
  logic        data_smem, data_other_q, data_failed_q, reg_req, reg_rd_ack, reg_wr_ack, reg_rd_err, reg_wr_err;
  logic [31:0] reg_data, reg_data_q, mtime_high_q;
  logic        mtime_hi_read;
  assign data_smem      = data_addr[31:28] == RegionSmem;
  assign smem_req[Data] = '{
      valid: data_req && data_smem && !hold_data, write: data_we, strobe: data_be, word: data_addr[31:2], data: data_wdata};
  assign data_gnt       = data_req && !hold_data && (!data_smem || smem_rsp[Data].ready);
  assign data_valid     = smem_rsp[Data].valid || data_other_q;
  assign data_rdata     = place_q == Rom ? rom_data : place_q == Regs ? reg_data_q : smem_rsp[Data].data;
  assign data_err       = data_other_q ? data_failed_q : smem_rsp[Data].failed;
  assign reg_req        = data_gnt && data_addr[31:28] == RegionRegs && data_addr[27:RegAddrBits] == '0 && data_be == '1;

  always_ff @(posedge clk_i) begin
    if (!unit_rst_n) begin
      instr_other_q <= 1'b0;
      instr_none_q  <= 1'b0;
      data_other_q  <= 1'b0;
    end else begin
      instr_other_q <= instr_gnt && !instr_smem;
      instr_none_q  <= instr_gnt && !instr_smem && !in_rom(instr_addr);
      data_other_q  <= data_gnt && !data_smem;
    end
  end
  always_ff @(posedge clk_i) begin
    instr_rom_q   <= instr_gnt && instr_addr[31:28] == RegionRom;
    data_failed_q <= !(reg_req ? reg_rd_ack && !reg_rd_err || reg_wr_ack && !reg_wr_err : in_rom(data_addr) && !data_we);
    place_q       <= !data_gnt || data_smem ? None : data_addr[31:28] == RegionRom ? Rom : Regs;
  end
  always_ff @(posedge clk_i) reg_data_q <= mtime_hi_read ? mtime_high_q : reg_data;

  // verilator lint_off UNUSEDSIGNAL
  function automatic logic in_rom(logic [31:0] addr);
    return addr[31:28] == RegionRom && addr[27:2] < 26'(RomWords);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  systole_boot_rom u_rom (
      .clk_i, .instr_i(instr_addr[2+:$clog2(RomWords)]), .instr_o(rom_instr),
      .data_i(data_addr[2+:$clog2(RomWords)]), .data_o(rom_data)
  );

  // Registers. The strobe of a write is delayed by one cycle, so that it comes when its register holds the written value.
  systole_scalar_regs u_regs (
      .clk(clk_i), .rst_n(unit_rst_n),
      .s_cpuif_req(reg_req), .s_cpuif_req_is_wr(data_we), .s_cpuif_addr(data_addr[RegAddrBits-1:0]), .s_cpuif_wr_data(data_wdata),
      .s_cpuif_wr_biten('1),
      // verilator lint_off PINCONNECTEMPTY
      .s_cpuif_req_stall_wr(), .s_cpuif_req_stall_rd(),
      // verilator lint_on PINCONNECTEMPTY
      .s_cpuif_rd_ack(reg_rd_ack), .s_cpuif_rd_err(reg_rd_err), .s_cpuif_rd_data(reg_data),
      .s_cpuif_wr_ack(reg_wr_ack), .s_cpuif_wr_err(reg_wr_err), .hwif_in(hw_in), .hwif_out(hw_out)
  );

  logic issue_q, stream_q, copy_in_q, copy_out_q, post_q, host_irq_q, patch_field_q, patch_value_q, patch_step_q;
  always_ff @(posedge clk_i) begin
    issue_q    <= unit_rst_n && hw_out.issue.value.swmod;
    stream_q   <= unit_rst_n && hw_out.stream.value.swmod;
    copy_in_q  <= unit_rst_n && hw_out.copy_in.value.swmod;
    copy_out_q <= unit_rst_n && hw_out.copy_out.value.swmod;
    post_q     <= unit_rst_n && hw_out.flag_post.value.swmod;
    host_irq_q <= unit_rst_n && hw_out.host_irq.value.swmod;
    patch_field_q <= unit_rst_n && hw_out.patch_field.value.swmod;
    patch_value_q <= unit_rst_n && hw_out.patch_value.value.swmod;
    patch_step_q  <= unit_rst_n && hw_out.patch_step.value.swmod;
  end

  // Timer.
  logic [63:0] mtime_q;
  localparam logic [RegAddrBits-1:0] MtimeLo = 8'h00, MtimeHi = 8'h04;
  assign mtime_hi_read = data_addr[RegAddrBits-1:0] == MtimeHi;
  always_ff @(posedge clk_i) begin
    if (!unit_rst_n) mtime_q <= '0;
    else mtime_q <= mtime_q + 64'd1;
    timer_irq <= unit_rst_n && mtime_q >= {hw_out.mtimecmp_hi.value.value, hw_out.mtimecmp_lo.value.value};
    if (reg_req && !data_we && data_addr[RegAddrBits-1:0] == MtimeLo) mtime_high_q <= mtime_q[63:32];
  end

  // Copies.
  logic copying, copy_refused;
  systole_scalar_copy #(.D(D), .SmemBytes(SmemBytes), .HbmBytes(HbmBytes)) u_copy (
      .clk_i, .rst_ni, .in_i(copy_in_q), .out_i(copy_out_q),
      .len_i(copy_in_q ? hw_out.copy_in.value.value : hw_out.copy_out.value.value),
      .hbm_addr_i({hw_out.copy_hbm_hi.value.value[AddrBits-33:0], hw_out.copy_hbm_lo.value.value}),
      .smem_addr_i(hw_out.copy_smem.value.value), .window_i(hw_out.copy_window.value.value), .base_i(ctl_o.base), .limit_i(ctl_o.limit),
      .busy_o(copying), .refused_o(copy_refused),
      .smem_req_o(smem_req[Copy]), .smem_rsp_i(smem_rsp[Copy]),
      .rd_valid_o(mem_req_o.rd_valid), .rd_ready_i(mem_rsp_i.rd_ready), .rd_addr_o(mem_req_o.rd_addr),
      .rd_rsp_valid_i(mem_rsp_i.rd_rsp_valid), .rd_rsp_data_i(mem_rd_data_i),
      .wr_valid_o(mem_req_o.wr_valid), .wr_ready_i(mem_rsp_i.wr_ready), .wr_addr_o(mem_req_o.wr_addr),
      .wr_data_o(mem_wr_data_o), .wr_mask_o(mem_wr_mask_o)
  );

  // Issue port.
  logic       live, dropped;
  logic [3:0] places;
  patch_req_t patch;
  logic [3:0] patch_hi;
  assign patch_hi = patch_field_q ? '0 : hw_out.patch_hi.value.value[3:0];
  assign patch    = '{
      field: patch_field_q, value: patch_value_q, step: patch_step_q, entry: hw_out.patch_entry.value.value[PatchBits-1:0],
      data: {patch_hi, patch_field_q ? hw_out.patch_field.value.value
                                     : patch_value_q ? hw_out.patch_value.value.value : hw_out.patch_step.value.value}};
  assign live = ctl_o.owns && ctl_o.issue && (status_i.running || ctl_o.start) && !status_i.fault && !resetting_i;
  systole_issue u_issue (
      .clk_i, .rst_ni(unit_rst_n), .live_i(live),
      .issue_i(issue_q), .smem_addr_i(hw_out.issue.value.value),
      .stream_i(stream_q), .stream_addr_i({hw_out.stream_addr_hi.value.value[AddrBits-33:0], hw_out.stream_addr_lo.value.value}),
      .stream_len_i(hw_out.stream.value.value),
      .stream_patches_i({hw_out.stream_patches.count.value, hw_out.stream_patches.first.value}), .patch_i(patch),
      .places_o(places), .dropped_o(dropped),
      .smem_req_o(smem_req[Issue]), .smem_rsp_i(smem_rsp[Issue]), .issue_req_o, .issue_ready_i
  );

  assign flag_req_o = '{post: post_q ? hw_out.flag_post.value.value : '0, want: hw_out.flag_wait.value.value};

  // Control of the core, in place of the host's registers.
  assign ctl_o.start     = hw_out.core_ctrl.start.value;
  assign ctl_o.reset     = hw_out.core_ctrl.reset.value || host_reset;
  assign ctl_o.irq       = host_irq_q;
  assign ctl_o.prog_addr = {hw_out.prog_addr_hi.value.value[AddrBits-33:0], hw_out.prog_addr_lo.value.value};
  assign ctl_o.prog_len  = hw_out.prog_len.value.value;
  assign ctl_o.watchdog  = hw_out.watchdog.value.value;
  assign ctl_o.limit     = {hw_out.limit_hi.value.value[AddrBits-32:0], hw_out.limit_lo.value.value};
  assign ctl_o.issue     = hw_out.core_ctrl.issue.value;
  assign ctl_o.base      = {hw_out.base_hi.value.value[AddrBits-33:0], hw_out.base_lo.value.value};
  assign ctl_o.isolated  = hw_out.core_ctrl.isolated.value;
  assign ctl_o.ack       = host_ack;
  assign ctl_o.data      = host_data;

  // Values that are read through the registers.
  logic        fault_q;
  logic [31:0] corrected_q, failed_q;
  logic [29:0] error_word_q;
  always_ff @(posedge clk_i) begin
    fault_q <= unit_rst_n && status_i.fault;
    if (!unit_rst_n) begin
      corrected_q <= '0;
      failed_q    <= '0;
    end else begin
      if (ecc_corrected) corrected_q <= corrected_q + 32'd1;
      if (ecc_failed) failed_q <= failed_q + 32'd1;
    end
    if (ecc_corrected || ecc_failed) error_word_q <= ecc_word;
  end

  always_comb begin
    hw_in.mtime_lo.value.next       = mtime_q[31:0];
    hw_in.mtime_hi.value.next       = mtime_high_q;
    hw_in.events.done.hwset         = ctl_o.owns && status_i.done;
    hw_in.events.fault.hwset        = ctl_o.owns && status_i.fault && !fault_q;
    hw_in.events.flags.hwset        = flag_rsp_i.taken;
    hw_in.events.doorbell.hwset     = doorbell;
    hw_in.events.dropped.hwset      = dropped;
    hw_in.events.copy_error.hwset   = copy_refused;
    hw_in.doorbell.value.next       = doorbell_value;
    hw_in.boot_addr.value.next      = boot_addr;
    hw_in.boot_flags.value.next     = boot_flags;
    hw_in.smem_bytes.value.next     = SmemBytes;
    hw_in.core_status.running.next   = status_i.running;
    hw_in.core_status.fault.next     = status_i.fault;
    hw_in.core_status.resetting.next = resetting_i;
    hw_in.core_status.saturated.next = status_i.acc_saturated;
    hw_in.core_status.copying.next   = copying || copy_in_q || copy_out_q;
    hw_in.core_status.places.next    = places;
    hw_in.fault_cause.value.next    = 32'(status_i.fault_code);
    hw_in.fault_queue.value.next    = 32'(status_i.fault_queue);
    hw_in.fault_pc.value.next       = status_i.fault_pc;
    hw_in.fault_addr_lo.value.next  = status_i.fault_addr[31:0];
    hw_in.fault_addr_hi.value.next  = 32'(status_i.fault_addr[AddrBits-1:32]);
    hw_in.fault_cycle.value.next    = status_i.fault_cycle[31:0];
    hw_in.flag_wait.value.hwclr     = flag_rsp_i.taken;
    hw_in.flag_state.value.next     = flag_rsp_i.there;
    hw_in.ecc_corrected.value.next  = corrected_q;
    hw_in.ecc_failed.value.next     = failed_q;
    hw_in.ecc_word.value.next       = {error_word_q, 2'b0};
    hw_in.ecc_flip_lo.value.hwclr   = flip_used;
    hw_in.ecc_flip_hi.value.hwclr   = flip_used;
  end

  // Checks: each port of the processor gets one response at a time.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_instr : assert (!(smem_rsp[Instr].valid && instr_other_q));
      a_data : assert (!(smem_rsp[Data].valid && data_other_q));
    end
  end
endmodule
