// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cross unit: functions, random bits, moves between rows and lanes, transposer. Throughput: a step of Sublanes rows per
// cycle; of rotrow and the transposer one row, whose operand comes in all sublanes. Latency:
// moves are written two cycles after start_i, other operations later by their own latency. go_o is low when two rows
// would be written in the same cycle.
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_cross
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
  import systole_sfu_pkg::*;
#(
    parameter int unsigned Cols = 8,
    parameter int unsigned Sublanes = 1,
    parameter bit          Fast = FastView,
    localparam int unsigned Width = Cols * 32,
    localparam int unsigned Wide = Sublanes * Width
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    output logic             go_o,
    input  logic             start_i,
    // verilator lint_off UNUSEDSIGNAL
    input  uop_t             uop_i,
    // verilator lint_on UNUSEDSIGNAL
    input  row_t             row_i,
    input  place_t           place_i,
    input  logic [Wide-1:0]  operand_i,      // two cycles after start_i
    output write_t           soon_o,         // value of write_o in the next cycle
    output write_t           write_o,
    output logic [Wide-1:0]  wdata_o
);
  localparam int unsigned LaneBits = $clog2(Cols);
  localparam int unsigned Lanes = Sublanes * Cols;
  localparam int unsigned RandomLatency = 6;   // from the cycle after start_i
  localparam int unsigned ColumnLatency = 3;   // from the cycle in which an operand would arrive
  localparam int unsigned Group = 8;  // lanes per inner loop: short loops are unrolled, so their selects are constant

  // Source of a row or step, and the slot that it takes one cycle after its start.
  typedef enum logic [1:0] {Move, Column, Random, Function} from_e;
  localparam int unsigned MoveSlot = 1;
  localparam int unsigned ColumnSlot = 1 + ColumnLatency;
  localparam int unsigned RandomSlot = RandomLatency;
  localparam int unsigned FunctionSlot = 1 + SfuLatency;

  typedef struct packed {
    write_t write;
    from_e  from;
  } slot_t;

  // slot_q[k]: the row written in k cycles.
  slot_t       slot_q [FunctionSlot+1], slot_d [FunctionSlot+1], slot;
  from_e       from;
  logic        asked_q, step_valid_q;  // the row's operand arrives in the next cycle; in this cycle
  vpu_op_e     asked_op_q, op_q;
  logic [31:0] asked_base_q, base_q, key_q;
  logic [LaneBits-1:0] asked_lane_q, lane_q;
  logic        function_valid, random_valid;
  logic [31:0] function_y [Lanes], random_y [Lanes], column_y [Cols], operand [Lanes], first [Cols];

  always_comb begin
    if (class_of(uop_i.op) == ClassFunction) from = Function;
    else if (uop_i.op == VopRnd) from = Random;
    else if (uop_i.op == VopTpop) from = Column;
    else from = Move;
  end

  always_comb begin
    unique case (from)
      Column: go_o = !slot_q[ColumnSlot+1].write.valid;
      Random: go_o = !slot_q[RandomSlot+1].write.valid;
      Move: go_o = !slot_q[MoveSlot+1].write.valid;
      default: go_o = 1'b1;
    endcase
  end

  always_comb begin
    slot.from         = from;
    slot.write.valid  = start_i && uop_i.op != VopTpush;
    slot.write.number = uop_i.d[2:0];
    slot.write.place  = place_i;
    for (int unsigned k = 0; k < FunctionSlot; k++) slot_d[k] = slot_q[k+1];
    slot_d[FunctionSlot]             = slot;
    slot_d[FunctionSlot].write.valid = slot.write.valid && from == Function;
    if (slot.write.valid && from == Random) slot_d[RandomSlot] = slot;
    if (slot.write.valid && from == Column) slot_d[ColumnSlot] = slot;
    if (slot.write.valid && from == Move) slot_d[MoveSlot] = slot;
  end

  assign soon_o  = slot_q[1].write;
  assign write_o = slot_q[0].write;

  always_ff @(posedge clk_i) begin
    slot_q       <= slot_d;
    asked_q      <= rst_ni && start_i;
    step_valid_q <= rst_ni && asked_q;
    if (!rst_ni) begin
      for (int unsigned k = 0; k <= FunctionSlot; k++) slot_q[k].write.valid <= 1'b0;
    end
    if (start_i) begin
      asked_op_q   <= uop_i.op;
      asked_base_q <= uop_i.op == VopRnd ? uop_i.scalar[1] + 32'(row_i) * Cols : uop_i.scalar[0];
      key_q        <= uop_i.scalar[0];
      asked_lane_q <= uop_i.scalar[1][LaneBits-1:0] + (uop_i.op == VopTpush || uop_i.op == VopTpop ? LaneBits'(row_i) : '0);
    end
    if (asked_q) begin
      op_q   <= asked_op_q;
      base_q <= asked_base_q;
      lane_q <= asked_lane_q;
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign operand[l] = operand_i[l*32+:32];
    if (l < Cols) begin : gen_first
      assign first[l] = operand_i[l*32+:32];
    end
  end

  systole_vpu_sfu #(.Lanes(Lanes), .Fast(Fast)) u_function (
      .clk_i,
      .rst_ni,
      .valid_i(step_valid_q && class_of(op_q) == ClassFunction),
      .op_i   (sfu_op_e'(op_q[2:0])),
      .a_i    (operand),
      .valid_o(function_valid),
      .y_o    (function_y)
  );

  systole_vpu_random #(.Lanes(Lanes), .Fast(Fast)) u_random (
      .clk_i,
      .rst_ni,
      .valid_i(asked_q && asked_op_q == VopRnd),
      .base_i (asked_base_q),
      .key_i  (key_q),
      .valid_o(random_valid),
      .y_o    (random_y)
  );

  // The transposer takes rows and returns columns, in as many lanes as there are rows.
  logic              push, pop;
  logic [LaneBits:0] rows_q [ColumnLatency];
  assign push = step_valid_q && op_q == VopTpush;
  assign pop  = step_valid_q && op_q == VopTpop;
  always_ff @(posedge clk_i) begin
    rows_q[0] <= base_q[LaneBits:0];
    for (int unsigned k = 1; k < ColumnLatency; k++) rows_q[k] <= rows_q[k-1];
  end

  if (Fast) begin : gen_fast
    logic [31:0]         element_q [Cols][Cols], column_q [Cols];
    logic                pop1_q, pop2_q;
    logic [LaneBits-1:0] lane1_q;
    always_ff @(posedge clk_i) begin
      pop1_q <= pop;
      pop2_q <= pop1_q;
      if (pop) lane1_q <= lane_q;
      if (push) element_q[lane_q] <= first;
    end
    always_ff @(posedge clk_i) begin : read
      logic [31:0] y [Cols];
      if (pop2_q) column_y <= column_q;
      if (pop1_q) begin
        for (int unsigned c = 0; c < Cols; c++) y[c] = element_q[c][lane1_q];
        column_q <= y;
      end
    end
  end else begin : gen_ram
    systole_transpose_ram #(.N(Cols), .Width(32), .Matrices(1)) u_transposer (
        .clk_i,
        .we_i     (push),
        .wmatrix_i('0),
        .wrow_i   (lane_q),
        .wdata_i  (first),
        .re_i     (pop),
        .rmatrix_i('0),
        .rcolumn_i(lane_q),
        .rdata_o  (column_y)
    );
  end

  // The rows to write.
  always_comb begin : result
    logic [31:0]      y [Lanes];
    logic [Wide-1:0]  row;
    row = operand_i;
    y   = function_y;
    if (slot_q[0].write.valid) begin
      if (slot_q[0].from == Random) y = random_y;
      if (slot_q[0].from == Column) begin
        for (int unsigned l = 0; l < Lanes; l++) y[l] = l % Cols < 32'(rows_q[ColumnLatency-1]) ? column_y[l%Cols] : '0;
      end
      if (slot_q[0].from == Move) for (int unsigned l = 0; l < Lanes; l++) y[l] = base_q + l % Cols;
      if (slot_q[0].from != Move || op_q == VopIota) begin
        for (int unsigned g = 0; g < Lanes / Group; g++) begin
          for (int unsigned i = 0; i < Group; i++) row[(g*Group+i)*32+:32] = y[g*Group+i];
        end
      end else if (op_q == VopRotl) begin
        for (int unsigned s = 0; s < Sublanes; s++) begin
          row[s*Width+:Width] = Width'({2{operand_i[s*Width+:Width]}} >> {lane_q, 5'd0});
        end
      end else if (op_q == VopBcl) begin
        for (int unsigned s = 0; s < Sublanes; s++) begin
          row[s*Width+:Width] = {Cols{operand_i[s*Width+32'({lane_q, 5'd0})+:32]}};
        end
      end
    end
    wdata_o = row;
  end

  // Checks: results arrive exactly in their slots; none takes another's slot; only operations of this unit are
  // started.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_function : assert (function_valid == (slot_q[0].write.valid && slot_q[0].from == Function));
      a_random : assert (random_valid == (slot_q[0].write.valid && slot_q[0].from == Random));
      a_slot : assert (!start_i || go_o);
      a_class : assert (!start_i || class_of(uop_i.op) inside {ClassFunction, ClassCross});
    end
  end
endmodule
