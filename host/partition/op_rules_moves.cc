// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations that move elements.
#include <algorithm>

#include "host/ir/hlo/fold.h"
#include "host/partition/op_rules_parts.h"

namespace systole::partition {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;

int64_t PlaceIn(const Ints& list, int64_t d) {
  return std::find(list.begin(), list.end(), d) - list.begin();
}
bool Holds(const Ints& list, int64_t d) {
  return PlaceIn(list, d) < static_cast<int64_t>(list.size());
}

void Same(RuleMaker& make, size_t operand, int64_t from, int64_t to) {
  const int factor = make.New();
  make.Operand(operand, from, factor);
  make.Result(0, to, factor);
}

// Dimensions are grouped so that the products of their sizes are equal. The
// first of a group go into tiles together: those are contiguous on both sides.
void Reshape(const Node& node, RuleMaker& make) {
  const Ints &from = node.operands[0].type().shape, &to = node.type.shape;
  if (node.type.elements() == 0) return;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    if (from[i] == 1) {
      ++i;
      continue;
    }
    if (to[j] == 1) {
      ++j;
      continue;
    }
    Same(make, 0, static_cast<int64_t>(i), static_cast<int64_t>(j));
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right) {
        left *= from[i++];
      } else {
        right *= to[j++];
      }
    }
  }
}

void Broadcast(const Node& node, RuleMaker& make) {
  const Ints& dimensions = node.attr<ir::HloDimensionsAttributes>().dimensions;
  for (int d = 0; d < node.type.rank(); ++d) {
    const int factor = make.New();
    make.Result(0, d, factor);
    const int64_t from = PlaceIn(dimensions, d);
    if (Holds(dimensions, d) &&
        node.operands[0].type().shape[from] == node.type.shape[d])
      make.Operand(0, from, factor);
  }
}

// Dimensions that are moved as they are: of operand 0 and the result of the
// same size, and for which `plain` holds.
template <typename Plain>
void Kept(const Node& node, RuleMaker& make, Plain plain) {
  for (int d = 0; d < node.type.rank(); ++d) {
    if (node.operands[0].type().shape[d] == node.type.shape[d] && plain(d))
      Same(make, 0, d, d);
  }
}

void Update(const Node& node, RuleMaker& make) {
  for (int d = 0; d < node.type.rank(); ++d) {
    if (node.operands[1].type().shape[d] != node.type.shape[d]) continue;
    const int factor = make.New();
    make.Operand(0, d, factor);
    make.Operand(1, d, factor);
    make.Result(0, d, factor);
  }
}

void Concatenate(const Node& node, RuleMaker& make) {
  const int64_t along = node.attr<ir::HloDimensionAttributes>().dimension;
  for (int d = 0; d < node.type.rank(); ++d) {
    if (d == along) continue;
    const int factor = make.New();
    for (size_t i = 0; i < node.operands.size(); ++i)
      make.Operand(i, d, factor);
    make.Result(0, d, factor);
  }
}

// The dimensions of an operand that windows have, and those of the windows.
// Indices: all their dimensions but that of the index vector are `batch`
// dimensions of the other operand or result, in their order.
struct Windows {
  Ints window_dims, inserted, batching, indices_batching;
  int64_t index_vector_dim;
};

// Calls `whole` with each dimension of the operand that windows cover wholly
// and its window dimension; `batch` with dimensions of the indices and of the
// result (or updates), and the operand's dimension they are batched with or -1.
template <typename Whole, typename Batch>
void ForWindows(const Windows& w, const ir::Type& operand,
                const ir::Type& indices, const ir::Type& windows, Whole whole,
                Batch batch) {
  size_t window = 0;
  for (int d = 0; d < operand.rank(); ++d) {
    if (Holds(w.inserted, d) || Holds(w.batching, d)) continue;
    const int64_t to = w.window_dims[window++];
    if (windows.shape[to] == operand.shape[d]) whole(d, to);
  }
  int64_t from = 0;
  for (int d = 0; d < windows.rank(); ++d) {
    if (Holds(w.window_dims, d)) continue;
    if (from == w.index_vector_dim) ++from;
    const int64_t place = PlaceIn(w.indices_batching, from);
    batch(from, d, Holds(w.indices_batching, from) ? w.batching[place] : -1);
    ++from;
  }
  (void)indices;
}

// Dimensions of operand 0 from which each window has one place, which a
// component of the index counts.
template <typename Divide>
void Lookups(const Ints& components, const Ints& single, RuleMaker& make,
             Divide divide) {
  for (size_t c = 0; c < components.size(); ++c) {
    if (!Holds(single, components[c])) continue;
    const int factor = make.New();
    make.Operand(0, components[c], factor);
    divide(components[c], factor);
    make.rule().lookups.push_back(static_cast<int64_t>(c));
  }
}

void Gather(const Node& node, RuleMaker& make) {
  const auto& a = node.attr<ir::HloGatherAttributes>();
  const Windows windows{a.offset_dims, a.collapsed_slice_dims,
                        a.operand_batching_dims, a.start_indices_batching_dims,
                        a.index_vector_dim};
  ForWindows(
      windows, node.operands[0].type(), node.operands[1].type(), node.type,
      [&](int64_t d, int64_t to) { Same(make, 0, d, to); },
      [&](int64_t from, int64_t to, int64_t batched) {
        const int factor = make.New();
        make.Operand(1, from, factor);
        make.Result(0, to, factor);
        if (batched >= 0) make.Operand(0, batched, factor);
      });
  Lookups(a.start_index_map, a.collapsed_slice_dims, make, [](int64_t, int) {});
}

// Of updates on zeros that are added, each device may add its own.
void Scatter(const Node& node, RuleMaker& make) {
  if (node.results() != 1) return;
  const auto& a = node.attr<ir::HloScatterAttributes>();
  const Windows windows{a.update_window_dims, a.inserted_window_dims,
                        a.input_batching_dims, a.scatter_indices_batching_dims,
                        a.index_vector_dim};
  const std::optional<ir::Literal> zero = UniformValue(node.operands[0]);
  const bool adds = zero && *zero == ir::Literal::Zeros(zero->element(), 1) &&
                    ir::CombinerOf(*node.regions[0]) == Op::kHloAdd;
  ForWindows(
      windows, node.type, node.operands[1].type(), node.operands[2].type(),
      [&](int64_t d, int64_t to) {
        const int factor = make.New();
        make.Operand(0, d, factor);
        make.Operand(2, to, factor);
        make.Result(0, d, factor);
      },
      [&](int64_t from, int64_t to, int64_t batched) {
        if (batched < 0 && !adds) return;
        const int factor = make.New();
        make.Operand(1, from, factor);
        make.Operand(2, to, factor);
        if (batched < 0) return;
        make.Operand(0, batched, factor);
        make.Result(0, batched, factor);
      });
  Lookups(a.scatter_dims_to_operand_dims, a.inserted_window_dims, make,
          [&](int64_t d, int factor) { make.Result(0, d, factor); });
}

}  // namespace

void MoveRule(const Node& node, RuleMaker& make) {
  switch (node.op) {
    case Op::kHloIota:
      for (int d = 0; d < node.type.rank(); ++d) make.Result(0, d, make.New());
      return;
    case Op::kHloBitcastConvert:
      for (int d = 0;
           d < std::min(node.type.rank(), node.operands[0].type().rank());
           ++d) {
        if (node.type.shape[d] == node.operands[0].type().shape[d])
          Same(make, 0, d, d);
      }
      return;
    case Op::kHloReshape:
      return Reshape(node, make);
    case Op::kHloBroadcastInDim:
      return Broadcast(node, make);
    case Op::kHloTranspose: {
      const auto& order = node.attr<ir::TransposeAttributes>().permutation;
      for (int d = 0; d < node.type.rank(); ++d) Same(make, 0, order[d], d);
      return;
    }
    case Op::kHloSlice:
    case Op::kHloDynamicSlice:
      return Kept(node, make, [](int) { return true; });
    case Op::kHloDynamicUpdateSlice:
      return Update(node, make);
    case Op::kHloPad: {
      const auto& a = node.attr<ir::HloPadAttributes>();
      return Kept(node, make, [&](int d) {
        return a.low[d] == 0 && a.high[d] == 0 && a.interior[d] == 0;
      });
    }
    case Op::kHloReverse: {
      const Ints& turned = node.attr<ir::HloDimensionsAttributes>().dimensions;
      return Kept(node, make, [&](int d) { return !Holds(turned, d); });
    }
    case Op::kHloConcatenate:
      return Concatenate(node, make);
    case Op::kHloGather:
      return Gather(node, make);
    case Op::kHloScatter:
      return Scatter(node, make);
    default:
      return;
  }
}

void SetTileSizes(const OpRule& rule, const std::vector<ir::Type>& operands,
                  const ir::Type& result, Node& node) {
  switch (node.op) {
    case Op::kHloSlice: {
      auto& a = node.attr<ir::HloSliceAttributes>();
      for (int d = 0; d < result.rank(); ++d)
        if (rule.results[0][d] != kWhole) a.limit[d] = result.shape[d];
      return;
    }
    case Op::kHloDynamicSlice:
      node.attr<ir::HloSizesAttributes>().sizes = result.shape;
      return;
    case Op::kHloGather: {
      auto& a = node.attr<ir::HloGatherAttributes>();
      size_t window = 0;
      for (int d = 0; d < operands[0].rank(); ++d) {
        if (Holds(a.collapsed_slice_dims, d) ||
            Holds(a.operand_batching_dims, d))
          continue;
        a.slice_sizes[d] = result.shape[a.offset_dims[window++]];
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace systole::partition
