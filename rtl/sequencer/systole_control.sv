// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control: sequencer, a queue a unit, sync flags, fault latch. The units hang on it with the unit interface of
// docs/design.md, in the order of the queue numbers. After a reset it runs one program.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_control
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,           // bytes of a beat
    parameter int unsigned Cell = CellInt8,
    parameter int unsigned QueueDepth = 8,
    parameter int unsigned MxuInFlight = 8   // descriptors
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic                               freeze_i,   // soft reset to come
    output logic                               freeze_o,   // that, or a fault: start nothing, make no new access

    // Registers.
    input  logic                               start_i,    // pulse
    input  logic [AddrBits-1:0]                prog_addr_i,
    input  logic [PcBits-1:0]                  prog_len_i,
    input  logic [31:0]                        watchdog_i,
    input  logic [AddrBits:0]                  hbm_end_i,
    input  logic [63:0]                        cycle_i,
    input  logic                               mem_error_i,  // pulse: the memory answered with an error
    input  logic [AddrBits-1:0]                mem_error_addr_i,
    output logic                               running_o,
    output logic                               done_o,     // pulse
    output logic                               fault_o,    // level; the following hold while it is high
    output fault_e                             fault_code_o,
    output logic [2:0]                         fault_queue_o,
    output logic [PcBits-1:0]                  fault_pc_o,
    output logic [AddrBits-1:0]                fault_addr_o,
    output logic [63:0]                        fault_cycle_o,

    // HBM read client.
    output logic                               rd_valid_o,
    input  logic                               rd_ready_i,
    output logic [AddrBits-1:0]                rd_addr_o,
    input  logic                               rd_rsp_valid_i,
    input  logic [D*8-1:0]                     rd_rsp_data_i,

    // Units.
    output logic [NumQueues-1:0]               start_valid_o,
    input  logic [NumQueues-1:0]               start_ready_i,
    output desc_t                              start_desc_o [NumQueues],
    input  logic [NumQueues-1:0]               done_i,
    input  logic [NumQueues-1:0]               progress_i,
    input  logic [NumQueues-1:0]               unit_fault_i,
    input  fault_e [NumQueues-1:0]             unit_code_i,
    input  logic [NumQueues-1:0][AddrBits-1:0] unit_addr_i,
    input  logic [NumQueues-1:0]               unit_newest_i,

    // For counters and trace.
    output logic [NumQueues-1:0]               idle_o,
    output logic [NumQueues-1:0]               busy_o,
    output logic [NumQueues-1:0]               waiting_o,
    output logic                               dispatch_stall_o,
    output logic [NumQueues-1:0]               retire_valid_o,
    output logic [NumQueues-1:0][PcBits-1:0]   retire_index_o
);
  localparam int unsigned MaxInFlight = 8;  // descriptors of a unit other than the MXU, which may take fewer

  logic [NumQueues-1:0]               push_valid, push_ready;
  desc_t                              push_desc;
  logic [PcBits-1:0]                  push_index;
  logic [NumQueues-1:0][PcBits-1:0]   head_index, oldest_index, newest_index;

  // Sync flags; the last agent is the sequencer's halt.
  logic [NumQueues:0][NumFlags-1:0]   flag_wait, flag_unmet;
  logic [NumQueues-1:0][NumFlags-1:0] flag_post;
  logic [NumQueues:0]                 flag_take;
  logic [NumQueues-1:0]               overflow;
  logic [$clog2(NumFlags)-1:0]        overflow_flag;

  logic                seq_fault;
  fault_e              seq_code;
  logic [2:0]          seq_queue;
  logic [PcBits-1:0]   seq_pc;
  logic [AddrBits-1:0] seq_addr;

  assign freeze_o = freeze_i || fault_o;

  // A memory error has no descriptor: it is told as the sequencer's, which goes first.
  logic                first_valid;
  fault_e              first_code;
  logic [AddrBits-1:0] first_addr;
  assign first_valid = seq_fault || mem_error_i;
  assign first_code  = seq_fault ? seq_code : FaultMemoryError;
  assign first_addr  = seq_fault ? seq_addr : mem_error_addr_i;

  systole_sequencer #(.D(D), .Cell(Cell)) u_sequencer (
      .clk_i, .rst_ni, .freeze_i(freeze_o),
      .start_i, .prog_addr_i, .prog_len_i, .watchdog_i, .hbm_end_i, .running_o, .done_o,
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .push_valid_o(push_valid), .push_ready_i(push_ready), .push_desc_o(push_desc), .push_index_o(push_index),
      .queue_idle_i(idle_o), .queue_waiting_i(waiting_o), .queue_head_index_i(head_index),
      .progress_i((progress_i | flag_take[NumQueues-1:0] | done_i) != '0),
      .unmet_i(flag_unmet), .wait_o(flag_wait[NumQueues]), .take_o(flag_take[NumQueues]),
      .fault_valid_o(seq_fault), .fault_code_o(seq_code), .fault_queue_o(seq_queue), .fault_pc_o(seq_pc),
      .fault_addr_o(seq_addr), .dispatch_stall_o
  );

  systole_sync u_sync (
      .clk_i, .rst_ni, .wait_i(flag_wait), .unmet_o(flag_unmet), .take_i(flag_take), .post_i(flag_post),
      .overflow_o(overflow), .overflow_flag_o(overflow_flag)
  );

  for (genvar q = 0; q < NumQueues; q++) begin : gen_queue
    systole_unit_queue #(.Depth(QueueDepth), .InFlight(q == QueueMxu ? MxuInFlight : MaxInFlight)) u_queue (
        .clk_i, .rst_ni, .freeze_i(freeze_o),
        .push_valid_i(push_valid[q]), .push_ready_o(push_ready[q]), .push_desc_i(push_desc), .push_index_i(push_index),
        .wait_o(flag_wait[q]), .unmet_i(flag_unmet[q]), .take_o(flag_take[q]), .post_o(flag_post[q]),
        .start_valid_o(start_valid_o[q]), .start_ready_i(start_ready_i[q]), .start_desc_o(start_desc_o[q]),
        .done_i(done_i[q]),
        .idle_o(idle_o[q]), .busy_o(busy_o[q]), .waiting_o(waiting_o[q]), .head_index_o(head_index[q]),
        .oldest_index_o(oldest_index[q]), .newest_index_o(newest_index[q]),
        .retire_valid_o(retire_valid_o[q]), .retire_index_o(retire_index_o[q])
    );
  end

  systole_fault u_fault (
      .clk_i, .rst_ni, .cycle_i,
      .unit_valid_i(unit_fault_i), .unit_code_i, .unit_addr_i, .unit_newest_i,
      .oldest_index_i(oldest_index), .newest_index_i(newest_index),
      .overflow_i(overflow), .overflow_flag_i(overflow_flag), .retire_index_i(retire_index_o),
      .seq_valid_i(first_valid), .seq_code_i(first_code), .seq_queue_i(seq_queue), .seq_pc_i(seq_pc),
      .seq_addr_i(first_addr),
      .fault_o, .code_o(fault_code_o), .queue_o(fault_queue_o), .pc_o(fault_pc_o), .addr_o(fault_addr_o),
      .cycle_o(fault_cycle_o)
  );

  // A fault stops the program: nothing starts after it; a program that is done leaves nothing behind.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_frozen : assert (!fault_o || (start_valid_o == '0 && push_valid == '0));
      a_done : assert (!done_o || (idle_o == '1 && !rd_valid_o && !fault_o));
    end
  end
endmodule
