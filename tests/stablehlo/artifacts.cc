// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/stablehlo/artifacts.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "host/files/read_file.h"

namespace systole::import {
namespace {

const char* const kFolder = SYSTOLE_SOURCE_DIR "/tests/data/stablehlo/";

std::string Read(const std::string& name) {
  const absl::StatusOr<std::string> bytes = ReadFile(kFolder + name);
  if (!bytes.ok()) {
    std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str());
    std::exit(1);
  }
  return *bytes;
}

}  // namespace

std::vector<std::string> ArtifactNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".mlirbc") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> JaxExports() {
  return {Read("exp.jax"), Read("exp_derivatives.jax")};
}

std::string Artifact(const std::string& name) { return Read(name + ".mlirbc"); }

std::string ExpectedDump(const std::string& name) {
  return Read(name + ".txt");
}

}  // namespace systole::import
