// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit's register block with its bundles as ports: by the number of the register, its address / 4.

module regs_bench (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        req_i,
    input  logic        write_i,
    input  logic [7:0]  addr_i,
    input  logic [31:0] data_i,
    input  logic [31:0] enable_i,     // bits that are written
    output logic        rd_ack_o,
    output logic        wr_ack_o,
    output logic        rd_err_o,
    output logic        wr_err_o,
    output logic        stall_o,
    output logic [31:0] data_o,

    input  logic [31:0] shown_i [64],  // what a register without storage shows
    input  logic [5:0]  set_i,         // events
    input  logic [63:0] clear_i,       // registers that the hardware clears
    output logic [31:0] held_o [64],
    output logic [63:0] written_o      // events that are writes
);
  systole_scalar_regs_pkg::systole_scalar_csr__in_t  hw_in;
  systole_scalar_regs_pkg::systole_scalar_csr__out_t hw_out;
  logic stall_wr, stall_rd;

  systole_scalar_regs u_dut (
      .clk(clk_i), .rst_n(rst_ni), .s_cpuif_req(req_i), .s_cpuif_req_is_wr(write_i), .s_cpuif_addr(addr_i), .s_cpuif_wr_data(data_i),
      .s_cpuif_wr_biten(enable_i), .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd), .s_cpuif_rd_ack(rd_ack_o),
      .s_cpuif_rd_err(rd_err_o), .s_cpuif_rd_data(data_o), .s_cpuif_wr_ack(wr_ack_o), .s_cpuif_wr_err(wr_err_o), .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
  assign stall_o = stall_wr || stall_rd;

  always_comb begin
    hw_in.mtime_lo.value.next = shown_i[0];
    hw_in.mtime_hi.value.next = shown_i[1];
    hw_in.doorbell.value.next = shown_i[5];
    hw_in.boot_addr.value.next = shown_i[9];
    hw_in.boot_flags.value.next = shown_i[10];
    hw_in.smem_bytes.value.next = shown_i[11];
    hw_in.fault_cause.value.next = shown_i[20];
    hw_in.fault_queue.value.next = shown_i[21];
    hw_in.fault_pc.value.next = shown_i[22];
    hw_in.fault_addr_lo.value.next = shown_i[23];
    hw_in.fault_addr_hi.value.next = shown_i[24];
    hw_in.fault_cycle.value.next = shown_i[25];
    hw_in.flag_state.value.next = shown_i[34];
    hw_in.ecc_corrected.value.next = shown_i[44];
    hw_in.ecc_failed.value.next = shown_i[45];
    hw_in.ecc_word.value.next = shown_i[46];
    hw_in.core_status.running.next = shown_i[13][0];
    hw_in.core_status.fault.next = shown_i[13][1];
    hw_in.core_status.resetting.next = shown_i[13][2];
    hw_in.core_status.saturated.next = shown_i[13][3];
    hw_in.core_status.copying.next = shown_i[13][4];
    hw_in.core_status.places.next = shown_i[13][11:8];
    hw_in.events.done.hwset = set_i[0];
    hw_in.events.fault.hwset = set_i[1];
    hw_in.events.flags.hwset = set_i[2];
    hw_in.events.doorbell.hwset = set_i[3];
    hw_in.events.dropped.hwset = set_i[4];
    hw_in.events.copy_error.hwset = set_i[5];
    hw_in.flag_wait.value.hwclr = clear_i[33];
    hw_in.ecc_flip_lo.value.hwclr = clear_i[47];
    hw_in.ecc_flip_hi.value.hwclr = clear_i[48];
  end

  always_comb begin
    held_o    = '{default: '0};
    written_o = '0;
    held_o[2] = hw_out.mtimecmp_lo.value.value;
    held_o[3] = hw_out.mtimecmp_hi.value.value;
    held_o[6] = hw_out.host_irq.value.value;
    held_o[7] = hw_out.state.value.value;
    held_o[8] = hw_out.completed.value.value;
    held_o[14] = hw_out.prog_addr_lo.value.value;
    held_o[15] = hw_out.prog_addr_hi.value.value;
    held_o[16] = hw_out.prog_len.value.value;
    held_o[17] = hw_out.watchdog.value.value;
    held_o[18] = hw_out.limit_lo.value.value;
    held_o[19] = hw_out.limit_hi.value.value;
    held_o[26] = hw_out.base_lo.value.value;
    held_o[27] = hw_out.base_hi.value.value;
    held_o[28] = hw_out.issue.value.value;
    held_o[29] = hw_out.stream_addr_lo.value.value;
    held_o[30] = hw_out.stream_addr_hi.value.value;
    held_o[31] = hw_out.stream.value.value;
    held_o[32] = hw_out.flag_post.value.value;
    held_o[33] = hw_out.flag_wait.value.value;
    held_o[36] = hw_out.copy_hbm_lo.value.value;
    held_o[37] = hw_out.copy_hbm_hi.value.value;
    held_o[38] = hw_out.copy_smem.value.value;
    held_o[39] = hw_out.copy_in.value.value;
    held_o[40] = hw_out.copy_out.value.value;
    held_o[47] = hw_out.ecc_flip_lo.value.value;
    held_o[48] = hw_out.ecc_flip_hi.value.value;
    held_o[50] = hw_out.patch_entry.value.value;
    held_o[51] = hw_out.patch_hi.value.value;
    held_o[52] = hw_out.patch_field.value.value;
    held_o[53] = hw_out.patch_value.value.value;
    held_o[54] = hw_out.patch_step.value.value;
    held_o[4]  = {26'b0, hw_out.events.copy_error.value, hw_out.events.dropped.value, hw_out.events.doorbell.value,
                  hw_out.events.flags.value, hw_out.events.fault.value, hw_out.events.done.value};
    held_o[12] = {28'b0, hw_out.core_ctrl.isolated.value, hw_out.core_ctrl.issue.value, hw_out.core_ctrl.reset.value,
                  hw_out.core_ctrl.start.value};
    held_o[41] = {31'b0, hw_out.copy_window.value.value};
    held_o[49] = {7'b0, hw_out.stream_patches.count.value, 8'b0, hw_out.stream_patches.first.value};
    written_o[6] = hw_out.host_irq.value.swmod;
    written_o[28] = hw_out.issue.value.swmod;
    written_o[31] = hw_out.stream.value.swmod;
    written_o[32] = hw_out.flag_post.value.swmod;
    written_o[39] = hw_out.copy_in.value.swmod;
    written_o[40] = hw_out.copy_out.value.swmod;
    written_o[52] = hw_out.patch_field.value.swmod;
    written_o[53] = hw_out.patch_value.value.swmod;
    written_o[54] = hw_out.patch_step.value.swmod;
  end
endmodule
