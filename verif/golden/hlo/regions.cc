// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Sums and other reductions".
#include <algorithm>
#include <cstdlib>

#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;
using Bits = std::vector<uint64_t>;

std::vector<Element> ElementsOf(const Tensors& tensors, size_t count) {
  std::vector<Element> elements;
  for (size_t i = 0; i < count; ++i) elements.push_back(tensors[i].element);
  return elements;
}

// Reduces by halves: the distance of the pairs is the largest power of two
// below the count.
uint64_t ByHalves(const Combiner& combine, Bits values) {
  while (values.size() > 1) {
    size_t half = 1;
    while (2 * half < values.size()) half *= 2;
    for (size_t i = 0; i < half && i + half < values.size(); ++i)
      values[i] = combine.Single(values[i], values[i + half]);
    values.resize(half);
  }
  return values[0];
}

// `columns`: whether results lie next to each other.
uint64_t InSections(const Combiner& combine, uint64_t initial, bool columns,
                    Bits values) {
  if (values.empty()) return initial;
  while (const size_t section = SectionOfSum(values.size(), columns)) {
    Bits results;
    for (size_t i = 0; i < values.size(); i += section) {
      const size_t end = std::min(i + section, values.size());
      results.push_back(
          ByHalves(combine, {values.begin() + i, values.begin() + end}));
    }
    values = results;
  }
  return combine.Single(initial, ByHalves(combine, values));
}

// Whether a dimension that is kept lies behind one that is reduced; both have
// several elements.
bool HasColumns(const Index& shape, const Index& reduced) {
  size_t d = 0;
  const auto is_reduced = [&] {
    return std::count(reduced.begin(), reduced.end(), d) > 0;
  };
  while (d < shape.size() && !(shape[d] > 1 && is_reduced())) ++d;
  for (; d < shape.size(); ++d)
    if (shape[d] > 1 && !is_reduced()) return true;
  return false;
}

// Of each element, the only value.
Bits First(const std::vector<Bits>& values) {
  Bits first;
  for (const Bits& value : values) first.push_back(value[0]);
  return first;
}

class Fold {
 public:
  Fold(const Node& node, const Tensors& operands, Evaluation& run)
      : count_(node.results()),
        operands_(operands),
        types_(ElementsOf(operands, 2 * count_)),
        combine_(*node.regions[0], Rest(operands, 2 * count_), run) {
    for (size_t i = 0; i < count_; ++i)
      initial_.push_back(operands[count_ + i].bits[0]);
    sum_ = initial_;
  }

  Combiner& combine() { return combine_; }
  const Bits& initial() const { return initial_; }
  void Next(const Bits& values) {
    Bits parameters = sum_;
    parameters.insert(parameters.end(), values.begin(), values.end());
    sum_ = combine_.Call(types_, parameters);
  }
  Bits At(const Index& place) const {
    Bits values;
    for (size_t i = 0; i < count_; ++i) values.push_back(operands_[i][place]);
    return values;
  }
  Bits Finish() {
    Bits sum = sum_;
    sum_ = initial_;
    return sum;
  }

 private:
  const size_t count_;
  const Tensors& operands_;
  const std::vector<Element> types_;
  Combiner combine_;
  Bits initial_, sum_;
};

// Reduces in ascending order. Many values are reduced in groups; then the
// groups' results are reduced.
Bits InGroups(Fold& fold, std::vector<Bits> values) {
  constexpr size_t kGroup = 512;
  while (values.size() > kGroup) {
    std::vector<Bits> sums;
    for (size_t i = 0; i < values.size(); ++i) {
      fold.Next(values[i]);
      if (i % kGroup == kGroup - 1 || i + 1 == values.size())
        sums.push_back(fold.Finish());
    }
    values = std::move(sums);
  }
  for (const Bits& value : values) fold.Next(value);
  return fold.Finish();
}

Tensors Results(const Node& node) {
  Tensors results;
  for (int i = 0; i < node.results(); ++i) {
    const ir::Type& type = node.result_type(i);
    results.emplace_back(type.element, type.shape);
  }
  return results;
}

Tensors Reduce(const Node& node, const Tensors& operands, Evaluation& run) {
  Tensors results = Results(node);
  const Index& reduced = node.attr<ir::HloDimensionsAttributes>().dimensions;
  const Index& shape = operands[0].shape;
  const Index kept = Others(operands[0].rank(), reduced);
  // The reduced dimensions in ascending order, whatever the order of the list.
  const Index ascending = Others(operands[0].rank(), kept);
  Fold fold(node, operands, run);
  ForEach(results[0].shape, [&](const Index& index) {
    Index place(shape.size());
    for (size_t i = 0; i < kept.size(); ++i) place[kept[i]] = index[i];
    std::vector<Bits> values;
    ForEach(Pick(shape, ascending), [&](const Index& term) {
      for (size_t i = 0; i < ascending.size(); ++i)
        place[ascending[i]] = term[i];
      values.push_back(fold.At(place));
    });
    const Bits sums =
        fold.combine().single()
            ? Bits{InSections(fold.combine(), fold.initial()[0],
                              HasColumns(shape, reduced), First(values))}
            : InGroups(fold, std::move(values));
    for (size_t i = 0; i < sums.size(); ++i) results[i][index] = sums[i];
  });
  return results;
}

// Sets `place` to the position of a tap. Returns whether it is an element of
// the operand.
bool TapAt(const ir::HloWindowAttributes& a, const Index& shape,
           const Index& window, const Index& tap, Index& place) {
  place.clear();
  bool inside = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t at =
        window[i] * a.stride[i] + tap[i] * a.window_dilation[i] - a.low[i];
    inside = inside && at >= 0 && at % a.base_dilation[i] == 0 &&
             at / a.base_dilation[i] < shape[i];
    place.push_back(at / a.base_dilation[i]);
  }
  return inside;
}

Tensors ReduceWindow(const Node& node, const Tensors& operands,
                     Evaluation& run) {
  Tensors results = Results(node);
  const auto& a = node.attr<ir::HloWindowAttributes>();
  Fold fold(node, operands, run);
  ForEach(results[0].shape, [&](const Index& index) {
    Index place;
    ForEach(a.window, [&](const Index& tap) {
      const bool inside = TapAt(a, operands[0].shape, index, tap, place);
      fold.Next(inside ? fold.At(place) : fold.initial());
    });
    const Bits sums = fold.Finish();
    for (size_t i = 0; i < sums.size(); ++i) results[i][index] = sums[i];
  });
  return results;
}

Tensor SelectAndScatter(const Node& node, const Tensors& operands,
                        Evaluation& run) {
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const Tensor &operand = operands[0], &source = operands[1];
  const Element element = operand.element;
  const std::vector<Element> types = {element, element};
  Combiner select(*node.regions[0], Rest(operands, 3), run);
  Combiner scatter(*node.regions[1], Rest(operands, 3), run);
  Tensor result(element, operand.shape);
  uint64_t initial = operands[2].bits[0];
  if (element == Element::kBfloat16 || element == Element::kFloat16)
    initial = FromReal(element, Real(element, initial));
  for (uint64_t& bits : result.bits) bits = initial;
  ForEach(source.shape, [&](const Index& index) {
    Index place, kept;
    bool any = false;
    ForEach(a.window, [&](const Index& tap) {
      if (!TapAt(a, operand.shape, index, tap, place)) return;
      if (any && select.Call(types, {operand[kept], operand[place]})[0] != 0)
        return;
      kept = place;
      any = true;
    });
    if (any)
      result[kept] = scatter.Call(types, {result[kept], source[index]})[0];
  });
  return result;
}

// Stable merge: takes the element of the earlier half unless that of the later
// half comes before it.
template <typename Before>
std::vector<int64_t> Merged(const std::vector<int64_t>& line, Before before) {
  if (line.size() < 2) return line;
  const auto middle = line.begin() + static_cast<int64_t>(line.size() / 2);
  const std::vector<int64_t> a =
      Merged(std::vector<int64_t>(line.begin(), middle), before);
  const std::vector<int64_t> b =
      Merged(std::vector<int64_t>(middle, line.end()), before);
  std::vector<int64_t> merged;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool second = i == a.size() || (j < b.size() && before(b[j], a[i]));
    merged.push_back(second ? b[j++] : a[i++]);
  }
  return merged;
}

Tensors Sort(const Node& node, const Tensors& operands, Evaluation& run) {
  Tensors results = Results(node);
  const size_t count = results.size();
  const Index& shape = operands[0].shape;
  int64_t along = node.attr<ir::HloSortAttributes>().dimension;
  if (along < 0) along += operands[0].rank();
  Combiner compare(*node.regions[0], Rest(operands, count), run);
  std::vector<Element> types;
  for (const Tensor& result : results)
    types.insert(types.end(), 2, result.element);
  Index lines = shape;
  lines[along] = 1;
  ForEach(lines, [&](const Index& first) {
    Index index = first;
    std::vector<int64_t> places;
    for (int64_t i = 0; i < shape[along]; ++i) {
      index[along] = i;
      places.push_back(operands[0].At(index));
    }
    const auto before = [&](int64_t a, int64_t b) {
      Bits pairs;
      for (size_t i = 0; i < count; ++i) {
        pairs.push_back(operands[i].bits[a]);
        pairs.push_back(operands[i].bits[b]);
      }
      return compare.Call(types, pairs)[0] != 0;
    };
    const std::vector<int64_t> order = Merged(places, before);
    for (size_t k = 0; k < order.size(); ++k) {
      for (size_t i = 0; i < count; ++i)
        results[i].bits[places[k]] = operands[i].bits[order[k]];
    }
  });
  return results;
}

Tensor Map(const Node& node, const Tensors& operands, Evaluation& run) {
  Tensor result(node.type.element, node.type.shape);
  Combiner function(*node.regions[0], {}, run);
  const std::vector<Element> types = ElementsOf(operands, operands.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    Bits parameters;
    for (const Tensor& operand : operands)
      parameters.push_back(operand.bits[i]);
    result.bits[i] = function.Call(types, parameters)[0];
  }
  return result;
}

}  // namespace

size_t SectionOfSum(size_t count, bool columns) {
  if (!columns || count <= 128) return 0;
  size_t section = 128;
  while (section >= 16 && count % section != 0) --section;
  return section >= 16 ? section : 128;
}

Tensors Regions(const Node& node, const Tensors& operands, Evaluation& run) {
  switch (node.op) {
    case Op::kHloReduce:
      return Reduce(node, operands, run);
    case Op::kHloReduceWindow:
      return ReduceWindow(node, operands, run);
    case Op::kHloSelectAndScatter:
      return {SelectAndScatter(node, operands, run)};
    case Op::kHloSort:
      return Sort(node, operands, run);
    case Op::kHloMap:
      return {Map(node, operands, run)};
    default:
      std::abort();
  }
}

}  // namespace systole::golden::hlo
