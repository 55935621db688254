// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Mutates StableHLO artifacts and imports them: whatever the bytes, the
// importer returns a module that verifies and that text can take, or an error,
// and soon; and the partitioner divides it. stablehlo_fuzz_sanitized is the
// same under the address and undefined behaviour sanitizers.
//
//   stablehlo_fuzz_test [--mutations N] [--seed S] [--only I]
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "host/import/mlir/bytecode.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/stablehlo/artifacts.h"
#include "tests/testing/fuzzing.h"

namespace systole::import {
namespace {

using fuzz::Die;

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, uint64_t seed)
      : corpus_(corpus), random_(seed) {}

  std::string Next() {
    std::string bytes = corpus_[Below(corpus_.size())];
    for (uint64_t left = 1 + Below(Below(4) == 0 ? 12 : 2); left > 0; --left) {
      if (!bytes.empty()) Mutate(bytes);
    }
    return bytes;
  }

 private:
  uint64_t Below(uint64_t limit) { return limit ? random_() % limit : 0; }

  // Most of the format is indices and counts of one byte, the lowest bit set.
  void Mutate(std::string& bytes) {
    const size_t at = Below(bytes.size());
    char& byte = bytes[at];
    switch (Below(10)) {
      case 0:
        byte = static_cast<char>(byte ^ 1 << Below(8));
        break;
      case 1:
        byte = static_cast<char>(random_());
        break;
      case 2:
      case 3:
        byte = static_cast<char>(byte + (Below(2) ? 2 : -2));
        break;
      case 4:
      case 5:
        byte = static_cast<char>(Below(64) << 1 | 1);
        break;
      case 6:
        byte = bytes[Below(bytes.size())];
        break;
      case 7:
        if (Below(4) == 0) bytes.resize(at);
        break;
      case 8: {  // a piece of another artifact
        const std::string& other = corpus_[Below(corpus_.size())];
        const size_t from = Below(other.size());
        const size_t size =
            std::min({Below(64), other.size() - from, bytes.size() - at});
        bytes.replace(at, size, other, from, size);
        break;
      }
      default:
        bytes.insert(at, 1 + Below(9), static_cast<char>(Below(3) ? 0 : 0xff));
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
};

// A program of several partitions is divided among them, or it says which array
// cannot be.
std::string CheckPartitions(StableHloProgram& program) {
  constexpr int kMost = 1024;
  if (program.num_partitions == 1 || program.num_partitions > kMost) return "";
  const int devices = program.num_partitions;
  const auto global = GlobalProgramOf(program);
  if (!global.ok()) return absl::StatusCodeToString(global.status().code());
  const auto local = partition::Partition(*global);
  if (local.ok()) {
    const absl::Status groups =
        ir::CheckCollectives(*local->module, {1, devices});
    // Those of the artifact itself may be of any numbers.
    if (!groups.ok() && absl::StrContains(groups.message(), "'spmd."))
      Die("groups of devices that are none: " + groups.ToString());
    return "";
  }
  if (!absl::StrContains(local.status().message(), "is not divided evenly by"))
    Die("the program is not divided: " + local.status().ToString());
  return absl::StatusCodeToString(local.status().code());
}

// "" for a module, otherwise the kind of error.
std::string Check(const std::string& bytes) {
  const auto generic = mlir::ReadBytecode(bytes);
  if (generic.ok()) mlir::Dump(**generic);
  auto program = ImportStableHlo(bytes);
  if (!program.ok()) return absl::StatusCodeToString(program.status().code());
  const absl::Status status = ir::Verify(*program->module);
  if (!status.ok()) Die("the module does not verify: " + status.ToString());
  const auto parsed = ir::Parse(ir::Print(*program->module));
  if (!parsed.ok()) Die("the text is not read: " + parsed.status().ToString());
  if (!ir::Equal(*program->module, **parsed)) {
    Die("the text reads as another module");
  }
  return CheckPartitions(*program);
}

auto Prepare() {
  std::vector<std::string> corpus = JaxExports();
  for (const std::string& name : ArtifactNames()) {
    corpus.push_back(Artifact(name));
  }
  return [corpus = std::move(corpus)](uint64_t seed) {
    return Mutator(corpus, seed).Next();
  };
}

}  // namespace
}  // namespace systole::import

int main(int argc, char** argv) {
  return systole::fuzz::Run(
      {"stablehlo_fuzz_test", "Imports mutated StableHLO artifacts."}, argc,
      argv, systole::import::Prepare, systole::import::Check);
}
