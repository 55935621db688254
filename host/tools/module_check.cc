// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/module_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/file_kind.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::tools {
namespace {

using ir::Literal;

bool SameShape(const ir::Type& a, const ir::Type& b) {
  return a.element == b.element && a.shape == b.shape;
}

}  // namespace

absl::StatusOr<runtime::WholeProgram> ReadGolden(
    const std::string& file, const ModuleArgs& args,
    const runtime::WholeProgram& program) {
  const auto kind = ModuleKindOf(file, args.signature);
  if (!kind.ok()) return kind.status();
  if (*kind == ModuleKind::kNone) {
    const auto other = KindOfFile(file);
    if (!other.ok()) return other.status();
    return WrongKind(file, *other, "the program that runs");
  }
  ModuleArgs again = *kind == ModuleKind::kStableHlo ? ModuleArgs() : args;
  again.quiet = true;  // the run has said its notes
  auto golden = ReadModuleProgram(file, *kind, again, program.devices);
  if (!golden.ok()) return golden;
  const auto same = [](const std::vector<ir::Type>& a,
                       const std::vector<ir::Type>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameShape);
  };
  if (same(golden->input_types, program.input_types) &&
      same(golden->output_types, program.output_types))
    return golden;
  return absl::InvalidArgumentError(absl::StrCat(
      "--check ", file, ": has other inputs or outputs than the program"));
}

namespace {

absl::StatusOr<std::vector<Literal>> RunGolden(
    const runtime::WholeProgram& golden, const std::vector<Literal>& inputs) {
  const ir::Module& module =
      golden.local ? *golden.local->module : *golden.module;
  const auto outputs =
      golden::RunHlo(module, 1, golden.devices, golden.Divided(inputs));
  if (!outputs.ok()) return outputs.status();
  return golden.Joined(*outputs);
}

}  // namespace

absl::StatusOr<GoldenCheck> CompareWithGolden(
    const std::string& file, const runtime::WholeProgram& golden,
    const std::vector<std::vector<Literal>>& inputs,
    const std::vector<std::vector<Literal>>& outputs) {
  GoldenCheck check;
  for (size_t run = 0; run < inputs.size(); ++run) {
    const auto wanted = RunGolden(golden, inputs[run]);
    if (!wanted.ok()) {
      return absl::Status(
          wanted.status().code(),
          absl::StrCat("--check ", file, ": ", wanted.status().message()));
    }
    for (size_t i = 0; i < wanted->size(); ++i) {
      const std::vector<uint8_t> good = (*wanted)[i].Bytes(),
                                 got = outputs[i][run].Bytes();
      check.values += (*wanted)[i].size();
      if (good == got) continue;
      const auto at =
          std::mismatch(good.begin(), good.end(), got.begin()).first -
          good.begin();
      check.mismatches.push_back(absl::StrFormat(
          "run %d: output '%s': element %d is the first that is not the golden "
          "model's",
          run, golden.module->outputs[i].name,
          at / ir::ElementBytes((*wanted)[i].element())));
    }
  }
  return check;
}

}  // namespace systole::tools
