// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a compiled network on a device and compares every tensor that reaches
// HBM with the golden model, bit for bit.
//
//   absl::StatusOr<std::vector<ExpectedTensor>> expected =
//       GoldenTensors(network, input, /*raw=*/false);
//   absl::StatusOr<CheckedRun> run =
//       RunChecked(*device, program, network, input, *expected);
//   if (run.ok() && !run->mismatches().empty())
//     std::cerr << run->mismatches()[0];
#ifndef HOST_TOOLS_CHECKER_H_
#define HOST_TOOLS_CHECKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/device.h"
#include "systole/model.h"
#include "systole/program.h"

namespace systole::tools {

// Dense NHWC bytes, little endian.
struct ExpectedTensor {
  std::string name;
  std::vector<uint8_t> bytes;
};

using Inputs = std::vector<absl::Span<const int8_t>>;  // as Network::inputs

// What the golden model computes for a batch of dense int8 inputs: the output
// of each layer. `raw`: the accumulators of the network's one layer instead
// (int32).
absl::StatusOr<std::vector<ExpectedTensor>> GoldenTensors(
    const model::Network& network, const Inputs& inputs, bool raw);
inline absl::StatusOr<std::vector<ExpectedTensor>> GoldenTensors(
    const model::Network& network, absl::Span<const int8_t> input, bool raw) {
  return GoldenTensors(network, Inputs{input}, raw);
}

struct LayerRun {
  LayerInfo info;
  int64_t cycles =
      0;  // from the end of the layer before to the end of this one
  uint64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  std::optional<bool> bit_exact;  // nothing: its output never reached HBM
  std::string mismatch;  // operation, image, row, column, channel, both values,
                         // descriptor, cycle
  std::optional<uint64_t> wrong_cycle;  // that cycle, if there is a mismatch
};

struct CheckedRun {
  RunStats stats;
  std::vector<LayerRun> layers;
  std::vector<std::vector<uint8_t>> outputs;  // dense, as Network::outputs

  const std::vector<uint8_t>& output() const { return outputs[0]; }
  std::vector<std::string> mismatches() const;
};

absl::StatusOr<CheckedRun> RunChecked(
    Device& device, const Program& program, const model::Network& network,
    const Inputs& inputs, const std::vector<ExpectedTensor>& expected);
inline absl::StatusOr<CheckedRun> RunChecked(
    Device& device, const Program& program, const model::Network& network,
    absl::Span<const int8_t> input,
    const std::vector<ExpectedTensor>& expected) {
  return RunChecked(device, program, network, Inputs{input}, expected);
}

// The first difference of a tensor, or an empty string. `cycle`: that in which
// what wrote it was complete.
std::string DescribeMismatch(const Program& program, const Preset& preset,
                             const LayerInfo& layer, const TensorInfo& tensor,
                             absl::Span<const uint8_t> got,
                             absl::Span<const uint8_t> want,
                             const RunStats& stats,
                             std::optional<uint64_t>* cycle = nullptr);

// Bytes that a layer's descriptors move, whole beats.
void CountBytes(const Program& program, const Preset& preset,
                std::vector<LayerRun>& layers);
// The least bytes that a layer must move: its weights (1 byte each), biases (4)
// and factors (5) once, those of its inputs that are the program's and that no
// layer before it reads, its output if that is one of the program's; all dense.
uint64_t LeastBytes(const Program& program, size_t layer);
// Cycles of each layer: to the last completion of its array and vector work.
// They add up to the total.
void AttributeCycles(const Program& program, const RunStats& stats,
                     std::vector<LayerRun>& layers);

}  // namespace systole::tools

#endif  // HOST_TOOLS_CHECKER_H_
