// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sequencer: runs a program. Takes descriptors from the fetch, checks opcode and unused bits, puts each into its unit's queue (up
// to one a cycle), and at the halt waits until all is idle. Watches over progress while the program runs.
// Docs: docs/sequencer.md, docs/isa.md. Test: tests/rtl/sequencer.

module systole_sequencer
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,  // bytes of a beat
    parameter int unsigned Cell = CellInt8
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    input  logic                             freeze_i,

    input  logic                             start_i,      // pulse; the core was reset since the last program
    input  logic [AddrBits-1:0]              prog_addr_i,
    input  logic [PcBits-1:0]                prog_len_i,
    input  logic [31:0]                      watchdog_i,   // cycles, 0 = off
    input  logic [AddrBits:0]                hbm_end_i,
    output logic                             running_o,
    output logic                             done_o,       // pulse: the halt is complete

    // HBM read client.
    output logic                             rd_valid_o,
    input  logic                             rd_ready_i,
    output logic [AddrBits-1:0]              rd_addr_o,
    input  logic                             rd_rsp_valid_i,
    input  logic [D*8-1:0]                   rd_rsp_data_i,

    // Queues.
    output logic [NumQueues-1:0]             push_valid_o,
    input  logic [NumQueues-1:0]             push_ready_i,
    output desc_t                            push_desc_o,
    output logic [PcBits-1:0]                push_index_o,
    input  logic [NumQueues-1:0]             queue_idle_i,
    input  logic [NumQueues-1:0]             queue_waiting_i,     // the head waits for flags
    input  logic [NumQueues-1:0][PcBits-1:0] queue_head_index_i,
    input  logic                             progress_i,  // some unit moved data, or some descriptor started or retired

    // Sync flags: what the queues' heads and the halt wait for. A halt's posts would be seen by nobody: they are not made.
    input  logic [NumQueues:0][NumFlags-1:0] unmet_i,
    output logic [NumFlags-1:0]              wait_o,
    output logic                             take_o,

    output logic                             fault_valid_o,   // pulse
    output fault_e                           fault_code_o,
    output logic [2:0]                       fault_queue_o,
    output logic [PcBits-1:0]                fault_pc_o,
    output logic [AddrBits-1:0]              fault_addr_o,
    output logic                             dispatch_stall_o // a descriptor waits for room in its queue
);
  localparam logic [2:0] QueueSequencer = 3'd7;
  localparam int unsigned ProgAlign = 128;
  localparam int unsigned DescBytes = DescBits / 8;

  // The next descriptor, its index and its address.
  logic              fetch_valid, fetch_ready, fetch_idle, out_of_range, misaligned;
  desc_t             fetch_desc, desc_q;
  logic              desc_valid_q;
  logic [PcBits-1:0] pc_q;
  logic [AddrBits:0] desc_addr_q;

  assign misaligned = prog_addr_i[$clog2(ProgAlign)-1:0] != '0;

  systole_fetch #(.D(D)) u_fetch (
      .clk_i, .rst_ni, .start_i(start_i && !misaligned), .freeze_i, .prog_addr_i, .prog_len_i, .hbm_end_i,
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .desc_valid_o(fetch_valid), .desc_ready_i(fetch_ready), .desc_o(fetch_desc), .out_of_range_o(out_of_range),
      .idle_o(fetch_idle)
  );

  typedef enum logic [1:0] {Idle, Run, Halt, Stopped} state_e;
  state_e       state_q, state_d;
  // verilator lint_off UNUSEDSIGNAL
  header_desc_t header;  // opcode and wait mask
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0]   queue;
  logic         known, is_halt, unused_set, at_end, hold, dispatch, take_next;

  assign header     = header_desc_t'(desc_q);
  assign queue      = queue_of(header.opcode);
  assign known      = queue != 3'(NumQueues) && has_opcode(header.opcode, Cell);
  assign is_halt    = header.opcode == OpHalt;
  assign unused_set = unused_bits_set(desc_q, Cell);
  assign at_end     = pc_q == prog_len_i;

  // Dispatch of a descriptor that passed the checks.
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));
  assign dispatch = state_q == Run && desc_valid_q && !at_end && known && !unused_set && !freeze_i && !hold;
  always_comb begin
    push_valid_o = '0;
    for (int unsigned q = 0; q < NumQueues; q++) push_valid_o[q] = dispatch && queue == 3'(q);
  end
  assign push_desc_o      = desc_q;
  assign push_index_o     = pc_q;
  assign take_next        = (push_valid_o & push_ready_i) != '0;
  assign fetch_ready      = state_q == Run && (!desc_valid_q || take_next);
  assign dispatch_stall_o = dispatch && !take_next;

  always_ff @(posedge clk_i) begin
    if (fetch_valid && fetch_ready) desc_q <= fetch_desc;
    if (start_i) begin
      pc_q        <= '0;
      desc_addr_q <= {1'b0, prog_addr_i};
    end else if (take_next) begin
      pc_q        <= pc_q + 1'b1;
      desc_addr_q <= desc_addr_q + (AddrBits + 1)'(DescBytes);
    end
  end

  // Halt: everything before it is complete, then its own waits.
  logic all_idle, halt_start;
  assign all_idle   = queue_idle_i == '1 && fetch_idle;
  assign wait_o     = state_q == Halt && all_idle ? header.wait_mask : '0;
  assign halt_start = state_q == Halt && all_idle && unmet_i[NumQueues] == '0 && !freeze_i;
  assign take_o     = halt_start;

  // Watchdog. It names the lowest queue whose head waits for flags, or else the sequencer, and the lowest flag that is missing.
  logic [31:0]         quiet_q;
  logic                moved, expired;
  logic [2:0]          wait_queue;
  logic [PcBits-1:0]   wait_pc;
  logic [NumFlags-1:0] wait_unmet;
  logic [AddrBits-1:0] wait_flag;

  assign moved   = progress_i || take_next || rd_rsp_valid_i || (rd_valid_o && rd_ready_i);
  assign expired = watchdog_i != '0 && quiet_q >= watchdog_i;

  always_comb begin
    wait_queue = QueueSequencer;
    wait_pc    = pc_q;
    wait_unmet = unmet_i[NumQueues];
    wait_flag  = '0;
    if (expired) begin
      for (int unsigned q = NumQueues - 1; q < NumQueues; q--) begin
        if (queue_waiting_i[q]) begin
          wait_queue = 3'(q);
          wait_pc    = queue_head_index_i[q];
          wait_unmet = unmet_i[q];
        end
      end
      for (int unsigned f = NumFlags - 1; f < NumFlags; f--) if (wait_unmet[f]) wait_flag = AddrBits'(f);
    end
  end

  always_comb begin
    state_d       = state_q;
    done_o        = 1'b0;
    fault_code_o  = FaultNone;
    fault_queue_o = QueueSequencer;
    fault_pc_o    = pc_q;
    fault_addr_o  = '0;
    unique case (state_q)
      Idle: if (start_i) state_d = Run;
      Run: begin
        if (misaligned) begin
          fault_code_o = FaultMisaligned;
          fault_addr_o = prog_addr_i;
        end else if (at_end) begin
          fault_code_o = FaultProgramEnd;
          fault_pc_o   = pc_q == '0 ? '0 : pc_q - 1'b1;
        end else if (!desc_valid_q) begin
          if (out_of_range) begin
            fault_code_o = FaultHbmRange;
            fault_addr_o = desc_addr_q[AddrBits-1:0];
          end
        end else if (unused_set) begin
          fault_code_o = FaultIllegalDescriptor;
        end else if (is_halt) begin
          state_d = Halt;
        end else if (!known) begin
          fault_code_o = FaultIllegalOpcode;
          fault_addr_o = AddrBits'(header.opcode);
        end
      end
      Halt: if (halt_start) begin
        state_d = Idle;
        done_o  = 1'b1;
      end
      default: ;
    endcase
    if (fault_code_o == FaultNone && expired && !done_o) begin
      fault_code_o  = FaultWatchdog;
      fault_queue_o = wait_queue;
      fault_pc_o    = wait_pc;
      fault_addr_o  = wait_flag;
    end
    if (freeze_i) state_d = state_q;
    else if (fault_code_o != FaultNone) state_d = Stopped;
  end
  assign fault_valid_o = fault_code_o != FaultNone && !freeze_i;
  assign running_o     = state_q == Run || state_q == Halt;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      desc_valid_q <= 1'b0;
      quiet_q      <= '0;
    end else begin
      state_q <= state_d;
      if (fetch_ready) desc_valid_q <= fetch_valid;
      quiet_q <= !running_o || moved || expired ? '0 : quiet_q + 1'b1;
    end
  end

  // One queue at a time, nothing from beyond the program, and no start while one runs.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one_hot : assert ((push_valid_o & (push_valid_o - 1'b1)) == '0);
      a_index : assert (push_valid_o == '0 || pc_q < prog_len_i);
      a_start : assert (!start_i || state_q == Idle);
    end
  end
endmodule
