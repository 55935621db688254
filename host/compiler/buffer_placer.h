// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Assigns addresses to buffers of one memory. Buffers that are alive at the
// same time do not overlap. Space that the layer before does not use is
// preferred, so that loads can run ahead. A buffer that may be written in place
// of another one takes its address.
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

  // Places the buffer and returns its number, or nothing if there is no room.
  // The size is rounded up; `over` lists numbers of earlier buffers.
  std::optional<int> Place(PlanBuffer buffer) {
    return PlaceIn(0, bytes_, std::move(buffer));
  }
  // The same within [begin, end), which are multiples of the alignment.
  std::optional<int> PlaceIn(int64_t begin, int64_t end, PlanBuffer buffer);

  // Whether buffers may use space of the layer before although other space is
  // free (PlanBuffer::anywhere). Less space is then lost between buffers.
  void Anywhere(bool anywhere) { anywhere_ = anywhere; }

  // Release(mark) undoes all placements after Mark().
  size_t Mark() const { return buffers_.size(); }
  void Release(size_t mark) { buffers_.resize(mark); }

  // In the order of the calls to Place.
  const std::vector<PlanBuffer>& buffers() const { return buffers_; }

  // Bytes in use at any time between the two layers.
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
