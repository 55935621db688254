// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types inside the vector unit. A job is a checked descriptor. A micro-op is what enters the lanes in one cycle.
// Docs: docs/vector.md.

package systole_vector_pkg;

  // verilator lint_off UNUSEDPARAM
  // (not every module uses all of them)
  localparam int unsigned WalkBits = 36;    // bits of a walk's addresses: no sum of a descriptor's products overflows
  localparam int unsigned SourceStreams = 3;
  localparam int unsigned OutDepth = 32;    // most results in flight: 16 cycles of issue, read, lanes and write queue, and some slack
  localparam int unsigned SumPairs = 8;     // most operand pairs of an addition in flight
  localparam int unsigned ParamWords = 9;   // unified buffer words of a parameter block
  localparam int unsigned TableBytes = 256;
  localparam int unsigned TapBits = 24;     // a sum of bytes over 127 x 127 taps
  // verilator lint_on UNUSEDPARAM

  typedef logic [WalkBits-1:0] walk_addr_t;
  typedef logic [systole_presets_pkg::UbAddrBits-1:0] ub_addr_t;
  typedef logic [systole_presets_pkg::AccAddrBits-1:0] acc_addr_t;

  // What a lane starts from.
  typedef enum logic [2:0] {
    SrcAcc,   // accumulator + bias
    SrcRaw,   // a byte of an accumulator
    SrcTap,   // a tap of a window: combined with the lane's pool register
    SrcAdd0,  // first operand of an addition: scaled, then held at the end of the lanes
    SrcAdd1,  // second operand: the sum of both goes to the sum memory
    SrcSum,   // oldest sum of the sum memory
    SrcMul0,  // first operand of a product: held at the start of the lanes
    SrcMul1   // second operand: the lanes scale the product of both
  } src_e;

  // What a descriptor asks for.
  typedef enum logic [2:0] {
    KindNone,
    KindRequant,
    KindPool,
    KindAdd,
    KindMul,
    KindTable
  } kind_e;

  // How a lane scales x by m * 2^(s - 31).
  typedef struct packed {
    logic twice;   // double rounding: saturate x << s, round the product, then round the right shift with ties away from zero
    logic trunc;   // no rounding
  } round_t;

  // Constants of a descriptor for all lanes. In a residual addition, zp1 is the zero point of the residual operand, mult1 and
  // shift1 scale the narrow operand, and mult and shift scale the sum.
  typedef struct packed {
    logic               average;
    logic               sum;       // pool: sum of the taps
    logic               single;
    logic               wide;      // residual addition: its operand is the wide one (scaled by 2^19), not the narrow one
    logic               sum_single;
    logic signed [7:0]  zp, zp0, zp1, sum_zp;
    logic signed [7:0]  clamp_min, clamp_max, sum_min, sum_max;
    logic [31:0]        mult, mult0, mult1;
    logic signed [5:0]  shift, shift0, shift1;
  } scalars_t;

  // Where a result goes.
  typedef struct packed {
    logic       last;  // the last result of its descriptor
    ub_addr_t   addr;
    logic [8:0] len;   // bytes, 1..Cols
  } dest_t;

  typedef struct packed {
    src_e       src;
    logic       bank;   // bank of the scalars and the channel parameters
    logic       first;  // first tap of a window
    logic       hit;    // the tap lies in the image, so it has data
    logic       out;    // produces a result for the write queue
    logic       last;   // the last micro-op of its descriptor
    logic       lookup;    // the result passes through the table
    logic       residual;  // a residual addition follows; its operand is read together with the row
    logic [1:0] part;   // raw: which quarter of the row
    logic [8:0] taps;   // taps of the window that were in the image so far, the divisor of an average; otherwise 1
    logic [TapBits-1:0] offset;  // sum of taps: the excess to subtract from it
    logic [8:0] len;    // bytes of the result
  } uop_t;

  typedef struct packed {
    logic       requant, raw, pool, add, mul;  // exactly one is set; raw comes with requant
    logic       lookup, residual;
    logic       bank;
    // Results: images, lines of an image and positions of a line, each minus 1.
    logic [9:0]  n_end;
    logic [13:0] y_end;
    logic [17:0] x_end;
    walk_addr_t  dst, dst_img, dst_pitch, dst_step;
    logic [8:0]  len, tail;  // bytes of a result; bytes of the last result of a line
    logic [1:0]  last_part;  // raw: windows of a row, minus 1
    acc_addr_t   acc;
    // Sources. pool: [0] address, [1] line and [2] byte in the line of the window's first tap. add and mul: [0] and [1]
    // addresses. residual: [0] address.
    walk_addr_t [SourceStreams-1:0] src, src_img, src_pitch, src_step;
    // Taps.
    logic [6:0]  kh_end, kw_end;  // taps in each direction, minus 1
    logic [8:0]  tap_zero;        // sum of taps: zero point + 128; otherwise 0
    logic [13:0] kx;
    logic [19:0] pitch;
    logic [13:0] lines;
    logic [19:0] line_bytes;
    logic        average;
  } job_t;

endpackage
