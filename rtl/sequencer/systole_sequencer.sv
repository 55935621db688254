// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sequencer: runs a program. It takes descriptors from the fetch unit, writes each into the queue of its unit and
// checks opcode and unused bits one cycle later. At the halt it waits until everything is idle. Throughput: up to one
// descriptor per cycle.
// Docs: docs/sequencer.md, docs/isa.md. Test: tests/rtl/sequencer.

module systole_sequencer
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_bus_pkg::seq_fault_t;
#(
    parameter int unsigned D = 64,  // bytes per beat
    parameter int unsigned Cell = CellInt8,
    parameter bit          Issue = 1'b0,  // descriptors may come from the issue port of a scalar unit
    parameter bit          Links = 1'b0,  // the chip has links: there is a queue of sends
    parameter bit          Parity = 1'b0
) (
    input  logic                             clk_i,        // may be gated while idle
    input  logic                             rst_ni,
    input  logic                             freeze_i,

    input  logic                             start_i,      // pulse; the core was reset after the last program
    // verilator lint_off UNUSEDSIGNAL
    input  systole_bus_pkg::core_ctl_t       ctl_i,        // without its cycle and watchdog
    // verilator lint_on UNUSEDSIGNAL
    input  logic [AddrBits:0]                hbm_end_i,
    output systole_control_pkg::seq_state_t  state_o,
    output logic                             done_o,       // pulse: the halt is complete

    // HBM read client.
    output logic                             rd_valid_o,
    input  logic                             rd_ready_i,
    output logic [AddrBits-1:0]              rd_addr_o,
    input  logic                             rd_rsp_valid_i,
    input  logic [D*8-1:0]                   rd_rsp_data_i,

    // Issue port (systole_issue).
    input  systole_bus_pkg::issue_req_t      issue_req_i,
    output logic                             issue_ready_o,

    // Queues: a descriptor is written while it is checked. If it is well-formed, it is committed one cycle later.
    output logic [NumQueues-1:0]             write_o,
    input  logic [NumQueues-1:0]             ready_i,
    output desc_t                            desc_o,
    output logic [PcBits-1:0]                index_o,
    output logic                             free_o,      // it waits for no flag
    output logic                             parity_o,    // parity of the descriptor and free_o, computed when the descriptor arrived
    output logic [NumQueues-1:0]             commit_o,
    input  logic [NumQueues-1:0]             queue_idle_i,
    input  logic                             expired_i,   // the watchdog has expired

    // Sync flags: the waits of the halt. Its posts are not made, because nothing could see them.
    output logic                             flag_want_o,
    output logic [NumFlags-1:0]              flag_wait_o,
    input  logic                             flag_met_i,
    input  logic                             flag_high_i,     // a flag may still overflow after all units are idle

    output seq_fault_t                       fault_o,
    output logic                             dispatch_stall_o // stall: a descriptor waits for room in its queue
);
  localparam int unsigned DescBytes = DescBits / 8;

  // The next descriptor and its index.
  logic              fetch_valid, fetch_ready, fetch_idle, out_of_range, misaligned;
  desc_t             fetch_desc, desc_q;
  logic              desc_valid_q, parity_q;
  logic [PcBits-1:0] pc_q;

  logic [AddrBits-1:0] misaligned_addr, outside_addr;
  logic [PcBits-1:0]   fault_pc_q;

  if (Issue) begin : gen_issue
    logic [AddrBits-1:0] list_addr;
    systole_descriptor_source #(.D(D)) u_source (
        .clk_i, .rst_ni, .start_i, .issue_mode_i(ctl_i.issue), .freeze_i, .prog_addr_i(ctl_i.prog_addr),
        .prog_len_i(ctl_i.prog_len), .hbm_base_i(ctl_i.base), .hbm_end_i, .issue_req_i, .issue_ready_o,
        .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
        .desc_valid_o(fetch_valid), .desc_ready_i(fetch_ready), .desc_o(fetch_desc), .misaligned_o(misaligned),
        .misaligned_addr_o(misaligned_addr), .out_of_range_o(out_of_range), .list_addr_o(list_addr), .idle_o(fetch_idle)
    );
    // For a list of the issue port, the address is that of its first descriptor.
    assign outside_addr = ctl_i.issue ? list_addr : ctl_i.prog_addr + (AddrBits'(fault_pc_q) << $clog2(DescBytes));
  end else begin : gen_list
    localparam int unsigned ProgAlign = 128;
    assign misaligned = ctl_i.prog_addr[$clog2(ProgAlign)-1:0] != '0;

    systole_fetch #(.D(D)) u_fetch (
        .clk_i, .rst_ni, .start_i(start_i && !misaligned), .freeze_i, .prog_addr_i(ctl_i.prog_addr), .prog_len_i(ctl_i.prog_len),
        .hbm_base_i(ctl_i.base), .hbm_end_i,
        .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
        .desc_valid_o(fetch_valid), .desc_ready_i(fetch_ready), .desc_o(fetch_desc), .out_of_range_o(out_of_range),
        .idle_o(fetch_idle)
    );
    assign misaligned_addr = ctl_i.prog_addr;
    assign outside_addr    = ctl_i.prog_addr + (AddrBits'(fault_pc_q) << $clog2(DescBytes));
    assign issue_ready_o   = 1'b0;
    logic unused;
    assign unused = &{1'b0, ctl_i.issue, issue_req_i};
  end

  typedef enum logic [1:0] {Idle, Run, Halt, Stopped} state_e;
  state_e       state_q, state_d;
  // verilator lint_off UNUSEDSIGNAL
  header_desc_t header, fetched;  // only opcode and masks are used
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0]   queue_q;
  logic         active, pending, at_end, denied, hold, look, dispatch, take_next, halt_end;
  logic         at_end_q, next_end_q;  // pc_q, or pc_q + 1, is the program's length
  logic [PcBits-1:0] before_q;         // program length - 2

  assign header  = header_desc_t'(desc_q);
  assign fetched = header_desc_t'(fetch_desc);
  // Isolated programs run without the other cores: they must not use the flags between cores, nor send. Only packets post link flags.
  localparam logic [NumFlags-1:0] LinkMask = ((NumFlags'(1) << LinkFlags) - 1'b1) << (NumFlags - PeerFlags - LinkFlags);
  localparam logic [NumFlags-1:0] FarMask = ~(~NumFlags'(0) >> PeerFlags) | (Links ? LinkMask : '0);
  assign denied  = (ctl_i.isolated && (((header.wait_mask | header.post_mask) & FarMask) != '0 || (Links && header.opcode == OpSend)))
                   || (Links && (header.post_mask & LinkMask) != '0);
  assign at_end  = at_end_q && !(Issue && ctl_i.issue);  // programs of the issue port end with their halt

  // Dispatch.
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));
  assign look     = state_q == Run && desc_valid_q && !at_end && !freeze_i;
  assign dispatch = look && queue_q != 3'(NumQueues) && !hold;
  always_comb begin
    for (int unsigned q = 0; q < NumQueues; q++) write_o[q] = dispatch && queue_q == 3'(q) && ready_i[q] && (Links || q != QueueSend);
  end
  assign desc_o           = desc_q;
  assign index_o          = pc_q;
  assign free_o           = header.wait_mask == '0;
  assign parity_o         = parity_q ^ free_o;
  assign take_next        = write_o != '0;
  always_comb begin
    pending = look && queue_q == 3'(NumQueues);
    for (int unsigned q = 0; q < NumQueues; q++) if (look && queue_q == 3'(q) && ready_i[q]) pending = 1'b1;
  end
  assign fetch_ready      = state_q == Run && (!desc_valid_q || take_next);
  assign dispatch_stall_o = dispatch && !take_next;

  always_ff @(posedge clk_i) begin
    if (fetch_valid && fetch_ready) begin
      desc_q   <= fetch_desc;
      parity_q <= Parity && ^fetch_desc;
      queue_q  <= queue_of(fetched.opcode);
    end
    before_q <= ctl_i.prog_len - PcBits'(2);
    if (start_i) begin
      pc_q       <= '0;
      at_end_q   <= ctl_i.prog_len == '0;
      next_end_q <= ctl_i.prog_len == PcBits'(1);
    end else if (take_next) begin
      pc_q       <= pc_q + 1'b1;
      at_end_q   <= next_end_q;
      next_end_q <= pc_q == before_q;
    end
  end

  // The descriptor of the last cycle, and the result of its checks.
  logic                 looked_q, known_q, halt_q, unused_q, end_q, outside_q, bad;
  logic [NumQueues-1:0] written_q;
  logic [7:0]           opcode_q;
  logic [AddrBits-1:0]  fault_addr;
  logic                 fault_valid;
  fault_e               fault_code;

  assign bad        = looked_q && (unused_q || !known_q);
  assign commit_o   = state_q == Run && !bad ? written_q : '0;
  assign fault_o    = '{valid: fault_valid, code: fault_code, pc: fault_pc_q, addr: fault_addr};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      looked_q  <= 1'b0;
      written_q <= '0;
      end_q     <= 1'b0;
      outside_q <= 1'b0;
    end else begin
      looked_q  <= look;
      written_q <= write_o;
      end_q     <= state_q == Run && at_end;
      outside_q <= state_q == Run && !at_end && !desc_valid_q && out_of_range;
    end
  end
  always_ff @(posedge clk_i) begin
    known_q  <= has_opcode(header.opcode, Cell, Links);
    halt_q   <= header.opcode == OpHalt;
    unused_q <= unused_bits_set(desc_q, Cell, Links) || denied;
    opcode_q <= header.opcode;
    if (start_i) fault_pc_q <= '0;
    else if (!fault_valid && active && !at_end) fault_pc_q <= pc_q;
  end

  // Halt: waits until everything before it is complete, then for its own flags. If a flag's count is high, it also
  // waits until an overflow by the last posts would have been found.
  logic       all_idle, halting_q, finished_q;  // in the halt, also when stopped there; and everything before it is complete
  logic [1:0] idle_q;
  assign all_idle    = queue_idle_i == '1 && fetch_idle && (!flag_high_i || idle_q == '1);
  assign flag_wait_o = header.wait_mask;
  assign flag_want_o = finished_q;
  assign halt_end    = flag_want_o && flag_met_i && state_q == Halt && !expired_i && !freeze_i;

  always_comb begin
    state_d      = state_q;
    fault_code = FaultNone;
    fault_addr = '0;
    unique case (state_q)
      Idle: if (start_i) state_d = Run;
      Run: begin
        if (misaligned) begin
          fault_code = FaultMisaligned;
          fault_addr = misaligned_addr;
        end else if (end_q) begin
          fault_code = FaultProgramEnd;
        end else if (outside_q) begin
          fault_code = FaultHbmRange;
          fault_addr = outside_addr;
        end else if (looked_q && unused_q) begin
          fault_code = FaultIllegalDescriptor;
        end else if (looked_q && !known_q) begin
          fault_code = FaultIllegalOpcode;
          fault_addr = AddrBits'(opcode_q);
        end else if (looked_q && halt_q) begin
          state_d = Halt;
        end
      end
      Halt: if (halt_end) state_d = Idle;
      default: ;
    endcase
    if (fault_code == FaultNone && active && expired_i) fault_code = FaultWatchdog;
    if (freeze_i) state_d = state_q;
    else if (fault_code != FaultNone) state_d = Stopped;
  end
  assign fault_valid = fault_code != FaultNone && !freeze_i;
  assign active        = state_q == Run || state_q == Halt;
  assign state_o       = '{running: state_q != Idle || done_o, active: active, pending: pending};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      desc_valid_q <= 1'b0;
      idle_q       <= '0;
      halting_q    <= 1'b0;
      finished_q   <= 1'b0;
      done_o       <= 1'b0;
    end else begin
      state_q <= state_d;
      if (fetch_ready) desc_valid_q <= fetch_valid;
      idle_q  <= {idle_q[0], queue_idle_i == '1};
      done_o     <= halt_end;
      finished_q <= halting_q && all_idle && !halt_end;
      halting_q  <= state_d == Halt || (state_d == Stopped && halting_q);
    end
  end

  // Checks: one queue is written at a time; no descriptor comes from beyond the program; no start while a program runs.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one_hot : assert ((write_o & (write_o - 1'b1)) == '0);
      a_index : assert (write_o == '0 || pc_q < ctl_i.prog_len || (Issue && ctl_i.issue));
      a_start : assert (!start_i || state_q == Idle);
    end
  end
endmodule
