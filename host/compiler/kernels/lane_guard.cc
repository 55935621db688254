// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_guard.h"

#include "host/compiler/kernels/lane_instructions.h"

namespace systole::lanes {
namespace {

using vpu::Op;

// The starts of the walks and the number of rows change while rows are
// computed: arguments 0 to 3, in the registers behind.
constexpr int kSaved = kRowCount + 1;
constexpr int kScalar = 9, kCross = 32;

class Words {
 public:
  explicit Words(std::vector<uint64_t>& words) : words_(words) {}
  void Put(Op op, int d, int a = 0, int b = 0, int64_t imm = 0) {
    words_.push_back(Make(op, d, a, b, static_cast<int32_t>(imm)).Encode());
  }
  // Of scalars in each lane.
  void PutScalars(Op op, int d, int a, int b) {
    vpu::Instr x = Make(op, d, a, b);
    x.am = static_cast<uint8_t>(vpu::Mode::kScalar);
    if (op != Op::kMov) x.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
    words_.push_back(x.Encode());
  }
  void Set(Op op, int64_t value) {
    Put(Op::kLi, kScalar, 0, 0, value);
    Put(op, 0, kScalar);
  }

 private:
  std::vector<uint64_t>& words_;
};

}  // namespace

void AppendSave(int64_t at, std::vector<uint64_t>& words) {
  Words code(words);
  code.Set(Op::kVl, 1);
  code.Set(Op::kLanes, 1);
  for (int i = 0; i < kSaved; ++i) {
    code.PutScalars(Op::kMov, kCross + i, 1 + i, 0);
    code.Put(Op::kSt32, kCross + i, 0, 0, at + 4 * i);
  }
}

void AppendClear(const Preset& preset, std::vector<uint64_t>& words) {
  Words code(words);
  code.Set(Op::kVl, preset.vector_rows());
  for (const int reg : kGuards) code.PutScalars(Op::kIor, reg, 0, 0);
}

size_t AppendCheck(int64_t at, const Preset& preset,
                   std::vector<uint64_t>& words) {
  Words code(words);
  const int found = kGuards[0];
  code.Set(Op::kVl, preset.vector_rows());
  code.Put(Op::kIor, found, found, kGuards[1]);
  for (int by = preset.vector_rows() / 2; by > 0; by /= 2) {
    code.Set(Op::kVl, by);
    code.Put(Op::kRotrow, kCross, found, 0, by);
    code.Put(Op::kIor, found, found, kCross);
  }
  for (int64_t by = preset.cols / 2; by > 0; by /= 2) {
    code.Put(Op::kRotl, kCross, found, 0, by);
    code.Put(Op::kIor, found, found, kCross);
  }
  code.Set(Op::kLanes, 1);
  code.Put(Op::kSt32, found, 0, 0, at + 4 * kSaved);
  code.Put(Op::kFence, 0);
  code.Put(Op::kLds, kScalar, 0, 0, at + 4 * kSaved);
  code.Put(Op::kSlli, kScalar, kScalar, 0, 1);  // bit 30 is the sign then
  code.Put(Op::kBlt, 0, kScalar, 0);
  code.Put(Op::kHalt, 0);
  return words.size() - 2;
}

void AppendRestore(int64_t at, std::vector<uint64_t>& words) {
  Words code(words);
  for (int i = 0; i < kSaved; ++i) code.Put(Op::kLds, 1 + i, 0, 0, at + 4 * i);
}

void SetTarget(uint64_t& word, int64_t target) {
  vpu::Instr x = vpu::Instr::Decode(word);
  x.imm = static_cast<int32_t>(target);
  word = x.Encode();
}

absl::StatusOr<LaneCode> EmitGuarded(const LaneGraph& guarded,
                                     const std::vector<LaneStore>& stores,
                                     const LaneGraph& exact,
                                     const std::vector<LaneStore>& exact_stores,
                                     const LanePlaces& places,
                                     const Preset& preset, int64_t at, int base,
                                     RunRows rows, RunRows exact_rows) {
  LaneCode code;
  code.main = base;
  std::vector<uint64_t>& words = code.words;
  const auto append = [&](const absl::StatusOr<LaneCode>& part) {
    if (!part.ok()) return part.status();
    words.insert(words.end(), part->words.begin(), part->words.end());
    if (code.row_cycles == 0) code.row_cycles = part->row_cycles;
    return part.status();
  };
  AppendSave(at, words);
  const auto next = [&] { return base + static_cast<int>(words.size()); };
  if (absl::Status s = append(
          Emit(guarded, stores, places, preset, next(), Loop::kRows, rows));
      !s.ok())
    return s;
  const size_t branch = AppendCheck(at, preset, words);
  SetTarget(words[branch], next());
  AppendRestore(at, words);
  const absl::StatusOr<LaneCode> again = Emit(
      exact, exact_stores, places, preset, next(), Loop::kRows, exact_rows);
  if (absl::Status s = append(again); !s.ok()) return s;
  code.exact = again->main;
  code.spread = again->spread;
  return code;
}

}  // namespace systole::lanes
