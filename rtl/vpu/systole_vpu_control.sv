// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Descriptor control of the vector unit. It checks descriptors, executes vload while no program runs (one instruction
// per cycle through the window port of load unit 0), and reports completion and faults. A vrun starts when all
// instructions of the previous program are issued, although its rows may still be in flight.
// Docs: docs/vpu.md, docs/isa.md. Test: tests/rtl/vpu.

module systole_vpu_control
  import systole_presets_pkg::*;
  import systole_isa_pkg::*;
  import systole_vpu_pkg::*;
#(
    parameter core_cfg_t Cfg = core_preset(PresetMini)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,

    input  logic                  start_valid_i,
    output logic                  start_ready_o,
    output logic                  idle_o,      // no descriptor and no program
    input  desc_t                 start_desc_i,
    output logic                  done_o,
    output logic                  fault_valid_o,
    output fault_e                fault_code_o,
    output logic [AddrBits-1:0]   fault_addr_o,
    input  logic                  freeze_i,

    // Reads of instructions, 64 bits each.
    output logic                  rd_valid_o,
    input  logic                  rd_ready_i,
    output logic [UbAddrBits-1:0] rd_addr_o,
    input  logic [63:0]           rd_data_i,   // two cycles after the request is granted
    output logic                  imem_we_o,
    output logic [10:0]           imem_addr_o,
    output logic [63:0]           imem_data_o,

    // Program.
    output logic                  run_o,       // pulse
    output logic [10:0]           run_pc_o,
    output logic [11:0][31:0]     run_args_o,
    input  logic                  issued_i,    // pulse: all instructions of the program are issued
    input  logic                  halted_i,    // pulse: the oldest program is complete
    input  logic                  fault_i,
    input  fault_e                fault_code_i,
    input  logic [31:0]           fault_addr_i
);
  typedef enum logic [1:0] {Idle, Check, Load, Faulted} state_e;

  localparam int unsigned WordBits = $clog2(word_bytes(Cfg));
  localparam int unsigned MaxRuns = 8;  // the dispatch allows no more programs in flight

  state_e      state_q;
  logic        issuing_q;                   // the newest program has instructions left to issue
  logic [$clog2(MaxRuns+1)-1:0] runs_q;     // programs in flight
  // verilator lint_off UNUSEDSIGNAL
  desc_t       desc_q;
  vload_desc_t vload;
  vrun_desc_t  vrun;
  // verilator lint_on UNUSEDSIGNAL

  assign vload = desc_q;
  assign vrun  = desc_q;

  assign idle_o        = state_q == Idle && runs_q == '0 && !issuing_q;
  assign start_ready_o = state_q == Idle && !freeze_i;
  assign run_o         = state_q == Check && vrun.opcode == OpVrun && !issuing_q;
  assign run_pc_o      = vrun.pc;
  assign run_args_o    = vrun.args;

  // Check of the descriptor.
  fault_e      verdict, verdict_q;
  logic [31:0] verdict_addr, verdict_addr_q, load_end;
  logic        checked_q;  // verdict_q belongs to the descriptor in desc_q

  assign load_end = 32'(vload.ub_addr) + {17'd0, vload.count, 3'b000};

  always_comb begin
    verdict      = FaultNone;
    verdict_addr = '0;
    if (vload.opcode == OpVload) begin
      if (vload.count == '0 || 32'(vload.addr) + 32'(vload.count) > VpuImemWords) begin
        verdict = FaultIllegalDescriptor;
      end else if (vload.ub_addr[WordBits-1:0] != '0) begin
        verdict      = FaultMisaligned;
        verdict_addr = 32'(vload.ub_addr);
      end else if (load_end > Cfg.UbBytes) begin
        verdict      = FaultUbRange;
        verdict_addr = 32'(vload.ub_addr) > Cfg.UbBytes ? 32'(vload.ub_addr) : Cfg.UbBytes;
      end
    end else if (vload.opcode != OpVrun) begin
      verdict = FaultIllegalDescriptor;
    end
  end

  // Load of instructions.
  logic        asked, d1_q, d2_q, wrong;
  logic [11:0] left_q, coming_q;  // left to request; left to write

  assign rd_valid_o = state_q == Load && left_q != '0 && !freeze_i;
  assign asked      = rd_valid_o && rd_ready_i;

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) desc_q <= start_desc_i;
    if (state_q == Check) begin
      left_q      <= vload.count;
      coming_q    <= vload.count;
      rd_addr_o   <= vload.ub_addr;
      imem_addr_o <= vload.addr - 1'b1;
    end
    if (asked) begin
      left_q    <= left_q - 1'b1;
      rd_addr_o <= rd_addr_o + UbAddrBits'(8);
    end
    if (d2_q) begin
      coming_q    <= coming_q - 1'b1;
      imem_addr_o <= imem_addr_o + 1'b1;
      imem_data_o <= rd_data_i;
    end
  end

  assign wrong = state_q == Check && checked_q && verdict_q != FaultNone && runs_q == '0;

  always_ff @(posedge clk_i) begin
    checked_q      <= state_q == Check;
    verdict_q      <= verdict;
    verdict_addr_q <= verdict_addr;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      issuing_q     <= 1'b0;
      runs_q        <= '0;
      d1_q          <= 1'b0;
      d2_q          <= 1'b0;
      imem_we_o     <= 1'b0;
      done_o        <= 1'b0;
      fault_valid_o <= 1'b0;
    end else begin
      d1_q          <= asked;
      d2_q          <= d1_q;
      imem_we_o     <= d2_q;
      if (run_o) issuing_q <= 1'b1;
      else if (issued_i) issuing_q <= 1'b0;
      if (run_o && !halted_i) runs_q <= runs_q + 1'b1;
      if (halted_i && !run_o) runs_q <= runs_q - 1'b1;
      done_o        <= (state_q == Load && coming_q == '0) || halted_i;
      fault_valid_o <= !freeze_i && state_q != Faulted && (wrong || fault_i);
      unique case (state_q)
        Idle: if (start_valid_i && start_ready_o) state_q <= Check;
        Check: if (run_o) state_q <= Idle;
        else if (checked_q && verdict_q == FaultNone && vload.opcode == OpVload && runs_q == '0) state_q <= Load;
        Load: if (coming_q == '0) state_q <= Idle;
        default: ;
      endcase
      if (!freeze_i && (wrong || fault_i)) state_q <= Faulted;
    end
  end

  always_ff @(posedge clk_i) begin
    fault_code_o <= wrong ? verdict_q : fault_code_i;
    fault_addr_o <= {4'd0, wrong ? verdict_addr_q : fault_addr_i};
  end

  // Checks: a program is issued, completes or faults only while one runs; a fault comes after all older programs have
  // completed.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_issued : assert (!issued_i || issuing_q);
      a_halted : assert (!halted_i || (runs_q != '0 && state_q != Load));
      a_fault : assert (!fault_i || (issuing_q && 32'(runs_q) == 1));
      a_runs : assert (32'(runs_q) <= MaxRuns);
    end
  end
endmodule
