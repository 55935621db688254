// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control: sequencer, a queue a unit, sync flags, fault latch. The units hang on it with the unit interface of
// docs/design.md, in the order of the queue numbers. After a reset it runs one program.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_control
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_control_pkg::*;
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
    output logic [NumQueues-1:0]               start_peek_o,
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

  // Descriptors on their way to the queues: with their index and whether they wait for no flag.
  typedef struct packed {
    logic              free;
    logic [PcBits-1:0] index;
    desc_t             desc;
  } entry_t;
  entry_t               written, filled;
  logic [NumQueues-1:0] write, room, commit, want, fill, none, unit_idle, unit_stop;

  // Sync flags; the last agent is the sequencer's halt.
  logic [NumQueues:0]                 flag_want, flag_met;
  logic [NumQueues:0][NumFlags-1:0]   flag_wait;
  logic [NumQueues-1:0][NumFlags-1:0] flag_post;
  logic                               flag_high, overflow, found;
  logic [2:0]                         find_agent;
  logic [$clog2(NumFlags)-1:0]        find_flag;

  logic                             seq_fault, fault_freeze;
  fault_e                           seq_code;
  logic [PcBits-1:0]                seq_pc;
  logic [AddrBits-1:0]              seq_addr;
  place_e                           place;
  logic [NumQueues-1:0][PcBits-1:0] index;

  assign freeze_o = freeze_i || fault_freeze;
  assign idle_o   = unit_idle & none;

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
      .write_o(write), .ready_i(room), .desc_o(written.desc), .index_o(written.index), .free_o(written.free), .commit_o(commit),
      .queue_idle_i(idle_o), .progress_i((progress_i | (start_valid_o & start_ready_i) | done_i) != '0),
      .flag_want_o(flag_want[NumQueues]), .flag_wait_o(flag_wait[NumQueues]), .flag_met_i(flag_met[NumQueues]),
      .flag_high_i(flag_high),
      .fault_valid_o(seq_fault), .fault_code_o(seq_code), .fault_pc_o(seq_pc), .fault_addr_o(seq_addr), .dispatch_stall_o
  );

  systole_queue_ram #(.Depth(QueueDepth), .Width($bits(entry_t))) u_queue_ram (
      .clk_i, .rst_ni, .freeze_i(freeze_o),
      .write_i(write), .ready_o(room), .data_i(written), .commit_i(commit),
      .want_i(want), .fill_o(fill), .data_o(filled), .empty_o(none)
  );

  systole_sync u_sync (
      .clk_i, .rst_ni, .freeze_i(freeze_o), .want_i(flag_want), .wait_i(flag_wait), .met_o(flag_met), .post_i(flag_post),
      .high_o(flag_high), .overflow_o(overflow), .find_agent_i(find_agent), .find_flag_i(find_flag), .found_o(found)
  );

  for (genvar q = 0; q < NumQueues; q++) begin : gen_queue
    systole_unit_queue #(.InFlight(q == QueueMxu ? MxuInFlight : MaxInFlight)) u_queue (
        .clk_i, .rst_ni, .freeze_i(freeze_o || unit_stop[q]),
        .want_o(want[q]), .fill_i(fill[q]), .fill_desc_i(filled.desc), .fill_index_i(filled.index), .fill_free_i(filled.free),
        .flag_want_o(flag_want[q]), .flag_wait_o(flag_wait[q]), .flag_met_i(flag_met[q]), .post_o(flag_post[q]),
        .start_peek_o(start_peek_o[q]), .start_valid_o(start_valid_o[q]), .start_ready_i(start_ready_i[q]),
        .start_desc_o(start_desc_o[q]),
        .done_i(done_i[q]),
        .posted_hold_i(overflow), .place_i(place), .index_o(index[q]),
        .idle_o(unit_idle[q]), .busy_o(busy_o[q]), .waiting_o(waiting_o[q]),
        .retire_valid_o(retire_valid_o[q]), .retire_index_o(retire_index_o[q])
    );
  end

  systole_fault u_fault (
      .clk_i, .rst_ni, .cycle_i,
      .unit_valid_i(unit_fault_i), .unit_code_i, .unit_addr_i, .unit_newest_i, .unit_stop_o(unit_stop),
      .seq_valid_i(first_valid), .seq_code_i(first_code), .seq_pc_i(seq_pc), .seq_addr_i(first_addr),
      .overflow_i(overflow), .find_agent_o(find_agent), .find_flag_o(find_flag), .found_i(found),
      .place_o(place), .index_i(index),
      .freeze_o(fault_freeze), .fault_o, .code_o(fault_code_o), .queue_o(fault_queue_o), .pc_o(fault_pc_o),
      .addr_o(fault_addr_o), .cycle_o(fault_cycle_o)
  );

  // A fault stops the program: nothing starts after it, not even in the unit that tells it; a program that is done leaves nothing
  // behind.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_frozen : assert (!freeze_o || (start_valid_o == '0 && write == '0));
      a_stopped : assert ((unit_fault_i & start_valid_o & start_ready_i) == '0);
      a_done : assert (!done_o || (idle_o == '1 && !rd_valid_o && !fault_o));
    end
  end
endmodule
