// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Trains on a device: initial state, batches, losses; everything else is the
// step's program.
//
//   auto trainer = training::Trainer::Create(*device, DigitsLayers(), options,
//                                            /*seed=*/1);
//   auto result = (*trainer)->Step(pixels, labels, rate);    // one batch
//   auto right = (*trainer)->CountRight(test_pixels, test_labels);
#ifndef HOST_TRAINING_TRAINER_H_
#define HOST_TRAINING_TRAINER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/training/state.h"
#include "host/training/step_program.h"
#include "systole/device.h"

namespace systole::training {

struct StepReport {
  double loss = 0;   // mean of the batch
  double right = 0;  // share of the batch
  RunStats stats;
};

// A step on both cores of a chip, of trainers with StepOptions::replicas 2 and
// equal layers, options and seed: the first half of the batch on the first
// core, the second on the other one.
//
//   auto cores = Device::OpenCores("rtl", {.preset = "minichip"});
//   auto first = Trainer::Create(*(*cores)[0], layers, options, /*seed=*/1);
//   auto second = Trainer::Create(*(*cores)[1], layers, options, /*seed=*/1);
//   auto reports = StepOnBoth(**first, **second, pixels, labels, rate);
class Trainer;
absl::StatusOr<std::array<StepReport, 2>> StepOnBoth(
    Trainer& first, Trainer& second, absl::Span<const uint8_t> pixels,
    absl::Span<const uint8_t> labels, float rate);

class Trainer {
 public:
  // The device must be of a preset with the bf16 cell; it outlives the trainer.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(
      Device& device, const std::vector<Layer>& layers,
      const StepOptions& options, uint32_t seed);

  // pixels: batch images, 0..255; labels: their classes; rate: the learning
  // rate of this step. kInvalidArgument on a wrong number or class.
  absl::StatusOr<StepReport> Step(absl::Span<const uint8_t> pixels,
                                  absl::Span<const uint8_t> labels, float rate);

  // Answers that are right, of any number of images: a forward pass on the
  // device, with the running statistics. Leaves the state as it is.
  absl::StatusOr<int64_t> CountRight(absl::Span<const uint8_t> pixels,
                                     absl::Span<const uint8_t> labels);

  absl::StatusOr<TrainState> ReadState();
  absl::Status WriteState(const TrainState& state);

  // What a step left in HBM, for checks. Weights [K][Co].
  absl::StatusOr<std::vector<float>> ReadMatrix(const Slab& slab, uint64_t hbm);
  // Row of the layer's parameter blocks, [Co].
  absl::StatusOr<std::vector<float>> ReadParam(int layer, ParamRow row);
  // bf16 bits, image after image.
  absl::StatusOr<std::vector<uint16_t>> ReadImages(const ImageTensor& tensor);

  const StepProgram& step() const { return step_; }
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  friend absl::StatusOr<std::array<StepReport, 2>> StepOnBoth(
      Trainer& first, Trainer& second, absl::Span<const uint8_t> pixels,
      absl::Span<const uint8_t> labels, float rate);

  Trainer(Device& device, std::vector<Layer> layers, StepOptions options,
          StepProgram step)
      : device_(device),
        layers_(std::move(layers)),
        options_(options),
        step_(std::move(step)) {}
  // Before and behind a run of the step.
  absl::Status Prepare(absl::Span<const uint8_t> pixels,
                       absl::Span<const uint8_t> labels, float rate);
  absl::StatusOr<StepReport> Report(RunStats stats);
  absl::Status CheckBatch(absl::Span<const uint8_t> pixels,
                          absl::Span<const uint8_t> labels) const;
  // Images in the first places of the batch; places behind them are empty and
  // have no class.
  absl::Status WriteBatch(absl::Span<const uint8_t> pixels,
                          absl::Span<const uint8_t> labels);
  absl::Status LoadForward();
  absl::Status WriteMatrix(const Slab& slab, uint64_t hbm,
                           const std::vector<float>& dense);
  absl::Status WriteParam(int layer, ParamRow row,
                          absl::Span<const float> values);

  Device& device_;
  std::vector<Layer> layers_;
  StepOptions options_;
  StepProgram step_;
  std::optional<Program> forward_;  // made and loaded when it is needed
};

}  // namespace systole::training

#endif  // HOST_TRAINING_TRAINER_H_
