// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a generator of random cases decides, so that a failing case can be made
// smaller from outside: the runner repeats it with fewer and smaller decisions
// (docs/regression.md). Shapes, operations and their number go through here;
// the values of tensors need not.
//
//   int Pick(int low, int high) {
//     return low + Choose(high - low + 1, [&] { return rng_(); });
//   }
//   while (More(items < 20)) {
//     Span span;              // may be left out as a whole
//     AddItem();
//   }
//   Describe(/*size=*/work, "conv 3x3 of 7x9x4");
//
// SYSTOLE_CHOICES names a file of numbers, the decisions in their order: each
// takes the place of what was drawn, as far as it is in range; behind the last
// one nothing more is added. Numbers are drawn all the same, so that a file
// with the case's own decisions gives the case itself.
#ifndef SYSTOLE_TESTS_TESTING_CHOICES_H_
#define SYSTOLE_TESTS_TESTING_CHOICES_H_

#include <algorithm>
#include <fstream>

#include "tests/testing/seeds.h"

namespace systole::testing_options {

// The decisions that are given; empty optional: none are.
inline const std::optional<std::vector<uint64_t>>& GivenChoices() {
  static const auto* const given = [] {
    auto* list = new std::optional<std::vector<uint64_t>>;
    const char* file = std::getenv("SYSTOLE_CHOICES");
    if (file == nullptr) return list;
    std::ifstream in(file);
    list->emplace();
    uint64_t value;
    while (in >> value) (*list)->push_back(value);
    if (!in.eof()) {
      std::fprintf(stderr, "%s: cannot read the choices\n", file);
      std::exit(2);
    }
    return list;
  }();
  return *given;
}

inline bool Replaying() { return GivenChoices().has_value(); }

inline uint64_t Decide(uint64_t drawn, uint64_t below,
                       std::optional<uint64_t> at_end = std::nullopt) {
  CaseState& c = CurrentCase();
  if (!Replaying() && CaseFile() == nullptr) return drawn;
  uint64_t value = drawn;
  if (Replaying()) {
    const std::vector<uint64_t>& given = *GivenChoices();
    value = c.next < given.size() ? std::min(given[c.next], below - 1)
                                  : at_end.value_or(drawn);
    ++c.next;
  }
  c.choices.emplace_back(value, below);
  return value;
}

// 0..below-1: the rest of what `draw` returns.
template <typename Draw>
uint64_t Choose(uint64_t below, Draw&& draw) {
  return Decide(draw() % below, below);
}

// Whether to go on: never if the generator does not want to.
inline bool More(bool wants) { return wants && Decide(1, 2, 0) == 1; }

// Decisions that belong together.
class Span {
 public:
  Span() : first_(CurrentCase().choices.size()) {}
  ~Span() {
    if (CaseFile() != nullptr)
      CurrentCase().spans.emplace_back(first_, CurrentCase().choices.size());
  }
  Span(const Span&) = delete;

 private:
  size_t first_;
};

// When the case, or a part that runs by itself, is made, before it runs. The
// sum of the sizes orders cases that fail alike.
inline void Describe(double size, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  CurrentCase().size += size;
  WriteCase(text);
}

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_CHOICES_H_
