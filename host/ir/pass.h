// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Passes over modules, and their manager.
//
//   PassManager passes;
//   passes.Add(std::make_unique<Simplification>());
//   passes.Add(std::make_unique<PadFolding>());
//   absl::Status status = passes.Run(module);
#ifndef SYSTOLE_HOST_IR_PASS_H_
#define SYSTOLE_HOST_IR_PASS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

// A pass keeps what the module computes, to the bit.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string name() const = 0;
  // Whether the module was changed. After an error it is not to be used.
  virtual absl::StatusOr<bool> Run(Module& module) = 0;
};

// Runs passes in order. The module is verified before the first and after
// each; an error names the pass behind which it appeared.
class PassManager {
 public:
  // Called with the name of a pass (before the first one: "input") and the
  // module behind it.
  using Observer =
      std::function<void(const std::string& pass, const Module& module)>;

  void Add(std::unique_ptr<Pass> pass) { passes_.push_back(std::move(pass)); }
  void set_observer(Observer observer) { observer_ = std::move(observer); }

  absl::Status Run(Module& module);

 private:
  std::vector<std::unique_ptr<Pass>> passes_;
  Observer observer_;
};

// The passes that prepare an imported module for lowering, in their order.
PassManager StandardPasses();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASS_H_
