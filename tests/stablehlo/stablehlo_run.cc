// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Imports a StableHLO artifact and computes it on the host, for a comparison
// with another implementation. Inputs and outputs are the values of all
// parameters and results, one behind the other, little endian.
//
//   stablehlo_run ARTIFACT INPUTS OUTPUTS
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "host/files/read_file.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/evaluate.h"

namespace systole {
namespace {

absl::Status Run(const std::string& artifact, const std::string& inputs,
                 const std::string& outputs) {
  const absl::StatusOr<std::string> bytes = ReadFile(artifact);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<std::string> values = ReadFile(inputs);
  if (!values.ok()) return values.status();
  const auto program = import::ImportStableHlo(*bytes);
  if (!program.ok()) return program.status();
  ir::Literals literals;
  int64_t at = 0;
  for (const ir::Node* input : program->module->inputs()) {
    const ir::Type& type = input->type;
    if (at + type.bytes() > static_cast<int64_t>(values->size())) {
      return absl::InvalidArgumentError(absl::StrCat(inputs, " ends early"));
    }
    literals.push_back(ir::Literal::FromBytes(
        type.element, type.elements(),
        reinterpret_cast<const uint8_t*>(values->data()) + at));
    at += type.bytes();
  }
  const auto results = ir::EvaluateModule(*program->module, literals);
  if (!results.ok()) return results.status();
  std::ofstream file(outputs, std::ios::binary);
  for (const ir::Literal& result : *results) {
    const std::vector<uint8_t> data = result.Bytes();
    file.write(reinterpret_cast<const char*>(data.data()), data.size());
  }
  return file ? absl::OkStatus() : absl::UnavailableError(outputs);
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "stablehlo_run ARTIFACT INPUTS OUTPUTS\n");
    return 2;
  }
  const absl::Status status = systole::Run(argv[1], argv[2], argv[3]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
