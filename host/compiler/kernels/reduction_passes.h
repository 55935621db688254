// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code that reduces lines in the unified buffer by one operation, in the
// order by halves of docs/hlo.md. A line has [count][inner] elements, of which
// [inner] are left.
//
//   ReductionPasses passes(node, lines, count, inner, preset);
//   passes.AddCode(first_value, spread_row, words);
//   builder.SetCode(words);
//   passes.Spread(builder);
//   passes.Run(builder, values, lines, result, result.at);
//
// Passes take several levels of the tree at a time, in registers:
//   levels  2^m elements of each line become one; the last pass adds the first
//           value
//   lanes   inner = 1: lines of up to 32 rows; what is left of a line is in one
//           row, whose lanes are rotated
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_PASSES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_PASSES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/line_graph.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

class ReductionPasses {
 public:
  using Bytes = KernelBuilder::Bytes;

  // `node`: a reduction by one operation; `lines`: of a run, at most.
  // `left`: how many elements of each result are left, at the beginning of its
  // line; 0: all. Each run has a multiple of `multiple` lines; 0: any number.
  // `gap`: bytes behind each line.
  ReductionPasses(const ir::Node& node, int64_t lines, int64_t count,
                  int64_t inner, const Preset& preset, int64_t left = 0,
                  int64_t multiple = 0, int64_t gap = 0);

  // Appends the code. `first`: the first value; `row`: a row of words for it in
  // all lanes. Errors: ResourceExhausted (registers, instruction memory).
  absl::Status AddCode(Bytes first, Bytes row, std::vector<uint64_t>& words);
  // Whether a run overwrites the values.
  bool Overwrites() const;

  // Brings the first value into all lanes. Call before Run.
  void Spread(KernelBuilder& builder) const;
  // Reduces lines at `values` to elements from `to` on, in `result`.
  void Run(KernelBuilder& builder, Bytes values, int64_t lines, Bytes result,
           int64_t to) const;

 private:
  // `levels` levels of lines of `count` elements; or all of them in the lanes.
  struct Pass {
    int64_t count = 1;
    int levels = 0;
    bool lanes = false, last = false;
    int pc = 0;
    double cycles = 0;  // of a row
    int64_t ends = 0;   // of a run, besides
  };
  using LoadElement = std::function<Lane(int64_t)>;
  // Whether one pass takes all of such lines.
  bool FitsLanes(int64_t count) const;
  absl::Status Emit(Pass pass, std::vector<uint64_t>& words);
  static Lane OfLevels(int64_t count, const LoadElement& load,
                       const CombineLanes& combine);
  Lane OfLanes(LaneGraph& graph, int64_t count, const LoadElement& load,
               const CombineLanes& combine) const;
  int64_t Step(const Pass& pass) const;
  int64_t Width(const Pass& pass) const;
  bool AlongLines(const Pass& pass) const;
  int64_t Rows(const Pass& pass) const;
  RunRows RowsOfRuns(const Pass& pass) const;
  void Run(KernelBuilder& builder, const Pass& pass, Bytes values, Bytes into,
           int64_t to, int64_t lines) const;

  const Preset& preset_;
  const ir::Op combiner_;
  const ir::ElementType element_;
  const int64_t size_;  // bytes of an element
  const int64_t lines_, count_, inner_, left_, multiple_;
  const int64_t pitch_;  // bytes from a line to the next
  Bytes first_ = {0, 0}, row_ = {0, 0};
  std::vector<Pass> passes_;
  int spread_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_PASSES_H_
