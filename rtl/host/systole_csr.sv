// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Control and status registers and performance counters behind AXI4-Lite; one access at a time, answered the cycle after
// address (and data) are there. Registers: docs/reference/csr.md. Docs: docs/host.md. Test: tests/rtl/host.

module systole_csr
  import systole_presets_pkg::*;
  import systole_csr_pkg::*;
#(
    parameter int unsigned Preset = 0
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,

    input  logic                         axil_awvalid_i,
    output logic                         axil_awready_o,
    input  logic [11:0]                  axil_awaddr_i,
    input  logic                         axil_wvalid_i,
    output logic                         axil_wready_o,
    input  logic [31:0]                  axil_wdata_i,
    input  logic [3:0]                   axil_wstrb_i,
    output logic                         axil_bvalid_o,
    input  logic                         axil_bready_i,
    output logic [1:0]                   axil_bresp_o,
    input  logic                         axil_arvalid_i,
    output logic                         axil_arready_o,
    input  logic [11:0]                  axil_araddr_i,
    output logic                         axil_rvalid_o,
    input  logic                         axil_rready_i,
    output logic [31:0]                  axil_rdata_o,
    output logic [1:0]                   axil_rresp_o,
    output logic                         irq_o,

    // To the core.
    output logic                         start_o,      // pulse; never while running, frozen or resetting
    output logic                         reset_req_o,  // pulse
    output logic [AddrBits-1:0]          prog_addr_o,
    output logic [31:0]                  prog_len_o,
    output logic [31:0]                  watchdog_o,
    output logic [AddrBits:0]            hbm_limit_o,
    output logic [7:0]                   stall_rate_o,
    output logic [15:0]                  stall_seed_o,
    output logic [63:0]                  cycle_o,      // cycles since start

    // From the core.
    input  logic                         running_i,
    input  logic                         done_i,       // pulse: the program reached its halt
    input  logic                         resetting_i,
    input  logic                         fault_i,      // level; the following hold while it is high
    input  logic [3:0]                   fault_cause_i,
    input  logic [2:0]                   fault_queue_i,
    input  logic [31:0]                  fault_pc_i,
    input  logic [AddrBits-1:0]          fault_addr_i,
    input  logic [63:0]                  fault_cycle_i,
    input  logic                         acc_saturated_i,
    input  logic [NumCounters-1:0][CtrIncBits-1:0] ctr_inc_i     // added to each counter this cycle; CtrCycles is counted here
);
  localparam logic [1:0] RespOkay = 2'b00;
  localparam logic [1:0] RespSlvErr = 2'b10;

  // Write channel: address and data may come in any order.
  logic        aw_q, w_q, write, write_known;
  logic [11:0] awaddr_q;
  logic [31:0] wdata_q, wmask;
  logic [3:0]  wstrb_q;

  assign axil_awready_o = !aw_q;
  assign axil_wready_o  = !w_q;
  assign write          = aw_q && w_q && !axil_bvalid_o;
  always_comb for (int unsigned i = 0; i < 4; i++) wmask[i*8+:8] = {8{wstrb_q[i]}};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_q          <= 1'b0;
      w_q           <= 1'b0;
      axil_bvalid_o <= 1'b0;
    end else begin
      if (axil_awvalid_i && axil_awready_o) aw_q <= 1'b1;
      if (axil_wvalid_i && axil_wready_o) w_q <= 1'b1;
      if (write) axil_bvalid_o <= 1'b1;
      if (axil_bvalid_o && axil_bready_i) begin
        axil_bvalid_o <= 1'b0;
        aw_q          <= 1'b0;
        w_q           <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (axil_awready_o) awaddr_q <= axil_awaddr_i;
    if (axil_wready_o) begin
      wdata_q <= axil_wdata_i;
      wstrb_q <= axil_wstrb_i;
    end
    if (write) axil_bresp_o <= write_known ? RespOkay : RespSlvErr;
  end

  // Registers that software writes.
  logic [31:0] irq_enable_q, prog_addr_lo_q, prog_addr_hi_q, prog_len_q, watchdog_q, stall_q, limit_lo_q, limit_hi_q;
  logic [1:0]  irq_q;
  logic        done_q, ctrl_start, ctrl_reset;
  logic [31:0] ctrl;

  function automatic logic [31:0] merge(logic [31:0] old, logic [31:0] data, logic [31:0] mask);
    return (old & ~mask) | (data & mask);
  endfunction

  assign ctrl        = write && awaddr_q == CsrCtrl ? wdata_q & wmask : '0;
  assign ctrl_start  = ctrl[CsrCtrlStartLsb];
  assign ctrl_reset  = ctrl[CsrCtrlResetLsb];
  assign start_o     = ctrl_start && !running_i && !fault_i && !resetting_i;
  assign reset_req_o = ctrl_reset && !resetting_i;

  always_comb begin
    write_known = 1'b1;
    case (awaddr_q)
      CsrCtrl, CsrIrq, CsrIrqEnable, CsrProgAddrLo, CsrProgAddrHi, CsrProgLen, CsrWatchdog, CsrStall, CsrHbmLimitLo,
      CsrHbmLimitHi: write_known = 1'b1;
      default: write_known = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      irq_enable_q   <= CsrIrqEnableReset;
      prog_addr_lo_q <= CsrProgAddrLoReset;
      prog_addr_hi_q <= CsrProgAddrHiReset;
      prog_len_q     <= CsrProgLenReset;
      watchdog_q     <= CsrWatchdogReset;
      stall_q        <= CsrStallReset;
      limit_lo_q     <= CsrHbmLimitLoReset;
      limit_hi_q     <= CsrHbmLimitHiReset;
    end else if (write) begin
      case (awaddr_q)
        CsrIrqEnable:  irq_enable_q   <= merge(irq_enable_q, wdata_q, wmask);
        CsrProgAddrLo: prog_addr_lo_q <= merge(prog_addr_lo_q, wdata_q, wmask);
        CsrProgAddrHi: prog_addr_hi_q <= merge(prog_addr_hi_q, wdata_q, wmask);
        CsrProgLen:    prog_len_q     <= merge(prog_len_q, wdata_q, wmask);
        CsrWatchdog:   watchdog_q     <= merge(watchdog_q, wdata_q, wmask);
        CsrStall:      stall_q        <= merge(stall_q, wdata_q, wmask);
        CsrHbmLimitLo: limit_lo_q     <= merge(limit_lo_q, wdata_q, wmask);
        CsrHbmLimitHi: limit_hi_q     <= merge(limit_hi_q, wdata_q, wmask);
        default: ;
      endcase
    end
  end

  assign prog_addr_o  = {prog_addr_hi_q[AddrBits-33:0], prog_addr_lo_q};
  assign prog_len_o   = prog_len_q;
  assign watchdog_o   = watchdog_q;
  assign hbm_limit_o  = {limit_hi_q[AddrBits-32:0], limit_lo_q};
  assign stall_rate_o = stall_q[CsrStallRateLsb+:CsrStallRateBits];
  assign stall_seed_o = stall_q[CsrStallSeedLsb+:CsrStallSeedBits];

  // Status and interrupt. A fault raises its interrupt once; acknowledging it does not clear the fault.
  logic fault_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q  <= 1'b0;
      irq_q   <= '0;
      fault_q <= 1'b0;
    end else begin
      fault_q <= fault_i;
      if (write && awaddr_q == CsrIrq) irq_q <= irq_q & ~(wdata_q[1:0] & wmask[1:0]);
      if (start_o || reset_req_o) done_q <= 1'b0;
      if (done_i) begin
        done_q                <= 1'b1;
        irq_q[CsrIrqDoneLsb]  <= 1'b1;
      end
      if (fault_i && !fault_q) irq_q[CsrIrqFaultLsb] <= 1'b1;
    end
  end
  assign irq_o = |(irq_q & irq_enable_q[1:0]);

  // Counters.
  logic [63:0] counter_q [NumCounters];
  for (genvar i = 0; i < NumCounters; i++) begin : gen_counter
    always_ff @(posedge clk_i) begin
      if (!rst_ni || start_o) counter_q[i] <= '0;
      else if (running_i) counter_q[i] <= counter_q[i] + (i == CtrCycles ? 64'd1 : 64'(ctr_inc_i[i]));
    end
  end
  assign cycle_o = counter_q[CtrCycles];

  // Read channel.
  logic [31:0]                    rdata, high_q;
  logic                           read, read_known, read_counter;
  logic [11:0]                    counter_offset;
  logic [$clog2(NumCounters)-1:0] counter_index;

  assign axil_arready_o = !axil_rvalid_o;
  assign read           = axil_arvalid_i && axil_arready_o;
  assign counter_offset = axil_araddr_i - CsrCounterBase;
  assign read_counter   = axil_araddr_i >= CsrCounterBase && 32'(counter_offset) < 8 * NumCounters
                          && axil_araddr_i[1:0] == '0;
  assign counter_index  = counter_offset[3+:$clog2(NumCounters)];

  always_comb begin
    rdata      = '0;
    read_known = 1'b1;
    case (axil_araddr_i)
      CsrId:           rdata = CsrIdReset;
      CsrVersion:      rdata = systole_isa_pkg::IsaVersion;
      CsrPreset:       rdata = Preset;
      CsrCtrl:         rdata = '0;
      CsrStatus: begin
        rdata[CsrStatusRunningLsb]   = running_i;
        rdata[CsrStatusDoneLsb]      = done_q;
        rdata[CsrStatusFaultLsb]     = fault_i;
        rdata[CsrStatusResettingLsb] = resetting_i;
      end
      CsrIrq:          rdata[1:0] = irq_q;
      CsrIrqEnable:    rdata = irq_enable_q;
      CsrProgAddrLo:   rdata = prog_addr_lo_q;
      CsrProgAddrHi:   rdata = prog_addr_hi_q;
      CsrProgLen:      rdata = prog_len_q;
      CsrWatchdog:     rdata = watchdog_q;
      CsrStall:        rdata = stall_q;
      CsrHbmLimitLo:   rdata = limit_lo_q;
      CsrHbmLimitHi:   rdata = limit_hi_q;
      CsrFaultCause:   rdata = 32'(fault_cause_i);
      CsrFaultQueue:   rdata = 32'(fault_queue_i);
      CsrFaultPc:      rdata = fault_pc_i;
      CsrFaultAddrLo:  rdata = fault_addr_i[31:0];
      CsrFaultAddrHi:  rdata = 32'(fault_addr_i[AddrBits-1:32]);
      CsrFaultCycleLo: rdata = fault_cycle_i[31:0];
      CsrFaultCycleHi: rdata = fault_cycle_i[63:32];
      CsrAccSaturated: rdata = 32'(acc_saturated_i);
      default: begin
        read_known = read_counter;
        if (read_counter) rdata = axil_araddr_i[2] ? high_q : counter_q[counter_index][31:0];
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) axil_rvalid_o <= 1'b0;
    else if (read) axil_rvalid_o <= 1'b1;
    else if (axil_rready_i) axil_rvalid_o <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      axil_rdata_o <= rdata;
      axil_rresp_o <= read_known ? RespOkay : RespSlvErr;
      if (read_counter && !axil_araddr_i[2]) high_q <= counter_q[counter_index][63:32];
    end
  end

  // A program starts only on an idle core; responses hold until they are taken.
  logic       bhold_q, rhold_q;
  logic [1:0] bresp_q, rresp_q;
  logic [31:0] rdata_q;
  always_ff @(posedge clk_i) begin
    bhold_q <= rst_ni && axil_bvalid_o && !axil_bready_i;
    rhold_q <= rst_ni && axil_rvalid_o && !axil_rready_i;
    bresp_q <= axil_bresp_o;
    rresp_q <= axil_rresp_o;
    rdata_q <= axil_rdata_o;
    if (rst_ni) begin
      a_start : assert (!start_o || (!running_i && !fault_i));
      a_bhold : assert (!bhold_q || (axil_bvalid_o && axil_bresp_o == bresp_q));
      a_rhold : assert (!rhold_q || (axil_rvalid_o && axil_rresp_o == rresp_q && axil_rdata_o == rdata_q));
    end
  end
endmodule
