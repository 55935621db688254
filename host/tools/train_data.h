// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What the steps of a training learn from: arrays with a sample a row, and the
// order in which the samples come.
#ifndef HOST_TOOLS_TRAIN_DATA_H_
#define HOST_TOOLS_TRAIN_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/ir/literal.h"
#include "host/tools/train_program.h"

namespace systole::tools {

// Where data come from: "NAME=FILE.npy" for each, and for `images` and `labels`
// that are not among them the digits of a folder, its part "train" or "test".
struct DataPlaces {
  std::vector<std::string> files;
  std::string option;  // that names them: "--data"
  std::string digits, part;
};

class TrainData {
 public:
  // All that the module takes. `most` samples, the first ones; 0: all. Errors:
  // those of npy::Read and ReadDigits; InvalidArgument names the data, what is
  // needed and what there is.
  static absl::StatusOr<TrainData> Read(const TrainModule& module,
                                        const DataPlaces& places,
                                        int64_t most = 0);

  int64_t count() const { return count_; }
  // Of an argument of the module that is data.
  ir::Literal Batch(const TrainArgument& argument,
                    absl::Span<const int64_t> samples) const;
  // CRC-32 of all data, 8 hex digits.
  std::string Digest() const;

 private:
  struct Array {
    std::string name;
    ir::Literal values;
    int64_t elements = 0;  // of a sample
  };
  std::vector<Array> arrays_;
  int64_t count_ = 0;
};

// The values of a step behind the state.
struct StepScalars {
  float rate = 0.001f;
  int64_t step = 0;  // counted from 0
  uint32_t seed = 1;
};
std::vector<ir::Literal> StepArguments(const TrainProgram& program,
                                       const TrainData& data,
                                       absl::Span<const int64_t> samples,
                                       const StepScalars& scalars);

// All samples in an order that a hash of seed and epoch gives; an epoch after
// the other, whatever the size of the batch.
class BatchOrder {
 public:
  BatchOrder(int64_t count, uint32_t seed) : count_(count), seed_(seed) {}
  // Indices of the samples of a step, counted from 0.
  std::vector<int64_t> Batch(int64_t step, int64_t batch);

 private:
  void Shuffle(int64_t epoch);
  int64_t count_;
  uint32_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_DATA_H_
