// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Prints what MLIR bytecode files hold, for a comparison with another reader,
// or the modules that they are imported as.
//
//   mlir_dump [--ir] FILE... > dump.txt
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "host/files/read_file.h"
#include "host/import/mlir/bytecode.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/text.h"

namespace systole {
namespace {

absl::StatusOr<std::string> Text(const std::string& file, bool as_ir) {
  const absl::StatusOr<std::string> bytes = ReadFile(file);
  if (!bytes.ok()) return bytes.status();
  if (as_ir) {
    const auto program = import::ImportStableHlo(*bytes);
    if (!program.ok()) return program.status();
    return ir::Print(*program->module);
  }
  const auto module = mlir::ReadBytecode(*bytes);
  if (!module.ok()) return module.status();
  return mlir::Dump(**module);
}

int Main(int argc, char** argv) {
  bool as_ir = false;
  std::vector<std::string> files;
  CLI::App app("Prints what MLIR bytecode files hold.");
  app.add_flag("--ir", as_ir, "the modules that they are imported as");
  app.add_option("files", files, "MLIR bytecode")->required();
  CLI11_PARSE(app, argc, argv);
  int failed = 0;
  for (const std::string& file : files) {
    std::printf("file %s\n", file.c_str());
    const absl::StatusOr<std::string> text = Text(file, as_ir);
    if (text.ok()) {
      std::fputs(text->c_str(), stdout);
    } else {
      std::printf("error %s\n", text.status().ToString().c_str());
      failed = 1;
    }
  }
  return failed;
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) { return systole::Main(argc, argv); }
