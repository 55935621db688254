// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/windows.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/move_pieces.h"
#include "host/ir/index.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using ir::Ints;

constexpr int64_t kMostParts = 1024;

bool Has(const Ints& values, size_t value) {
  return std::find(values.begin(), values.end(), static_cast<int64_t>(value)) !=
         values.end();
}

// The attributes of gather and scatter, under common names.
struct Numbers {
  const Ints &window_dims, &dropped, &operand_batching, &indices_batching,
      &index_map;
  int64_t vector_dim;
};

Windows Of(const Ints& operand, const Ints& indices, const Ints& other,
           const Ints& whole, const Numbers& n) {
  Windows w;
  const Ints operand_strides = ir::StridesOf(operand);
  const Ints other_strides = ir::StridesOf(other);
  const Ints index_strides = ir::StridesOf(indices);
  size_t next = 0;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (Has(n.dropped, i) || Has(n.operand_batching, i)) continue;
    w.inside.push_back(
        {whole[i], operand_strides[i], other_strides[n.window_dims[next++]]});
  }
  Ints steps;
  std::vector<size_t> places(indices.size());  // of dimensions in `batch`
  size_t free = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (static_cast<int64_t>(i) == n.vector_dim) continue;
    while (Has(n.window_dims, free)) ++free;
    places[i] = w.batch.size();
    w.batch.push_back(indices[i]);
    steps.push_back(index_strides[i]);
    w.other_strides.push_back(other_strides[free++]);
  }
  const bool vectors = n.vector_dim < static_cast<int64_t>(indices.size());
  for (size_t k = 0; k < n.index_map.size(); ++k) {
    const int64_t d = n.index_map[k];
    const int64_t offset =
        vectors ? static_cast<int64_t>(k) * index_strides[n.vector_dim] : 0;
    w.starts.push_back(
        {1, offset, steps, operand[d], whole[d], operand_strides[d]});
  }
  w.behind.assign(w.batch.size(), 0);
  for (size_t k = 0; k < n.operand_batching.size(); ++k)
    w.behind[places[n.indices_batching[k]]] +=
        operand_strides[n.operand_batching[k]];
  return w;
}

// One window, with a start per operand from `first` on.
Windows OfSlice(const ir::Node& node, const Ints& window, int first) {
  Windows w;
  const Ints& shape = node.operands[0].type().shape;
  const Ints strides = ir::StridesOf(shape), dense = ir::StridesOf(window);
  for (size_t i = 0; i < shape.size(); ++i) {
    w.starts.push_back(
        {first + static_cast<int>(i), 0, {}, shape[i], window[i], strides[i]});
    w.inside.push_back({window[i], strides[i], dense[i]});
  }
  return w;
}

// Adds rows of `lanes` units, from unit `first` of each line on.
absl::Status AddRows(std::vector<CopyDimension> dimensions, int64_t first,
                     int64_t lanes, int64_t unit,
                     std::vector<WindowPart>& parts) {
  CopyDimension rows{1, 0, 0};
  const auto longest = std::max_element(
      dimensions.begin(), dimensions.end(),
      [](const auto& a, const auto& b) { return a.size < b.size; });
  if (longest != dimensions.end()) {
    rows = *longest;
    dimensions.erase(longest);
  }
  Ints sizes;
  int64_t lines = 1;
  for (const CopyDimension& d : dimensions) {
    sizes.push_back(d.size);
    lines *= d.size;
  }
  if (lines * rows.size > kMostParts * vpu::kVectorSteps)
    return absl::ResourceExhaustedError("a window of too many parts");
  Ints index(sizes.size(), 0);
  for (int64_t i = 0; i < lines; ++i, ir::Advance(sizes, index)) {
    int64_t from = first, to = first;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      from += index[d] * dimensions[d].from;
      to += index[d] * dimensions[d].to;
    }
    for (int64_t at = 0; at < rows.size; at += vpu::kVectorSteps) {
      parts.push_back({(from + at * rows.from) * unit,
                       (to + at * rows.to) * unit,
                       std::min<int64_t>(vpu::kVectorSteps, rows.size - at),
                       rows.from * unit, rows.to * unit, lanes});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<WindowPart>> PartsOf(
    std::vector<CopyDimension> inside, int64_t element_bytes, int64_t unit,
    int64_t cols) {
  const int64_t units = element_bytes / unit;
  for (CopyDimension& d : inside) {
    d.from *= units;
    d.to *= units;
  }
  if (units > 1) inside.push_back({units, 1, 1});
  inside = MergedDimensions(inside);
  CopyDimension lanes{1, 1, 1};
  const auto dense =
      std::find_if(inside.begin(), inside.end(),
                   [](const auto& d) { return d.from == 1 && d.to == 1; });
  if (dense != inside.end()) {
    lanes = *dense;
    inside.erase(dense);
  }
  std::vector<WindowPart> parts;
  const int64_t full = lanes.size / cols, rest = lanes.size % cols;
  if (full > 0) {
    std::vector<CopyDimension> rows = inside;
    if (full > 1) rows.push_back({full, cols, cols});
    if (absl::Status s = AddRows(rows, 0, cols, unit, parts); !s.ok()) return s;
  }
  if (rest > 0) {
    if (absl::Status s = AddRows(inside, full * cols, rest, unit, parts);
        !s.ok())
      return s;
  }
  return parts;
}

namespace {

// Of each index, the sum of its numbers times the strides; empty: all are 0.
std::vector<int64_t> OffsetsOf(const Ints& sizes, const Ints& strides) {
  std::vector<int64_t> offsets;
  const bool any = std::any_of(strides.begin(), strides.end(),
                               [](int64_t stride) { return stride != 0; });
  if (!any) return offsets;
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Ints index(sizes.size(), 0);
  for (int64_t i = 0; i < count; ++i, ir::Advance(sizes, index)) {
    int64_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) offset += index[d] * strides[d];
    offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace

std::vector<int64_t> Windows::Offsets() const {
  return OffsetsOf(batch, behind);
}

WindowPieces::WindowPieces(const Windows& windows)
    : starts(windows.starts.size()) {
  std::vector<std::pair<int64_t, Dimension>> all;  // by stride in the other
  for (size_t d = 0; d < windows.batch.size(); ++d) {
    Dimension dimension{windows.batch[d], windows.behind[d], {}};
    for (const Windows::Start& start : windows.starts)
      dimension.starts.push_back(start.strides[d]);
    all.emplace_back(windows.other_strides[d], std::move(dimension));
  }
  for (const CopyDimension& d : windows.inside) {
    all.emplace_back(d.to,
                     Dimension{d.size, d.from, Ints(windows.starts.size(), 0)});
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& d) { return d.second.size == 1; }),
            all.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  const auto lies = [&](const auto& d) {
    return d.first == elements && d.second.from == elements &&
           std::all_of(d.second.starts.begin(), d.second.starts.end(),
                       [](int64_t stride) { return stride == 0; });
  };
  while (!all.empty() && lies(all.back())) {
    elements *= all.back().second.size;
    all.pop_back();
  }
  for (auto& [to, dimension] : all) dimensions.push_back(std::move(dimension));
}

void WindowPieces::Cut(int64_t parts) {
  elements /= parts;
  dimensions.push_back({parts, elements, Ints(starts, 0)});
}

int64_t WindowPieces::count() const {
  int64_t count = 1;
  for (const Dimension& d : dimensions) count *= d.size;
  return count;
}

std::vector<int64_t> WindowPieces::Offsets() const {
  Ints sizes, strides;
  for (const Dimension& d : dimensions) {
    sizes.push_back(d.size);
    strides.push_back(d.from);
  }
  return OffsetsOf(sizes, strides);
}

int64_t Windows::count() const {
  int64_t count = 1;
  for (const int64_t size : batch) count *= size;
  return count;
}

int64_t Windows::elements() const {
  int64_t elements = 1;
  for (const CopyDimension& d : inside) elements *= d.size;
  return elements;
}

std::vector<CopyDimension> Windows::InOrder() const {
  std::vector<CopyDimension> all;
  for (size_t i = 0; i < batch.size(); ++i)
    all.push_back({batch[i], other_strides[i], 0});
  for (const CopyDimension& d : inside) all.push_back({d.size, d.to, 0});
  int64_t elements = 1;
  for (size_t i = all.size(); i-- > 0; elements *= all[i].size)
    all[i].to = elements;
  return all;
}

Windows Windows::Cut(CutInto cut) const {
  Windows w = *this;
  if (cut == CutInto::kWindows) return w;
  std::vector<CopyDimension> kept;
  // Innermost first, as long as they are contiguous.
  int64_t length = 1;
  for (size_t i = inside.size(); cut == CutInto::kPieces && i-- > 0;) {
    const CopyDimension& d = inside[i];
    if (d.size > 1 && (d.from != length || d.to != length)) break;
    length *= d.size;
    kept.insert(kept.begin(), d);
  }
  w.inside.resize(inside.size() - kept.size());
  for (const CopyDimension& d : w.inside) {
    if (d.size == 1) continue;
    w.batch.push_back(d.size);
    w.behind.push_back(d.from);
    w.other_strides.push_back(d.to);
    for (Start& start : w.starts) start.strides.push_back(0);
  }
  w.inside = std::move(kept);
  return w;
}

int64_t Windows::Unit(const Ints& shape) const {
  int64_t largest = 0, unit = 1;
  for (const CopyDimension& d : inside) {
    if (d.size > 1) largest = std::max(largest, d.from);
  }
  for (size_t i = shape.size(); i-- > 0 && unit <= largest;) unit *= shape[i];
  return unit;
}

Windows WindowsOf(const ir::Node& node) {
  if (IsMove(node)) {
    const Piece piece = PiecesOf(node)[0];
    Windows w;
    w.inside = piece.dimensions;
    w.first = piece.from;
    return w;
  }
  const Ints& operand = node.operands[0].type().shape;
  const Ints& second = node.operands[1].type().shape;
  switch (node.op) {
    case ir::Op::kHloGather: {
      const auto& a = node.attr<ir::HloGatherAttributes>();
      return Of(operand, second, node.type.shape, a.slice_sizes,
                {a.offset_dims, a.collapsed_slice_dims, a.operand_batching_dims,
                 a.start_indices_batching_dims, a.start_index_map,
                 a.index_vector_dim});
    }
    case ir::Op::kHloScatter: {
      const auto& a = node.attr<ir::HloScatterAttributes>();
      const Ints& updates = node.operands[2].type().shape;
      Ints whole(operand.size(), 1);
      size_t next = 0;
      for (size_t i = 0; i < operand.size(); ++i) {
        if (!Has(a.inserted_window_dims, i) && !Has(a.input_batching_dims, i))
          whole[i] = updates[a.update_window_dims[next++]];
      }
      Windows w = Of(operand, second, updates, whole,
                     {a.update_window_dims, a.inserted_window_dims,
                      a.input_batching_dims, a.scatter_indices_batching_dims,
                      a.scatter_dims_to_operand_dims, a.index_vector_dim});
      w.left_out = true;
      return w;
    }
    case ir::Op::kHloDynamicSlice:
      return OfSlice(node, node.type.shape, 1);
    default:  // kHloDynamicUpdateSlice
      return OfSlice(node, second, 2);
  }
}

}  // namespace systole::lanes
