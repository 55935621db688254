// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Collective operations over the cores of a device (docs/collectives.md).
// All-reduce: every core of a group has a vector, or several, and all of them
// get the elementwise sum, maximum or minimum of all. It is a reduce-scatter,
// after which each has its part, and then an all-gather; both are there alone.
// Exchange: parts of the cores' vectors go to places in others' vectors;
// all-to-all, broadcast and permutations are such, and all-gathers of any
// group.
//
//   auto cores = Device::OpenCores("rtl", {.preset = "minichip",
//                                          .torus = {2, 2}});
//   auto programs = compiler::CompileAllReduce(
//       {.elements = {1 << 14}, .group = {0, 1, 2, 3, 4, 5, 6, 7},
//        .columns = 2}, *FindPreset("minichip"));
//   (*cores)[group[p]]->WriteTensor(*(*programs)[p].FindTensor("in"), bytes);
//
// The programs of a group run at the same time.
#ifndef SYSTOLE_COLLECTIVE_H_
#define SYSTOLE_COLLECTIVE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

// Where a member has its vectors, in its own memory: multiples of the beat,
// each with room for whole beats. What adds needs ScratchBytes more; the
// program's code, which is a segment of it, lies there too.
struct MemberMemory {
  std::vector<uint64_t> in, out;  // of each vector
  uint64_t scratch = 0;
};

struct AllReduceSpec {
  enum class Operation { kSum, kMax, kMin };
  enum class Type { kFloat32, kBf16, kInt32 };
  // Of each vector, position p has the p-th of as many equal parts as there are
  // positions, of a multiple of the beat each: after a reduce-scatter, at its
  // place in "out", and what is elsewhere there is not defined; before an
  // all-gather, as "in".
  enum class Phase { kAllReduce, kReduceScatter, kAllGather };

  Operation operation = Operation::kSum;
  Type type = Type::kFloat32;
  std::vector<int64_t> elements = {1};  // of each vector
  // Cores in the order of their positions: 1, 2, 4 or 8 different ones, of 4
  // chips at most. Numbered as Device::OpenCores returns them.
  std::vector<int> group;
  int columns = 1;  // of the torus
  // By position; empty: from 0 on, for all the same. The programs' prog_addr
  // may be set to any free place.
  std::vector<MemberMemory> memory = {};
  Phase phase = Phase::kAllReduce;
};

int64_t ScratchBytes(const AllReduceSpec& spec, const Preset& preset);

// Whether the group can do it. kInvalidArgument: why not.
absl::Status CheckAllReduce(const AllReduceSpec& spec, const Preset& preset);

// A program for each position, with tensors "in" and "out" of one line of
// `elements` values, or a part of these; of several vectors "in0", "out0",
// "in1" and so on. Errors:
// kInvalidArgument (a group that is none, a preset without the bf16 cell or,
// for several chips, without links), kResourceExhausted (elements that the
// memory does not hold).
absl::StatusOr<std::vector<Program>> CompileAllReduce(const AllReduceSpec& spec,
                                                      const Preset& preset);

// Bytes of the vector of position `from` that go to the vector of position
// `to`: lines of `bytes` each, which begin so many bytes after each other.
struct Transfer {
  int from = 0, to = 0;
  int64_t from_byte = 0, to_byte = 0, bytes = 0;
  int vector = 0;  // of several, of both positions
  int64_t lines = 1, from_pitch = 0, to_pitch = 0;
};

// Offsets and pitches are multiples of the beat, and `bytes` too where the
// transfer has several lines or does not end a vector. No byte is written
// twice.
struct ExchangeSpec {
  // Of each vector before and after.
  std::vector<int64_t> in_bytes, out_bytes;
  std::vector<Transfer> transfers;
  std::vector<int> group;                 // 1 to 8 different cores
  int columns = 1;                        // of the torus
  std::vector<MemberMemory> memory = {};  // as of AllReduceSpec
  // Positions that get nothing, and whose vectors are zero afterwards: as part
  // of a longer program only.
  std::vector<int> zeros = {};
};

// Every position gets the vectors of all, in the order of the positions. bytes:
// of a position's part of each.
ExchangeSpec AllGather(const std::vector<int64_t>& bytes,
                       std::vector<int> group, int columns);
// Part q of the vector of position p becomes part p of that of q.
ExchangeSpec AllToAll(int64_t part_bytes, std::vector<int> group, int columns);
// Every position gets the vector of `root`.
ExchangeSpec Broadcast(int root, int64_t bytes, std::vector<int> group,
                       int columns);
// Position `second` gets the vector of position `first` of each pair. Those
// that get none keep what is in theirs.
ExchangeSpec Permute(const std::vector<std::pair<int, int>>& pairs,
                     int64_t bytes, std::vector<int> group, int columns);

// A program for each position, with tensors "in" and "out" of int8; of several
// vectors "in0", "out0" and so on. Errors as above, and kInvalidArgument for a
// transfer that is outside of the vectors or not aligned.
absl::StatusOr<std::vector<Program>> CompileExchange(const ExchangeSpec& spec,
                                                     const Preset& preset);

}  // namespace systole::compiler

#endif  // SYSTOLE_COLLECTIVE_H_
