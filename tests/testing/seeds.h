// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where all random tests have their seeds from.
//
//   for (const uint64_t seed : Seeds(/*cases=*/60)) {
//     SCOPED_TRACE(testing::Message() << "seed " << seed);
//     std::mt19937_64 random(seed);
//     ...
//   }
//
// Seeds 1..60; --seed=S or SYSTOLE_SEED=S begins elsewhere, --cases=N or
// SYSTOLE_CASES=N takes so many: --seed=17 --cases=1 repeats a case.
// SYSTOLE_CASES_PART=5: a fifth of them, where counting makes each slow.
// SYSTOLE_CASE_FILE names a file that always tells which case runs.
// Header only: benches with another main function use it too.
#ifndef SYSTOLE_TESTS_TESTING_SEEDS_H_
#define SYSTOLE_TESTS_TESTING_SEEDS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace systole::testing_options {

// What options say, before the environment.
inline std::optional<uint64_t> g_seed_option;
inline std::optional<int> g_cases_option;

// A whole number that the environment holds; a wrong one ends the program.
inline std::optional<uint64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 0);
  if (*text < '0' || *text > '9' || *end != '\0') {
    std::fprintf(stderr, "%s=%s is not a number\n", name, text);
    std::exit(2);
  }
  return value;
}

inline uint64_t FirstSeed(uint64_t otherwise = 1) {
  if (g_seed_option) return *g_seed_option;
  return FromEnvironment("SYSTOLE_SEED").value_or(otherwise);
}

inline int Cases(int otherwise) {
  const auto given = FromEnvironment("SYSTOLE_CASES");
  const int all =
      g_cases_option.value_or(given ? static_cast<int>(*given) : otherwise);
  const auto part = FromEnvironment("SYSTOLE_CASES_PART").value_or(1);
  return part < 2 ? all : static_cast<int>((all + part - 1) / part);
}

// Decisions of the case that runs: choices.h.
struct CaseState {
  uint64_t seed = 0;
  double size = 0;
  std::vector<std::pair<uint64_t, uint64_t>> choices;  // value, below
  std::vector<std::pair<size_t, size_t>> spans;        // first, behind the last
  size_t next = 0;
};
inline CaseState& CurrentCase() {
  static CaseState state;
  return state;
}

inline const char* CaseFile() {
  static const char* const file = std::getenv("SYSTOLE_CASE_FILE");
  return file;
}

// Rewrites the file of the case.
inline void WriteCase(const std::string& text) {
  if (CaseFile() == nullptr) return;
  std::FILE* out = std::fopen(CaseFile(), "w");
  if (out == nullptr) {
    std::perror(CaseFile());
    std::exit(2);
  }
  const CaseState& c = CurrentCase();
  std::fprintf(out, "seed %llu\nsize %.17g\nchoices",
               static_cast<unsigned long long>(c.seed), c.size);
  for (const auto& [value, below] : c.choices) {
    std::fprintf(out, " %llu/%llu", static_cast<unsigned long long>(value),
                 static_cast<unsigned long long>(below));
  }
  std::fprintf(out, "\nspans");
  for (const auto& [first, last] : c.spans)
    std::fprintf(out, " %zu-%zu", first, last);
  std::fprintf(out, "\ntext %s\n", text.c_str());
  std::fclose(out);
}

inline void StartCase(uint64_t seed) {
  CurrentCase() = {};
  CurrentCase().seed = seed;
  WriteCase("");
}

// A range of seeds; each step starts a case.
class Seeds {
 public:
  explicit Seeds(int cases, uint64_t first = 1)
      : first_(FirstSeed(first)), last_(first_ + Cases(cases)) {}

  class Iterator {
   public:
    explicit Iterator(uint64_t seed) : seed_(seed) {}
    uint64_t operator*() const {
      StartCase(seed_);
      return seed_;
    }
    Iterator& operator++() {
      ++seed_;
      return *this;
    }
    bool operator!=(const Iterator& other) const {
      return seed_ != other.seed_;
    }

   private:
    uint64_t seed_;
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(last_); }
  int size() const { return static_cast<int>(last_ - first_); }

 private:
  uint64_t first_, last_;
};

// The same as a list, for INSTANTIATE_TEST_SUITE_P and testing::ValuesIn.
template <typename T = int>
std::vector<T> SeedList(int cases, uint64_t first = 1) {
  std::vector<T> seeds;
  const uint64_t begin = FirstSeed(first);
  for (int i = 0; i < Cases(cases); ++i)
    seeds.push_back(static_cast<T>(begin + i));
  return seeds;
}

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_SEEDS_H_
