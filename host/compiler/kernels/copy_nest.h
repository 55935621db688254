// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code of nested loops that copy rows, or blocks through the transposer.
// The first two arguments of a run are the addresses to copy from and to.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COPY_NEST_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COPY_NEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

inline int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline constexpr int64_t kGroupRows = vpu::kVectorSteps;

struct CopyNest {
  static constexpr size_t kMostLoops = 4;  // counters

  struct Loop {
    int64_t count, from, to;  // strides in bytes
  };
  // Bytes between the places of two elements.
  struct Distance {
    int64_t from, to;
  };

  std::vector<Loop> loops;  // outer ones first
  Loop rows = {1, 0, 0};
  int64_t unit = 4, lanes = 1;  // bytes, and units of a row
  int64_t spread = 0;           // bytes of an element that fills all lanes
  // Through the transposer: this many elements of each row become rows. The
  // rows come this many times, at other places.
  Loop columns = {0, 0, 0};
  Loop times = {1, 0, 0};
};

class CopyNests {
 public:
  // The index of the code for these loops; equal ones have the same code.
  // Errors: ResourceExhausted (instruction memory).
  absl::StatusOr<int> Add(const CopyNest& nest);
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  using Loop = CopyNest::Loop;
  using Distance = CopyNest::Distance;

  // Each returns how far it has moved the addresses.
  Distance EmitLoops(const CopyNest& nest, size_t level);
  Distance EmitRows(const CopyNest& nest);
  Distance EmitBlock(const CopyNest& nest);
  void EmitGroup(const CopyNest& nest, int64_t group, int64_t from, int64_t to);
  void Put(vpu::Op op, int d, int a = 0, int b = 0, int64_t imm = 0);
  // With a scalar register as the second operand.
  void PutScalar(vpu::Op op, int d, int a, int b);
  void Move(Distance distance);
  void SetRows(int64_t rows);

  std::vector<uint64_t> words_;
  std::map<std::vector<int64_t>, int> known_;
  int64_t vl_ = 0;  // while code is emitted
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COPY_NEST_H_
