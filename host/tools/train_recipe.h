// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What decides every bit of a training run, and which digits its steps see.
#ifndef HOST_TOOLS_TRAIN_RECIPE_H_
#define HOST_TOOLS_TRAIN_RECIPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/tools/digits.h"
#include "host/training/step_program.h"
#include "nlohmann/json.hpp"

namespace systole::tools {

struct Recipe {
  std::string preset = "lite", optimiser = "adam";
  int64_t steps = 240, batch = 100;
  double rate = 0.006, momentum = 0.9;
  uint32_t seed = 1;
  std::string digits;  // CRC-32 of the training digits

  // kInvalidArgument names the field.
  absl::Status Check() const;
  training::StepOptions Options() const;
  // Of a step, counted from 0: falls linearly from `rate`; behind the last step
  // it would be 0.
  float Rate(int64_t step) const;
  nlohmann::ordered_json ToJson() const;
};

// Empty, or the first field in which `b` differs: "batch is 100 and 50".
std::string Disagreement(const Recipe& a, const Recipe& b);

// One line of the curve; steps count from 1.
struct CurvePoint {
  int64_t step = 0;
  double rate = 0, loss = 0, right = 0;  // of the batch: mean, share
  int64_t cycles = 0;                    // rtl
  double seconds = 0;                    // of the host, checks included
  bool checked = false, compared = false;
  int64_t test_right = -1;  // of the test digits; -1: not measured
};

// A run as checkpoints and reports describe it.
struct History {
  Recipe recipe;
  std::vector<CurvePoint> curve;
};
nlohmann::ordered_json ToJson(const std::vector<CurvePoint>& curve);
std::string Describe(const History& history);
// kInvalidArgument: not such a description.
absl::StatusOr<History> ParseHistory(const std::string& description);

// CRC-32 of pixels and labels, 8 hex digits.
std::string Fingerprint(const Digits& digits);

// The digits in an order that a hash of seed and epoch gives; an epoch after
// the other, whatever the size of the batch.
class BatchOrder {
 public:
  BatchOrder(int64_t count, uint32_t seed) : count_(count), seed_(seed) {}
  // Indices of the digits of a step, counted from 0.
  std::vector<int64_t> Batch(int64_t step, int64_t batch);

 private:
  void Shuffle(int64_t epoch);
  int64_t count_;
  uint32_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_RECIPE_H_
