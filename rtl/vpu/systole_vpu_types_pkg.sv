// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types inside the programmable vector unit: an instruction on its way from decoding through issue to a unit.
// Docs: docs/vpu.md.

package systole_vpu_types_pkg;
  import systole_vpu_pkg::*;

  // verilator lint_off UNUSEDPARAM
  // (a module alone does not use all)
  localparam int unsigned Units = 6;        // two load units, two ALUs, cross unit, store unit: the first five are the banks'
  localparam int unsigned UnitStore = 5;
  localparam int unsigned UnitDepth = 6;    // instructions that a unit holds, the running one included
  localparam int unsigned Ports = 8;        // register rows read in a cycle: three for each ALU, one each for cross and store unit
  localparam int unsigned BankRows = VpuBankRegs * VpuVectorRows;
  localparam int unsigned HeldBits = $clog2(UnitDepth + 1);
  // verilator lint_on UNUSEDPARAM

  typedef logic [HeldBits-1:0] held_t;      // a number of instructions that a unit holds
  typedef logic [2:0] row_t;                // of a vector register
  typedef logic [VpuVectorRegs-1:0] regs_t; // a set of vector registers

  // Where an operand comes from.
  typedef struct packed {
    logic       used;
    logic       from_reg;  // a vector register; otherwise the scalar
    logic       row0;    // row 0 of it for every row
    logic       own;     // it is the destination too, so its rows are there
    logic [5:0] number;
  } source_t;

  // What a unit executes, one row a cycle. Loads and stores: scalar[0] is the address of row 0, scalar[1] the distance of rows,
  // scalar[2] the bytes (rows of accumulators: the lanes) that are used. Cross unit: scalar[1] is the lane or, of the transposer,
  // the place of row 0.
  typedef struct packed {
    vpu_op_e          op;
    logic [5:0]       d;
    logic [3:0]       rows;    // 1..8
    row_t             turn;    // row i reads row i + turn of source 0
    held_t [1:0]      older;   // store: loads of each unit, older than it, that still have rows to ask for
    source_t [2:0]    source;
    logic [2:0][31:0] scalar;
  } uop_t;

  // A decoded instruction.
  typedef struct packed {
    logic             illegal;
    logic [10:0]      pc;
    vpu_instr_t       instr;
  } decoded_t;

  // A row that a port reads: of a register, or a scalar in all lanes.
  typedef struct packed {
    logic        valid;
    logic        from_reg;
    logic [5:0]  number;
    row_t        row;
    logic [31:0] scalar;
  } fetch_t;

  // A row that a unit writes into its bank.
  typedef struct packed {
    logic       valid;
    logic [2:0] number;  // in the bank
    row_t       row;
  } write_t;

  // Class of an operation.
  // verilator lint_off UNUSEDSIGNAL
  function automatic vpu_class_e class_of(vpu_op_e op);
    return vpu_class_e'(op[7:4]);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // fp32 to bf16 in the upper half, round to nearest even, one NaN.
  function automatic logic [31:0] to_bf16(logic [31:0] x);
    logic [31:0] r;
    r = (x + 32'h7FFF + ((x >> 16) & 32'd1)) & 32'hFFFF_0000;
    return (x & 32'h7FFF_FFFF) > 32'h7F80_0000 ? 32'h7FC0_0000 : r;
  endfunction

endpackage
