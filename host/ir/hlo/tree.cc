// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// reduce: the tree that docs/hlo.md fixes.
#include "host/ir/hlo/tree.h"

#include <algorithm>
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

// A copy that is arranged as [outer][count][inner].
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

// values: the elements as the tree has them, changed.
void CombineTree(const Combiner& combiner, const TreeShape& tree,
                 const Literal& init, Literal& values, Literal& results) {
  const int64_t inner = tree.inner;
  const int bytes = ElementBytes(values.element());
  for (int64_t o = 0; o < tree.outer; ++o) {
    uint8_t* line = values.data() + o * tree.count * inner * bytes;
    int64_t count = tree.count;
    for (int64_t half = FirstHalf(count); half > 0; half /= 2) {
      combiner.map((count - half) * inner, line, 1, line + half * inner * bytes,
                   1, line);
      count = half;
    }
    combiner.map(inner, init.data(), 0, line, 1,
                 results.data() + o * inner * bytes);
  }
}

// Any region, one element after the other.
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
  return Fold(plan, *node.regions[0], {begin, begin + count},
              {begin + count, begin + 2 * count},
              {begin + 2 * count, operands.end()}, evaluation);
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
