// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fault latch: holds the first fault since reset, and freezes the core. Priority within a cycle: units from the lowest
// queue on, flag overflow, sequencer. Latency: nothing starts from two cycles after the fault, or from one cycle after a
// soft reset asks; the units freeze one cycle later. The latch looks up what the fault is about and reports it after
// four cycles, or after up to 232 if it has to search for a flag.
// Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_fault
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
  import systole_control_pkg::*;
(
    input  logic                                clk_i,      // may be gated while idle
    input  logic                                free_clk_i, // free-running, for the time of the fault
    input  logic                                rst_ni,
    input  logic [63:0]                         cycle_i,
    input  logic                                freeze_i,   // a soft reset follows

    // Units: a fault of the oldest or of the newest descriptor in flight. The unit takes no descriptor in that cycle.
    input  logic [NumQueues-1:0]                unit_valid_i,
    input  fault_e [NumQueues-1:0]              unit_code_i,
    input  logic [NumQueues-1:0][AddrBits-1:0]  unit_addr_i,
    input  logic [NumQueues-1:0]                unit_newest_i,
    output logic [NumQueues-1:0]                unit_stop_o,   // this unit faulted in the last cycle

    // Sequencer.
    input  systole_bus_pkg::seq_fault_t         seq_i,

    // Sync flags: overflow, and the search for a flag, agent by agent. The agent after the queues is the halt.
    input  logic                                overflow_i,
    output logic [2:0]                          find_agent_o,
    output logic [$clog2(NumFlags)-1:0]         find_flag_o,
    input  logic                                found_i,       // result for the request of the last cycle

    // Queues: the index of a descriptor, one cycle after its place.
    output place_e                              place_o,
    input  logic [NumQueues-1:0][PcBits-1:0]    index_i,

    // Start nothing, until the next reset: each part of the control has a register of its own, which lies beside it.
    output logic [NumQueues-1:0]                freeze_queue_o,
    output logic                                freeze_memory_o,
    output logic                                freeze_flags_o,
    output logic                                freeze_sequencer_o,

    output logic                                fault_o,  // level; the fields below hold while it is high
    output fault_e                              code_o,
    output logic [2:0]                          queue_o,
    output logic [PcBits-1:0]                   pc_o,
    output logic [AddrBits-1:0]                 addr_o,
    output logic [63:0]                         cycle_o
);
  localparam logic [2:0] QueueSequencer = 3'd7;
  localparam logic [2:0] AgentHalt = 3'(NumQueues);

  // Inputs, registered.
  logic [NumQueues-1:0]               unit_valid_q, unit_newest_q, first;
  fault_e [NumQueues-1:0]             unit_code_q;
  logic [NumQueues-1:0][AddrBits-1:0] unit_addr_q;
  logic                               seq_valid_q, any, of_unit;
  fault_e                             seq_code_q;
  logic [AddrBits-1:0]                seq_addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      unit_valid_q <= '0;
      seq_valid_q  <= 1'b0;
    end else begin
      unit_valid_q <= unit_valid_i;
      seq_valid_q  <= seq_i.valid;
    end
  end
  always_ff @(posedge clk_i) begin
    unit_newest_q <= unit_newest_i;
    unit_code_q   <= unit_code_i;
    unit_addr_q   <= unit_addr_i;
    seq_code_q    <= seq_i.code;
    seq_addr_q    <= seq_i.addr;
  end
  assign unit_stop_o = unit_valid_q;
  assign of_unit     = unit_valid_q != '0;
  assign any         = of_unit || overflow_i || seq_valid_q;
  assign first       = unit_valid_q & (~unit_valid_q + 1'b1);

  // The first fault, then the search for what it is about.
  typedef enum logic [2:0] {Watch, Find, Look, Read, Told} state_e;
  state_e                      state_q;
  // Copies of one register, which synthesis must not merge.
  localparam int unsigned NumFreeze = NumQueues + 3;
  (* keep *) logic [NumFreeze-1:0] freeze_q;
  logic [NumQueues-1:0]        sel_q;  // one-hot: queue of the fault; 0: no queue
  place_e                      place_q;
  fault_e                      code_q;
  logic [2:0]                  queue_q;
  logic [AddrBits-1:0]         addr_q;
  logic [PcBits-1:0]           pc_q;
  logic [63:0]                 cycle_q;
  logic [2:0]                  agent_q;
  logic [$clog2(NumFlags)-1:0] flag_q;
  logic                        finding_q;       // a flag was requested in the last cycle
  logic [2:0]                  found_agent_q;
  logic [$clog2(NumFlags)-1:0] found_flag_q;
  logic                        found, find_last;

  assign find_agent_o = agent_q;
  assign find_flag_o  = flag_q;
  assign found        = finding_q && found_i;
  assign find_last    = finding_q && found_agent_q == AgentHalt && found_flag_q == '1;
  assign place_o      = place_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Watch;
      freeze_q <= '0;
    end else begin
      if (any || freeze_i) freeze_q <= '1;
      unique case (state_q)
        Watch:   if (any) state_q <= !of_unit && (overflow_i || seq_code_q == FaultWatchdog) ? Find : Look;
        Find:    if (found || find_last) state_q <= Look;
        Look:    state_q <= Read;
        Read:    state_q <= Told;
        default: ;
      endcase
    end
  end

  logic [AddrBits-1:0]  addr;
  fault_e               code;
  logic [2:0]           queue;
  logic                 newest;
  always_comb begin
    code   = overflow_i ? FaultFlagOverflow : seq_code_q;
    addr   = of_unit || overflow_i || seq_code_q == FaultWatchdog ? '0 : seq_addr_q;
    queue  = QueueSequencer;
    newest = 1'b0;
    for (int unsigned q = 0; q < NumQueues; q++) begin
      if (first[q]) begin
        code   = unit_code_q[q];
        queue  = 3'(q);
        newest = unit_newest_q[q];
        addr   = addr | unit_addr_q[q];
      end
    end
  end

  logic [PcBits-1:0] index;
  always_comb begin
    index = sel_q == '0 ? seq_i.pc : '0;
    for (int unsigned q = 0; q < NumQueues; q++) if (sel_q[q]) index = index | index_i[q];
  end

  always_ff @(posedge free_clk_i) begin
    if (state_q == Watch && !any) cycle_q <= cycle_i;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Watch) begin
      code_q  <= code;
      queue_q <= queue;
      addr_q  <= addr;
      sel_q   <= first;
      place_q <= newest ? PlaceNewest : PlaceOldest;
      agent_q <= '0;
      flag_q  <= '0;
    end
    if (state_q == Find) begin
      {agent_q, flag_q} <= {agent_q, flag_q} + 1'b1;
      if (found) begin
        addr_q  <= AddrBits'(found_flag_q);
        place_q <= code_q == FaultFlagOverflow ? PlacePosted : PlaceHead;
        if (found_agent_q != AgentHalt) queue_q <= found_agent_q;
        for (int unsigned q = 0; q < NumQueues; q++) sel_q[q] <= found_agent_q == 3'(q);
      end
    end
    finding_q     <= state_q == Find;
    found_agent_q <= agent_q;
    found_flag_q  <= flag_q;
    if (state_q == Read) pc_q <= index;
  end

  assign {freeze_sequencer_o, freeze_flags_o, freeze_memory_o, freeze_queue_o} = freeze_q;
  assign fault_o  = state_q == Told;
  assign code_o   = code_q;
  assign queue_o  = queue_q;
  assign pc_o     = pc_q;
  assign addr_o   = addr_q;
  assign cycle_o  = cycle_q;

  // Checks: a latched fault has a cause; the search after an overflow finds a queue.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_freeze : assert (freeze_q == '1 || (freeze_q == '0 && state_q == Watch));
      a_cause : assert (state_q == Watch || code_q != FaultNone);
      a_overflow : assert (state_q != Find || code_q != FaultFlagOverflow || found || !find_last);
    end
  end
endmodule
