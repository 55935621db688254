// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowering of one layer: appends the descriptors of its blocks in an order that
// is correct when they are executed one by one. The schedule builder adds
// dependences and flags.
#ifndef HOST_COMPILER_LOWER_H_
#define HOST_COMPILER_LOWER_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "host/compiler/streams.h"
#include "systole/model.h"
#include "systole/program.h"

namespace systole::compiler {

struct LoweringContext {
  const model::Network& network;
  const Preset& preset;
  const Plan& plan;                 // with addresses
  std::vector<TensorInfo> tensors;  // as Network::tensors; those in HBM
  HbmImage& hbm;
  ScheduleBuilder& builder;
  // Accumulator allocation: blocks alternate between the two banks, across
  // layers too, and wrap around within a bank.
  int64_t bank = 0;
  int64_t next_row[2] = {0, 0};

  // Address of a buffer; 0 for none.
  int64_t BaseOf(int buffer) const {
    return buffer == kNowhere ? 0 : plan.buffers[buffer].at;
  }
  InputStream Input(int layer, int i) {
    const PlanLayer& l = plan.layers[layer];
    return {l.in[i], BaseOf(l.in[i].buffer), tensors[l.inputs[i]], preset,
            builder};
  }
  OutputStream Output(int layer) {
    const PlanLayer& l = plan.layers[layer];
    return {l.out,
            BaseOf(l.out.buffer),
            tensors[plan.ResultOf(layer)],
            l.g,
            preset,
            builder};
  }

  // Accumulator rows for a block. `halves`: the block starts at the beginning
  // or the middle of a bank, so that the rows repeat every four blocks, or
  // every two if the block is larger than half a bank.
  int64_t AllocateRows(int64_t rows, bool halves) {
    const int64_t limit = preset.acc_bank_rows(), half = limit / 2;
    int64_t& next = next_row[bank];
    if (halves)
      next = rows <= half && next > 0 && next <= half ? half : 0;
    else if (next + rows > limit)
      next = 0;
    const int64_t at = bank * limit + next;
    next += rows;
    bank ^= 1;
    return at;
  }
};

// Called with the number of each block after its descriptors are appended.
using AfterBlock = std::function<void(size_t)>;

// Uses the operation's emitter (emitters.h). kUnimplemented: there is none.
absl::Status LowerOnArray(
    LoweringContext& context, int layer,
    const AfterBlock& after = [](size_t) {});

// The table of a layer: loads it into the unified buffer and into the lanes
// before the first result that uses it.
class TableStream {
 public:
  TableStream(LoweringContext& context, int layer)
      : context_(context), layer_(layer) {}
  void Require();

 private:
  LoweringContext& context_;
  const int layer_;
  bool there_ = false;
};

// Lowering of a layer that only the vector unit works on, block by block.
class VectorLowering {
 public:
  virtual ~VectorLowering() = default;
  virtual void Append(const Block& block) = 0;
};

// Uses the operation's emitter (emitters.h). kUnimplemented: there is none, or
// the vector unit does not support the window.
absl::StatusOr<std::unique_ptr<VectorLowering>> MakeVectorLowering(
    LoweringContext& context, int layer);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LOWER_H_
