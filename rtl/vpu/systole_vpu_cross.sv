// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cross unit: functions, random bits, moves between rows and lanes, transposer; a row a cycle. Moves are written two cycles after
// start_i, random bits and functions as many cycles later as they take; go_o is low when a row would be written together with another.
// Docs: docs/vpu.md, docs/numerics.md. Test: tests/rtl/vpu.

module systole_vpu_cross
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
  import systole_sfu_pkg::*;
#(
    parameter int unsigned Cols = 8,
    localparam int unsigned Width = Cols * 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    output logic             go_o,
    input  logic             start_i,
    // verilator lint_off UNUSEDSIGNAL
    input  uop_t             uop_i,
    // verilator lint_on UNUSEDSIGNAL
    input  row_t             row_i,
    input  logic [Width-1:0] operand_i,      // a cycle after start_i
    output write_t           write_o,
    output logic [Width-1:0] wdata_o
);
  localparam int unsigned LaneBits = $clog2(Cols);
  localparam int unsigned RandomLatency = 5;
  localparam int unsigned Slots = SfuLatency + 1;
  localparam int unsigned Group = 8;  // lanes that an inner loop takes: loops this short are unrolled, so that their selects are constant

  typedef enum logic [1:0] {Move, Random, Function} from_e;

  typedef struct packed {
    write_t write;
    from_e  from;
  } slot_t;

  // slot_q[k]: what wdata_o takes in k cycles.
  slot_t       slot_q [Slots], slot_d [Slots], slot;
  from_e       from;
  logic        step_valid_q, push_q;
  vpu_op_e     op_q;
  logic [31:0] base_q, key_q;
  logic [LaneBits-1:0] lane_q;
  logic        function_valid, random_valid;
  logic [31:0] function_y [Cols], random_y [Cols], operand [Cols];

  assign from = class_of(uop_i.op) == ClassFunction ? Function : uop_i.op == VopRnd ? Random : Move;

  always_comb begin
    unique case (from)
      Random: go_o = !slot_q[RandomLatency+1].write.valid;
      Move: go_o = !slot_q[1].write.valid;
      default: go_o = 1'b1;
    endcase
  end

  always_comb begin
    slot.from         = from;
    slot.write.valid  = 1'b1;
    slot.write.number = uop_i.d[2:0];
    slot.write.row    = row_i;
    for (int unsigned k = 0; k < Slots - 1; k++) slot_d[k] = slot_q[k+1];
    slot_d[Slots-1]             = slot;
    slot_d[Slots-1].write.valid = start_i && from == Function;
    if (start_i && from == Random) slot_d[RandomLatency] = slot;
    if (start_i && from == Move && uop_i.op != VopTpush) slot_d[0] = slot;
  end

  always_ff @(posedge clk_i) begin
    slot_q        <= slot_d;
    write_o       <= slot_q[0].write;
    step_valid_q  <= rst_ni && start_i;
    if (!rst_ni) begin
      for (int unsigned k = 0; k < Slots; k++) slot_q[k].write.valid <= 1'b0;
      write_o.valid <= 1'b0;
    end
    if (start_i) begin
      op_q   <= uop_i.op;
      push_q <= uop_i.op == VopTpush;
      base_q <= uop_i.op == VopRnd ? uop_i.scalar[1] + 32'(row_i) * Cols : uop_i.scalar[0];
      key_q  <= uop_i.scalar[0];
      lane_q <= uop_i.scalar[1][LaneBits-1:0] + (uop_i.op == VopTpush || uop_i.op == VopTpop ? LaneBits'(row_i) : '0);
    end
  end

  for (genvar c = 0; c < Cols; c++) begin : gen_lane
    assign operand[c] = operand_i[c*32+:32];
  end

  systole_vpu_sfu #(.Lanes(Cols)) u_function (
      .clk_i,
      .rst_ni,
      .valid_i(step_valid_q && class_of(op_q) == ClassFunction),
      .op_i   (sfu_op_e'(op_q[2:0])),
      .a_i    (operand),
      .valid_o(function_valid),
      .y_o    (function_y)
  );

  systole_vpu_random #(.Lanes(Cols)) u_random (
      .clk_i,
      .rst_ni,
      .valid_i(step_valid_q && op_q == VopRnd),
      .base_i (base_q),
      .key_i  (key_q),
      .valid_o(random_valid),
      .y_o    (random_y)
  );

  // The transposer takes rows and gives columns.
  logic [31:0] transposer_q [Cols][Cols];

  always_ff @(posedge clk_i) begin
    if (step_valid_q && push_q) transposer_q[lane_q] <= operand;
  end

  always_ff @(posedge clk_i) begin : result
    logic [31:0]      y [Cols];
    logic [Width-1:0] row;
    if (slot_q[0].write.valid) begin
      row = operand_i;
      y   = function_y;
      if (slot_q[0].from == Random) y = random_y;
      if (slot_q[0].from == Move && op_q == VopIota) for (int unsigned c = 0; c < Cols; c++) y[c] = base_q + c;
      if (slot_q[0].from == Move && op_q == VopTpop) for (int unsigned c = 0; c < Cols; c++) y[c] = transposer_q[c][lane_q];
      if (slot_q[0].from != Move || op_q inside {VopIota, VopTpop}) begin
        for (int unsigned g = 0; g < Cols / Group; g++) begin
          for (int unsigned i = 0; i < Group; i++) row[(g*Group+i)*32+:32] = y[g*Group+i];
        end
      end else if (op_q == VopRotl) begin
        row = Width'({operand_i, operand_i} >> {lane_q, 5'd0});
      end else if (op_q == VopBcl) begin
        row = {Cols{operand_i[{lane_q, 5'd0}+:32]}};
      end
      wdata_o <= row;
    end
  end

  // What the slots expect stands there, and only then; no row takes another's slot; only operations of this unit come.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_function : assert (function_valid == (slot_q[0].write.valid && slot_q[0].from == Function));
      a_random : assert (random_valid == (slot_q[0].write.valid && slot_q[0].from == Random));
      a_slot : assert (!start_i || go_o);
      a_class : assert (!start_i || class_of(uop_i.op) inside {ClassFunction, ClassCross});
    end
  end
endmodule
