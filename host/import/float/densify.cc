// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Constants that are stored sparsely. The walk visits dimensions in the file's
// order: those of the tensor, then those of blocks. Each dimension is either
// dense or has a list of the indices that are stored.
#include <algorithm>
#include <cstring>

#include "host/import/float/float_graph.h"
#include "host/ir/index.h"

namespace systole::import {
namespace {

// Lists of indices of 8, 16 or 32 bits.
class Indices {
 public:
  Indices(tflite::SparseIndices kind, const void* table) {
    if (table == nullptr) return;
    if (kind == tflite::SparseIndices_Int32Vector) {
      Take(static_cast<const tflite::Int32Vector*>(table)->values());
    } else if (kind == tflite::SparseIndices_Uint16Vector) {
      Take(static_cast<const tflite::Uint16Vector*>(table)->values());
    } else if (kind == tflite::SparseIndices_Uint8Vector) {
      Take(static_cast<const tflite::Uint8Vector*>(table)->values());
    }
  }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  // -1 beyond the end of the list.
  int64_t operator[](int64_t i) const {
    return 0 <= i && i < size() ? values_[i] : -1;
  }

 private:
  template <typename Vector>
  void Take(const Vector* vector) {
    if (vector != nullptr) values_.assign(vector->begin(), vector->end());
  }

  Ints values_;
};

struct Level {
  bool dense = true;
  int64_t size = 0;    // of the tensor's dimension, or of the block
  int64_t stride = 0;  // in the tensor, in elements
  Indices segments, indices;
};

class Walk {
 public:
  Walk(std::vector<Level> levels, absl::Span<const uint8_t> stored,
       int64_t element_bytes, std::vector<uint8_t>& dense)
      : levels_(std::move(levels)),
        stored_(stored),
        bytes_(element_bytes),
        dense_(dense) {}

  // Copies the elements below position `at` of a level. Returns false if an
  // index lies outside the tensor.
  bool Run(size_t level, int64_t at, int64_t offset) {
    if (++visits_ > kMostVisits * (elements_ + 1))
      return false;  // overlapping lists
    if (level == levels_.size()) {
      const int64_t from = at * bytes_, to = offset * bytes_;
      if (from + bytes_ > static_cast<int64_t>(stored_.size()) ||
          to + bytes_ > static_cast<int64_t>(dense_.size()))
        return false;
      std::memcpy(&dense_[to], &stored_[from], bytes_);
      return true;
    }
    const Level& l = levels_[level];
    if (l.dense) {
      for (int64_t i = 0; i < l.size; ++i)
        if (!Run(level + 1, at * l.size + i, offset + i * l.stride))
          return false;
      return true;
    }
    const int64_t end = l.segments[at + 1];
    const int64_t begin = l.segments[at];
    if (begin < 0 || end < begin || end > l.indices.size()) return false;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = l.indices[i];
      if (index < 0 || index >= l.size ||
          !Run(level + 1, i, offset + index * l.stride))
        return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kMostVisits = 16;  // for each element

  const std::vector<Level> levels_;
  const absl::Span<const uint8_t> stored_;
  const int64_t bytes_;
  std::vector<uint8_t>& dense_;
  const int64_t elements_ = static_cast<int64_t>(dense_.size()) / bytes_;
  int64_t visits_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Densified(const tflite::Tensor& tensor,
                                               absl::Span<const uint8_t> stored,
                                               const Ints& shape,
                                               int64_t element_bytes) {
  constexpr int64_t kMostGrowth = 1 << 10, kSmall = 1 << 16;
  const tflite::Sparsity& sparsity = *tensor.sparsity();
  const auto rank = static_cast<int64_t>(shape.size());
  const auto* const order = sparsity.traversal_order();
  const auto* const dimensions = sparsity.dimensions();
  const int64_t levels = order ? order->size() : 0;
  const int64_t blocks =
      sparsity.block_map() ? sparsity.block_map()->size() : 0;
  if (levels != rank + blocks || dimensions == nullptr ||
      static_cast<int64_t>(dimensions->size()) != levels || levels > 16)
    return Invalid("a sparse tensor of rank ", rank, " with ", levels,
                   " levels");
  const int64_t size = SizeOf(shape);
  if (size >
      std::max(static_cast<int64_t>(stored.size()) * kMostGrowth, kSmall))
    return Unsupported("a sparse tensor of ", stored.size(),
                       " bytes in the shape ", ir::ShapeText(shape));
  // The size of a block along each dimension of the tensor.
  Ints block(rank, 1);
  std::vector<Level> walk;
  std::vector<bool> seen(levels);
  for (int64_t i = 0; i < levels; ++i) {
    const int64_t d = order->Get(i);
    const tflite::DimensionMetadata* const m = dimensions->Get(i);
    if (d < 0 || d >= levels || seen[d] || m == nullptr)
      return Invalid("a sparse tensor in a wrong order");
    seen[d] = true;
    if (d < rank) continue;
    const int64_t along = sparsity.block_map()->Get(d - rank);
    if (along < 0 || along >= rank || m->dense_size() < 1 ||
        m->format() != tflite::DimensionFormat_DENSE ||
        shape[along] % m->dense_size() != 0)
      return Invalid("a sparse tensor in wrong blocks");
    block[along] = m->dense_size();
  }
  const Ints strides = ir::StridesOf(shape);
  for (int64_t i = 0; i < levels; ++i) {
    const int64_t d = order->Get(i);
    const tflite::DimensionMetadata& m = *dimensions->Get(i);
    const bool inner = d >= rank;
    const int64_t along = inner ? sparsity.block_map()->Get(d - rank) : d;
    const int64_t whole = inner ? block[along] : shape[along] / block[along];
    const bool dense = m.format() == tflite::DimensionFormat_DENSE;
    if (dense && m.dense_size() != whole)
      return Invalid("a dense dimension of ", m.dense_size(), ", not ", whole);
    walk.push_back({dense, whole, strides[along] * (inner ? 1 : block[along]),
                    Indices(m.segments_type(), m.segments()),
                    Indices(m.indices_type(), m.indices())});
  }
  std::vector<uint8_t> dense(size * element_bytes, 0);
  if (!Walk(std::move(walk), stored, element_bytes, dense).Run(0, 0, 0))
    return Invalid("a sparse tensor with places that are not inside");
  return dense;
}

}  // namespace systole::import
