// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/training/step_program.h"

namespace systole::training {

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kNormBackward:
      return "batch norm backward";
    case Phase::kWeightGradient:
      return "weight gradient";
    case Phase::kInputGradient:
      return "input gradient";
    case Phase::kOptimiser:
      return "optimiser";
  }
  return "?";
}

int64_t PhaseMacs(const std::vector<Layer>& layers, int layer, Phase phase,
                  int64_t batch) {
  switch (phase) {
    case Phase::kForward:
    case Phase::kWeightGradient:
      return batch * layers[layer].macs();
    case Phase::kInputGradient:
      return layer == 0 ? 0 : batch * layers[layer].macs();
    default:
      return 0;
  }
}

std::vector<LayerInfo> StepLayers(const std::vector<Layer>& layers,
                                  int64_t batch) {
  std::vector<LayerInfo> infos;
  for (size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    for (int p = 0; p < kNumPhases; ++p) {
      const Phase phase = static_cast<Phase>(p);
      LayerInfo info;
      info.name = absl::StrCat(layer.name, " ", PhaseName(phase));
      info.op = PhaseName(phase);
      info.shape =
          absl::StrFormat("%d images, %dx%dx%d to %dx%dx%d", batch, layer.h,
                          layer.w, layer.ci, layer.oh, layer.ow, layer.co);
      info.macs = PhaseMacs(layers, static_cast<int>(l), phase, batch);
      infos.push_back(std::move(info));
    }
  }
  return infos;
}

}  // namespace systole::training
