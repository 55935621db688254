// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops and branches of a program: docs/program_file.md, "Loops". A chip with a
// scalar unit runs them; for another one they are unrolled.
//
//   Program small = RollLoops(large);             // the same, shorter
//   absl::StatusOr<Program> same = UnrollLoops(small);
#ifndef SYSTOLE_LOOPS_H_
#define SYSTOLE_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole {

struct Program;

// Descriptors that run several times in a row, or not at all.
struct Loop {
  static constexpr uint32_t kNoFlag = 0xFFFFFFFF;
  static constexpr uint32_t kForever = 0xFFFFFFFF;

  uint32_t begin = 0, end = 0;  // descriptors: [begin, end)
  uint32_t count = 1;           // passes; of a conditional one at most
  // Conditional: before each pass this sync flag is taken, then the 32-bit word
  // at that HBM address is read; 0 ends the loop.
  uint32_t flag = kNoFlag;
  uint64_t word = 0;

  bool conditional() const { return flag != kNoFlag; }
  bool operator==(const Loop& o) const {
    return begin == o.begin && end == o.end && count == o.count &&
           flag == o.flag && word == o.word;
  }
};
inline constexpr int kMaxLoopDepth = 4;

// In pass p of `loop`, `bits` bits from bit `lsb` on of a descriptor in it are
// p times `add` more than what the program says, modulo 2^bits.
struct Step {
  uint32_t descriptor = 0, loop = 0;
  uint32_t lsb = 0, bits = 0;  // a field's
  int64_t add = 0;

  bool operator==(const Step& o) const {
    return descriptor == o.descriptor && loop == o.loop && lsb == o.lsb &&
           bits == o.bits && add == o.add;
  }
};

// Descriptors with their loops, which are in the order of `begin` and, where
// they begin together, the outer one first; steps are in the order of
// descriptor, lsb, loop.
struct Code {
  std::vector<isa::Descriptor> descriptors;
  std::vector<Loop> loops;
  std::vector<Step> steps;
};

// Whether a scalar unit of `preset` could run them (whether the preset has one
// or not). InvalidArgument names the loop, or the descriptor of a step.
absl::Status CheckLoops(const Code& code, const Preset& preset);

// How far the HBM address of a descriptor is from what the program says, at
// least and at most, over all passes.
struct Reach {
  int64_t least = 0, most = 0;
};
Reach ReachOf(const std::vector<Loop>& loops, const std::vector<Step>& steps,
              uint32_t descriptor);

// The descriptor in that pass of each loop (as Program::loops; those that it is
// not in do not count).
isa::Descriptor AtPass(const isa::Descriptor& descriptor, uint32_t index,
                       const std::vector<Step>& steps,
                       const std::vector<uint32_t>& passes);

// The program without loops, one descriptor after the other as they would run.
// Where it is longer than its place it moves behind all other memory. Errors:
// FailedPrecondition (a loop that ends by its data), ResourceExhausted (more
// than kMaxUnrolled descriptors, or than the memory holds).
inline constexpr uint64_t kMaxUnrolled = uint64_t{1} << 22;
absl::StatusOr<Program> UnrollLoops(const Program& program);

// The program as its preset's chip can run it: with its loops if that has a
// scalar unit, else with none. What its firmware holds is taken in chapters, of
// which each has whole loops; in a loop that is too large for one, those that
// save least are unrolled. Errors: as UnrollLoops, with the preset's name.
absl::StatusOr<Program> ForChip(Program program);

// What the firmware holds of a chapter.
inline constexpr uint32_t kMaxSteps = 256;
inline constexpr uint32_t kMaxLoops = 64;
// The tables of all chapters.
inline constexpr uint64_t kMaxTableBytes = 160 << 10;

// What RollLoops makes unless it is asked for more: one chapter.
inline constexpr uint32_t kMaxStepped = kMaxSteps / 2;

// The program with repetitions as loops, found in its descriptors; at most
// `stepped` descriptors have steps, two each on average, in half as many loops,
// of which `depth` are in each other. Unrolled it is the same again.
Program RollLoops(const Program& program, uint32_t stepped = kMaxStepped,
                  uint32_t depth = kMaxLoopDepth);

}  // namespace systole

#endif  // SYSTOLE_LOOPS_H_
