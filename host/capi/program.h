// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What systole_program stands for: an int8 model with its programs, or a module
// of StableHLO, of a float or of an ONNX model.
#ifndef SYSTOLE_HOST_CAPI_PROGRAM_H_
#define SYSTOLE_HOST_CAPI_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/capi/handles.h"
#include "host/ir/module.h"
#include "host/ir/type.h"
#include "host/runtime/build.h"
#include "host/runtime/compiled_model.h"
#include "host/runtime/whole_program.h"
#include "systole.h"

namespace systole::capi {

struct Tensor {
  std::string name;
  ir::Type type;
};

inline constexpr systole_compile_options kCompileDefaults =
    SYSTOLE_COMPILE_OPTIONS_INIT;
// Of the structure's first version, which had no model_options.
inline constexpr size_t kFirstCompileBytes =
    offsetof(systole_compile_options, model_options);

// Never changes, so that threads may share it.
class Program {
 public:
  // As systole_program_load and systole_program_parse say.
  static absl::StatusOr<std::shared_ptr<Program>> Load(
      const std::string& path, const systole_compile_options& options);
  static absl::StatusOr<std::shared_ptr<Program>> Parse(
      absl::string_view bytes, const std::string& name,
      const systole_compile_options& options);

  // nullptr: a module.
  const runtime::CompiledModel* model() const {
    return model_ ? &*model_ : nullptr;
  }
  // nullptr: a model.
  const runtime::WholeProgram* module() const {
    return module_ ? &*module_ : nullptr;
  }
  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }
  const std::string& placement() const { return placement_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  systole_tensor Describe(const Tensor& tensor) const;

 private:
  absl::Status Take(absl::StatusOr<runtime::CompiledModel> model,
                    const systole_compile_options& options);
  absl::Status Compile(absl::StatusOr<runtime::Source> source,
                       const systole_compile_options& options);
  // `what`: the module's source, for messages.
  absl::Status TakeModule(absl::StatusOr<runtime::WholeProgram> module,
                          const char* what,
                          const systole_compile_options& options);

  std::string name_, source_, placement_;
  std::optional<runtime::CompiledModel> model_;
  std::optional<runtime::WholeProgram> module_;
  std::vector<Tensor> inputs_, outputs_;
};

// All that are open.
Handles<Program, systole_program>& Programs();

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_PROGRAM_H_
