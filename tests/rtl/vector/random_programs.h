// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random descriptors and memories. A program's memory is cut into a region of
// parameter blocks and two regions for data, at random ends of the unified
// buffer, so that no descriptor reads what it writes itself (but additions and
// products in place), while one may well read what the one before it wrote.
//
//   Generator generator(preset, seed);
//   generator.FillMemories(&memories);
//   std::vector<isa::Descriptor> program = generator.Program(10);

#ifndef SYSTOLE_TESTS_RTL_VECTOR_RANDOM_PROGRAMS_H_
#define SYSTOLE_TESTS_RTL_VECTOR_RANDOM_PROGRAMS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "tests/rtl/vector/reference.h"

namespace systole::vector_test {

class Generator {
 public:
  Generator(const Preset& preset, uint32_t seed);

  void FillMemories(Memories* memories);

  std::vector<isa::Descriptor> Program(int descriptors);
  isa::Requant Requant();
  // A raw requant that writes bias and multipliers of the block of `user`.
  isa::Requant Overwrite(const isa::Requant& user);
  isa::Pool Pool();
  isa::Add Add();
  isa::Mul Mul();
  // A table from a block of parameters, or from anywhere among the data.
  isa::Table Table();

  // One of the ways to break a descriptor; `of` chooses which, any number.
  isa::Descriptor Broken(int of);
  static constexpr int kBreaks = 27;

  int64_t Range(int64_t low, int64_t high);  // both included
  int32_t Multiplier();
  int Shift();

 private:
  template <typename T, typename Draw>
  void Fill(std::vector<T>& memory, const Draw& draw);
  struct Region {
    int64_t begin, end;
  };

  bool Chance(int percent) { return Range(1, 100) <= percent; }
  int64_t Place(const Region& region, int64_t extent);
  int32_t Word();  // extremes of the number range are common
  void Clamps(int32_t* low, int32_t* high);
  // Of a requant whose walk is there: a residual addition.
  void Residual(isa::Requant* d);
  bool has_table_ = false;  // the lanes have one that the program gave them

  const Preset& preset_;
  std::mt19937 random_;
  Region params_, first_, second_;
};

}  // namespace systole::vector_test

#endif  // SYSTOLE_TESTS_RTL_VECTOR_RANDOM_PROGRAMS_H_
