// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Mutates StableHLO artifacts and imports them: whatever the bytes, the
// importer returns a module that verifies and that text can take, or an error,
// and soon. stablehlo_fuzz_sanitized is the same under the address and
// undefined behaviour sanitizers.
//
//   stablehlo_fuzz_test [--mutations N] [--seed S] [--only I]
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "host/import/mlir/bytecode.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/stablehlo/artifacts.h"
#include "tests/testing/death.h"
#include "tests/testing/seeds.h"

namespace systole::import {
namespace {

constexpr double kLimitSeconds = 5;  // for one mutation

uint64_t g_seed = systole::testing_options::FirstSeed(0);
int64_t g_mutation = 0;

void PrintReproduction() {
  std::fprintf(stderr,
               "reproduce: stablehlo_fuzz_test --seed %llu --only %lld\n",
               static_cast<unsigned long long>(g_seed),
               static_cast<long long>(g_mutation));
}

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  PrintReproduction();
  std::exit(1);
}

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

// "" for a module, otherwise the kind of error.
std::string Check(const std::string& bytes) {
  const auto generic = mlir::ReadBytecode(bytes);
  if (generic.ok()) mlir::Dump(**generic);
  const auto program = ImportStableHlo(bytes);
  if (!program.ok()) return absl::StatusCodeToString(program.status().code());
  const absl::Status status = ir::Verify(*program->module);
  if (!status.ok()) Die("the module does not verify: " + status.ToString());
  const auto parsed = ir::Parse(ir::Print(*program->module));
  if (!parsed.ok()) Die("the text is not read: " + parsed.status().ToString());
  if (!ir::Equal(*program->module, **parsed)) {
    Die("the text reads as another module");
  }
  return "";
}

int Main(int argc, char** argv) {
  int64_t mutations = 100000, only = -1;
  CLI::App app("Imports mutated StableHLO artifacts.");
  app.add_option("--mutations", mutations, "how many");
  app.add_option("--seed", g_seed, "of the random numbers");
  app.add_option("--only", only, "run one mutation, to reproduce a failure");
  CLI11_PARSE(app, argc, argv);

  testing_options::OnDeath(PrintReproduction);
  std::vector<std::string> corpus;
  for (const std::string& name : ArtifactNames()) {
    corpus.push_back(Artifact(name));
  }
  std::map<std::string, int64_t> results;
  double longest = 0;
  for (g_mutation = std::max<int64_t>(only, 0);
       g_mutation < (only < 0 ? mutations : only + 1); ++g_mutation) {
    const std::string bytes =
        Mutator(corpus, g_seed * 1000003 + g_mutation).Next();
    const auto begin = std::chrono::steady_clock::now();
    ++results[Check(bytes)];
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    longest = std::max(longest, seconds.count());
    if (longest > kLimitSeconds) Die("a mutation takes too long");
  }
  for (const auto& [result, count] : results) {
    std::printf("%8lld %s\n", static_cast<long long>(count),
                result.empty() ? "imported" : result.c_str());
  }
  std::printf("%lld mutations, the longest took %.3f s\n",
              static_cast<long long>(only < 0 ? mutations : 1), longest);
  // Each way out must have been taken, or the mutations are too wild or tame.
  if (only < 0 && mutations >= 1000 &&
      (results[""] == 0 || results["DATA_LOSS"] == 0 ||
       results["INVALID_ARGUMENT"] == 0 || results["UNIMPLEMENTED"] == 0)) {
    Die("not every kind of result has occurred");
  }
  return 0;
}

}  // namespace
}  // namespace systole::import

int main(int argc, char** argv) { return systole::import::Main(argc, argv); }
