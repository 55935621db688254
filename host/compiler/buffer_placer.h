// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Finds addresses for buffers of one memory. Two that live at the same time do
// not overlap. Space that nothing of the layer before uses is preferred, so
// that loads can run ahead; a buffer that may be written in place of another
// takes its place.
#ifndef HOST_COMPILER_BUFFER_PLACER_H_
#define HOST_COMPILER_BUFFER_PLACER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/plan.h"

namespace systole::compiler {

class BufferPlacer {
 public:
  BufferPlacer(int64_t bytes, int64_t align) : bytes_(bytes), align_(align) {}

  // The number of the buffer, which has its address now, or nothing where there
  // is no room. Its size is rounded up; `over` are numbers of earlier ones.
  std::optional<int> Place(PlanBuffer buffer) {
    return PlaceIn(0, bytes_, std::move(buffer));
  }
  // The same between two addresses, multiples of the alignment.
  std::optional<int> PlaceIn(int64_t begin, int64_t end, PlanBuffer buffer);

  // Whether buffers may lie where the layer before has some though there is
  // room elsewhere (PlanBuffer::anywhere); less is wasted between buffers then.
  void Anywhere(bool anywhere) { anywhere_ = anywhere; }

  // Undo: a mark is the number of buffers placed so far.
  size_t Mark() const { return buffers_.size(); }
  void Release(size_t mark) { buffers_.resize(mark); }

  // In the order of the calls.
  const std::vector<PlanBuffer>& buffers() const { return buffers_; }

  // Bytes that are in use at some time between the two layers.
  int64_t Used(int first, int last) const;

 private:
  std::optional<int64_t> InPlace(const PlanBuffer& buffer) const;
  std::optional<int64_t> FirstFit(int64_t begin, int64_t end,
                                  const PlanBuffer& buffer, int first) const;

  int64_t bytes_, align_;
  bool anywhere_ = false;
  std::vector<PlanBuffer> buffers_;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_BUFFER_PLACER_H_
