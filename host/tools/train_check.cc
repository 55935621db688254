// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_check.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "host/tools/golden_network.h"
#include "verif/golden/training.h"

namespace systole::tools {
namespace {

using training::Layer;
using training::TrainState;

// Every value of a golden state beside that of a state of ours, layer by layer
// and in the order of training::Tensors.
template <class Copy>
void ForEach(const std::vector<Layer>& layers, golden::TrainingState& golden,
             TrainState& ours, Copy copy) {
  for (size_t i = 0; i < layers.size(); ++i) {
    golden::LayerState& g = golden.layers[i];
    training::LayerState& o = ours.layers[i];
    copy(g.weights.value, o.weights);
    copy(g.weights.first, o.weights_first);
    copy(g.weights.second, o.weights_second);
    copy(g.offset.value, o.offset);
    copy(g.offset.first, o.offset_first);
    copy(g.offset.second, o.offset_second);
    if (!layers[i].normed) continue;
    copy(g.running_mean, o.running_mean);
    copy(g.running_var, o.running_var);
  }
}

golden::TrainingState ToGolden(const std::vector<Layer>& layers,
                               TrainState state) {
  golden::TrainingState golden =
      golden::InitialState(GoldenNetwork(layers), /*seed=*/0);
  ForEach(layers, golden, state, [](auto& to, const std::vector<float>& from) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
  });
  golden.power1 = state.powers[0];
  golden.power2 = state.powers[1];
  return golden;
}

TrainState FromGolden(const std::vector<Layer>& layers,
                      golden::TrainingState golden) {
  TrainState state = training::EmptyState(layers);
  ForEach(layers, golden, state, [](const auto& from, std::vector<float>& to) {
    std::memcpy(to.data(), from.data(), to.size() * sizeof(float));
  });
  state.powers = {golden.power1, golden.power2};
  return state;
}

golden::Optimiser OptimiserOf(const training::StepOptions& options,
                              float rate) {
  if (options.optimiser == training::OptimiserKind::kSgd)
    return golden::Sgd{rate, static_cast<float>(options.momentum)};
  return golden::Adam{rate, options.beta1, options.beta2};
}

}  // namespace

absl::StatusOr<StepOutcome> GoldenStep(const std::vector<Layer>& layers,
                                       const training::StepOptions& options,
                                       float rate, int rows,
                                       const TrainState& before,
                                       const Batch& batch) {
  const golden::TrainingNetwork network = GoldenNetwork(layers);
  golden::TrainingState state = ToGolden(layers, before);
  const auto result = golden::Step(
      network,
      golden::PixelsToBf16(batch.pixels, network.height * network.width),
      batch.labels, OptimiserOf(options, rate), rows, &state);
  if (!result.ok()) return result.status();
  const auto images = static_cast<double>(batch.labels.size());
  return StepOutcome{result->loss / images, result->correct / images,
                     FromGolden(layers, std::move(state))};
}

absl::StatusOr<int64_t> GoldenCountRight(const std::vector<Layer>& layers,
                                         int rows, const TrainState& state,
                                         const Batch& digits) {
  const golden::TrainingNetwork network = GoldenNetwork(layers);
  const auto logits = golden::Evaluate(
      network,
      golden::PixelsToBf16(digits.pixels, network.height * network.width), rows,
      ToGolden(layers, state));
  if (!logits.ok()) return logits.status();
  return golden::CountCorrect(*logits, digits.labels);
}

absl::Status CompareSteps(const std::vector<Layer>& layers, int64_t step,
                          const char* got_name, const StepOutcome& got,
                          const char* want_name, const StepOutcome& want) {
  std::string text = training::Difference(layers, got.state, want.state);
  if (text.empty()) {
    for (const auto& [name, x, y] :
         {std::tuple("loss", got.loss, want.loss),
          std::tuple("share of right answers", got.right, want.right)}) {
      if (std::memcmp(&x, &y, sizeof(x)) != 0) {
        text = absl::StrFormat("the %s is %.9g instead of %.9g", name, x, y);
        break;
      }
    }
  }
  if (text.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("step %d: %s and %s differ: %s",
                                             step, got_name, want_name, text));
}

}  // namespace systole::tools
