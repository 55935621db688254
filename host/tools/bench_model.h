// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// `systole bench MODEL...`: each layer of whole models, measured.
#ifndef HOST_TOOLS_BENCH_MODEL_H_
#define HOST_TOOLS_BENCH_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/tools/bench.h"

namespace systole::tools {

struct ModelBenchArgs {
  std::string preset = "edge";
  int64_t batch = 1;
};

// Runs one batch of random inputs through each of args.sections, compares with
// the golden model, prints a table a model and writes bench_models.json.
absl::Status BenchModels(const BenchArgs& args,
                         const ModelBenchArgs& model_args);

}  // namespace systole::tools

#endif  // HOST_TOOLS_BENCH_MODEL_H_
