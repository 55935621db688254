// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on the bf16 cores: C = A x B, from HBM to HBM.
//
//   absl::StatusOr<Program> program =
//       compiler::CompileFloatMatmul({1024, 1024, 1024, b}, *FindPreset("v2"));
//   device->WriteTensor(*program->FindTensor("a"), a);   // bf16, m x k
//
// Numbers: each element of C is the chain row = fma(a[i][k], b[k][j], row), k
// ascending from row = +0, K rounded up to whole tiles with zeros
// (docs/numerics.md).
#ifndef SYSTOLE_FLOAT_MATMUL_H_
#define SYSTOLE_FLOAT_MATMUL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/compiler.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

struct FloatMatmulSpec {
  int64_t m = 1, k = 1, n = 1;
  std::vector<uint16_t> b;      // bits of bf16, row-major [k][n]
  bool b_transposed = false;    // b is [n][k]
  bool float32_result = false;  // c is fp32; otherwise rounded to bf16
  bool b_later = false;         // b is empty: it is written before each run
};

// Tensors "a" and "c" of m lines of k and n values; with `b_later` also "b" of
// one line, which is what PackTiles makes of the values. Errors:
// kInvalidArgument (a size, the length of b, a preset without the bf16 cell),
// kResourceExhausted (K too large for the unified buffer). Of the options
// `reorder`, `ub_bytes` and `observer` count.
absl::StatusOr<Program> CompileFloatMatmul(const FloatMatmulSpec& spec,
                                           const Preset& preset,
                                           const Options& options = {});

// k x n bits of bf16, [k][n] or, transposed, [n][k], as the tiles that the
// program of such a spec takes one after the other, filled up with zeros.
std::vector<uint8_t> PackTiles(const FloatMatmulSpec& spec,
                               const Preset& preset, const uint16_t* b);

}  // namespace systole::compiler

#endif  // SYSTOLE_FLOAT_MATMUL_H_
