// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/module_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/tools/module_file.h"
#include "host/tools/tensor_io.h"

namespace systole::tools {
namespace {

using ir::Literal;

std::vector<std::string> InputNames(const ir::Module& module) {
  std::vector<std::string> names;
  for (const ir::Node* input : module.inputs()) names.push_back(input->name);
  return names;
}

}  // namespace

absl::StatusOr<ModuleInputs> ReadInputs(const RunArgs& args,
                                        const ir::Module& module) {
  ModuleInputs inputs;
  const std::vector<std::string> names = InputNames(module);
  const bool none = names.empty() && args.inputs.empty();
  if (!none && (args.random > 0) == !args.inputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model, ": give either --input or --random; inputs: ",
        absl::StrJoin(
            module.inputs(), ", ", [](std::string* out, const ir::Node* input) {
              absl::StrAppend(out, input->name, " ",
                              ValuesText(input->type, StoredOf(*input)));
            })));
  }
  if (args.inputs.empty()) {
    inputs.stacked = args.random > 1;
    inputs.runs.resize(std::max<int64_t>(args.random, 1));
    uint64_t seed = args.seed;
    for (std::vector<Literal>& run : inputs.runs) {
      for (const ir::Node* input : module.inputs())
        run.push_back(RandomOf(input->type, seed++));
    }
    return inputs;
  }
  const auto files = FilesFor(names, args.inputs, "--input");
  if (!files.ok()) return files.status();
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& file = (*files)[i];
    if (file.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no file for the input '", names[i], "'"));
    }
    const auto array = npy::Read(file);
    if (!array.ok()) return array.status();
    auto values = FromArray(*array, module.inputs()[i]->type,
                            StoredOf(*module.inputs()[i]));
    if (!values.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": input '", names[i], "': ", values.status().message()));
    }
    if (values->runs.empty() ||
        (i > 0 && (values->runs.size() != inputs.runs.size() ||
                   values->stacked != inputs.stacked))) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: %d runs, %s", file, values->runs.size(),
          values->runs.empty() ? "at least 1 is needed"
                               : "another number than of the first input"));
    }
    inputs.stacked = values->stacked;
    inputs.runs.resize(values->runs.size());
    for (size_t run = 0; run < values->runs.size(); ++run)
      inputs.runs[run].push_back(std::move(values->runs[run]));
  }
  return inputs;
}

}  // namespace systole::tools
