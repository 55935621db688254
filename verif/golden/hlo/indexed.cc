// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations whose positions come from data. Names are those of the StableHLO
// specification.
#include <algorithm>
#include <limits>

#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;

// An index; unsigned values beyond int64 become the maximum.
int64_t Place(const Tensor& tensor, int64_t i) {
  const int64_t place = Whole(tensor.element, tensor.bits[i]);
  return !HasSign(tensor.element) && place < 0
             ? std::numeric_limits<int64_t>::max()
             : place;
}

// Start indices of a slice, clamped so that the slice fits.
Index Starts(const Tensors& operands, size_t first, const Index& shape,
             const Index& sizes) {
  Index starts;
  for (size_t i = 0; i < shape.size(); ++i) {
    starts.push_back(std::clamp<int64_t>(Place(operands[first + i], 0), 0,
                                         shape[i] - sizes[i]));
  }
  return starts;
}

Index Sum(const Index& a, const Index& b) {
  Index sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

// The start index at position `batch` of the indices.
Index StartIndex(const Tensor& indices, const Index& batch,
                 int64_t vector_dim) {
  if (vector_dim == indices.rank()) return {Place(indices, indices.At(batch))};
  Index start;
  for (int64_t i = 0; i < indices.shape[vector_dim]; ++i) {
    Index at = batch;
    at.insert(at.begin() + vector_dim, i);
    start.push_back(Place(indices, indices.At(at)));
  }
  return start;
}

// The start index in operand dimensions, including the batch dimensions.
Index FullStart(const Index& start, const Index& start_map, const Index& batch,
                const Index& operand_batching, const Index& indices_batching,
                int64_t vector_dim, int64_t rank) {
  Index full(rank, 0);
  for (size_t i = 0; i < start_map.size(); ++i) full[start_map[i]] = start[i];
  for (size_t i = 0; i < operand_batching.size(); ++i) {
    const int64_t d = indices_batching[i];
    full[operand_batching[i]] = batch[d - (d < vector_dim ? 0 : 1)];
  }
  return full;
}

Tensor Gather(const Node& node, const Tensors& operands) {
  const auto& a = node.attr<ir::HloGatherAttributes>();
  const Tensor &operand = operands[0], &indices = operands[1];
  Tensor result(node.type.element, node.type.shape);
  const Index batch_dims = Others(result.rank(), a.offset_dims);
  Index inserted = a.collapsed_slice_dims;
  inserted.insert(inserted.end(), a.operand_batching_dims.begin(),
                  a.operand_batching_dims.end());
  const Index window_dims = Others(operand.rank(), inserted);
  ForEach(result.shape, [&](const Index& index) {
    const Index batch = Pick(index, batch_dims);
    Index place = FullStart(StartIndex(indices, batch, a.index_vector_dim),
                            a.start_index_map, batch, a.operand_batching_dims,
                            a.start_indices_batching_dims, a.index_vector_dim,
                            operand.rank());
    for (int64_t d = 0; d < operand.rank(); ++d) {
      place[d] =
          std::clamp<int64_t>(place[d], 0, operand.shape[d] - a.slice_sizes[d]);
    }
    const Index offset = Pick(index, a.offset_dims);
    for (size_t i = 0; i < window_dims.size(); ++i)
      place[window_dims[i]] += offset[i];
    result[index] = operand[place];
  });
  return result;
}

}  // namespace

Tensor Indexed(const Node& node, const Tensors& operands) {
  if (node.op == Op::kHloGather) return Gather(node, operands);
  if (node.op == Op::kHloDynamicSlice) {
    Tensor result(node.type.element, node.type.shape);
    const Index starts = Starts(operands, 1, operands[0].shape, result.shape);
    ForEach(result.shape, [&](const Index& index) {
      result[index] = operands[0][Sum(starts, index)];
    });
    return result;
  }
  Tensor result = operands[0];
  const Index starts = Starts(operands, 2, result.shape, operands[1].shape);
  ForEach(operands[1].shape, [&](const Index& index) {
    result[Sum(starts, index)] = operands[1][index];
  });
  return result;
}

Tensors Scatter(const Node& node, const Tensors& operands, Evaluation& run) {
  const auto& a = node.attr<ir::HloScatterAttributes>();
  const size_t count = node.results();
  Tensors results(operands.begin(), operands.begin() + count);
  const Tensor& indices = operands[count];
  const Tensors updates = Rest(operands, count + 1);
  Combiner combine(*node.regions[0], Rest(operands, 2 * count + 1), run);
  const Index& shape = results[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const Index scatter_dims = Others(updates[0].rank(), a.update_window_dims);
  Index inserted = a.inserted_window_dims;
  inserted.insert(inserted.end(), a.input_batching_dims.begin(),
                  a.input_batching_dims.end());
  const Index window_dims = Others(rank, inserted);
  Index sizes(rank, 1);
  for (size_t i = 0; i < window_dims.size(); ++i)
    sizes[window_dims[i]] = updates[0].shape[a.update_window_dims[i]];
  std::vector<Element> types;
  for (size_t i = 0; i < 2 * count; ++i)
    types.push_back(results[i % count].element);
  // Window by window.
  ForEach(Pick(updates[0].shape, scatter_dims), [&](const Index& batch) {
    const Index start =
        FullStart(StartIndex(indices, batch, a.index_vector_dim),
                  a.scatter_dims_to_operand_dims, batch, a.input_batching_dims,
                  a.scatter_indices_batching_dims, a.index_vector_dim, rank);
    for (int64_t d = 0; d < rank; ++d) {
      if (start[d] < 0 || start[d] > shape[d] - sizes[d]) return;
    }
    const Index whole = Pick(updates[0].shape, a.update_window_dims);
    ForEach(whole, [&](const Index& window) {
      Index place = start, index(updates[0].rank());
      for (size_t i = 0; i < scatter_dims.size(); ++i)
        index[scatter_dims[i]] = batch[i];
      for (size_t i = 0; i < window_dims.size(); ++i) {
        place[window_dims[i]] += window[i];
        index[a.update_window_dims[i]] = window[i];
      }
      std::vector<uint64_t> parameters;
      for (const Tensor& result : results) parameters.push_back(result[place]);
      for (size_t i = 0; i < count; ++i)
        parameters.push_back(updates[i][index]);
      const std::vector<uint64_t> combined = combine.Call(types, parameters);
      for (size_t i = 0; i < count; ++i) results[i][place] = combined[i];
    });
  });
  return results;
}

}  // namespace systole::golden::hlo
