// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A training step by the golden model, and the comparison of two.
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/tools/train_run.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::tools {
namespace {

// "0.123 (0x3DFBE76D)".
std::string ValueText(const ir::Literal& values, int64_t index) {
  const int bytes = ir::ElementBytes(values.element());
  uint64_t bits = 0;
  std::memcpy(&bits, values.data() + index * bytes, bytes);
  const double value = values.Visit([&](const auto& all) {
    return static_cast<double>(static_cast<float>(all[index]));
  });
  return absl::StrFormat("%.9g (0x%0*X)", value, 2 * bytes, bits);
}

}  // namespace

absl::StatusOr<StepOutcome> GoldenStep(
    const TrainProgram& program, std::vector<ir::Literal> state,
    const std::vector<ir::Literal>& arguments) {
  state.insert(state.end(), arguments.begin(), arguments.end());
  auto results = golden::RunHlo(*program.step.program.module, state);
  if (!results.ok()) return results.status();
  const auto behind = results->begin() + program.state.size();
  return StepOutcome{{results->begin(), behind}, {behind, results->end()}};
}

absl::Status CompareSteps(const TrainProgram& program, int64_t step,
                          const std::string& got_name, const StepOutcome& got,
                          const std::string& want_name,
                          const StepOutcome& want) {
  std::string first;
  int64_t differ = 0, values = 0;
  const auto compare = [&](const std::string& name, const ir::Literal& a,
                           const ir::Literal& b) {
    values += a.size();
    if (a == b) return;
    const int bytes = ir::ElementBytes(a.element());
    for (int64_t i = 0; i < a.size(); ++i) {
      if (std::memcmp(a.data() + i * bytes, b.data() + i * bytes, bytes) == 0)
        continue;
      if (++differ == 1) {
        first = absl::StrFormat("%s[%d] is %s instead of %s", name, i,
                                ValueText(a, i), ValueText(b, i));
      }
    }
  };
  for (size_t i = 0; i < program.state.size(); ++i)
    compare(program.state[i].name, got.state[i], want.state[i]);
  for (size_t i = 0; i < program.step.results.size(); ++i)
    compare(program.step.results[i], got.values[i], want.values[i]);
  if (differ == 0) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrFormat("step %d: %s and %s differ: %s; %d of %d values differ",
                      step, got_name, want_name, first, differ, values));
}

}  // namespace systole::tools
