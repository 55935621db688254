// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fuzzing of a reader of files: options, the run, and the command that
// reproduces a failure.
//
//   int main(int argc, char** argv) {
//     return fuzz::Run({"tflite_fuzz_test", "Imports mutated .tflite files."},
//                      argc, argv, Prepare, Check);
//   }
//
// Prepare() makes what gives a mutated file for a seed, once; Check(bytes) says
// "" for a file that is read, otherwise the kind of its error, and calls Die().
#ifndef SYSTOLE_TESTS_TESTING_FUZZING_H_
#define SYSTOLE_TESTS_TESTING_FUZZING_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/testing/death.h"
#include "tests/testing/seeds.h"

namespace systole::fuzz {

struct Program {
  const char *name, *about;
};

inline constexpr double kLimitSeconds = 5;  // for one mutation

inline Program g_program = {"", ""};
inline uint64_t g_seed = testing_options::FirstSeed(0);
inline int64_t g_mutation = 0;

inline void PrintReproduction() {
  std::fprintf(stderr, "reproduce: %s --seed %llu --only %lld\n",
               g_program.name, static_cast<unsigned long long>(g_seed),
               static_cast<long long>(g_mutation));
}

[[noreturn]] inline void Die(const std::string& message) {
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  PrintReproduction();
  std::exit(1);
}

template <typename Prepare, typename Check>
int Run(const Program& program, int argc, char** argv, Prepare prepare,
        Check check) {
  int64_t mutations = 100000, only = -1;
  CLI::App app(program.about);
  app.add_option("--mutations", mutations, "how many");
  app.add_option("--seed", g_seed, "of the random numbers");
  app.add_option("--only", only, "run one mutation, to reproduce a failure");
  CLI11_PARSE(app, argc, argv);

  g_program = program;
  testing_options::OnDeath(PrintReproduction);
  auto mutated = prepare();
  std::map<std::string, int64_t> results;
  double longest = 0;
  for (g_mutation = std::max<int64_t>(only, 0);
       g_mutation < (only < 0 ? mutations : only + 1); ++g_mutation) {
    const std::string bytes = mutated(g_seed * 1000003 + g_mutation);
    const auto begin = std::chrono::steady_clock::now();
    ++results[check(bytes)];
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

}  // namespace systole::fuzz

#endif  // SYSTOLE_TESTS_TESTING_FUZZING_H_
