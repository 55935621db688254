// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types of the programmable vector unit: an instruction from decode through issue to a unit.
// Docs: docs/vpu.md.

package systole_vpu_types_pkg;
  import systole_vpu_pkg::*;

  // verilator lint_off UNUSEDPARAM
  // (no module uses all of them)
  localparam int unsigned Units = 6;        // two load units, two ALUs, cross unit, store unit; the first five each write a register bank
  localparam int unsigned UnitStore = 5;
  localparam int unsigned UnitDepth = 6;    // instructions that a unit holds, including the running one
  localparam int unsigned Ports = 8;        // operand registers: three for each ALU, one each for cross and store unit
  localparam int unsigned MaxSublanes = 4;  // rows of a register that ALUs and cross unit take in a cycle, a step
  localparam int unsigned MaxRows = MaxSublanes * VpuVectorSteps;
  localparam int unsigned BankSteps = VpuBankRegs * VpuVectorSteps;
  localparam int unsigned HeldBits = $clog2(UnitDepth + 1);
  // verilator lint_on UNUSEDPARAM

  typedef logic [HeldBits-1:0] held_t;      // number of instructions held by a unit
  typedef logic [$clog2(MaxRows)-1:0] row_t;  // row of a vector register
  typedef logic [$clog2(MaxRows+1)-1:0] count_t;  // number of rows
  typedef logic [$clog2(VpuVectorSteps)-1:0] step_t;  // row / Sublanes
  typedef logic [$clog2(MaxSublanes)-1:0] sublane_t;  // row % Sublanes

  // Source of an operand.
  typedef struct packed {
    logic       used;
    logic       from_reg;  // vector register; otherwise scalar
    logic       row0;    // every row uses row 0 of the register
    logic       own;     // the register is also the destination, so its rows need no check
    logic [5:0] number;
  } source_t;

  // What a unit executes, one row or step per cycle. Loads and stores: scalar[0] is the address of row 0, scalar[1] the
  // distance between rows, scalar[2] the bytes used (for accumulators: the lanes). Cross unit: scalar[1] is the lane
  // or, for the transposer, the index of row 0.
  typedef struct packed {
    vpu_op_e          op;
    logic [5:0]       d;
    count_t           rows;    // at least 1
    row_t             turn;    // row i reads row i + turn of source 0
    held_t [1:0]      older;   // store: older loads of each load unit that have rows left to request; the store unit's queue counts them down
    source_t [2:0]    source;
    logic [2:0][31:0] scalar;
  } uop_t;

  // A decoded instruction.
  typedef struct packed {
    logic             illegal;
    logic [10:0]      pc;
    vpu_instr_t       instr;
  } decoded_t;

  // What a port reads: a step of a register, one row of it in all sublanes, or a scalar in all lanes.
  typedef struct packed {
    logic        valid;
    logic        from_reg;
    logic        pick;     // the row of sublane `sublane` in all of them
    logic [5:0]  number;
    step_t       step;
    sublane_t    sublane;
    logic [31:0] scalar;
  } fetch_t;

  // Rows that a unit writes into a register of its bank: of a step, those of the sublanes in `mask`.
  typedef struct packed {
    step_t                  step;
    logic [MaxSublanes-1:0] mask;
    logic                   whole;  // all rows of the step that the instruction writes are there with these
  } place_t;

  typedef struct packed {
    logic       valid;
    logic [2:0] number;  // register within the bank
    place_t     place;
  } write_t;

  // Rows of a vector register.
  // verilator lint_off UNUSEDSIGNAL
  function automatic int unsigned vector_rows(systole_presets_pkg::core_cfg_t cfg);
    return cfg.Sublanes * VpuVectorSteps;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Class of an operation.
  // verilator lint_off UNUSEDSIGNAL
  function automatic vpu_class_e class_of(vpu_op_e op);
    return vpu_class_e'(op[7:4]);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Operations of the cross unit that take one row a cycle; the other ones take a step.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic by_row(vpu_op_e op);
    return op inside {VopRotrow, VopTpush, VopTpop};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // View of the lanes: the hardware, or a simulation view that computes the same and simulates faster.
  // verilator lint_off UNUSEDPARAM
`ifdef SYNTHESIS
  localparam bit FastView = 1'b0;
`else
  localparam bit FastView = 1'b1;
`endif  // SYNTHESIS
  // verilator lint_on UNUSEDPARAM

  // Control of an ALU lane for a row: the word that enters the window, and what is done with it.
  typedef enum logic [2:0] {
    WordAddend,
    WordArgument,   // argument of a conversion to int32
    WordSum,
    WordRounded,    // rounded to bf16
    WordCondition,
    WordPick,
    WordShift,
    WordLogical
  } alu_word_e;

  typedef struct packed {
    alu_word_e word;          // word that enters the window
    logic      fused;         // multiply-add
    logic      imul;
    logic      to_int;
    logic      from_int;
    logic      placed;        // the word is aligned by its exponent
    logic      float_out;
    logic      by_one;        // multiply-add with a * 1
    logic      flip_product;
    logic      flip_addend;
    logic      add_b;         // addend; with neither add_b nor add_c: -0
    logic      add_c;
    logic      minus;         // adder: a - b
    logic      to_bf16;
    logic      stochastic;
    logic      float_compare;
    logic      want_equal;
    logic      want_less;
    logic      select;
    logic      larger;
    logic      bit_and;
    logic      bit_or;
    logic      left;          // shift left
    logic      arithmetic;
    logic      negate;        // a negative sign negates or complements the result
    logic      floor;
  } alu_ctl_t;

  typedef enum logic [1:0] {SpecialNone, SpecialNan, SpecialPlus, SpecialMinus} special_e;

  function automatic alu_ctl_t alu_control(vpu_op_e op);
    alu_ctl_t c;
    c               = '0;
    c.fused         = op inside {VopFadd, VopFsub, VopFmul, VopFma, VopFnma};
    c.imul          = op == VopImul;
    c.to_int        = op inside {VopF2i, VopF2iFloor};
    c.from_int      = op == VopI2f;
    c.placed        = c.fused || c.to_int;
    c.float_out     = c.fused || c.from_int;
    c.by_one        = op inside {VopFadd, VopFsub};
    c.flip_product  = op == VopFnma;
    c.flip_addend   = op == VopFsub;
    c.add_b         = c.by_one;
    c.add_c         = op inside {VopFma, VopFnma};
    c.minus         = op inside {VopIsub, VopFmin, VopFmax, VopFeq, VopFlt, VopFle, VopIlt, VopIeq, VopImin, VopImax};
    c.to_bf16       = op == VopBf16;
    c.stochastic    = op == VopSr;
    c.float_compare = op inside {VopFmin, VopFmax, VopFeq, VopFlt, VopFle};
    c.want_equal    = op inside {VopFeq, VopFle, VopIeq};
    c.want_less     = op inside {VopFlt, VopFle, VopIlt};
    c.select        = op == VopSel;
    c.larger        = op inside {VopFmax, VopImax};
    c.bit_and       = op == VopIand;
    c.bit_or        = op == VopIor;
    c.left          = op == VopShl;
    c.arithmetic    = op == VopSar;
    c.negate        = c.to_int || c.arithmetic;
    c.floor         = op == VopF2iFloor;
    unique case (op)
      VopF2i, VopF2iFloor: c.word = WordArgument;
      VopIadd, VopIsub, VopI2f: c.word = WordSum;
      VopBf16, VopSr: c.word = WordRounded;
      VopFeq, VopFlt, VopFle, VopIlt, VopIeq: c.word = WordCondition;
      VopFmin, VopFmax, VopSel, VopImin, VopImax: c.word = WordPick;
      VopShl, VopShr, VopSar: c.word = WordShift;
      VopIand, VopIor, VopIxor: c.word = WordLogical;
      default: c.word = WordAddend;
    endcase
    return c;
  endfunction

  // fp32 to bf16 in the upper half, rounded to nearest even, with one NaN.
  function automatic logic [31:0] to_bf16(logic [31:0] x);
    logic [31:0] r;
    r = (x + 32'h7FFF + ((x >> 16) & 32'd1)) & 32'hFFFF_0000;
    return (x & 32'h7FFF_FFFF) > 32'h7F80_0000 ? 32'h7FC0_0000 : r;
  endfunction

endpackage
