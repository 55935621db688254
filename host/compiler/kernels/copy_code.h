// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code that copies boxes of elements within the unified buffer, with a
// stride for each dimension on both sides. One run copies a whole box: its
// loops are part of the code.
//
//   CopyCode code(preset);
//   absl::StatusOr<CopySteps> steps = code.Add(4, dimensions);
//   builder.SetCode(code.words());
//   for (const CopyStep& step : steps->steps) builder.Run(step.pc, ...);
//
// Four ways, the cheapest is taken (cycles for L lanes):
//   rows        a dimension that is dense on both sides, or one element for
//               all, lies along the lanes: 1 a row of up to L words
//   transposer  one dimension is dense here, another one there: m + n for a
//               block of m x n words, up to L x L (a word holds neighbours of 8
//               or 16 bits)
//   twice       through a buffer in between, where neither fits: a dimension
//               that is reversed, or of which some elements are left out
//   repeated    a short line that is repeated fills a row in a buffer in between
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COPY_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COPY_CODE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/copy_nest.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct CopyDimension {
  int64_t size;
  int64_t from, to;  // strides, in elements
};

// Removes dimensions of one element and merges neighbours that are contiguous
// on both sides.
std::vector<CopyDimension> MergedDimensions(
    const std::vector<CopyDimension>& dimensions);

// A run of the code at `pc`: its first argument is the address to copy from,
// the second one the address to copy to.
struct CopyStep {
  enum class Place : uint8_t { kFrom, kTo, kBetween };
  int pc;
  Place source, target;
  int64_t from, to;  // bytes, to add to the first addresses of the places
  int64_t cycles;    // about
};

struct CopySteps {
  std::vector<CopyStep> steps;  // in this order
  int64_t between = 0;          // bytes of the buffer in between
  int64_t cycles = 0;           // of all steps
};

class CopyCode {
 public:
  explicit CopyCode(const Preset& preset) : lanes_(preset.cols) {}

  // Code for elements of 1, 2, 4 or 8 bytes. Reads up to 3 bytes behind the
  // source's last element. Errors: ResourceExhausted (instruction memory).
  absl::StatusOr<CopySteps> Add(int64_t element_bytes,
                                const std::vector<CopyDimension>& dimensions);

  const std::vector<uint64_t>& words() const { return nests_.words(); }

 private:
  using Loop = CopyNest::Loop;
  using Distance = CopyNest::Distance;
  using Dimensions = std::vector<CopyDimension>;
  // A copy between two places; positions of its first element in bytes.
  struct Box {
    int64_t bytes;  // of an element
    Dimensions dimensions;
    CopyStep::Place source, target;
    Distance at;
  };

  absl::Status Copy(Box box, CopySteps& steps);
  absl::Status Rows(const Box& box, std::optional<size_t> along,
                    CopySteps& steps);
  // `more`: a dimension that goes on where x ends, in the target.
  absl::Status Transpose(const Box& box, size_t x, size_t y,
                         std::optional<size_t> more, CopySteps& steps);
  // The ways in and out of a buffer in between, but for dimensions x and z.
  static std::pair<Box, Box> Between(const Box& box, size_t x, size_t z,
                                     int64_t inner, CopySteps& steps);
  absl::Status Twice(const Box& box, size_t x, size_t z, CopySteps& steps);
  absl::Status Split(Box box, size_t x, CopySteps& steps);
  // A short line that is repeated: how often it goes into a row of lanes.
  int64_t CopiesOf(const Box& box, size_t x, size_t z) const;
  absl::Status Repeat(const Box& box, size_t x, size_t z, CopySteps& steps);
  // Cycles, about.
  double RowsCost(const Box& box, std::optional<size_t> along) const;
  double BlocksCost(int64_t bytes, int64_t nx, int64_t ny) const;

  // Adds a step for a nest, whose loops that the scalar registers do not hold
  // are steps of their own.
  absl::Status AddNest(const Box& box, CopyNest nest, Distance at,
                       CopySteps& steps);
  const int64_t lanes_;  // of the unit
  CopyNests nests_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COPY_CODE_H_
