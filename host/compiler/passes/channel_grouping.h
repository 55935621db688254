// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise layers that a 1x1 convolution alone reads: several outputs of few
// channels a column tile, where that takes fewer cycles of both (layer_work.h).
#ifndef HOST_COMPILER_PASSES_CHANNEL_GROUPING_H_
#define HOST_COMPILER_PASSES_CHANNEL_GROUPING_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

class ChannelGrouping : public PlanPass {
 public:
  std::string name() const override { return "channel-grouping"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_CHANNEL_GROUPING_H_
