// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The signals that a reader of a waveform looks at first: the descriptor that each queue runs, the flag that it waits
// for, the activity and load of the array, the memory traffic. It is bound into systole_node for simulation. No logic
// depends on it, and it computes nothing until a waveform is opened. Docs: docs/waves.md. Test: tests/waves.

module systole_waves
  import systole_isa_pkg::*;
  import systole_presets_pkg::PcBits;
#(
    localparam int unsigned Queues = QueueSend  // the queues that every chip has
) (
    input logic                               clk_i,
    input logic                               rst_ni,
    input logic                               running_i,
    input logic                               fault_i,
    input fault_e                             fault_code_i,

    // Queues: the head, and the list of descriptors in flight (systole_unit_queue).
    input logic [Queues-1:0]               head_i,
    input logic [Queues-1:0][PcBits-1:0]   head_index_i,
    input logic [Queues-1:0][15:0]         head_tag_i,
    input logic [Queues-1:0]               busy_i,
    input logic [Queues-1:0][PcBits-1:0]   oldest_i,
    input logic [Queues-1:0][4:0]          in_ptr_i,
    input logic [Queues-1:0][4:0]          out_ptr_i,
    input logic [Queues-1:0]               want_i,       // the head waits for flags
    input logic [Queues-1:0][NumFlags-1:0] wait_i,
    input logic [NumFlags-1:0]                set_i,        // flags that are available

    // Array and memory.
    input logic                               enter_i,
    input logic                               stall_weights_i,
    input logic                               stall_swap_i,
    input logic                               stall_acc_i,
    input logic                               stall_ub_i,
    input logic                               next_i,
    input logic                               rd_beat_i,
    input logic                               wr_beat_i
);
  localparam int unsigned Window = 64;  // cycles over which beats and vectors are counted
  typedef logic [PcBits-1:0]               index_t;
  typedef logic [15:0]                     tag_t;
  typedef logic [$clog2(NumFlags + 1)-1:0] flag_t;
  typedef logic [$clog2(Window + 1)-1:0]   count_t;

  // Index and layer of the oldest descriptor in flight; all ones: none.
  index_t load_runs, weights_runs, mxu_runs, vector_runs, store_runs;
  tag_t   load_layer, weights_layer, mxu_layer, vector_layer, store_layer;
  // The lowest flag that the head waits for and that is not available yet; NumFlags: none.
  flag_t  load_waits, weights_waits, mxu_waits, vector_waits, store_waits;
  // Index of the head; all ones: none.
  index_t load_next, weights_next, mxu_next, vector_next, store_next;

  // The test bench sets it when it opens a waveform.
  logic recording  /* verilator public_flat_rw */ = 1'b0;

  tag_t                   tag_q [Queues][32];
  index_t [Queues-1:0] runs, next;
  tag_t   [Queues-1:0] layer;
  flag_t  [Queues-1:0] waits;
  always_comb begin
    logic [NumFlags-1:0] missing;
    {runs, layer, next, waits, missing} = '0;
    if (recording) for (int unsigned q = 0; q < Queues; q++) begin
      runs[q]  = busy_i[q] ? oldest_i[q] : '1;
      layer[q] = busy_i[q] ? tag_q[q][out_ptr_i[q]] : '1;
      next[q]  = head_i[q] ? head_index_i[q] : '1;
      waits[q] = flag_t'(NumFlags);
      missing  = want_i[q] ? wait_i[q] & ~set_i : '0;
      if (missing != '0) begin
        for (int unsigned f = NumFlags; f > 0; f--) if (missing[f-1]) waits[q] = flag_t'(f - 1);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned q = 0; q < Queues; q++) if (head_i[q]) tag_q[q][in_ptr_i[q]] <= head_tag_i[q];
  end
  assign {store_runs, vector_runs, mxu_runs, weights_runs, load_runs}      = runs;
  assign {store_layer, vector_layer, mxu_layer, weights_layer, load_layer} = layer;
  assign {store_next, vector_next, mxu_next, weights_next, load_next}      = next;
  assign {store_waits, vector_waits, mxu_waits, weights_waits, load_waits} = waits;

  typedef enum logic [2:0] {
    NothingToDo = 3'd0, Vectors = 3'd1, NoWeights = 3'd2, TileInUse = 3'd3, SumOnItsWay = 3'd4, NoWindow = 3'd5, Prepares = 3'd6
  } array_e;
  array_e array;
  always_comb begin
    if (!recording) array = NothingToDo;
    else if (enter_i) array = Vectors;
    else if (stall_weights_i) array = NoWeights;
    else if (stall_swap_i) array = TileInUse;
    else if (stall_acc_i) array = SumOnItsWay;
    else if (stall_ub_i) array = NoWindow;
    else if (next_i) array = Prepares;
    else array = NothingToDo;
  end

  // In the last Window cycles: vectors into the array, beats from and to the memory.
  count_t            array_fill_q, read_beats_q, write_beats_q;
  logic [Window-1:0] entered_q, read_q, written_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {array_fill_q, read_beats_q, write_beats_q} <= '0;
      {entered_q, read_q, written_q}              <= '0;
    end else if (recording) begin
      entered_q     <= {entered_q[Window-2:0], enter_i};
      read_q        <= {read_q[Window-2:0], rd_beat_i};
      written_q     <= {written_q[Window-2:0], wr_beat_i};
      array_fill_q  <= array_fill_q + count_t'(enter_i) - count_t'(entered_q[Window-1]);
      read_beats_q  <= read_beats_q + count_t'(rd_beat_i) - count_t'(read_q[Window-1]);
      write_beats_q <= write_beats_q + count_t'(wr_beat_i) - count_t'(written_q[Window-1]);
    end
  end

  logic   running;
  fault_e fault;
  assign running = running_i;
  assign fault   = fault_i ? fault_code_i : FaultNone;
endmodule

bind systole_node systole_waves u_waves (
    .clk_i, .rst_ni, .running_i(csr_running), .fault_i(u_core.u_control.fault), .fault_code_i(u_core.u_control.fault_code),
    .head_i({u_core.u_control.gen_queue[4].u_queue.head_valid_q,
        u_core.u_control.gen_queue[3].u_queue.head_valid_q,
        u_core.u_control.gen_queue[2].u_queue.head_valid_q,
        u_core.u_control.gen_queue[1].u_queue.head_valid_q,
        u_core.u_control.gen_queue[0].u_queue.head_valid_q}),
    .head_index_i({u_core.u_control.gen_queue[4].u_queue.head_index_q,
        u_core.u_control.gen_queue[3].u_queue.head_index_q,
        u_core.u_control.gen_queue[2].u_queue.head_index_q,
        u_core.u_control.gen_queue[1].u_queue.head_index_q,
        u_core.u_control.gen_queue[0].u_queue.head_index_q}),
    .head_tag_i({u_core.u_control.gen_queue[4].u_queue.header.tag,
        u_core.u_control.gen_queue[3].u_queue.header.tag,
        u_core.u_control.gen_queue[2].u_queue.header.tag,
        u_core.u_control.gen_queue[1].u_queue.header.tag,
        u_core.u_control.gen_queue[0].u_queue.header.tag}),
    .busy_i({u_core.u_control.gen_queue[4].u_queue.busy_o,
        u_core.u_control.gen_queue[3].u_queue.busy_o,
        u_core.u_control.gen_queue[2].u_queue.busy_o,
        u_core.u_control.gen_queue[1].u_queue.busy_o,
        u_core.u_control.gen_queue[0].u_queue.busy_o}),
    .oldest_i({u_core.u_control.gen_queue[4].u_queue.retire_index,
        u_core.u_control.gen_queue[3].u_queue.retire_index,
        u_core.u_control.gen_queue[2].u_queue.retire_index,
        u_core.u_control.gen_queue[1].u_queue.retire_index,
        u_core.u_control.gen_queue[0].u_queue.retire_index}),
    .in_ptr_i({5'(u_core.u_control.gen_queue[4].u_queue.in_ptr_q),
        5'(u_core.u_control.gen_queue[3].u_queue.in_ptr_q),
        5'(u_core.u_control.gen_queue[2].u_queue.in_ptr_q),
        5'(u_core.u_control.gen_queue[1].u_queue.in_ptr_q),
        5'(u_core.u_control.gen_queue[0].u_queue.in_ptr_q)}),
    .out_ptr_i({5'(u_core.u_control.gen_queue[4].u_queue.out_ptr_q),
        5'(u_core.u_control.gen_queue[3].u_queue.out_ptr_q),
        5'(u_core.u_control.gen_queue[2].u_queue.out_ptr_q),
        5'(u_core.u_control.gen_queue[1].u_queue.out_ptr_q),
        5'(u_core.u_control.gen_queue[0].u_queue.out_ptr_q)}),
    .want_i(u_core.u_control.flag_want[4:0]), .wait_i(u_core.u_control.flag_wait[4:0]), .set_i(u_core.u_control.u_sync.set[31:0]),
    .enter_i(u_core.u_mxu.enter), .stall_weights_i(u_core.mxu_stall_weights), .stall_swap_i(u_core.mxu_stall_swap),
    .stall_acc_i(u_core.mxu_stall_acc), .stall_ub_i(u_core.mxu_stall_ub), .next_i(u_core.u_mxu.next_valid),
    .rd_beat_i(mem_status.perf.rd_beat), .wr_beat_i(mem_status.perf.wr_beat)
);
