// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations that move elements and do not depend on their values.
#include <algorithm>
#include <numeric>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

// The result of a strided walk over the operand, from element `first` on.
Literals Walked(const Node& node, const Literal& operand, int64_t first,
                const Ints& strides) {
  const int bytes = ElementBytes(node.type.element);
  Literal result = Literal::Zeros(node.type.element, node.type.elements());
  CopyStrided(bytes, node.type.shape, {operand.data() + first * bytes, strides},
              {result.data(), StridesOf(node.type.shape)});
  return Only(std::move(result));
}

// The start indices of a slice, from scalars, clamped so that the slice fits.
absl::StatusOr<Ints> Starts(const Operands& operands, size_t first,
                            const Ints& shape, const Ints& sizes) {
  Ints starts;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t start =
        operands[first + i]->Visit([](const auto& v) -> int64_t {
          using T = typename std::decay_t<decltype(v)>::value_type;
          if constexpr (std::is_same_v<T, uint64_t>) {
            return static_cast<int64_t>(std::min<uint64_t>(v[0], INT64_MAX));
          } else if constexpr (kIsInteger<T>) {
            return v[0];
          }
          return 0;
        });
    starts.push_back(std::clamp<int64_t>(start, 0, shape[i] - sizes[i]));
  }
  return starts;
}

int64_t Dot(const Ints& a, const Ints& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t{0});
}

}  // namespace

absl::StatusOr<Literals> EvaluateIota(const Node& node, const Operands&,
                                      Evaluation&) {
  const Ints& shape = node.type.shape;
  const int64_t dimension = node.attr<HloDimensionAttributes>().dimension;
  const int64_t inner = StridesOf(shape)[dimension];
  const int64_t size = shape[dimension];
  return WithElement(
      node.type.element, [&](auto tag) -> absl::StatusOr<Literals> {
        using T = typename decltype(tag)::type;
        std::vector<T> values(node.type.elements());
        auto to = values.begin();
        while (to != values.end()) {
          for (int64_t i = 0; i < size; ++i, to += inner) {
            if constexpr (kIsFloat<T>) {
              std::fill_n(to, inner, static_cast<T>(static_cast<float>(i)));
            } else {
              std::fill_n(to, inner, static_cast<T>(i));
            }
          }
        }
        return Only(Literal(std::move(values)));
      });
}

absl::StatusOr<Literals> EvaluateBroadcastInDim(const Node& node,
                                                const Operands& operands,
                                                Evaluation&) {
  const Type& from = node.operands[0].type();
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  // With lanes, the operand has more values than its type says.
  if (node.type.elements() == from.elements() &&
      std::is_sorted(dimensions.begin(), dimensions.end())) {
    return Only(*operands[0]);
  }
  const Ints strides = StridesOf(from.shape);
  Ints stretched(node.type.rank(), 0);
  for (int i = 0; i < from.rank(); ++i) {
    if (from.shape[i] != 1) stretched[dimensions[i]] = strides[i];
  }
  return Walked(node, *operands[0], 0, stretched);
}

absl::StatusOr<Literals> EvaluateHloReshape(const Node&,
                                            const Operands& operands,
                                            Evaluation&) {
  return Only(*operands[0]);
}

absl::StatusOr<Literals> EvaluateTranspose(const Node& node,
                                           const Operands& operands,
                                           Evaluation&) {
  const Ints strides = StridesOf(node.operands[0].type().shape);
  Ints permuted;
  for (int64_t dimension : node.attr<TransposeAttributes>().permutation) {
    permuted.push_back(strides[dimension]);
  }
  return Walked(node, *operands[0], 0, permuted);
}

absl::StatusOr<Literals> EvaluateStrided(const Node& node,
                                         const Operands& operands,
                                         Evaluation&) {
  const auto& a = node.attr<HloStridedAttributes>();
  return Walked(node, *operands[0], a.offset, a.strides);
}

absl::StatusOr<Literals> EvaluateSlice(const Node& node,
                                       const Operands& operands, Evaluation&) {
  const auto& a = node.attr<HloSliceAttributes>();
  Ints strides = StridesOf(node.operands[0].type().shape);
  const int64_t first = Dot(a.start, strides);
  for (size_t i = 0; i < strides.size(); ++i) strides[i] *= a.strides[i];
  return Walked(node, *operands[0], first, strides);
}

absl::StatusOr<Literals> EvaluateReverse(const Node& node,
                                         const Operands& operands,
                                         Evaluation&) {
  Ints strides = StridesOf(node.type.shape);
  int64_t first = 0;
  if (node.type.elements() == 0) return Only(*operands[0]);
  for (int64_t i : node.attr<HloDimensionsAttributes>().dimensions) {
    first += (node.type.shape[i] - 1) * strides[i];
    strides[i] = -strides[i];
  }
  return Walked(node, *operands[0], first, strides);
}

absl::StatusOr<Literals> EvaluateDynamicSlice(const Node& node,
                                              const Operands& operands,
                                              Evaluation&) {
  const Ints& shape = node.operands[0].type().shape;
  const absl::StatusOr<Ints> starts =
      Starts(operands, 1, shape, node.type.shape);
  if (!starts.ok()) return starts.status();
  const Ints strides = StridesOf(shape);
  return Walked(node, *operands[0], Dot(*starts, strides), strides);
}

absl::StatusOr<Literals> EvaluateDynamicUpdateSlice(const Node& node,
                                                    const Operands& operands,
                                                    Evaluation& evaluation) {
  const Ints& sizes = node.operands[1].type().shape;
  const absl::StatusOr<Ints> starts =
      Starts(operands, 2, node.type.shape, sizes);
  if (!starts.ok()) return starts.status();
  const int bytes = ElementBytes(node.type.element);
  const Ints strides = StridesOf(node.type.shape);
  Literal result = evaluation.Take(operands[0]);
  CopyStrided(bytes, sizes, {operands[1]->data(), StridesOf(sizes)},
              {result.data() + Dot(*starts, strides) * bytes, strides});
  return Only(std::move(result));
}

absl::StatusOr<Literals> EvaluateConcatenate(const Node& node,
                                             const Operands& operands,
                                             Evaluation&) {
  const int64_t axis = node.attr<HloDimensionAttributes>().dimension;
  const int bytes = ElementBytes(node.type.element);
  const Ints strides = StridesOf(node.type.shape);
  Literal result = Literal::Zeros(node.type.element, node.type.elements());
  int64_t begin = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Ints& shape = node.operands[i].type().shape;
    CopyStrided(bytes, shape, {operands[i]->data(), StridesOf(shape)},
                {result.data() + begin * strides[axis] * bytes, strides});
    begin += shape[axis];
  }
  return Only(std::move(result));
}

absl::StatusOr<Literals> EvaluatePad(const Node& node, const Operands& operands,
                                     Evaluation&) {
  const auto& a = node.attr<HloPadAttributes>();
  const int bytes = ElementBytes(node.type.element);
  Literal result = Literal::Zeros(node.type.element, node.type.elements());
  if (result.size() == 0) return Only(std::move(result));
  CopyStrided(bytes, {result.size()}, {operands[1]->data(), {0}},
              {result.data(), {1}});
  // In each dimension, elements begin .. end - 1 of the operand remain.
  // Negative padding cuts off the others.
  const Ints& shape = node.operands[0].type().shape;
  const Ints from_strides = StridesOf(shape);
  Ints to_strides = StridesOf(node.type.shape);
  Ints sizes;
  int64_t first = 0, target = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t step = a.interior[i] + 1;
    const int64_t begin = a.low[i] >= 0 ? 0 : (-a.low[i] + step - 1) / step;
    const int64_t room = node.type.shape[i] - 1 - a.low[i];
    const int64_t end = room < 0 ? 0 : std::min(shape[i], room / step + 1);
    if (end <= begin) return Only(std::move(result));
    sizes.push_back(end - begin);
    first += begin * from_strides[i];
    target += (a.low[i] + begin * step) * to_strides[i];
    to_strides[i] *= step;
  }
  CopyStrided(bytes, sizes, {operands[0]->data() + first * bytes, from_strides},
              {result.data() + target * bytes, to_strides});
  return Only(std::move(result));
}

absl::StatusOr<Literals> EvaluateSame(const Node&, const Operands& operands,
                                      Evaluation&) {
  Literals results;
  for (const Literal* operand : operands) results.push_back(*operand);
  return results;
}

}  // namespace systole::ir
