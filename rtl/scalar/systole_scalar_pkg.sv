// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Memory map of the scalar unit, and the error-correcting code of its memory (SECDED): it corrects a single bit flip in a word
// and detects two.
// Docs: docs/scalar.md.

package systole_scalar_pkg;

  // Regions, by the upper four bits of an address.
  localparam logic [3:0] RegionSmem = 4'h0;
  localparam logic [3:0] RegionRom = 4'h1;
  localparam logic [3:0] RegionRegs = 4'h2;
  localparam logic [31:0] RomBase = {RegionRom, 28'h0};
  localparam int unsigned RomWords = 256;
  localparam int unsigned RegAddrBits = 8;

  // A word with its code, an extended Hamming code. The 32 data bits are at the positions from 1 to 38 that are not powers of
  // two. The check bits are at the powers of two. Position 0 has the parity of the whole word.
  localparam int unsigned CodeBits = 39;
  typedef logic [CodeBits-1:0] code_t;
  typedef logic [5:0]          check_t;

  function automatic code_t spread(logic [31:0] data);
    code_t code;
    int unsigned bits;
    code = '0;
    bits = 0;
    for (int unsigned p = 1; p < CodeBits; p++) begin
      if ((p & (p - 1)) != 0) begin
        code[p] = data[5'(bits)];
        bits = bits + 1;
      end
    end
    return code;
  endfunction

  function automatic logic [31:0] gather(code_t code);
    logic [31:0] data;
    int unsigned bits;
    data = '0;
    bits = 0;
    for (int unsigned p = 1; p < CodeBits; p++) begin
      if ((p & (p - 1)) != 0) begin
        data[5'(bits)] = code[p];
        bits = bits + 1;
      end
    end
    return data;
  endfunction

  // The XOR of the positions of all 1 bits: 0 in a word without errors; after a single bit flip, its position.
  function automatic check_t syndrome(code_t code);
    check_t sum;
    sum = '0;
    for (int unsigned p = 1; p < CodeBits; p++) if (code[p]) sum = sum ^ check_t'(p);
    return sum;
  endfunction

  function automatic code_t encode(logic [31:0] data);
    code_t  code;
    check_t sum;
    code = spread(data);
    sum  = syndrome(code);
    for (int unsigned b = 0; b < 6; b++) code[1<<b] = sum[b];
    code[0] = ^code;
    return code;
  endfunction

  typedef struct packed {
    logic        corrected;  // there was one bit flip
    logic        failed;     // there were more bit flips: data is invalid
    logic [31:0] data;
  } word_t;

  function automatic word_t decode(code_t code);
    check_t sum;
    logic   odd;
    code_t  right;
    sum   = syndrome(code);
    odd   = ^code;
    right = code;
    for (int unsigned p = 0; p < CodeBits; p++) if (odd && sum == check_t'(p)) right[p] = !code[p];
    return '{corrected: odd && sum < check_t'(CodeBits), failed: (!odd && sum != '0) || (odd && sum >= check_t'(CodeBits)),
             data: gather(right)};
  endfunction

  // A client of SMEM; accesses are words.
  typedef struct packed {
    logic        valid;
    logic        write;
    logic [3:0]  strobe;  // byte enables of a write
    logic [29:0] word;
    logic [31:0] data;
  } smem_req_t;

  typedef struct packed {
    logic        ready;
    logic        valid;   // one cycle after the transfer, also for writes
    logic        failed;
    logic [31:0] data;
  } smem_rsp_t;
endpackage
