// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The program of one training step (docs/training.md): forward, loss, backward,
// optimiser, all on the device. Everything lies in HBM between its uses, so the
// batch may be any size that fits there. The same program runs for every step;
// the host only puts the next images and labels in place.
//
//   auto step = training::BuildStep(DigitsLayers(), options, preset);
//   device->Load(step->program);
//   step->layout.WriteImages(...)
#ifndef HOST_TRAINING_STEP_PROGRAM_H_
#define HOST_TRAINING_STEP_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/training/train_network.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::training {

enum class OptimiserKind { kSgd, kAdam };

struct StepOptions {
  int64_t batch = 64;
  OptimiserKind optimiser = OptimiserKind::kAdam;
  double momentum = 0.9;              // SGD
  double beta1 = 0.9, beta2 = 0.999;  // Adam
  // Only the forward pass, with the running statistics; the loss and the right
  // answers of the batch. Lies in HBM where the step of the same options does.
  bool forward_only = false;
  // Cores of the chip that take a step together, each with a batch and with the
  // state of its own: 1, or 2, whose gradients are added before the optimiser
  // (docs/training.md, "Two cores"). The same program is for both.
  int64_t replicas = 1;
};

// Rows of the parameter block of a column tile (firmware/vpu/batch_norm.vs and
// loss.vs).
enum ParamRow : int {
  kMean = 0,
  kInv = 1,
  kBeta = 2,
  kRunningMean = 3,
  kRunningVar = 4,
  kBias = 0,  // of the last layer
  kClassMask = 1,
  kOffsetGradient = 7,
  kOffsetFirst = 8,
  kOffsetSecond = 9,
  kLoss = 26,
  kRight = 27,
  kParamRows = 32,
};

// Rows of the optimiser's constants (firmware/vpu/optimisers.vs).
enum PowerRow : int {
  kPower1 = 0,
  kPower2 = 1,
  kLearningRate = 4,
  kPowerRows = 8
};

// A bf16 tensor: images `pitch` bytes apart, dense inside.
struct ImageTensor {
  uint64_t hbm = 0;
  int64_t bytes = 0;  // of an image
  int64_t pitch = 0;
};

struct LayerLayout {
  Slab slab;                                                 // of the weights
  uint64_t master = 0, first = 0, second = 0, gradient = 0;  // fp32 slabs
  uint64_t working = 0;                                      // bf16 slab
  int64_t param_block = 0;  // index of the first tile's parameter block
  ImageTensor in, z, dz;    // in: what the layer reads
  ImageTensor a, da;        // behind the batch norm
  ImageTensor out, dout;    // what other layers read: behind pool and sum
};

struct StepLayout {
  std::vector<LayerLayout> layers;
  uint64_t params = 0;  // parameter blocks: [block][kParamRows][L] fp32
  int64_t param_blocks = 0;
  uint64_t powers = 0;  // [kPowerRows][L] fp32
  uint64_t shared = 0;  // two replicas: the parameter blocks with gradients
  uint64_t labels = 0;  // one-hot rows of L bf16
  int64_t label_pitch = 0;
};

struct StepProgram {
  Program program;
  StepLayout layout;
  int64_t estimated_cycles = 0;
};

// Phases of a layer. Tags of descriptors, and the program's layers, are
// operations: TagOf.
enum class Phase : int {
  kForward = 0,
  kNormBackward = 1,
  kWeightGradient = 2,
  kInputGradient = 3,
  kOptimiser = 4,
};
inline constexpr int kNumPhases = 5;
const char* PhaseName(Phase phase);  // "weight gradient"
// Multiplications that the phase of a layer needs, without padding of the
// array.
int64_t PhaseMacs(const std::vector<Layer>& layers, int layer, Phase phase,
                  int64_t batch);
// What a step's operations are, by tag.
std::vector<LayerInfo> StepLayers(const std::vector<Layer>& layers,
                                  int64_t batch);
constexpr int TagOf(int layer, Phase phase) {
  return layer * kNumPhases + static_cast<int>(phase);
}

// kInvalidArgument: the preset cannot train such layers with these options,
// whatever room it has.
absl::Status CheckStep(const std::vector<Layer>& layers,
                       const StepOptions& options, const Preset& preset);

// Errors: those of CheckStep; kResourceExhausted (a layer that does not fit, by
// name).
absl::StatusOr<StepProgram> BuildStep(const std::vector<Layer>& layers,
                                      const StepOptions& options,
                                      const Preset& preset);

// The module that the step is made from (host/ir/train/ops.h) and the plan of
// its values, as text. The same errors.
absl::StatusOr<std::string> StepText(const std::vector<Layer>& layers,
                                     const StepOptions& options,
                                     const Preset& preset);

}  // namespace systole::training

#endif  // HOST_TRAINING_STEP_PROGRAM_H_
