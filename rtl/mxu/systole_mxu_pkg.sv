// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the parts of the matrix unit know of its cell: formats and latencies. Docs: docs/mxu.md.

package systole_mxu_pkg;

  import systole_presets_pkg::*;

  // Bits of an activation or weight. Sums have 32.
  function automatic int unsigned element_bits(int unsigned kind);
    return kind == CellBf16 ? 16 : 8;
  endfunction

  // Cycles that a running sum takes from one row to the next. The first of several stages is the multiplier's: it works ahead.
  function automatic int unsigned row_cycles(int unsigned stages);
    return stages > 1 ? stages - 1 : 1;
  endfunction

  // Bits of a sum of so many products of int8: each is at most 2 ** 14.
  function automatic int unsigned int8_sum_bits(int unsigned rows);
    return 16 + $clog2(rows);
  endfunction

  // Cycles from a vector's entry into the array until its sums leave.
  function automatic int unsigned array_latency(int unsigned rows, int unsigned cols, int unsigned stages);
    return (stages > 1 ? 2 : 1) + rows * row_cycles(stages) + cols;
  endfunction

  // Of the array's simulation views. Its contract says until when and from when on weights are written. So there is a cycle, so many behind
  // a vector's entry, in which the weights of several of its rows are there and none is gone, from row first to the one before next_group.
  function automatic int unsigned group_age(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned first);
    int unsigned by_row, by_column;
    by_row    = cols + first * row_cycles(stages);      // or row first may be gone
    by_column = 1 + (rows - 1) * row_cycles(stages);    // or column 0 may be gone
    return by_row < by_column ? by_row : by_column;
  endfunction

  function automatic int unsigned next_group(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned first);
    int unsigned next;
    next = (group_age(rows, cols, stages, first) - 1) / row_cycles(stages) + 1;  // which may not be there yet
    return next < rows ? next : rows;
  endfunction

  // Descriptors in flight, a power of two: at least as many as chunks of 32 vectors that cover the latency.
  function automatic int unsigned max_in_flight(int unsigned latency);
    return latency > 256 ? 16 : 8;
  endfunction

  // Data setup: what its stages hand on (docs/mxu.md).
  typedef logic [9:0]  pos_t;             // array row, 0..Rows
  typedef logic [AddrBits-1:0] address_t; // in the unified buffer, modulo 2^36: exact wherever a byte is read

  // Of a vector.
  typedef struct packed {
    logic                   take;         // first of a pass that takes a tile
    logic                   accumulate;
    logic                   transpose;
    logic                   pass_last;
    logic                   done;         // last of its descriptor
    logic [AccAddrBits-1:0] row;
    logic [7:0]             pad;
    pos_t                   total;        // array rows that segments fill
  } vector_t;

  // Of a segment of it: the sums of the loops.
  typedef struct packed {
    address_t           addr;         // of array row 0
    logic signed [23:0] first;        // coordinate of its first byte in the line
    logic               present;      // it has elements, and its line lies in the image
    pos_t               start, stop;  // its array rows
  } sums_t;

  // The array rows with elements from the buffer.
  typedef struct packed {
    address_t addr;
    pos_t     lo, hi;
  } range_t;

endpackage
