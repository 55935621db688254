// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gather and scatter have the same rules, with operand and result exchanged.
#include <algorithm>

#include "host/ir/hlo/rules.h"

namespace systole::ir {
namespace {

bool Has(const Ints& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Ints Joined(const Ints& a, const Ints& b) {
  Ints all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Attributes that both have: the operand dimensions that the window leaves out,
// and the mapping from indices to the operand.
struct Indexing {
  const Type& operand;
  const Type& indices;
  const Ints& window_dims;  // of the gathered values or updates, ascending
  const Ints& collapsed;    // of the operand
  const Ints& operand_batching;
  const Ints& indices_batching;
  const Ints& index_map;
  int64_t index_vector_dim;
};

absl::Status CheckIndexing(const Indexing& g, int64_t result_rank) {
  SYSTOLE_IR_CHECK(IsInteger(g.indices.element), "indices are ",
                   TypeText(g.indices));
  SYSTOLE_IR_CHECK(
      0 <= g.index_vector_dim && g.index_vector_dim <= g.indices.rank(),
      "index vectors along ", g.index_vector_dim, " of ", TypeText(g.indices));
  const int64_t rank = g.operand.rank();
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(g.window_dims, result_rank, "window dimensions"));
  SYSTOLE_IR_CHECK(std::is_sorted(g.window_dims.begin(), g.window_dims.end()),
                   "window dimensions ", ShapeText(g.window_dims),
                   " do not ascend");
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(Joined(g.collapsed, g.operand_batching), rank,
                      "collapsed and batching dimensions"));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(Joined(g.index_map, g.operand_batching), rank,
                      "indexed and batching dimensions"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckDimensions(
      g.indices_batching, g.indices.rank(), "batching dimensions"));
  SYSTOLE_IR_CHECK(!Has(g.indices_batching, g.index_vector_dim),
                   "index vectors along a batching dimension");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLength(
      g.indices_batching, static_cast<int64_t>(g.operand_batching.size()),
      "batching dimensions"));
  for (size_t i = 0; i < g.operand_batching.size(); ++i) {
    SYSTOLE_IR_CHECK(g.operand.shape[g.operand_batching[i]] ==
                         g.indices.shape[g.indices_batching[i]],
                     "batching dimensions of ", TypeText(g.operand), " and ",
                     TypeText(g.indices), " differ");
  }
  const int64_t length = g.index_vector_dim < g.indices.rank()
                             ? g.indices.shape[g.index_vector_dim]
                             : 1;
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(g.index_map, length, "indexed dimensions"));
  return CheckLength(g.window_dims,
                     rank - static_cast<int64_t>(g.collapsed.size()) -
                         static_cast<int64_t>(g.operand_batching.size()),
                     "window dimensions");
}

// Shape of the indices without the index vectors.
Ints BatchShape(const Type& indices, int64_t index_vector_dim) {
  Ints shape = indices.shape;
  if (0 <= index_vector_dim && index_vector_dim < indices.rank()) {
    shape.erase(shape.begin() + index_vector_dim);
  }
  return shape;
}

}  // namespace

Types InferGather(const Node& node) {
  const Type& operand = node.operands[0].type();
  const Type& indices = node.operands[1].type();
  const auto& a = node.attr<HloGatherAttributes>();
  const Ints batch = BatchShape(indices, a.index_vector_dim);
  const int64_t rank =
      static_cast<int64_t>(batch.size() + a.offset_dims.size());
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckIndexing({operand, indices, a.offset_dims, a.collapsed_slice_dims,
                     a.operand_batching_dims, a.start_indices_batching_dims,
                     a.start_index_map, a.index_vector_dim},
                    rank));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(a.slice_sizes, operand.rank(), "slice sizes"));
  Ints window;
  for (int i = 0; i < operand.rank(); ++i) {
    const bool left_out =
        Has(a.collapsed_slice_dims, i) || Has(a.operand_batching_dims, i);
    SYSTOLE_IR_CHECK(
        0 <= a.slice_sizes[i] && a.slice_sizes[i] <= operand.shape[i] &&
            (!left_out || a.slice_sizes[i] <= 1),
        "slices of ", ShapeText(a.slice_sizes), " of ", TypeText(operand));
    if (!left_out) window.push_back(a.slice_sizes[i]);
  }
  Type type{operand.element, {}, {}};
  size_t w = 0, b = 0;
  for (int64_t i = 0; i < rank; ++i) {
    type.shape.push_back(Has(a.offset_dims, i) ? window[w++] : batch[b++]);
  }
  return std::vector<Type>{type};
}

Types InferScatter(const Node& node) {
  const auto& a = node.attr<HloScatterAttributes>();
  const int count = node.results();
  SYSTOLE_IR_CHECK(static_cast<int>(node.operands.size()) >= 2 * count + 1,
                   node.operands.size(), " operands for ", count, " results");
  const Type& indices = node.operands[count].type();
  const Ints batch = BatchShape(indices, a.index_vector_dim);
  const int64_t rank =
      static_cast<int64_t>(batch.size() + a.update_window_dims.size());
  std::vector<Type> types;
  for (int i = 0; i < count; ++i) {
    const Type& operand = node.operands[i].type();
    const Type& update = node.operands[count + 1 + i].type();
    SYSTOLE_IR_RETURN_IF_ERROR(CheckIndexing(
        {operand, indices, a.update_window_dims, a.inserted_window_dims,
         a.input_batching_dims, a.scatter_indices_batching_dims,
         a.scatter_dims_to_operand_dims, a.index_vector_dim},
        rank));
    SYSTOLE_IR_CHECK(operand.shape == node.operands[0].type().shape &&
                         update.shape == node.operands[count + 1].type().shape,
                     "inputs or updates differ in shape");
    SYSTOLE_IR_CHECK(update.rank() == rank && update.element == operand.element,
                     "updates are ", TypeText(update), " for ",
                     TypeText(operand));
    Ints window;
    for (int k = 0; k < operand.rank(); ++k) {
      if (!Has(a.inserted_window_dims, k) && !Has(a.input_batching_dims, k)) {
        window.push_back(operand.shape[k]);
      }
    }
    size_t w = 0, b = 0;
    for (int64_t k = 0; k < rank; ++k) {
      const bool fits = Has(a.update_window_dims, k)
                            ? update.shape[k] <= window[w++]
                            : update.shape[k] == batch[b++];
      SYSTOLE_IR_CHECK(fits, "updates are ", TypeText(update), " for ",
                       TypeText(operand), " and indices ", TypeText(indices));
    }
    types.push_back(operand);
  }
  std::vector<Type> scalars;
  for (int k = 0; k < 2; ++k) {
    for (const Type& type : types) scalars.push_back({type.element, {}, {}});
  }
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckRegion(node, 0, scalars, {scalars.begin(), scalars.begin() + count},
                  2 * count + 1));
  return types;
}

}  // namespace systole::ir
