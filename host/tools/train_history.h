// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What decides every bit of a training run, and what became of its steps.
#ifndef HOST_TOOLS_TRAIN_HISTORY_H_
#define HOST_TOOLS_TRAIN_HISTORY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace systole::tools {

struct Recipe {
  int64_t steps = 240;
  double rate = 0.006;
  uint32_t seed = 1;
  std::string program, data;  // digests

  // kInvalidArgument names the field.
  absl::Status Check() const;
  // Of a step, counted from 0: falls linearly from `rate`; behind the last step
  // it would be 0.
  float Rate(int64_t step) const;
  nlohmann::ordered_json ToJson() const;
};

// Empty, or the first field in which `b` differs: "its steps is 50, here it is
// 100".
std::string Disagreement(const Recipe& a, const Recipe& b);

using Metrics = std::vector<std::pair<std::string, double>>;

// One line of the curve; steps count from 1.
struct CurvePoint {
  int64_t step = 0;
  double rate = 0;
  Metrics metrics;     // what the step gives beside the state
  int64_t cycles = 0;  // rtl
  double seconds = 0;  // of the host, checks included
  bool checked = false, compared = false;
  Metrics test;  // means over the test samples; empty: not measured
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

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_HISTORY_H_
