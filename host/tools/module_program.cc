// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/module_program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/files/read_file.h"
#include "host/import/stablehlo/stablehlo_importer.h"

namespace systole::tools {

absl::StatusOr<runtime::WholeProgram> ReadModuleProgram(const std::string& path,
                                                        ModuleKind kind,
                                                        const ModuleArgs& args,
                                                        int devices) {
  if (absl::Status s = CheckModuleArgs(path, kind, args); !s.ok()) return s;
  if (devices == 1 || kind != ModuleKind::kStableHlo) {
    if (devices > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": --devices is for StableHLO; ",
                       ModuleKindText(kind), " runs on one device"));
    }
    auto module = ReadModuleFile(path, kind, args);
    if (!module.ok()) return module.status();
    return runtime::WholeProgram::Of(*std::move(module));
  }
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const auto named = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  auto imported = import::ImportStableHlo(*bytes);
  if (!imported.ok()) return named(imported.status());
  if (devices != 0 && devices != imported->num_partitions) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a program for ",
                     imported->num_partitions == 1
                         ? std::string("one device; leave --devices out")
                         : absl::StrCat(imported->num_partitions,
                                        " devices; give --devices ",
                                        imported->num_partitions)));
  }
  auto program = runtime::WholeProgram::Of(*std::move(imported));
  if (!program.ok()) return named(program.status());
  return program;
}

}  // namespace systole::tools
