// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowering of one layer: appends the descriptors of its blocks in an order that
// is right one by one. Dependences and flags are the schedule builder's affair.
#ifndef HOST_COMPILER_LOWER_H_
#define HOST_COMPILER_LOWER_H_

#include <functional>

#include "absl/status/status.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/memory_plan.h"
#include "host/compiler/schedule_builder.h"
#include "host/compiler/streams.h"
#include "systole/model.h"

namespace systole::compiler {

struct LoweringContext {
  const model::Network& network;
  const std::vector<LayerWork>& works;  // as Network::layers
  const Preset& preset;
  const MemoryPlan& memory;
  HbmImage& hbm;
  ScheduleBuilder& builder;
  // Accumulators: blocks alternate between the banks, across layers too, and go
  // round in each.
  int64_t bank = 0;
  int64_t next_row[2] = {0, 0};

  // Rows for a block.
  int64_t AllocateRows(int64_t rows) {
    const int64_t limit = preset.acc_bank_rows();
    int64_t& next = next_row[bank];
    if (next + rows > limit) next = 0;
    const int64_t at = bank * limit + next;
    next += rows;
    bank ^= 1;
    return at;
  }
};

// conv2d, depthwise, dense. `after` is called behind the descriptors of each
// block, with its number.
absl::Status LowerConv(
    LoweringContext& context, int layer,
    const std::function<void(size_t)>& after = [](size_t) {});
// maxpool, avgpool. kUnimplemented for a window beyond the vector unit's.
absl::Status LowerPool(LoweringContext& context, int layer);

// An addition, block by block.
class AddLowering {
 public:
  AddLowering(LoweringContext& context, int layer);
  void Append(const Block& block);

 private:
  LoweringContext& context_;
  const model::Layer& layer_;
  const Geometry& g_;
  InputStream in0_, in1_;
  OutputStream out_;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LOWER_H_
