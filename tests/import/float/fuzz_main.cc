// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs the tests of float models, then mutates their files and imports them:
// whatever the bytes, the importer returns a module that verifies and that its
// text gives again, or an error, and soon.
//
//   tflite_float_fuzz_test [--mutations N] [--seed S] [--only I]
#include <gtest/gtest.h>

#include <string>

#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/import/float/float_net.h"
#include "tests/import/mutator.h"
#include "tests/testing/fuzzing.h"

namespace systole::import {
namespace {

using fuzz::Die;

// "" for a module, otherwise the kind of error.
std::string Check(const std::string& bytes) {
  IsFloatTflite(bytes);
  const auto module = ImportFloatTflite(bytes, "fuzz");
  if (!module.ok()) return absl::StatusCodeToString(module.status().code());
  const absl::Status status = ir::Verify(**module);
  if (!status.ok()) Die("the module does not verify: " + status.ToString());
  const auto parsed = ir::Parse(ir::Print(**module));
  if (!parsed.ok()) Die("the text is not read: " + parsed.status().ToString());
  if (!ir::Equal(**module, **parsed)) Die("the text reads as another module");
  return "";
}

auto Prepare() {
  for (const std::string& bytes : FilesRun()) {
    const std::string error = Check(bytes);
    if (!error.empty()) Die("an unchanged model is refused: " + error);
  }
  return [samples = Samples(FilesRun())](uint64_t seed) {
    return Mutator(samples, seed).Next();
  };
}

}  // namespace
}  // namespace systole::import

int main(int argc, char** argv) {
  int tests = 1;
  testing::InitGoogleTest(&tests, argv);
  if (RUN_ALL_TESTS() != 0) return 1;
  return systole::fuzz::Run(
      {"tflite_float_fuzz_test", "Imports mutated float .tflite files."}, argc,
      argv, systole::import::Prepare, systole::import::Check);
}
