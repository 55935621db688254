// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gather and scatter. Both walk over the index vectors. Each index vector
// selects a window of the operand (the input of scatter) and one of the other
// tensor (the gathered values, or the updates).
#include <algorithm>
#include <numeric>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

bool Has(const Ints& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

struct Shapes {
  const Ints& operand;
  const Ints& indices;
  const Ints& other;
  const Ints& window_dims;  // of `other`
  const Ints& left_out;     // of the operand: collapsed or inserted
  const Ints& operand_batching;
  const Ints& indices_batching;
  const Ints& index_map;
  int64_t index_vector_dim;
};

// The windows, with the dimensions in the order of the operand.
struct Windows {
  Ints sizes;          // of a window, without left-out dimensions
  Ints whole;          // of a window, with them
  Ints operand_steps;  // one entry per size
  Ints other_steps;
  Ints starts;         // one entry per window and operand dimension
  Ints other_offsets;  // one entry per window
  Ints operand_strides;
  int64_t count = 0;

  const int64_t* start(int64_t i) const {
    return starts.data() + i * whole.size();
  }
  // Whether window i lies inside the operand of that shape.
  bool Fits(int64_t i, const Ints& shape) const {
    for (size_t k = 0; k < whole.size(); ++k) {
      if (start(i)[k] < 0 || start(i)[k] > shape[k] - whole[k]) return false;
    }
    return true;
  }
  int64_t operand_offset(int64_t i) const {
    return std::inner_product(operand_strides.begin(), operand_strides.end(),
                              start(i), int64_t{0});
  }
};

int64_t IndexAt(const Literal& indices, int64_t at) {
  return indices.Visit([&](const auto& v) -> int64_t {
    using T = typename std::decay_t<decltype(v)>::value_type;
    if constexpr (kIsInteger<T>) {
      // An index beyond i64 is beyond every tensor too, so it saturates.
      if constexpr (std::is_same_v<T, uint64_t>) {
        return static_cast<int64_t>(std::min<uint64_t>(v[at], INT64_MAX));
      }
      return static_cast<int64_t>(v[at]);
    }
    return 0;
  });
}

Windows FindWindows(const Shapes& s, const Ints& whole,
                    const Literal& indices) {
  Windows w;
  w.whole = whole;
  w.operand_strides = StridesOf(s.operand);
  const Ints other_strides = StridesOf(s.other);
  const Ints index_strides = StridesOf(s.indices);
  size_t next = 0;
  for (size_t i = 0; i < s.operand.size(); ++i) {
    if (Has(s.left_out, i) || Has(s.operand_batching, i)) continue;
    w.sizes.push_back(whole[i]);
    w.operand_steps.push_back(w.operand_strides[i]);
    w.other_steps.push_back(other_strides[s.window_dims[next++]]);
  }
  // The dimensions of the indices, except index_vector_dim, correspond in order
  // to the dimensions of `other` that are not in the window.
  Ints shape, steps, other_steps;
  size_t other = 0;
  for (size_t i = 0; i < s.indices.size(); ++i) {
    if (static_cast<int64_t>(i) == s.index_vector_dim) continue;
    while (Has(s.window_dims, static_cast<int64_t>(other))) ++other;
    shape.push_back(s.indices[i]);
    steps.push_back(index_strides[i]);
    other_steps.push_back(other_strides[other++]);
  }
  const int64_t vector_step =
      s.index_vector_dim < static_cast<int64_t>(s.indices.size())
          ? index_strides[s.index_vector_dim]
          : 0;
  w.count = std::accumulate(shape.begin(), shape.end(), int64_t{1},
                            std::multiplies<>());
  Ints index(shape.size(), 0);
  for (int64_t i = 0; i < w.count; ++i, Advance(shape, index)) {
    Ints start(s.operand.size(), 0);
    int64_t at = 0, offset = 0;
    for (size_t k = 0; k < shape.size(); ++k) {
      at += index[k] * steps[k];
      offset += index[k] * other_steps[k];
    }
    for (size_t k = 0; k < s.index_map.size(); ++k) {
      start[s.index_map[k]] =
          IndexAt(indices, at + static_cast<int64_t>(k) * vector_step);
    }
    for (size_t k = 0; k < s.operand_batching.size(); ++k) {
      const int64_t dimension = s.indices_batching[k];
      const int64_t place =
          dimension > s.index_vector_dim ? dimension - 1 : dimension;
      start[s.operand_batching[k]] = index[place];
    }
    w.starts.insert(w.starts.end(), start.begin(), start.end());
    w.other_offsets.push_back(offset);
  }
  return w;
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloGather(const Node& node,
                                           const Operands& operands,
                                           Evaluation&) {
  const auto& a = node.attr<HloGatherAttributes>();
  const Ints& shape = node.operands[0].type().shape;
  Literal result = Literal::Zeros(node.type.element, node.type.elements());
  if (result.size() == 0) return Only(std::move(result));
  Windows w = FindWindows(
      {shape, node.operands[1].type().shape, node.type.shape, a.offset_dims,
       a.collapsed_slice_dims, a.operand_batching_dims,
       a.start_indices_batching_dims, a.start_index_map, a.index_vector_dim},
      a.slice_sizes, *operands[1]);
  const int bytes = ElementBytes(node.type.element);
  const uint8_t* from = operands[0]->data();
  uint8_t* to = result.data();
  const size_t rank = shape.size();
  for (int64_t i = 0; i < w.count; ++i) {
    for (size_t k = 0; k < rank; ++k) {
      int64_t& start = w.starts[i * rank + k];
      start = std::clamp<int64_t>(start, 0, shape[k] - w.whole[k]);
    }
    CopyStrided(bytes, w.sizes,
                {from + w.operand_offset(i) * bytes, w.operand_steps},
                {to + w.other_offsets[i] * bytes, w.other_steps});
  }
  return Only(std::move(result));
}

namespace {

// Whether a region returns its second parameter: the update replaces the
// element.
bool Replaces(const Module& region) {
  const std::vector<Node*> parameters = region.inputs();
  return parameters.size() == 2 && region.outputs.size() == 1 &&
         region.outputs[0].node == parameters[1];
}

void CombineWindow(const Combiner& combiner, int bytes, const Windows& w,
                   const uint8_t* from, uint8_t* to) {
  Ints index(w.sizes.size(), 0);
  const int64_t elements = std::accumulate(w.sizes.begin(), w.sizes.end(),
                                           int64_t{1}, std::multiplies<>());
  const size_t rank = w.sizes.size();
  const int64_t row = rank ? w.sizes[rank - 1] : 1;
  const int64_t step = rank ? w.operand_steps[rank - 1] : 0;
  const int64_t other_step = rank ? w.other_steps[rank - 1] : 0;
  for (int64_t done = 0; done < elements; done += row) {
    int64_t target = 0, source = 0;
    for (size_t k = 0; k + 1 < rank; ++k) {
      target += index[k] * w.operand_steps[k];
      source += index[k] * w.other_steps[k];
    }
    if (step == 1) {
      uint8_t* place = to + target * bytes;
      combiner.map(row, place, 1, from + source * bytes, other_step, place);
    } else {
      for (int64_t j = 0; j < row; ++j) {
        uint8_t* place = to + (target + j * step) * bytes;
        combiner.map(1, place, 1, from + (source + j * other_step) * bytes, 1,
                     place);
      }
    }
    if (rank) {
      index[rank - 1] = row - 1;
      Advance(w.sizes, index);
    }
  }
}

}  // namespace

absl::StatusOr<Literals> EvaluateScatter(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation) {
  const auto& a = node.attr<HloScatterAttributes>();
  const int count = node.results();
  const Ints& shape = node.operands[0].type().shape;
  const Ints& updates = node.operands[count + 1].type().shape;
  Literals results;
  for (int i = 0; i < count; ++i) {
    results.push_back(evaluation.Take(operands[i]));
  }
  Ints whole(shape.size(), 1);
  size_t next = 0;
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (Has(a.inserted_window_dims, i) || Has(a.input_batching_dims, i)) {
      continue;
    }
    whole[i] = updates[a.update_window_dims[next++]];
    elements *= whole[i];
  }
  const Windows w =
      FindWindows({shape, node.operands[count].type().shape, updates,
                   a.update_window_dims, a.inserted_window_dims,
                   a.input_batching_dims, a.scatter_indices_batching_dims,
                   a.scatter_dims_to_operand_dims, a.index_vector_dim},
                  whole, *operands[count]);
  const Module& region = *node.regions[0];
  const std::optional<Op> combiner =
      count == 1 ? CombinerOf(region) : std::nullopt;
  const bool replaces = count == 1 && Replaces(region);
  const Ints packed = StridesOf(w.sizes);
  for (int64_t i = 0; i < w.count && elements > 0; ++i) {
    if (!w.Fits(i, shape)) continue;
    const int64_t target = w.operand_offset(i), source = w.other_offsets[i];
    if (combiner) {
      const int bytes = ElementBytes(results[0].element());
      CombineWindow(*FindCombiner(*combiner, results[0].element()), bytes, w,
                    operands[2]->data() + source * bytes,
                    results[0].data() + target * bytes);
      continue;
    }
    // The elements of a window are distinct, so all are combined at once.
    Literals lanes;
    const auto copy = [&](const Literal& from, int64_t offset,
                          const Ints& steps) {
      const int bytes = ElementBytes(from.element());
      lanes.push_back(Literal::Zeros(from.element(), elements));
      CopyStrided(bytes, w.sizes, {from.data() + offset * bytes, steps},
                  {lanes.back().data(), packed});
    };
    if (!replaces) {
      for (int k = 0; k < count; ++k) {
        copy(results[k], target, w.operand_steps);
      }
    }
    for (int k = 0; k < count; ++k) {
      copy(*operands[count + 1 + k], source, w.other_steps);
    }
    if (!replaces) {
      Operands inputs;
      for (const Literal& lane : lanes) inputs.push_back(&lane);
      inputs.insert(inputs.end(), operands.begin() + 2 * count + 1,
                    operands.end());
      absl::StatusOr<Literals> combined =
          evaluation.RunLanes(region, elements, inputs);
      if (!combined.ok()) return combined.status();
      lanes = *std::move(combined);
    }
    for (int k = 0; k < count; ++k) {
      const int bytes = ElementBytes(results[k].element());
      const Literal lane = Filled(lanes[k], elements);
      CopyStrided(bytes, w.sizes, {lane.data(), packed},
                  {results[k].data() + target * bytes, w.operand_steps});
    }
  }
  return results;
}

}  // namespace systole::ir
