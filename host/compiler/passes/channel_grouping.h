// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise layers that only a 1x1 convolution reads: a column tile computes
// several outputs of few channels, where both layers together then take fewer
// cycles (layer_work.h).
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
