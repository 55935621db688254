// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compares what a compiled model computed with the golden model: every tensor
// that reached HBM with the lowered network's, every output with that of the
// model as it was imported, no pass applied.
//
//   ModelCheck check(*source);
//   absl::Status status = check.Compare(model, inputs, *run);
//   if (status.ok() && !check.mismatches().empty()) ...
#ifndef HOST_TOOLS_MODEL_CHECK_H_
#define HOST_TOOLS_MODEL_CHECK_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/runtime/build.h"
#include "host/runtime/compiled_model.h"
#include "host/runtime/runner.h"
#include "systole/gen/presets.h"

namespace systole::tools {

class ModelCheck {
 public:
  explicit ModelCheck(const runtime::Source& source) : source_(source) {}

  // `inputs` as Runner::Run had them, run by run. Errors: InvalidArgument when
  // the source is that of another model; what the golden model refuses.
  absl::Status Compare(const runtime::CompiledModel& model,
                       const std::vector<ir::Literal>& inputs,
                       const runtime::BatchRun& run);

  // As Runner::ResetVariables.
  void ResetVariables() { kept_.clear(); }

  // By tensor: whether all that was compared was equal.
  const std::map<std::string, bool>& tensors() const { return tensors_; }
  const std::vector<std::string>& mismatches() const { return mismatches_; }
  // The program, of those of a batch, that wrote the first wrong value of a
  // layer, and the cycle; nothing: none was wrong, or only an output.
  struct Place {
    size_t program = 0;
    uint64_t cycle = 0;
  };
  const std::optional<Place>& first() const { return first_; }

 private:
  using Values =
      std::map<std::string, ir::Literal>;  // by name, images in a row

  // The golden result of a part of the host, into `values`.
  absl::Status RunPart(const ir::Module& part, bool first,
                       const std::vector<ir::Literal>& inputs, int64_t images,
                       Values& values) const;
  // A program against the golden network, whose outputs go into `values`.
  absl::Status CompareProgram(size_t number, const model::Network& network,
                              const Program& program, const RunStats& stats,
                              const runtime::BatchRun& run, Values& values);
  absl::Status CompareLayers(const runtime::CompiledModel& model,
                             const std::vector<ir::Literal>& inputs,
                             const runtime::BatchRun& run);
  absl::Status CompareOutputs(const runtime::CompiledModel& model,
                              const std::vector<ir::Literal>& inputs,
                              const runtime::BatchRun& run);
  // With the variables between them, as the first part takes them.
  std::vector<ir::Literal> WithVariables(
      const std::vector<ir::Node*>& parameters,
      const std::vector<ir::Literal>& inputs) const;
  void Record(const std::string& tensor, const std::string& mismatch);

  const runtime::Source& source_;
  std::map<std::string, ir::Literal> kept_;  // the golden model's variables
  std::map<std::string, bool> tensors_;
  std::vector<std::string> mismatches_;
  std::optional<Place> first_;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODEL_CHECK_H_
