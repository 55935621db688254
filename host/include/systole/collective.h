// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// All-reduce over the cores of a device (docs/collectives.md): every core of a
// group has a vector, and all of them get the elementwise sum, maximum or
// minimum of all.
//
//   auto cores = Device::OpenCores("rtl", {.preset = "minichip",
//                                          .torus = {2, 2}});
//   auto programs = compiler::CompileAllReduce(
//       {.elements = 1 << 14, .group = {0, 1, 2, 3, 4, 5, 6, 7},
//        .columns = 2}, *FindPreset("minichip"));
//   (*cores)[group[p]]->WriteTensor(*(*programs)[p].FindTensor("in"), bytes);
//
// The programs of a group run at the same time.
#ifndef SYSTOLE_COLLECTIVE_H_
#define SYSTOLE_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

struct AllReduceSpec {
  enum class Operation { kSum, kMax, kMin };
  enum class Type { kFloat32, kBf16, kInt32 };

  Operation operation = Operation::kSum;
  Type type = Type::kFloat32;
  int64_t elements = 1;
  // Cores, in the order of their positions: 1, 2, 4 or 8 different ones, of 4
  // chips at most. Numbered as Device::OpenCores returns them.
  std::vector<int> group;
  int columns = 1;  // of the torus
};

// A program for each position, with tensors "in" and "out" of one line of
// `elements` values. Errors: kInvalidArgument (a group that is none, a preset
// without the bf16 cell or, for several chips, without links),
// kResourceExhausted (elements that the memory does not hold).
absl::StatusOr<std::vector<Program>> CompileAllReduce(const AllReduceSpec& spec,
                                                      const Preset& preset);

}  // namespace systole::compiler

#endif  // SYSTOLE_COLLECTIVE_H_
