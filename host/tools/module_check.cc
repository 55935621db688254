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

absl::StatusOr<std::unique_ptr<ir::Module>> ReadGolden(
    const std::string& file, const ModuleArgs& args, const ir::Module& module) {
  const auto kind = ModuleKindOf(file, args.signature);
  if (!kind.ok()) return kind.status();
  if (*kind == ModuleKind::kNone) {
    const auto other = KindOfFile(file);
    if (!other.ok()) return other.status();
    return WrongKind(file, *other, "the program that runs");
  }
  ModuleArgs again = *kind == ModuleKind::kStableHlo ? ModuleArgs() : args;
  again.quiet = true;  // the run has said its notes
  auto golden = ReadModuleFile(file, *kind, again);
  if (!golden.ok()) return golden;
  const std::vector<ir::Node*>&wanted = module.inputs(),
        &inputs = (*golden)->inputs();
  bool fits = inputs.size() == wanted.size() &&
              (*golden)->outputs.size() == module.outputs.size();
  for (size_t i = 0; fits && i < wanted.size(); ++i)
    fits = SameShape(inputs[i]->type, wanted[i]->type);
  for (size_t i = 0; fits && i < module.outputs.size(); ++i) {
    fits = SameShape((*golden)->outputs[i].node.type(),
                     module.outputs[i].node.type());
  }
  if (fits) return golden;
  return absl::InvalidArgumentError(absl::StrCat(
      "--check ", file, ": has other inputs or outputs than the program"));
}

absl::StatusOr<GoldenCheck> CompareWithGolden(
    const std::string& file, const ir::Module& golden,
    const std::vector<std::vector<Literal>>& inputs,
    const std::vector<std::vector<Literal>>& outputs) {
  GoldenCheck check;
  for (size_t run = 0; run < inputs.size(); ++run) {
    const auto wanted = golden::RunHlo(golden, inputs[run]);
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
          run, golden.outputs[i].name,
          at / ir::ElementBytes((*wanted)[i].element())));
    }
  }
  return check;
}

}  // namespace systole::tools
