// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SYSTOLE_CHECK: every run of a program is compared with the golden model, to
// the bit. Runs then follow each other, each as slow as the model. At the end
// of the process a line on standard error says how many were compared.
#ifndef SYSTOLE_HOST_PJRT_GOLDEN_CHECK_H_
#define SYSTOLE_HOST_PJRT_GOLDEN_CHECK_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/runtime/client.h"

namespace systole::pjrt {

class GoldenCheck {
 public:
  using Values = std::vector<std::vector<ir::Literal>>;  // by process

  // Of a program as it is compiled for each process; null if SYSTOLE_CHECK does
  // not ask for it.
  static std::unique_ptr<const GoldenCheck> For(const ir::Module& module,
                                                ir::ProcessGrid grid);

  // Waits for the arguments' values: before a run, which may overwrite them.
  // Errors: those of what makes them.
  static absl::StatusOr<Values> ValuesOf(
      const std::vector<runtime::Arguments>& arguments);
  // Waits for the results. Errors: those of the run and of the model; DataLoss
  // names the first value that is not the model's. Runs of a program that has
  // what the model has not, such as calls of the host, are not compared.
  absl::Status Compare(const Values& inputs,
                       const std::vector<runtime::Execution>& run) const;
  // Counts a run that is not compared, and says why, once for each program.
  void CannotCompare(absl::string_view why) const;

 private:
  GoldenCheck(std::unique_ptr<ir::Module> module, ir::ProcessGrid grid)
      : module_(std::move(module)), grid_(grid) {}

  const std::unique_ptr<ir::Module> module_;
  const ir::ProcessGrid grid_;
  mutable std::once_flag said_;
};

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_GOLDEN_CHECK_H_
