// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The generator behind random_program.h. A program is written front to back
// while the scalar state that it has in its first pass is known, so that every
// address, count and branch is legal. Loops keep that by ending with the state
// that matters as it was at their start.
#ifndef SYSTOLE_TESTS_VPU_GENERATOR_H_
#define SYSTOLE_TESTS_VPU_GENERATOR_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/program/vpu_asm.h"
#include "tests/vpu/random_program.h"

namespace systole::vpu {

constexpr int kBump = 13, kCount = 14, kScratch = 15;  // scalar registers
constexpr int kArgRegs = 12;

constexpr size_t kMostWords = 1400;  // the rest is for the end

using Random = std::mt19937_64;

class Generator {
 public:
  Generator(const Preset& preset, uint64_t seed, const RandomOptions& options)
      : preset_(preset),
        lanes_max_(static_cast<int>(preset.cols)),
        rows_max_(preset.vector_rows()),
        options_(options),
        random_(seed) {
    p_.name = absl::StrCat(std::string(preset.name), " seed ", seed);
  }

  RandomProgram Make();

 private:
  // --- Random choices.
  int Below(int n) { return static_cast<int>(random_() % n); }
  bool Chance(int percent) { return Below(100) < percent; }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  uint32_t Bits() { return static_cast<uint32_t>(random_()); }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return *(values.begin() + Below(static_cast<int>(values.size())));
  }

  // A lane: numbers of all kinds, special ones often.
  uint32_t Value();

  // --- Code.
  void Emit(Instr x) { p_.words.push_back(x.Encode()); }
  void EmitOp(Op op);
  int Here() const { return static_cast<int>(p_.words.size()); }

  void Li(int s, uint32_t value);
  void SetVl(int rows);
  void SetLanes(int lanes);

  // The value that a register has at this place each time the program comes by.
  std::optional<uint32_t> Known(int s) const {
    if (in_loop_ && (s == kBump || s == kCount)) return std::nullopt;
    return scalar_[s];
  }

  // --- The program's parts.
  // Read-only bytes end where the unified buffer ends; code, bytes that are
  // written and the dump begin at 0.
  void Layout();
  std::vector<uint8_t> RandomBytes(size_t size);

  void Arguments();

  // Something in each bank to begin with.
  void Prologue();

  void Item();

  void Fence();

  // --- Operands.
  // Registers of which rows 0 .. rows-1 are written.
  std::optional<int> Written(int rows, int but = -1);
  // Fills a source's number and mode.
  void Source(int d, uint8_t* number, uint8_t* mode);

  // --- Vector instructions.
  void VectorOp(int d);
  static std::vector<Op> OpsOf(std::initializer_list<Class> classes);
  void ScalarSource(uint8_t* number, uint8_t* mode);
  void Wrote(int d) { rows_[d] = std::max(rows_[d], vl_); }

  // L rows in, L columns out, with other things between.
  void Transposer();

  // --- Memory.
  // Sets a, b, imm of a row access that begins at `first` with that stride.
  void Address(Instr* x, uint32_t first, int stride_reg);

  // A register with a stride at which `vl_` rows of `bytes` fit in `size`.
  int Stride(uint32_t bytes, uint32_t size);
  // The span of the rows from the first one's address on: [low, high).
  std::pair<int64_t, int64_t> Span(int b, uint32_t bytes) const;
  // Where the first row may be so that all rows, in all rounds of a loop, lie
  // in [begin, begin + size).
  std::optional<uint32_t> Place(int b, uint32_t bytes, uint32_t begin,
                                uint32_t size, bool moving);

  static uint32_t ElementBytes(Op op) {
    if (op == Op::kLd16 || op == Op::kSt16 || op == Op::kSt16h) return 2;
    return op == Op::kLd8 || op == Op::kSt8 ? 1 : 4;
  }

  void Load(int d);

  void LoadAcc(int d);
  // A word for a scalar register.
  void LoadWord();

  template <typename F>
  void EachByte(int b, uint32_t at, uint32_t bytes, F f) {
    const int64_t stride = static_cast<int32_t>(*scalar_[b]);
    for (int i = 0; i < vl_; ++i) {
      for (uint32_t k = 0; k < bytes; ++k)
        f(static_cast<size_t>(at + i * stride + k - write_at_));
    }
  }
  // In a loop a store may hit any byte in another round.
  bool Clean(int b, uint32_t at, uint32_t bytes);

  void Store();

  // --- Scalars and control.
  void Scalar();

  // A branch whose outcome is known, over code that runs or does not.
  void Skip();

  void Loop();

  // --- The end.
  void Dump();

  void Faulting();
  // The transposer is empty here: so many rows in, so many columns out, and one
  // instruction too many.
  void FaultyTranspose();
  // One of the rows, at random, is the first that does not fit.
  void Outside(Instr x, int64_t size, int64_t bytes);

  void PlaceCode();

  const Preset& preset_;
  const int lanes_max_, rows_max_;
  const RandomOptions options_;
  Random random_;
  RandomProgram p_;

  uint32_t read_at_ = 0, read_size_ = 0, write_at_ = 0, write_size_ = 0,
           dump_at_ = 0, code_size_ = 0;
  // Known values; of s0 always 0.
  std::array<std::optional<uint32_t>, kScalarRegs> scalar_;
  std::array<int, kVectorRegs> rows_ = {};  // written, from row 0 on
  int vl_ = kVectorSteps, lanes_ = lanes_max_;
  std::vector<bool> dirty_;  // of the written bytes: stored since a fence
  std::pair<uint32_t, int> last_load_ = {0, 0};  // address, stride register
  bool transposing_ = false, in_loop_ = false, moving_ = false;
  bool loop_fenced_ = false, loop_stored_ = false;
  int loop_rounds_ = 0, loop_step_ = 0;
};

}  // namespace systole::vpu

#endif  // SYSTOLE_TESTS_VPU_GENERATOR_H_
