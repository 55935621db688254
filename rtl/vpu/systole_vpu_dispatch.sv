// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Hands instructions to the units, in order, one a cycle: waits until older ones neither read nor write the destination, and for
// room in the unit. Keeps which rows of the registers are there. A halt goes to the store unit, behind the stores. Every fault of a
// program is found here, so the first one in program order is reported, after all before it is complete. Docs: docs/vpu.md. Test: tests/rtl/vpu.

module systole_vpu_dispatch
  import systole_isa_pkg::*;
  import systole_vpu_pkg::*;
  import systole_vpu_types_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetMini)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        start_i,             // of a program
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
    input  regs_t       reads_i [Units],
    input  held_t       held_i [Units],
    input  logic [1:0]  loaded_i,            // a load unit has asked for the last row of a load
    input  logic        stored_i,            // no store is on its way
    input  write_t      write_i [NumBanks],
    output logic [63:0] present_o [8],

    output logic        issued_o,            // pulse: the program is issued to its end
    input  logic        halted_i,            // pulse: the oldest program is complete
    output logic        fault_o,             // held: a fault, and all before it is complete
    output fault_e      fault_code_o,
    output logic [31:0] fault_addr_o
);
  localparam int unsigned Cols = Cfg.Cols;
  localparam int unsigned ColBits = $clog2(Cols) + 1;

  typedef enum logic [1:0] {
    Run,
    Search,  // for the first row that is out of range
    Part,    // a store's rows before it are still to be dispatched
    Drain    // the fault waits for what is older
  } state_e;

  state_e      state_q;
  logic [31:0] address_q;           // of row rows_q
  logic [2:0]  rows_q;
  logic [63:0] present_q [NumBanks];
  logic [ColBits-1:0] pushed_q, popped_q;  // rows in the transposer, columns taken
  held_t       ends_q;              // programs issued to their end that are not complete

  vpu_class_e  cls;
  logic        is_load, is_store, is_fence, is_halt, is_tpush, is_tpop, has_d;
  logic [31:0] address, stride, last;
  logic        in_range, steady, out_of_range, transposer_bad, wrong;
  logic [2:0]  unit;
  regs_t       reads, d_set;
  logic        all_present, idle, d_free, waits, go;
  logic [7:0]  taken;  // rows that the instruction will write

  assign cls      = class_of(uop_i.op);
  assign is_load  = cls == ClassLoad;
  assign is_store = cls == ClassStore;
  assign is_fence = uop_i.op == VopFence;
  assign is_halt  = uop_i.op == VopHalt;
  assign is_tpush = uop_i.op == VopTpush;
  assign is_tpop  = uop_i.op == VopTpop;
  assign has_d    = !is_store && !is_fence && !is_halt && !is_tpush;

  // Rows of a load or store lie in a line: when its ends are in range, and no step can leap over what is outside, all are.
  assign address      = uop_i.scalar[0];
  assign stride       = uop_i.scalar[1];
  assign last         = address + span_i;
  assign steady       = stride[31:25] == '0 || stride[31:25] == '1;
  assign in_range     = address <= limit_i && (uop_i.rows == 4'd1 || (steady && last <= limit_i));
  assign out_of_range = (is_load || is_store) && !in_range;

  assign transposer_bad = (is_tpush && 32'(pushed_q) + 32'(uop_i.rows) > Cols) ||
                          (is_tpop && (32'(pushed_q) != Cols || 32'(popped_q) + 32'(uop_i.rows) > Cols));
  assign wrong          = bad_i || transposer_bad;

  // Hazards.
  always_comb begin
    unit  = is_store || is_halt ? 3'(UnitStore) : is_tpush ? BankX : uop_i.d[5:3];
    reads = '0;
    for (int unsigned u = 0; u < Units; u++) reads |= reads_i[u];
    d_set       = regs_t'(1) << uop_i.d;
    all_present = 1'b1;
    d_free      = 1'b1;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (present_q[b] != '1) all_present = 1'b0;
      if (uop_i.d[5:3] == 3'(b) && present_q[b][{uop_i.d[2:0], 3'b000}+:8] != '1) d_free = 1'b0;
    end
    if ((reads & d_set) != '0) d_free = 1'b0;
    idle = all_present && stored_i;
    for (int unsigned u = 0; u < Units; u++) begin
      if (held_i[u] != '0) idle = 1'b0;
    end
  end

  // Loads do not overtake the stores of older programs, nor more programs end at a time than can be counted.
  assign waits = (is_load && uop_i.op != VopLdacc && ends_q != '0) || (is_halt && ends_q == '1);

  // What the instruction here does.
  always_comb begin
    go = 1'b0;
    for (int unsigned u = 0; u < Units; u++) push_o[u] = 1'b0;
    uop_o = uop_i;
    if (is_halt) uop_o.rows = 4'd1;
    if (is_store || is_halt) begin
      for (int unsigned u = 0; u < 2; u++) uop_o.older[u] = held_i[u] - HeldBits'(loaded_i[u]);
    end
    if (is_tpush) uop_o.scalar[1] = 32'(pushed_q);
    if (is_tpop) uop_o.scalar[1] = 32'(popped_q);
    if (state_q == Part) uop_o.rows = 4'(rows_q);
    if (valid_i && ((state_q == Run && !wrong && !out_of_range) || state_q == Part) && !freeze_i) begin
      if (is_fence) begin
        go = stored_i && held_i[UnitStore] == '0;
      end else begin
        go = (!has_d || d_free) && !waits;
        for (int unsigned u = 0; u < Units; u++) begin
          if (unit == 3'(u)) begin
            if (!room_i[u]) go = 1'b0;
            push_o[u] = go;
          end
        end
      end
    end
  end

  assign ready_o  = go && state_q == Run;
  assign issued_o = ready_o && is_halt;

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
        Run: if (valid_i && wrong) state_q <= Drain;
        else if (valid_i && out_of_range) state_q <= Search;
        Search: if (address_q > limit_i) state_q <= is_store && rows_q != '0 ? Part : Drain;
        Part: if (go) state_q <= Drain;
        default: if (idle) fault_o <= 1'b1;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Run) begin
      address_q    <= address;
      rows_q       <= '0;
      fault_code_o <= wrong ? FaultVectorProgram : uop_i.op == VopLdacc ? FaultAccRange : FaultUbRange;
      fault_addr_o <= 32'(pc_i);
    end
    if (state_q == Search) begin
      address_q    <= address_q + stride;
      fault_addr_o <= address_q;
      if (address_q <= limit_i) rows_q <= rows_q + 1'b1;
    end
  end

  assign taken = 8'hFF >> (4'd8 - uop_i.rows);

  // Rows go when an instruction that writes them is dispatched, and come when they are written.
  always_ff @(posedge clk_i) begin
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (!rst_ni) begin
        present_q[b] <= '1;
      end else if (write_i[b].valid || (go && has_d)) begin
        present_q[b] <= (present_q[b] | (64'(write_i[b].valid) << {write_i[b].number, write_i[b].row})) &
                        ~(go && has_d && unit == 3'(b) ? {56'd0, taken} << {uop_i.d[2:0], 3'b000} : 64'd0);
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
    if (!rst_ni || start_i) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else if (go && is_tpush) begin
      pushed_q <= pushed_q + ColBits'(uop_i.rows);
    end else if (go && is_tpop) begin
      popped_q <= popped_q + ColBits'(uop_i.rows);
      if (32'(popped_q) + 32'(uop_i.rows) == Cols) begin
        pushed_q <= '0;
        popped_q <= '0;
      end
    end
  end

  // A row is written once, by the instruction that took it; the search finds a row.
  for (genvar b = 0; b < NumBanks; b++) begin : gen_check
    always_ff @(posedge clk_i) begin
      if (rst_ni && write_i[b].valid) a_write : assert (!present_q[b][{write_i[b].number, write_i[b].row}]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_search : assert (state_q != Search || 4'(rows_q) < uop_i.rows || address_q > limit_i);
      a_start : assert (!start_i || !valid_i);
    end
  end
endmodule
