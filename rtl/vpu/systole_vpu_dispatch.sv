// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Dispatches instructions to the units in order, up to one per cycle. An instruction waits until older ones neither
// read nor write its destination and the unit has room. It stays here for at least one cycle, in which its hazards are
// resolved. This module also tracks which register steps are present and detects all faults of a program, so the first
// fault in program order is reported after everything before it is complete. A halt goes to the store unit, behind the
// stores.
// Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_dispatch
  import systole_isa_pkg::*;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetMini)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,             // start of a program
    input  logic        freeze_i,

    input  logic        valid_i,
    output logic        ready_o,
    input  logic        bad_i,
    input  logic [10:0] pc_i,
    input  uop_t        uop_i,
    input  logic [31:0] span_i,
    input  logic [31:0] limit_i,

    // Units.
    output logic        push_o [Units],
    input  logic        room_i [Units],
    output uop_t        uop_o,
    output logic [5:0]  number_o [2],        // registers to look up: does a unit hold an instruction that reads them?
    input  logic [1:0]  reads_i [Units],
    input  held_t       held_i [Units],
    input  logic [1:0]  loaded_i,            // per load unit: the last row of a load was requested
    input  logic        stored_i,            // no store is in flight
    input  write_t      soon_i [NumBanks],   // rows written in the next cycle
    output logic [63:0] present_o [8],

    output logic        issued_o,            // pulse: all instructions of the program are issued
    input  logic        halted_i,            // pulse: the oldest program is complete
    output logic        fault_o,             // level: a fault, and everything before it is complete
    output fault_e      fault_code_o,
    output logic [31:0] fault_addr_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ColBits = $clog2(Cols) + 1;
  localparam int unsigned SublaneBits = $clog2(Cfg.Sublanes);

  typedef enum logic [1:0] {
    Run,
    Search,  // for the first row that is out of range
    Part,    // the rows of a store before the faulting row are still to be dispatched
    Drain    // the fault waits for older instructions
  } state_e;

  state_e      state_q;
  logic [31:0] address_q;           // address of row rows_q
  row_t        rows_q;
  logic [63:0] present_q [NumBanks];
  logic [ColBits-1:0] pushed_q, popped_q;  // rows pushed into the transposer; columns popped
  logic [ColBits-1:0] fit_q, left_q;       // rows that still fit; columns left
  held_t       ends_q;              // programs that are issued and not complete

  // The instruction held here.
  logic        valid_q, bad_q, in_range_q, clear_q;
  logic        is_load, is_store, is_fence, is_halt, is_tpush, is_tpop, has_d, of_ub;  // its kind
  logic [Units-1:0] unit;                                                              // its unit, one-hot
  logic [10:0] pc_q;
  uop_t        uop_q;
  logic [31:0] limit_q;

  logic [31:0] address, last;
  logic [6:0]  stride_top;
  logic        take, in_range, steady, out_of_range, transposer_bad_q, wrong;
  logic        all_present, idle, waits, go;
  logic [7:0]  taken;  // steps in which the instruction will write
  row_t        most;   // the last of its rows

  function automatic logic writes(vpu_op_e op);
    return class_of(op) != ClassStore && !(op inside {VopFence, VopHalt, VopTpush, VopLds});
  endfunction

  // The rows of a load or store are equally spaced. If both ends are in range and no step can jump across the outside,
  // all rows are in range.
  assign address  = uop_i.scalar[0];
  assign stride_top = uop_i.scalar[1][31:25];
  assign last     = address + span_i;
  assign steady   = stride_top == '0 || stride_top == '1;
  assign in_range = address <= limit_i && (uop_i.rows == count_t'(1) || (steady && last <= limit_i));

  // Hazards of the incoming instruction (0) and of the one held here (1): the destination is free if no older
  // instruction writes or reads it. The instruction held here is older than the incoming one.
  logic [1:0] free;
  logic       behind;

  assign number_o = '{uop_i.d, uop_q.d};

  always_comb begin
    behind = has_d && uop_q.d == uop_i.d;
    for (int unsigned s = 0; s < 3; s++) begin
      if (uop_q.source[s].used && uop_q.source[s].from_reg && uop_q.source[s].number == uop_i.d) behind = 1'b1;
    end
    for (int unsigned k = 0; k < 2; k++) begin
      free[k] = present_o[number_o[k][5:3]][{number_o[k][2:0], 3'b000}+:8] == '1;
      for (int unsigned u = 0; u < Units; u++) begin
        if (reads_i[u][k]) free[k] = 1'b0;
      end
    end
  end

  always_comb begin
    all_present = 1'b1;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (present_q[b] != '1) all_present = 1'b0;
    end
    idle = all_present && stored_i;
    for (int unsigned u = 0; u < Units; u++) begin
      if (held_i[u] != '0) idle = 1'b0;
    end
  end

  assign take = !valid_q || (go && state_q == Run);

  always_ff @(posedge clk_i) begin
    if (take) begin
      uop_q      <= uop_i;
      is_load    <= class_of(uop_i.op) == ClassLoad;
      is_store   <= class_of(uop_i.op) == ClassStore;
      is_fence   <= uop_i.op == VopFence;
      is_halt    <= uop_i.op == VopHalt;
      is_tpush   <= uop_i.op == VopTpush;
      is_tpop    <= uop_i.op == VopTpop;
      has_d      <= writes(uop_i.op);
      of_ub      <= class_of(uop_i.op) == ClassLoad && uop_i.op != VopLdacc;
      for (int unsigned u = 0; u < Units; u++) begin
        unit[u] <= (class_of(uop_i.op) == ClassStore || uop_i.op == VopHalt) ? u == UnitStore :
                   uop_i.op == VopTpush ? u == 32'(BankX) : uop_i.d[5:3] == 3'(u) && u != UnitStore;
      end
      bad_q      <= bad_i;
      pc_q       <= pc_i;
      limit_q    <= limit_i;
      in_range_q <= in_range;
    end
    clear_q <= take ? !(uop_i.op inside {VopTpush, VopTpop}) && (!writes(uop_i.op) || (free[0] && !(valid_q && behind))) :
               !has_d || free[1];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || issued_o) valid_q <= 1'b0;
    else if (take) valid_q <= valid_i;
  end

  assign out_of_range = (is_load || is_store) && !in_range_q;
  // The transposer check takes one cycle, in which its instruction stays here.
  always_ff @(posedge clk_i) begin
    transposer_bad_q <= !take && ((is_tpush && popped_q == '0 && 32'(uop_q.rows) > 32'(fit_q)) ||
                                  (is_tpop && (pushed_q == '0 || 32'(uop_q.rows) > 32'(left_q))));
  end
  assign wrong = bad_q || transposer_bad_q;

  // A load from the unified buffer does not overtake stores of older programs. The number of ending programs is limited
  // by ends_q.
  assign waits = (of_ub && ends_q != '0) || (is_halt && ends_q == '1);

  logic [Units-1:0] rooms;
  for (genvar u = 0; u < Units; u++) begin : gen_room
    assign rooms[u] = room_i[u];
  end

  // Actions of the instruction held here.
  always_comb begin
    go = 1'b0;
    for (int unsigned u = 0; u < Units; u++) push_o[u] = 1'b0;
    uop_o = uop_q;
    if (is_halt) uop_o.rows = count_t'(1);
    if (is_store || is_halt) begin
      for (int unsigned u = 0; u < 2; u++) uop_o.older[u] = held_i[u] - HeldBits'(loaded_i[u]);
    end
    if (is_tpush) uop_o.scalar[1] = popped_q == '0 ? 32'(pushed_q) : 32'd0;
    if (is_tpop) begin
      uop_o.scalar[0] = 32'(pushed_q);
      uop_o.scalar[1] = 32'(popped_q);
    end
    if (state_q == Part) uop_o.rows = count_t'(rows_q);
    if (valid_q && ((state_q == Run && !wrong && !out_of_range) || state_q == Part) && !freeze_i) begin
      if (is_fence) begin
        go = stored_i && held_i[UnitStore] == '0;
      end else begin
        go = clear_q && !waits && (unit & ~rooms) == '0;
        for (int unsigned u = 0; u < Units; u++) push_o[u] = go && unit[u];
      end
    end
  end

  assign ready_o  = take;
  assign issued_o = valid_q && is_halt && state_q == Run && !bad_q && !freeze_i && room_i[UnitStore] && !waits;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ends_q <= '0;
    else if (issued_o != halted_i) ends_q <= issued_o ? ends_q + 1'b1 : ends_q - 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Run;
      fault_o <= 1'b0;
    end else begin
      unique case (state_q)
        Run: if (valid_q && wrong) state_q <= Drain;
        else if (valid_q && out_of_range) state_q <= Search;
        Search: if (address_q > limit_q) state_q <= is_store && rows_q != '0 ? Part : Drain;
        Part: if (go) state_q <= Drain;
        default: if (idle) fault_o <= 1'b1;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Run) begin
      address_q    <= uop_q.scalar[0];
      rows_q       <= '0;
      fault_code_o <= wrong ? FaultVectorProgram : uop_q.op == VopLdacc ? FaultAccRange : FaultUbRange;
      fault_addr_o <= 32'(pc_q);
    end
    if (state_q == Search) begin
      address_q    <= address_q + uop_q.scalar[1];
      fault_addr_o <= address_q;
      if (address_q <= limit_q) rows_q <= rows_q + 1'b1;
    end
  end

  assign most  = row_t'(uop_q.rows - 1'b1);
  assign taken = 8'hFF >> (3'd7 - step_t'(most >> SublaneBits));

  // Steps become absent when an instruction that writes rows of them is dispatched, and present when these are written.
  always_ff @(posedge clk_i) begin
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (!rst_ni) begin
        present_q[b] <= '1;
      end else if (soon_i[b].valid || (go && has_d)) begin
        present_q[b] <= (present_q[b] | (64'(soon_i[b].valid && soon_i[b].place.whole) << {soon_i[b].number, soon_i[b].place.step})) &
                        ~(go && has_d && unit[b] ? {56'd0, taken} << {uop_q.d[2:0], 3'b000} : 64'd0);
      end
    end
  end

  for (genvar b = 0; b < 8; b++) begin : gen_present
    if (b < NumBanks) begin : gen_bank
      assign present_o[b] = present_q[b];
    end else begin : gen_none
      assign present_o[b] = '1;
    end
  end

  always_ff @(posedge clk_i) begin
    // The first push after a pop begins a matrix.
    if (go && is_tpush) begin
      pushed_q <= (popped_q == '0 ? pushed_q : '0) + ColBits'(uop_q.rows);
      fit_q    <= (popped_q == '0 ? fit_q : ColBits'(Cols)) - ColBits'(uop_q.rows);
      popped_q <= '0;
      left_q   <= ColBits'(Cols);
    end
    if (go && is_tpop) begin
      popped_q <= popped_q + ColBits'(uop_q.rows);
      left_q   <= left_q - ColBits'(uop_q.rows);
    end
    if (!rst_ni || start_i) begin
      pushed_q <= '0;
      popped_q <= '0;
      fit_q    <= ColBits'(Cols);
      left_q   <= ColBits'(Cols);
    end
  end

  // Checks: a step is written once, by the instruction that claimed it; the search finds a row; a program starts only
  // when none is here.
  for (genvar b = 0; b < NumBanks; b++) begin : gen_check
    always_ff @(posedge clk_i) begin
      if (rst_ni && soon_i[b].valid) a_write : assert (!present_q[b][{soon_i[b].number, soon_i[b].place.step}]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_search : assert (state_q != Search || count_t'(rows_q) < uop_q.rows || address_q > limit_q);
      a_start : assert (!start_i || !valid_q);
    end
  end
endmodule
