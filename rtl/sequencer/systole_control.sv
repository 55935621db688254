// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control of a core: sequencer, one descriptor queue per unit, sync flags, fault latch. It drives the units
// through the unit interface of docs/design.md, in the order of the queue numbers. It runs one program after each
// reset.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_control
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_control_pkg::*;
  import systole_bus_pkg::*;
#(
    parameter int unsigned D = 64,           // bytes per beat
    parameter int unsigned Cell = CellInt8,
    parameter int unsigned QueueDepth = 8,
    parameter int unsigned MxuInFlight = 8,  // descriptors in flight in the MXU
    parameter bit          Issue = 1'b0,     // the core has a scalar unit
    parameter bit          Peer = 1'b0,      // the chip has another core
    parameter bit          Links = 1'b0,     // the chip has links: a queue of sends, and flags that packets post
    parameter bit          Parity = 1'b0,    // parity over waiting descriptors and sync flags
    parameter bit          Gate = 1'b1       // gate the clock while a program runs
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic                               peer_rst_ni,  // reset of the flags posted by the other core, which persist between programs
    input  logic                               freeze_i,   // a soft reset follows
    output logic [NumQueues-1:0]               freeze_o,   // per unit, one cycle after the control's parts freeze: make no new access

    // Registers.
    input  logic                               start_i,    // pulse
    input  core_ctl_t                          ctl_i,
    input  logic [AddrBits:0]                  hbm_end_i,
    input  mem_error_t                         mem_error_i,
    output core_status_t                       status_o,   // running stays high after a fault; acc_saturated is 0

    // HBM read client.
    output logic                               rd_valid_o,
    input  logic                               rd_ready_i,
    output logic [AddrBits-1:0]                rd_addr_o,
    input  logic                               rd_rsp_valid_i,
    input  logic [D*8-1:0]                     rd_rsp_data_i,

    // Scalar unit: issue port and sync flags; 0 without a scalar unit.
    input  issue_req_t                         issue_req_i,
    output logic                               issue_ready_o,
    input  flag_req_t                          flag_req_i,
    output flag_rsp_t                          flag_rsp_o,

    // Posts between cores; 0 without another core.
    input  peer_req_t                          peer_req_i,
    output peer_rsp_t                          peer_rsp_o,

    // Units.
    output unit_req_t                          req_o [NumQueues],
    input  unit_rsp_t                          rsp_i [NumQueues],

    // For counters and trace.
    output logic [NumQueues-1:0]               idle_o,
    output logic [NumQueues-1:0]               busy_o,
    output logic [NumQueues-1:0]               waiting_o,
    output logic                               dispatch_stall_o,
    output logic [NumQueues-1:0]               retire_valid_o,
    output logic [NumQueues-1:0][PcBits-1:0]   retire_index_o
);
  localparam int unsigned MaxInFlight = 8;  // descriptors in flight per unit, except the MXU

  // A descriptor on its way to a queue, with its index; free: it waits for no flag.
  typedef struct packed {
    logic              parity;
    logic              free;
    logic [PcBits-1:0] index;
    desc_t             desc;
  } entry_t;
  entry_t               written, filled;
  logic [NumQueues-1:0] write, room, commit, want, fill, none, unit_idle, unit_stop;

  // Sync flags; the last agent is the halt of the sequencer.
  logic [NumQueues:0]                 flag_want, flag_met;
  logic [NumQueues:0][NumFlags-1:0]   flag_wait;
  logic [NumQueues-1:0][NumFlags-1:0] flag_post;
  logic                               flag_high, overflow, found, flag_bad;
  logic [2:0]                         find_agent;
  logic [$clog2(NumFlags)-1:0]        find_flag;

  seq_fault_t                       seq_fault, first_fault;
  place_e                           place;
  logic [NumQueues-1:0][PcBits-1:0] index;
  logic [NumQueues-1:0]             freeze_queue;
  logic                             freeze_memory, freeze_flags, freeze_sequencer, running, finished, fault;
  fault_e                           fault_code;
  logic [2:0]                       fault_queue;
  logic [PcBits-1:0]                fault_pc;
  logic [AddrBits-1:0]              fault_addr;
  logic [63:0]                      fault_cycle;

  assign status_o = '{
      running: running, done: finished, fault: fault, fault_code: fault_code, fault_queue: fault_queue, fault_pc: fault_pc,
      fault_addr: fault_addr, fault_cycle: fault_cycle, acc_saturated: 1'b0};

  // The units' responses, regrouped by field.
  logic [NumQueues-1:0]               starts, done, progress, unit_fault, unit_newest;
  fault_e [NumQueues-1:0]             unit_code;
  logic [NumQueues-1:0][AddrBits-1:0] unit_addr;
  for (genvar q = 0; q < NumQueues; q++) begin : gen_answer
    assign starts[q]      = req_o[q].valid && rsp_i[q].ready;
    assign done[q]        = rsp_i[q].done;
    assign progress[q]    = rsp_i[q].progress;
    assign unit_fault[q]  = rsp_i[q].fault;
    assign unit_code[q]   = rsp_i[q].code;
    assign unit_addr[q]   = rsp_i[q].addr;
    assign unit_newest[q] = rsp_i[q].newest;
  end

  // Clock gating. While a program runs, only external events start activity, and it settles within the settling time of
  // the gated clock. Descriptors on their way into queues and heads are the exception, so they keep the clock running.
  logic                 clk, events, expired_q;
  seq_state_t           seq_state;
  logic [NumQueues-1:0] head_valid;
  for (genvar q = 0; q < NumQueues; q++) begin : gen_head
    assign head_valid[q] = req_o[q].peek;
  end
  assign events = start_i || freeze_i || freeze_sequencer || expired_q || mem_error_i.valid || rd_rsp_valid_i || (rd_valid_o && rd_ready_i)
                  || (starts | done | unit_fault) != '0 || (Peer && (!peer_rst_ni || peer_req_i != '0))
                  || (Issue && (issue_req_i.valid || issue_req_i.patch.field || issue_req_i.patch.value || issue_req_i.patch.step
                                || flag_req_i != '0));
  systole_idle_clock #(.Gate(Gate)) u_clock (
      .clk_i, .rst_ni, .work_i(events || seq_state.pending || flag_met != '0 || (~head_valid & ~none) != '0 || !running),
      .rest_i((write | commit | fill | retire_valid_o) == '0), .clk_o(clk)
  );

  assign idle_o = unit_idle & none;

  // Watchdog: counts cycles in which no unit moved data, no descriptor started, retired or entered a queue, and none
  // was fetched. It uses the free-running clock.
  logic [31:0] quiet_q;  // quiet cycles; 0 before a program begins
  logic        moved_q;
  always_ff @(posedge clk_i) begin
    moved_q   <= (progress | starts | done | write) != '0 || rd_rsp_valid_i || (rd_valid_o && rd_ready_i);
    quiet_q   <= !seq_state.active || moved_q || expired_q ? '0 : quiet_q + 1'b1;
    expired_q <= rst_ni && seq_state.active && ctl_i.watchdog != '0 && quiet_q >= ctl_i.watchdog;
  end
  assign running = seq_state.running;

  // Each unit has its own freeze, registered here for the way to the unit (systole_core).
  always_ff @(posedge clk_i) freeze_o <= rst_ni ? freeze_queue | unit_stop : '0;

  // Bit flips found by parity, and where: queue heads from 0, descriptors in flight from 8, entries of the queue memory
  // from 16, posts from 24, flags from 32.
  logic [NumQueues-1:0]        head_bad, flight_bad, place_bad, post_bad, post_parity;
  logic [$clog2(NumFlags)-1:0] bad_flag;
  logic                        bad;
  logic [5:0]                  bad_place;
  assign bad = flag_bad || (head_bad | flight_bad | place_bad | post_bad) != '0;
  always_comb begin
    bad_place = {1'b1, bad_flag};
    for (int unsigned q = NumQueues; q > 0; q--) begin
      if (post_bad[q-1]) bad_place = 6'(24 + q - 1);
    end
    for (int unsigned q = NumQueues; q > 0; q--) begin
      if (place_bad[q-1]) bad_place = 6'(16 + q - 1);
    end
    for (int unsigned q = NumQueues; q > 0; q--) begin
      if (flight_bad[q-1]) bad_place = 6'(8 + q - 1);
    end
    for (int unsigned q = NumQueues; q > 0; q--) begin
      if (head_bad[q-1]) bad_place = 6'(q - 1);
    end
  end

  // Bit flips and memory errors belong to no descriptor. They are reported as faults of the sequencer, whose own faults
  // have priority.
  always_comb begin
    first_fault       = seq_fault;
    first_fault.valid = seq_fault.valid || bad || mem_error_i.valid;
    if (!seq_fault.valid && bad) begin
      first_fault.code = FaultParity;
      first_fault.addr = AddrBits'(bad_place);
    end else if (!seq_fault.valid) begin
      first_fault.code = mem_error_i.code;
      first_fault.addr = mem_error_i.addr;
    end
  end

  systole_sequencer #(.D(D), .Cell(Cell), .Issue(Issue), .Links(Links), .Parity(Parity)) u_sequencer (
      .clk_i(clk), .rst_ni, .freeze_i(freeze_sequencer),
      .start_i, .ctl_i, .hbm_end_i, .issue_req_i, .issue_ready_o, .state_o(seq_state), .done_o(finished),
      .rd_valid_o, .rd_ready_i, .rd_addr_o, .rd_rsp_valid_i, .rd_rsp_data_i,
      .write_o(write), .ready_i(room), .desc_o(written.desc), .index_o(written.index), .free_o(written.free), .parity_o(written.parity),
      .commit_o(commit),
      .queue_idle_i(idle_o), .expired_i(expired_q),
      .flag_want_o(flag_want[NumQueues]), .flag_wait_o(flag_wait[NumQueues]), .flag_met_i(flag_met[NumQueues]),
      .flag_high_i(flag_high),
      .fault_o(seq_fault), .dispatch_stall_o
  );

  systole_queue_ram #(.Depth(QueueDepth), .Width($bits(entry_t)), .Links(Links), .Parity(Parity)) u_queue_ram (
      .clk_i(clk), .rst_ni, .freeze_i(freeze_memory),
      .write_i(write), .ready_o(room), .data_i(written), .commit_i(commit),
      .want_i(want), .fill_o(fill), .data_o(filled), .empty_o(none), .bad_o(place_bad)
  );

  systole_sync #(.Issue(Issue), .Peer(Peer), .Links(Links), .Parity(Parity)) u_sync (
      .clk_i(clk), .rst_ni, .peer_rst_ni, .peer_i(peer_req_i), .peer_o(peer_rsp_o),
      .freeze_i(freeze_flags), .want_i(flag_want), .wait_i(flag_wait), .met_o(flag_met), .post_i(flag_post), .post_parity_i(post_parity),
      .scalar_i(flag_req_i), .scalar_o(flag_rsp_o), .high_o(flag_high), .overflow_o(overflow),
      .bad_o(flag_bad), .bad_flag_o(bad_flag), .bad_post_o(post_bad),
      .find_agent_i(find_agent), .find_flag_i(find_flag), .found_o(found)
  );

  for (genvar q = 0; q < QueueSend; q++) begin : gen_queue
    systole_unit_queue #(.InFlight(q == QueueMxu ? MxuInFlight : MaxInFlight), .Parity(Parity)) u_queue (
        .clk_i(clk), .rst_ni, .freeze_i(freeze_queue[q] || unit_stop[q]),
        .want_o(want[q]), .fill_i(fill[q]), .fill_desc_i(filled.desc), .fill_index_i(filled.index), .fill_free_i(filled.free),
        .fill_parity_i(filled.parity),
        .flag_want_o(flag_want[q]), .flag_wait_o(flag_wait[q]), .flag_met_i(flag_met[q]), .post_o(flag_post[q]),
        .post_parity_o(post_parity[q]),
        .req_o(req_o[q]), .start_ready_i(rsp_i[q].ready), .done_i(done[q]),
        .posted_hold_i(overflow), .place_i(place), .index_o(index[q]),
        .head_bad_o(head_bad[q]), .flight_bad_o(flight_bad[q]),
        .idle_o(unit_idle[q]), .busy_o(busy_o[q]), .waiting_o(waiting_o[q]),
        .retire_valid_o(retire_valid_o[q]), .retire_index_o(retire_index_o[q])
    );
  end
  if (Links) begin : gen_send
    systole_unit_queue #(.InFlight(MaxInFlight), .Parity(Parity)) u_queue (
        .clk_i(clk), .rst_ni, .freeze_i(freeze_queue[QueueSend] || unit_stop[QueueSend]),
        .want_o(want[QueueSend]), .fill_i(fill[QueueSend]), .fill_desc_i(filled.desc), .fill_index_i(filled.index), .fill_free_i(filled.free),
        .fill_parity_i(filled.parity),
        .flag_want_o(flag_want[QueueSend]), .flag_wait_o(flag_wait[QueueSend]), .flag_met_i(flag_met[QueueSend]), .post_o(flag_post[QueueSend]),
        .post_parity_o(post_parity[QueueSend]),
        .req_o(req_o[QueueSend]), .start_ready_i(rsp_i[QueueSend].ready), .done_i(done[QueueSend]),
        .posted_hold_i(overflow), .place_i(place), .index_o(index[QueueSend]),
        .head_bad_o(head_bad[QueueSend]), .flight_bad_o(flight_bad[QueueSend]),
        .idle_o(unit_idle[QueueSend]), .busy_o(busy_o[QueueSend]), .waiting_o(waiting_o[QueueSend]),
        .retire_valid_o(retire_valid_o[QueueSend]), .retire_index_o(retire_index_o[QueueSend])
    );
  end else begin : gen_no_send
    assign want[QueueSend]           = 1'b0;
    assign flag_want[QueueSend]      = 1'b0;
    assign flag_wait[QueueSend]      = '0;
    assign flag_post[QueueSend]      = '0;
    assign post_parity[QueueSend]    = 1'b0;
    assign req_o[QueueSend]          = '0;
    assign index[QueueSend]          = '0;
    assign head_bad[QueueSend]       = 1'b0;
    assign flight_bad[QueueSend]     = 1'b0;
    assign unit_idle[QueueSend]      = 1'b1;
    assign busy_o[QueueSend]         = 1'b0;
    assign waiting_o[QueueSend]      = 1'b0;
    assign retire_valid_o[QueueSend] = 1'b0;
    assign retire_index_o[QueueSend] = '0;
  end

  systole_fault u_fault (
      .clk_i(clk), .free_clk_i(clk_i), .rst_ni, .cycle_i(ctl_i.cycle), .freeze_i,
      .unit_valid_i(unit_fault), .unit_code_i(unit_code), .unit_addr_i(unit_addr), .unit_newest_i(unit_newest), .unit_stop_o(unit_stop),
      .seq_i(first_fault),
      .overflow_i(overflow), .find_agent_o(find_agent), .find_flag_o(find_flag), .found_i(found),
      .place_o(place), .index_i(index),
      .freeze_queue_o(freeze_queue), .freeze_memory_o(freeze_memory), .freeze_flags_o(freeze_flags),
      .freeze_sequencer_o(freeze_sequencer),
      .fault_o(fault), .code_o(fault_code), .queue_o(fault_queue), .pc_o(fault_pc), .addr_o(fault_addr), .cycle_o(fault_cycle)
  );

  // Checks: after a fault nothing starts, not even in the faulting unit; a finished program leaves nothing in flight.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_frozen : assert (!freeze_sequencer || (starts == '0 && write == '0));
      a_stopped : assert ((unit_fault & starts) == '0);
      a_done : assert (!finished || (idle_o == '1 && !rd_valid_o && !fault));
    end
  end
endmodule
