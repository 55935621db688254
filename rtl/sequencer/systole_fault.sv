// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fault latch: the first fault since the reset, the lowest queue first where several come in one cycle. The core freezes in the
// cycle after it. Docs: docs/sequencer.md. Test: tests/rtl/sequencer.

module systole_fault
  import systole_isa_pkg::*;
  import systole_presets_pkg::*;
(
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic [63:0]                         cycle_i,

    // Units: of the oldest descriptor in flight, or of the newest.
    input  logic [NumQueues-1:0]                unit_valid_i,
    input  fault_e [NumQueues-1:0]              unit_code_i,
    input  logic [NumQueues-1:0][AddrBits-1:0]  unit_addr_i,
    input  logic [NumQueues-1:0]                unit_newest_i,
    input  logic [NumQueues-1:0][PcBits-1:0]    oldest_index_i,
    input  logic [NumQueues-1:0][PcBits-1:0]    newest_index_i,

    // Posts to a flag at its maximum; the last agent is the sequencer's halt, whose posts nobody sees.
    input  logic [NumQueues-1:0]                overflow_i,
    input  logic [$clog2(NumFlags)-1:0]         overflow_flag_i,
    input  logic [NumQueues-1:0][PcBits-1:0]    retire_index_i,

    // Sequencer.
    input  logic                                seq_valid_i,
    input  fault_e                              seq_code_i,
    input  logic [2:0]                          seq_queue_i,
    input  logic [PcBits-1:0]                   seq_pc_i,
    input  logic [AddrBits-1:0]                 seq_addr_i,

    output logic                                fault_o,  // level; the rest holds while it is high
    output fault_e                              code_o,
    output logic [2:0]                          queue_o,
    output logic [PcBits-1:0]                   pc_o,
    output logic [AddrBits-1:0]                 addr_o,
    output logic [63:0]                         cycle_o
);
  logic any;
  assign any = seq_valid_i || unit_valid_i != '0 || overflow_i != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fault_o <= 1'b0;
    else if (any) fault_o <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!fault_o && any) begin
      cycle_o <= cycle_i;
      code_o  <= seq_code_i;
      queue_o <= seq_queue_i;
      pc_o    <= seq_pc_i;
      addr_o  <= seq_addr_i;
      for (int unsigned q = NumQueues - 1; q < NumQueues; q--) begin
        if (overflow_i[q]) begin
          code_o  <= FaultFlagOverflow;
          queue_o <= 3'(q);
          pc_o    <= retire_index_i[q];
          addr_o  <= AddrBits'(overflow_flag_i);
        end
        if (unit_valid_i[q]) begin
          code_o  <= unit_code_i[q];
          queue_o <= 3'(q);
          pc_o    <= unit_newest_i[q] ? newest_index_i[q] : oldest_index_i[q];
          addr_o  <= unit_addr_i[q];
        end
      end
    end
  end

  // A fault has a cause.
  always_ff @(posedge clk_i) begin
    if (rst_ni && fault_o) a_cause : assert (code_o != FaultNone);
  end
endmodule
