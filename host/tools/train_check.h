// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A training step by the golden model.
#ifndef HOST_TOOLS_TRAIN_CHECK_H_
#define HOST_TOOLS_TRAIN_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/training/state.h"
#include "host/training/step_program.h"

namespace systole::tools {

// A batch as the trainer takes it.
struct Batch {
  std::vector<uint8_t> pixels, labels;
};

struct StepOutcome {
  double loss = 0, right = 0;  // of the batch: mean, share
  training::TrainState state;
};

// The step that starts from `before`; `rows` of the array.
absl::StatusOr<StepOutcome> GoldenStep(
    const std::vector<training::Layer>& layers,
    const training::StepOptions& options, float rate, int rows,
    const training::TrainState& before, const Batch& batch);

// How many answers of the golden model are right, with the running statistics.
absl::StatusOr<int64_t> GoldenCountRight(
    const std::vector<training::Layer>& layers, int rows,
    const training::TrainState& state, const Batch& digits);

// kDataLoss names the first loss, share or value of the state whose bits
// differ: "step 3: the rtl's conv1.weights[0][5] is ... instead of the golden
// model's ...".
absl::Status CompareSteps(const std::vector<training::Layer>& layers,
                          int64_t step, const char* got_name,
                          const StepOutcome& got, const char* want_name,
                          const StepOutcome& want);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_CHECK_H_
