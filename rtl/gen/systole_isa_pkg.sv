// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/isa.yaml by scripts/generate.py: edit the source.

package systole_isa_pkg;

  localparam int unsigned IsaVersion = 1;
  localparam int unsigned DescBits = 512;
  localparam int unsigned NumFlags = 32;
  localparam int unsigned PeerFlags = 4;  // the last ones: two cores' chips post them to the other core
  localparam int unsigned LinkFlags = 8;  // those before: in chips with links only packets post them
  localparam int unsigned FlagBits = 16;
  localparam int unsigned NumQueues = 6;

  typedef logic [511:0] desc_t;

  localparam int unsigned QueueLoad = 0;  // DMA from HBM into the unified buffer
  localparam int unsigned QueueWeight = 1;  // weight tiles from HBM or the unified buffer into the weight FIFO
  localparam int unsigned QueueMxu = 2;  // systolic data setup, array, accumulator writes
  localparam int unsigned QueueVector = 3;  // int8: requantise, pool, add, multiply, tables; bf16: programs of the vector unit
  localparam int unsigned QueueStore = 4;  // DMA from the unified buffer into HBM
  localparam int unsigned QueueSend = 5;  // packets from the unified buffer over the links into a core's memory

  typedef enum logic [7:0] {
    OpLoad = 8'h01,  // copy n2 x n1 runs of len bytes from HBM to the unified buffer
    OpStore = 8'h02,  // copy n2 x n1 runs of len bytes from the unified buffer to HBM
    OpSend = 8'h06,  // copy n2 x n1 runs of len bytes from the unified buffer to the memory of a core of the device, then post one of its link flags
    OpWeights = 8'h03,  // push tiles of Rows x Cols weights from HBM into the weight FIFO
    OpTiles = 8'h05,  // push weight tiles from the unified buffer into the weight FIFO
    OpMatmul = 8'h04,  // t1 x t0 passes of n x ny x nx activation vectors through the array into the accumulators
    OpRequant = 8'h10,  // accumulator rows: bias, requantise, clamp, write int8 vectors (or raw int32) to the unified buffer
    OpPool = 8'h11,  // max, average or requantised sum over windows of int8 vectors, unified buffer to unified buffer
    OpAdd = 8'h12,  // quantised int8 addition of two tensors, unified buffer to unified buffer
    OpMul = 8'h13,  // quantised int8 product of two tensors, unified buffer to unified buffer; steps of 0 repeat an operand
    OpTable = 8'h14,  // give the vector unit's lanes a table of 256 bytes: byte q + 128 is what q becomes
    OpVload = 8'h18,  // copy instructions from the unified buffer into the vector unit's instruction memory
    OpVrun = 8'h19,  // run a program of the vector unit until its halt
    OpHalt = 8'h7F  // end of the program: when every queue is empty and every unit idle, raise the interrupt
  } opcode_e;

  typedef enum logic [3:0] {
    FaultNone = 4'd0,  // no fault
    FaultIllegalOpcode = 4'd1,  // unknown opcode
    FaultIllegalDescriptor = 4'd2,  // a count of zero, a field outside its range, an unused bit that is set
    FaultMisaligned = 4'd3,  // an address or stride that is not a multiple of what the operation needs
    FaultUbRange = 4'd4,  // an access outside the unified buffer
    FaultAccRange = 4'd5,  // accumulator rows outside the accumulators or across its two banks
    FaultHbmRange = 4'd6,  // an access outside the HBM
    FaultWatchdog = 4'd7,  // no unit made progress for the watchdog's time: a wait that can never be met
    FaultFlagOverflow = 4'd8,  // a post to a sync flag that is at its maximum
    FaultProgramEnd = 4'd9,  // the program's length was reached without a halt
    FaultVectorProgram = 4'd10,  // an illegal instruction of the vector unit, a count out of its range, a pc beyond the instruction memory; address = pc
    FaultMemoryError = 4'd11,  // the memory's bus answered an access of the core or the host with an error; address = its burst
    FaultEccError = 4'd12,  // two bits of a word of the HBM are wrong, which ECC cannot correct; address = the word's
    FaultParity = 4'd13,  // a descriptor that waits, a queue's state or a sync flag changed by itself; address = where: docs/sequencer.md
    FaultLinkDown = 4'd14  // a link is down, or a packet of this core was given up; address = the link (0 X+, 1 X-, 2 Y+, 3 Y-), or the packet's
  } fault_e;

  typedef struct packed {
    logic [415:0] unused;
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } header_desc_t;

  typedef struct packed {
    logic [150:0] unused;
    logic [24:0] index_addr;  // [336] indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part
    logic [24:0] ub_stride2;  // [311] unified buffer bytes from an inner loop's start to the next; multiple of the beat
    logic [35:0] hbm_stride2;  // [275] HBM bytes from an inner loop's start to the next; multiple of the beat
    logic [24:0] ub_stride1;  // [250] unified buffer bytes from a run to the next; multiple of the beat
    logic [35:0] hbm_stride1;  // [214] HBM bytes from a run to the next; multiple of the beat
    logic [15:0] n2;  // [198] repetitions of the inner loop, >= 1
    logic [15:0] n1;  // [182] runs in the inner loop, >= 1
    logic [24:0] len;  // [157] bytes a run, >= 1; the last beat of a run is masked
    logic [24:0] ub_addr;  // [132] unified buffer byte address of the first run; multiple of the beat
    logic [35:0] hbm_addr;  // [96] HBM byte address of the first run; multiple of the beat
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } load_desc_t;

  typedef struct packed {
    logic [150:0] unused;
    logic [24:0] index_addr;  // [336] indexed: unified buffer byte address of a table of n2 unsigned 32-bit numbers of beats; multiple of the beat; otherwise it takes no part
    logic [24:0] ub_stride2;  // [311] unified buffer bytes from an inner loop's start to the next; multiple of the beat
    logic [35:0] hbm_stride2;  // [275] HBM bytes from an inner loop's start to the next; multiple of the beat
    logic [24:0] ub_stride1;  // [250] unified buffer bytes from a run to the next; multiple of the beat
    logic [35:0] hbm_stride1;  // [214] HBM bytes from a run to the next; multiple of the beat
    logic [15:0] n2;  // [198] repetitions of the inner loop, >= 1
    logic [15:0] n1;  // [182] runs in the inner loop, >= 1
    logic [24:0] len;  // [157] bytes a run, >= 1; the last beat of a run is masked
    logic [24:0] ub_addr;  // [132] unified buffer byte address of the first run; multiple of the beat
    logic [35:0] hbm_addr;  // [96] HBM byte address of the first run; multiple of the beat
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } store_desc_t;

  typedef struct packed {
    logic [161:0] unused;
    logic [2:0] link_flag;  // [347] post: number of the destination's link flag, 0 the first of them
    logic [0:0] dst_core;  // [346] core of that chip
    logic [4:0] dst_y;  // [341] row
    logic [4:0] dst_x;  // [336] column of the destination's chip in the torus
    logic [24:0] ub_stride2;  // [311] unified buffer bytes from an inner loop's start to the next; multiple of the beat
    logic [35:0] hbm_stride2;  // [275] bytes from an inner loop's start to the next at the destination; multiple of the beat
    logic [24:0] ub_stride1;  // [250] unified buffer bytes from a run to the next; multiple of the beat
    logic [35:0] hbm_stride1;  // [214] bytes from a run to the next at the destination; multiple of the beat
    logic [15:0] n2;  // [198] repetitions of the inner loop, >= 1
    logic [15:0] n1;  // [182] runs in the inner loop, >= 1
    logic [24:0] len;  // [157] bytes a run, >= 1; the last beat of a run is masked
    logic [24:0] ub_addr;  // [132] unified buffer byte address of the first run; multiple of the beat
    logic [35:0] hbm_addr;  // [96] byte address of the first run in the destination's own memory; multiple of the beat
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } send_desc_t;

  typedef struct packed {
    logic [363:0] unused;
    logic [15:0] tiles;  // [132] tiles, >= 1
    logic [35:0] hbm_addr;  // [96] HBM byte address of the first tile; multiple of the beat; tiles are dense, row-major [Rows][Cols]
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } weights_desc_t;

  typedef struct packed {
    logic [311:0] unused;
    logic [24:0] tile_stride;  // [175] bytes from a tile's first row to the next tile's; even
    logic [15:0] tiles;  // [159] tiles, >= 1
    logic [8:0] cols;  // [150] stored elements of a row, 1..Cols; the rest is 0
    logic [8:0] rows;  // [141] stored rows of a tile, 1..Rows; the rest is 0
    logic [19:0] pitch;  // [121] bytes from a stored row to the next; even
    logic [24:0] ub_addr;  // [96] unified buffer byte address of the first tile's row 0, element 0; even
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } tiles_desc_t;

  typedef struct packed {
    logic [51:0] unused;
    logic [3:0][8:0] seg_len;  // [424] array rows (elements) that segment s fills, after those of segments before it; 0 = unused, as all from the core's Segments on must be; the sum is at most Rows, rows left over get 0
    logic [3:0][18:0] seg_dx;  // [348] byte offset of segment s in the line
    logic [3:0][7:0] seg_dy;  // [316] line offset of segment s (kernel row x dilation - padding)
    logic [12:0] acc;  // [303] accumulator row of the first vector; rows follow in walk order, all in one accumulator bank
    logic [5:0] t1_dy;  // [297] lines that an outer pass advances every segment's dy
    logic [5:0] t1;  // [291] outer passes, >= 1
    logic [9:0] t0_dx;  // [281] bytes that an inner pass advances every segment's dx
    logic [11:0] t0;  // [269] inner passes, >= 1
    logic [17:0] sx;  // [251] input bytes from an output position to the next
    logic [4:0] sy;  // [246] input lines from an output line to the next
    logic [13:0] nx;  // [232] output positions a line, >= 1
    logic [13:0] ny;  // [218] output lines, >= 1
    logic [9:0] n;  // [208] images, >= 1
    logic signed [7:0] pad;  // [200] value of padding (the input's zero point); bf16: 0
    logic [19:0] line_bytes;  // [180] valid bytes of a line, >= 1; a byte outside 0..line_bytes-1 reads as pad
    logic [13:0] lines;  // [166] lines of an image, >= 1; a line outside 0..lines-1 reads as pad
    logic [24:0] img_pitch;  // [141] bytes from an image to the next
    logic [19:0] pitch;  // [121] bytes from a line to the next
    logic [24:0] ub_base;  // [96] unified buffer byte address of image 0, line 0, byte 0
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } matmul_desc_t;

  typedef struct packed {
    logic [22:0] unused;
    logic signed [7:0] sum_max;  // [481] residual: upper bound of the sum
    logic signed [7:0] sum_min;  // [473] residual: lower bound of the sum
    logic signed [5:0] sum_shift;  // [467] residual: shift of the sum
    logic [31:0] sum_mult;  // [435] residual: multiplier of the sum
    logic signed [5:0] sum_shift1;  // [429] residual: its shift (positive left)
    logic [31:0] sum_mult1;  // [397] residual: multiplier of the operand that is not scaled by 2^19
    logic signed [7:0] sum_zp;  // [389] residual: zero point of the sum
    logic signed [7:0] src_zp;  // [381] residual: zero point of the second operand
    logic [17:0] src_sx;  // [363] residual: bytes from a position to the next
    logic [24:0] src_img_pitch;  // [338] residual: bytes from an image to the next
    logic [19:0] src_pitch;  // [318] residual: bytes from a line to the next
    logic [24:0] src;  // [293] residual: unified buffer byte address of the second operand's first vector
    logic signed [7:0] clamp_max;  // [285] upper bound after the zero point
    logic signed [7:0] clamp_min;  // [277] lower bound after the zero point
    logic signed [7:0] zp;  // [269] output zero point
    logic [24:0] params;  // [244] unified buffer address (multiple of the word) of the parameter block: Cols int32 bias, Cols int32 multiplier, Cols int8 shift = 9 words; ignored when raw
    logic [8:0] cols;  // [235] channels written, 1..Cols
    logic [17:0] dst_sx;  // [217] bytes from a position to the next
    logic [24:0] dst_img_pitch;  // [192] bytes from an image to the next
    logic [19:0] dst_pitch;  // [172] bytes from a line to the next
    logic [24:0] dst;  // [147] unified buffer byte address of the first vector
    logic [13:0] nx;  // [133] positions a line, >= 1
    logic [13:0] ny;  // [119] lines, >= 1
    logic [9:0] n;  // [109] images, >= 1
    logic [12:0] acc;  // [96] first accumulator row; rows follow in walk order, all in one accumulator bank
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } requant_desc_t;

  typedef struct packed {
    logic [28:0] unused;
    logic signed [5:0] shift;  // [477] sum: shift (positive left)
    logic [31:0] mult;  // [445] sum: multiplier
    logic signed [7:0] zp;  // [437] sum: zero point of the result
    logic signed [7:0] src_zp;  // [429] sum: zero point of the taps
    logic signed [7:0] clamp_max;  // [421] upper bound
    logic signed [7:0] clamp_min;  // [413] lower bound
    logic [8:0] cols;  // [404] channels, 1..Cols
    logic [17:0] dst_sx;  // [386] bytes from a position to the next
    logic [24:0] dst_img_pitch;  // [361] bytes from an image to the next
    logic [19:0] dst_pitch;  // [341] bytes from a line to the next
    logic [24:0] dst;  // [316] unified buffer byte address of the first output vector
    logic [13:0] kx;  // [302] bytes from a tap to the next in a line
    logic [6:0] kw;  // [295] window positions, >= 1; kh x kw at most 256, or with sum 16129
    logic [6:0] kh;  // [288] window lines, >= 1
    logic signed [18:0] dx;  // [269] byte x coordinate of the first window's first tap
    logic signed [7:0] dy;  // [261] line of the first window's first tap (minus the padding)
    logic [17:0] src_sx;  // [243] input bytes from an output position to the next
    logic [4:0] sy;  // [238] input lines from an output line to the next
    logic [13:0] nx;  // [224] output positions a line, >= 1
    logic [13:0] ny;  // [210] output lines, >= 1
    logic [9:0] n;  // [200] images, >= 1
    logic [19:0] line_bytes;  // [180] x coordinates (bytes, see src_sx) valid below this; taps outside 0..line_bytes-1 are left out
    logic [13:0] lines;  // [166] lines of an image; taps outside are left out
    logic [24:0] src_img_pitch;  // [141] bytes from an image to the next
    logic [19:0] src_pitch;  // [121] bytes from a line to the next
    logic [24:0] src;  // [96] unified buffer byte address of image 0, line 0, first channel
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } pool_desc_t;

  typedef struct packed {
    logic [92:0] unused;
    logic signed [7:0] clamp_max;  // [411] upper bound
    logic signed [7:0] clamp_min;  // [403] lower bound
    logic signed [5:0] shift;  // [397] shift of the sum
    logic signed [5:0] shift1;  // [391] shift of operand 1
    logic signed [5:0] shift0;  // [385] shift of operand 0 (positive left)
    logic [31:0] mult;  // [353] multiplier of the sum
    logic [31:0] mult1;  // [321] multiplier of operand 1
    logic [31:0] mult0;  // [289] multiplier of operand 0
    logic signed [7:0] zp;  // [281] zero point of the result
    logic signed [7:0] zp1;  // [273] zero point of operand 1
    logic signed [7:0] zp0;  // [265] zero point of operand 0
    logic [19:0] line_bytes;  // [245] bytes a line, >= 1, processed Cols at a time
    logic [13:0] ny;  // [231] lines, >= 1
    logic [19:0] dst_pitch;  // [211] result: bytes from a line to the next
    logic [19:0] pitch1;  // [191] operand 1: bytes from a line to the next
    logic [19:0] pitch0;  // [171] operand 0: bytes from a line to the next
    logic [24:0] dst;  // [146] unified buffer byte address of the result
    logic [24:0] src1;  // [121] unified buffer byte address of operand 1
    logic [24:0] src0;  // [96] unified buffer byte address of operand 0
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } add_desc_t;

  typedef struct packed {
    logic [26:0] unused;
    logic signed [7:0] clamp_max;  // [477] upper bound
    logic signed [7:0] clamp_min;  // [469] lower bound
    logic signed [5:0] shift;  // [463] shift of the product (positive left)
    logic [31:0] mult;  // [431] multiplier of the product
    logic signed [7:0] zp;  // [423] zero point of the result
    logic signed [7:0] zp1;  // [415] zero point of operand 1
    logic signed [7:0] zp0;  // [407] zero point of operand 0
    logic [17:0] dst_sx;  // [389] result: bytes from a position to the next
    logic [17:0] sx1;  // [371] operand 1: bytes from a position to the next
    logic [17:0] sx0;  // [353] operand 0: bytes from a position to the next
    logic [19:0] dst_pitch;  // [333] result: bytes from a line to the next
    logic [19:0] pitch1;  // [313] operand 1: bytes from a line to the next
    logic [19:0] pitch0;  // [293] operand 0: bytes from a line to the next
    logic [24:0] dst_img_pitch;  // [268] result: bytes from an image to the next
    logic [24:0] img_pitch1;  // [243] operand 1: bytes from an image to the next
    logic [24:0] img_pitch0;  // [218] operand 0: bytes from an image to the next
    logic [8:0] cols;  // [209] bytes of a position, 1..Cols
    logic [13:0] nx;  // [195] positions a line, >= 1
    logic [13:0] ny;  // [181] lines, >= 1
    logic [9:0] n;  // [171] images, >= 1
    logic [24:0] dst;  // [146] unified buffer byte address of the result
    logic [24:0] src1;  // [121] unified buffer byte address of operand 1
    logic [24:0] src0;  // [96] unified buffer byte address of operand 0
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } mul_desc_t;

  typedef struct packed {
    logic [390:0] unused;
    logic [24:0] src;  // [96] unified buffer byte address of the table; multiple of the word
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } table_desc_t;

  typedef struct packed {
    logic [367:0] unused;
    logic [11:0] count;  // [132] instructions of 64 bits, 1..2048; addr + count is at most 2048
    logic [10:0] addr;  // [121] index in the instruction memory of the first
    logic [24:0] ub_addr;  // [96] unified buffer byte address of the first instruction; multiple of the word
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } vload_desc_t;

  typedef struct packed {
    logic [20:0] unused;
    logic [10:0] pc;  // [480] index of the first instruction
    logic [11:0][31:0] args;  // [96] scalar registers s1..s12 at the start; the others are 0
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } vrun_desc_t;

  typedef struct packed {
    logic [415:0] unused;
    logic [31:0] post_mask;  // [64] bit f: add 1 to sync flag f when the descriptor is complete
    logic [31:0] wait_mask;  // [32] bit f: wait until sync flag f is at least 1, then subtract 1; all bits at once
    logic [15:0] tag;  // [16] free for software: layer number; shown in traces
    logic [7:0] flags;  // [8] operation-specific flags, below
    logic [7:0] opcode;  // [0] operation
  } halt_desc_t;

  localparam int unsigned FlagLoadIndexed = 0;  // repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part
  localparam int unsigned FlagStoreIndexed = 0;  // repetition i2 of the inner loop starts at hbm_addr + beat x entry i2 of the table at index_addr; hbm_stride2 takes no part
  localparam int unsigned FlagSendLinkPost = 0;  // post link_flag of the destination after the data
  localparam int unsigned FlagSendEmpty = 1;  // no data, only the post: len, n1, n2, addresses and strides are 0
  localparam int unsigned FlagSendNegative = 2;  // where two ways around a ring are as long, take the negative one
  localparam int unsigned FlagWeightsTranspose = 0;  // the weight of array row r, column c is the stored tile's row c, element r
  localparam int unsigned FlagTilesTranspose = 0;  // the weight of array row r, column c is stored row c, element r
  localparam int unsigned FlagMatmulAccumulate = 0;  // the first pass adds to the accumulators; otherwise it overwrites (later passes always add)
  localparam int unsigned FlagMatmulKeepWeights = 1;  // the first pass uses the tile that the array already holds; otherwise it takes the next from the FIFO (later passes always take one, but with transpose: they keep it)
  localparam int unsigned FlagMatmulTranspose = 2;  // each pass sends the transpose of its block of at most Rows vectors through the array and has Rows accumulator rows of its own
  localparam int unsigned FlagRequantRaw = 0;  // write the int32 accumulators, little endian, 4 x cols bytes a row; no bias, no requantise
  localparam int unsigned FlagRequantSingleRound = 1;  // round once rather than twice
  localparam int unsigned FlagRequantTable = 2;  // results pass through the lanes' table
  localparam int unsigned FlagRequantResidual = 3;  // a quantised addition of each result and a byte of a second operand follows; only cores with Residual
  localparam int unsigned FlagRequantResidualWide = 4;  // residual: the second operand is the one that is scaled by 2^19 exactly, the result by sum_mult1 and sum_shift1; otherwise the other way round
  localparam int unsigned FlagRequantResidualSingle = 5;  // residual: the addition rounds once rather than twice
  localparam int unsigned FlagPoolAverage = 0;  // average over the valid taps, rounded half away from zero; otherwise maximum
  localparam int unsigned FlagPoolSingleRound = 1;  // sum: round once rather than twice
  localparam int unsigned FlagPoolTable = 2;  // results pass through the lanes' table
  localparam int unsigned FlagPoolSum = 3;  // sum over the valid taps of what they are above src_zp, requantised; without average
  localparam int unsigned FlagAddSingleRound = 1;  // round once rather than twice
  localparam int unsigned FlagAddTable = 2;  // results pass through the lanes' table
  localparam int unsigned FlagMulSingleRound = 1;  // round once rather than twice
  localparam int unsigned FlagMulTable = 2;  // results pass through the lanes' table

  // High when a core of this cell, of a chip with links or without, has the opcode.
  function automatic logic has_opcode(logic [7:0] opcode, int unsigned kind, logic links);
    case (opcode)
      OpLoad: return 1'b1;
      OpStore: return 1'b1;
      OpSend: return links;
      OpWeights: return 1'b1;
      OpTiles: return kind == 1;
      OpMatmul: return 1'b1;
      OpRequant: return kind == 0;
      OpPool: return kind == 0;
      OpAdd: return kind == 0;
      OpMul: return kind == 0;
      OpTable: return kind == 0;
      OpVload: return kind == 1;
      OpVrun: return kind == 1;
      OpHalt: return 1'b1;
      default: return 1'b0;
    endcase
  endfunction

  // Queue of an opcode; NumQueues = the sequencer itself or unknown.
  function automatic logic [2:0] queue_of(logic [7:0] opcode);
    case (opcode)
      OpLoad: return 3'(QueueLoad);
      OpStore: return 3'(QueueStore);
      OpSend: return 3'(QueueSend);
      OpWeights: return 3'(QueueWeight);
      OpTiles: return 3'(QueueWeight);
      OpMatmul: return 3'(QueueMxu);
      OpRequant: return 3'(QueueVector);
      OpPool: return 3'(QueueVector);
      OpAdd: return 3'(QueueVector);
      OpMul: return 3'(QueueVector);
      OpTable: return 3'(QueueVector);
      OpVload: return 3'(QueueVector);
      OpVrun: return 3'(QueueVector);
      default: return 3'(NumQueues);
    endcase
  endfunction

  // High when a bit or flag that the opcode does not use with this cell is set; 0 for an opcode that it lacks.
  function automatic logic unused_bits_set(desc_t d, int unsigned kind, logic links);
    logic [7:0] flags;  // used
    logic       bits;
    case (d[7:0])
      OpLoad: begin
        bits  = d[511:361] != '0;
        flags = kind == 0 ? 8'h00 : 8'h01;
      end
      OpStore: begin
        bits  = d[511:361] != '0;
        flags = kind == 0 ? 8'h00 : 8'h01;
      end
      OpSend: begin
        bits  = d[511:350] != '0;
        flags = 8'h07;
      end
      OpWeights: begin
        bits  = d[511:148] != '0;
        flags = kind == 0 ? 8'h00 : 8'h01;
      end
      OpTiles: begin
        bits  = d[511:200] != '0;
        flags = 8'h01;
      end
      OpMatmul: begin
        bits  = d[511:460] != '0;
        flags = kind == 0 ? 8'h03 : 8'h07;
      end
      OpRequant: begin
        bits  = d[511:489] != '0;
        flags = 8'h3F;
      end
      OpPool: begin
        bits  = d[511:483] != '0;
        flags = 8'h0F;
      end
      OpAdd: begin
        bits  = d[511:419] != '0;
        flags = 8'h06;
      end
      OpMul: begin
        bits  = d[511:485] != '0;
        flags = 8'h06;
      end
      OpTable: begin
        bits  = d[511:121] != '0;
        flags = 8'h00;
      end
      OpVload: begin
        bits  = d[511:144] != '0;
        flags = 8'h00;
      end
      OpVrun: begin
        bits  = d[511:491] != '0;
        flags = 8'h00;
      end
      OpHalt: begin
        bits  = d[511:96] != '0;
        flags = 8'h00;
      end
      default: begin
        bits  = 1'b0;
        flags = 8'hFF;
      end
    endcase
    return has_opcode(d[7:0], kind, links) && (bits || (d[15:8] & ~flags) != '0);
  endfunction

endpackage
