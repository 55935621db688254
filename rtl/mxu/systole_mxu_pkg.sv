// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Formats and latencies of the matrix unit's cells, and the types of its data setup.
// Docs: docs/mxu.md.

package systole_mxu_pkg;

  import systole_presets_pkg::*;

  // Bits of an activation or a weight. Sums have 32 bits.
  function automatic int unsigned element_bits(int unsigned kind);
    return kind == CellBf16 ? 16 : 8;
  endfunction

  // Cycles that a running sum takes from one row to the next. With several stages the first one multiplies; it works
  // ahead of the sum and does not count.
  function automatic int unsigned row_cycles(int unsigned stages);
    return stages > 1 ? stages - 1 : 1;
  endfunction

  // Bits of a sum of this many int8 products: each product is at most 2 ** 14.
  function automatic int unsigned int8_sum_bits(int unsigned rows);
    return 16 + $clog2(rows);
  endfunction

  // Cycles from a vector's entry into the array until its sums leave.
  function automatic int unsigned array_latency(int unsigned rows, int unsigned cols, int unsigned stages);
    return (stages > 1 ? 2 : 1) + rows * row_cycles(stages) + cols;
  endfunction

  // A tile is loaded in buses x buses blocks of rows / buses x cols / buses weights, each over a bus of its own and as
  // much later than block 0 as vectors reach it later, in cycles. Block b is in block row b / buses and block column b %
  // buses.
  function automatic int unsigned block_offset(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned buses, int unsigned b);
    return b / buses * (rows / buses) * row_cycles(stages) + b % buses * (cols / buses);
  endfunction

  // Cycles from a vector's entry until a bank whose last vector it was may be loaded again.
  function automatic int unsigned bank_cycles(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned buses);
    return cols / buses + (row_cycles(stages) - 1) * (rows / buses - 1);
  endfunction

  // For the array's simulation views. The array's contract says when weights are written and how long they stay. In an
  // array of one block, group_age is the number of cycles after a vector's entry at which the weights of rows first to
  // next_group - 1 are all written and none is overwritten yet.
  function automatic int unsigned group_age(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned first);
    int unsigned by_row, by_column;
    by_row    = cols + first * row_cycles(stages);      // after that, row first may be overwritten
    by_column = 1 + (rows - 1) * row_cycles(stages);    // after that, column 0 may be overwritten
    return by_row < by_column ? by_row : by_column;
  endfunction

  function automatic int unsigned next_group(int unsigned rows, int unsigned cols, int unsigned stages, int unsigned first);
    int unsigned next;
    next = (group_age(rows, cols, stages, first) - 1) / row_cycles(stages) + 1;  // the first row that may not be written yet
    return next < rows ? next : rows;
  endfunction

  // Descriptors in flight, a power of two: at least as many chunks of 32 vectors as cover the latency.
  function automatic int unsigned max_in_flight(int unsigned latency);
    return latency > 256 ? 16 : 8;
  endfunction

  // Data setup: types passed between its stages (docs/mxu.md).
  typedef logic [9:0]  pos_t;             // array row, 0 to Rows
  typedef logic [AddrBits-1:0] address_t; // unified buffer address modulo 2^36: exact for every byte that is read

  // A vector.
  typedef struct packed {
    logic                   take;         // first vector of a pass that takes a tile
    logic                   accumulate;
    logic                   transpose;
    logic                   pass_last;
    logic                   done;         // last vector of its descriptor
    logic [AccAddrBits-1:0] row;
    logic [7:0]             pad;
    pos_t                   total;        // array rows filled by the segments
  } vector_t;

  // A segment of a vector: the sums of the loops.
  typedef struct packed {
    address_t           addr;         // address of array row 0
    logic signed [23:0] first;        // coordinate of its first byte in the line
    logic               present;      // it has elements and its line is inside the image
    pos_t               start, stop;  // array rows of the segment
  } sums_t;

  // Array rows whose elements come from the buffer.
  typedef struct packed {
    address_t addr;
    pos_t     lo, hi;
  } range_t;

endpackage
