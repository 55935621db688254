// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// reduce: the tree that docs/hlo.md fixes.
#include "host/ir/hlo/tree.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {

int64_t FirstHalf(int64_t count) {
  int64_t half = 1;
  while (2 * half < count) half *= 2;
  return count > 1 ? half : 0;
}

int64_t SectionOf(int64_t count, int64_t inner) {
  constexpr int64_t kMost = 128, kLeast = 16;
  if (inner == 1 || count <= kMost) return 0;
  for (int64_t section = kMost; section >= kLeast; --section)
    if (count % section == 0) return section;
  return kMost;  // the last one is shorter
}

TreeShape TreeShapeOf(const Ints& shape, const Ints& dimensions) {
  TreeShape tree;
  bool began = false, ended = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::count(dimensions.begin(), dimensions.end(),
                                    static_cast<int64_t>(i)) > 0;
    if (shape[i] == 1) continue;
    if (reduced) {
      tree.adjacent = tree.adjacent && !ended;
      began = true;
      tree.count *= shape[i];
    } else {
      ended = began;
      (began ? tree.inner : tree.outer) *= shape[i];
    }
  }
  if (!tree.adjacent) {
    tree.inner *= tree.outer;
    tree.outer = 1;
  }
  return tree;
}

Ints ReducedFirst(const Ints& shape, const Ints& dimensions) {
  Ints order;
  for (const bool reduced : {true, false}) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool is = std::count(dimensions.begin(), dimensions.end(),
                                 static_cast<int64_t>(i)) > 0;
      if (is == reduced) order.push_back(static_cast<int64_t>(i));
    }
  }
  return order;
}

namespace {

// A copy arranged as [outer][count][inner].
Literal Arranged(const Literal& input, const Ints& shape,
                 const Ints& dimensions, const TreeShape& tree) {
  if (tree.adjacent) return input;
  const Ints strides = StridesOf(shape);
  Ints sizes, from;
  for (const int64_t d : ReducedFirst(shape, dimensions)) {
    sizes.push_back(shape[d]);
    from.push_back(strides[d]);
  }
  Literal result = Literal::Zeros(input.element(), input.size());
  CopyStrided(ElementBytes(input.element()), sizes, {input.data(), from},
              {result.data(), StridesOf(sizes)});
  return result;
}

// values: the elements in the arrangement of the tree; they are overwritten.
void CombineTree(const Combiner& combiner, const TreeShape& tree,
                 const Literal& init, Literal& values, Literal& results) {
  const int64_t inner = tree.inner;
  const int bytes = ElementBytes(values.element());
  const int64_t each = inner * bytes;
  const auto by_halves = [&](uint8_t* line, int64_t count) {
    for (int64_t half = FirstHalf(count); half > 0; half /= 2) {
      combiner.map((count - half) * inner, line, 1, line + half * each, 1,
                   line);
      count = half;
    }
  };
  for (int64_t o = 0; o < tree.outer; ++o) {
    uint8_t* const line = values.data() + o * tree.count * each;
    int64_t count = tree.count;
    while (const int64_t section = SectionOf(count, inner)) {
      int64_t sections = 0;
      for (int64_t i = 0; i < count; i += section) {
        by_halves(line + i * each, std::min(section, count - i));
        std::memmove(line + sections++ * each, line + i * each, each);
      }
      count = sections;
    }
    by_halves(line, count);
    combiner.map(inner, init.data(), 0, line, 1,
                 results.data() + o * inner * bytes);
  }
}

int64_t SizeOf(const Ints& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// values: lines of `count` elements; each group becomes one element of a
// shorter line.
absl::StatusOr<Literals> FoldGroups(const Module& region,
                                    const Literals& values, int64_t lines,
                                    int64_t count, const Operands& inits,
                                    const Operands& captured,
                                    Evaluation& evaluation) {
  const int64_t whole = count / kFoldGroup, rest = count % kFoldGroup;
  const int64_t groups = whole + (rest > 0 ? 1 : 0);
  Literals results;
  for (const Literal& value : values)
    results.push_back(Literal::Zeros(value.element(), lines * groups));
  // Folds `each` groups of `size` elements per line, from element `first` on.
  const auto fold = [&](int64_t first, int64_t each, int64_t size,
                        int64_t place) -> absl::Status {
    if (each == 0) return absl::OkStatus();
    const Ints sizes = {lines, each * size};
    Literals parts;
    for (const Literal& value : values) {
      const int bytes = ElementBytes(value.element());
      parts.push_back(Literal::Zeros(value.element(), lines * each * size));
      CopyStrided(bytes, sizes, {value.data() + first * bytes, {count, 1}},
                  {parts.back().data(), StridesOf(sizes)});
    }
    Operands inputs;
    for (const Literal& part : parts) inputs.push_back(&part);
    const FoldPlan plan{{lines, each}, {each * size, size}, {size}, {1}};
    const absl::StatusOr<Literals> sums =
        Fold(plan, region, inputs, inits, captured, evaluation);
    if (!sums.ok()) return sums.status();
    for (size_t i = 0; i < results.size(); ++i) {
      const int bytes = ElementBytes(results[i].element());
      CopyStrided(bytes, {lines, each}, {(*sums)[i].data(), {each, 1}},
                  {results[i].data() + place * bytes, {groups, 1}});
    }
    return absl::OkStatus();
  };
  if (absl::Status s = fold(0, whole, kFoldGroup, 0); !s.ok()) return s;
  if (absl::Status s = fold(whole * kFoldGroup, rest > 0 ? 1 : 0, rest, whole);
      !s.ok())
    return s;
  return results;
}

// For any region: reduces groups of elements, one element after the other,
// until one group is left.
absl::StatusOr<Literals> Ascending(const Node& node, const Operands& operands,
                                   Evaluation& evaluation) {
  const size_t count = node.results();
  const Ints& shape = node.operands[0].type().shape;
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  const Ints strides = StridesOf(shape);
  FoldPlan plan;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::count(dimensions.begin(), dimensions.end(),
                                    static_cast<int64_t>(i)) > 0;
    (reduced ? plan.taps : plan.results).push_back(shape[i]);
    (reduced ? plan.tap_strides : plan.result_strides).push_back(strides[i]);
  }
  const auto begin = operands.begin();
  const Operands inits(begin + count, begin + 2 * count);
  const Operands captured(begin + 2 * count, operands.end());
  const int64_t taps = SizeOf(plan.taps);
  if (taps <= kFoldGroup)
    return Fold(plan, *node.regions[0], {begin, begin + count}, inits, captured,
                evaluation);
  // The elements of each result as a contiguous line.
  const int64_t lines = SizeOf(plan.results);
  Ints sizes = plan.results, from = plan.result_strides;
  sizes.insert(sizes.end(), plan.taps.begin(), plan.taps.end());
  from.insert(from.end(), plan.tap_strides.begin(), plan.tap_strides.end());
  Literals values;
  for (size_t i = 0; i < count; ++i) {
    const Literal& input = *operands[i];
    values.push_back(Literal::Zeros(input.element(), input.size()));
    CopyStrided(ElementBytes(input.element()), sizes, {input.data(), from},
                {values.back().data(), StridesOf(sizes)});
  }
  for (int64_t left = taps; left > 1;
       left = (left + kFoldGroup - 1) / kFoldGroup) {
    absl::StatusOr<Literals> next = FoldGroups(
        *node.regions[0], values, lines, left, inits, captured, evaluation);
    if (!next.ok()) return next.status();
    values = *std::move(next);
  }
  return values;
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloReduce(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation) {
  const std::optional<Op> combiner = CombinerOf(*node.regions[0]);
  if (!combiner || node.results() != 1)
    return Ascending(node, operands, evaluation);
  const Ints& shape = node.operands[0].type().shape;
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  const TreeShape tree = TreeShapeOf(shape, dimensions);
  const int64_t results = node.type.elements();
  if (results == 0 || operands[0]->size() == 0)
    return Only(Filled(*operands[1], results));
  Literal values = Arranged(*operands[0], shape, dimensions, tree);
  Literal sums = Literal::Zeros(node.type.element, results);
  CombineTree(*FindCombiner(*combiner, node.type.element), tree, *operands[1],
              values, sums);
  return Only(std::move(sums));
}

}  // namespace systole::ir
