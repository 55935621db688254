// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/pass.h"

#include "absl/strings/str_cat.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

absl::Status Behind(const std::string& pass, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("pass '", pass, "': ", status.message()));
}

}  // namespace

absl::Status PassManager::Run(Module& module) {
  absl::Status status = Verify(module);
  if (!status.ok()) return status;
  if (observer_) observer_("input", module);
  for (const std::unique_ptr<Pass>& pass : passes_) {
    const absl::StatusOr<bool> changed = pass->Run(module);
    if (!changed.ok()) return Behind(pass->name(), changed.status());
    status = Verify(module);
    if (!status.ok()) return Behind(pass->name(), status);
    if (observer_) observer_(pass->name(), module);
  }
  return absl::OkStatus();
}

}  // namespace systole::ir
