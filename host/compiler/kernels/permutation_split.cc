// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/permutation_split.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "host/compiler/kernels/node_kernel.h"

namespace systole::lanes {
namespace {

constexpr int64_t kFewElements = 1 << 15;
constexpr int64_t kLeastLine = 32;   // elements
constexpr int64_t kMostLines = 128;  // that a narrow matrix is divided into

// Twice it can be added.
constexpr int64_t kForever = std::numeric_limits<int64_t>::max() / 4;

using ir::Ints;
using ir::Node;

struct Dimension {
  int64_t size, stride;
};
using Dimensions = std::vector<Dimension>;

// Without dimensions of one element, neighbours joined.
Dimensions Joined(const Walk& walk) {
  Dimensions joined;
  for (size_t i = 0; i < walk.sizes.size(); ++i) {
    const Dimension d{walk.sizes[i], walk.strides[i]};
    if (d.size == 1) continue;
    if (!joined.empty() && joined.back().stride == d.size * d.stride) {
      joined.back() = {joined.back().size * d.size, d.stride};
    } else {
      joined.push_back(d);
    }
  }
  return joined;
}

// Whether each element is visited once.
bool IsPermutation(Dimensions dimensions, int64_t elements) {
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) {
              return a.stride < b.stride;
            });
  int64_t next = 1;
  for (const Dimension& d : dimensions) {
    if (d.stride != next) return false;
    next *= d.size;
  }
  return next == elements;
}

// Nothing of other nodes.
std::optional<Walk> WalkOf(const Node& node) {
  if (node.op == ir::Op::kHloStrided) {
    const auto& a = node.attr<ir::HloStridedAttributes>();
    return Walk{a.sizes, a.strides, a.offset};
  }
  if (node.op != ir::Op::kHloTranspose) return std::nullopt;
  const Ints& shape = node.operands[0].type().shape;
  const Ints strides = ir::StridesOf(shape);
  Walk walk;
  for (const int64_t d : node.attr<ir::TransposeAttributes>().permutation)
    walk.Add(shape[d], strides[d]);
  return walk;
}

// Expected; a node without a kernel takes the host's time.
int64_t CyclesOf(const Node& node, const Preset& preset) {
  if (!HasKernel(node)) return kForever;
  const absl::StatusOr<KernelProgram> program = CompileNode(node, preset);
  return program.ok() ? program->expected_cycles : kForever;
}

class Splitter {
 public:
  explicit Splitter(const Preset& preset) : preset_(preset) {}

  void Split(ir::Module& module) {
    std::vector<Node*> nodes;
    for (const auto& node : module.nodes()) nodes.push_back(node.get());
    bool split = false;
    for (Node* node : nodes) {
      for (std::shared_ptr<const ir::Module>& region : node->regions) {
        if (!HasCandidate(*region)) continue;
        std::shared_ptr<ir::Module> copy = region->Clone();
        Split(*copy);
        region = std::move(copy);
      }
      split = Split(module, *node) || split;
    }
    if (split) module.RemoveUnused();
  }

 private:
  static std::vector<SplitWalk> WaysOf(const Node& node) {
    const std::optional<Walk> walk = WalkOf(node);
    if (!walk) return {};
    return SplitPermutation(*walk, node.operands[0].type().elements());
  }

  static bool HasCandidate(const ir::Module& module) {
    return std::any_of(
        module.nodes().begin(), module.nodes().end(), [](const auto& node) {
          return !WaysOf(*node).empty() ||
                 std::any_of(node->regions.begin(), node->regions.end(),
                             [](const auto& r) { return HasCandidate(*r); });
        });
  }

  bool Split(ir::Module& module, Node& node) {
    const std::vector<SplitWalk> ways = WaysOf(node);
    if (ways.empty()) return false;
    const Walk walk = *WalkOf(node);
    const auto [known, is_new] =
        best_.try_emplace({node.type.element, walk.sizes, walk.strides}, kOne);
    ProductNodes nodes(module, node);
    const auto moved = [&](const SplitWalk& way) {
      const ir::Value first = Moved(nodes, node.operands[0], way.first);
      return std::pair(first, Moved(nodes, first, way.second));
    };
    if (is_new) {
      int64_t least = CyclesOf(node, preset_);
      for (size_t i = 0; i < ways.size(); ++i) {
        const auto [first, second] = moved(ways[i]);
        const int64_t two =
            CyclesOf(*first.node, preset_) + CyclesOf(*second.node, preset_);
        if (two >= least) continue;
        least = two;
        known->second = static_cast<int>(i);
      }
    }
    if (known->second != kOne) {
      const ir::Value second = moved(ways[known->second]).second;
      module.ReplaceUses(&node, nodes.Reshape(second, node.type.shape));
    }
    return true;  // there are nodes without use, in any case
  }

  static ir::Value Moved(ProductNodes& nodes, const ir::Value& value,
                         const Walk& walk) {
    return nodes.Make(
        ir::Op::kHloStrided, {value.type().element, walk.sizes, {}}, {value},
        ir::HloStridedAttributes{walk.sizes, walk.strides, walk.offset});
  }

  const Preset& preset_;
  static constexpr int kOne = -1;  // one move
  // By element and walk: the best way, kOne or its number.
  std::map<std::tuple<ir::ElementType, Ints, Ints>, int> best_;
};

// Few long lines that become columns: each is first divided into several, of
// every second element or every fourth and so on, so that there are more.
std::vector<SplitWalk> SplitNarrow(const Dimensions& dimensions,
                                   int64_t elements) {
  const Dimension last = dimensions.back(), inner = *(dimensions.end() - 2);
  // A matrix, or several one after the other.
  if (inner.stride != 1 || last.stride != inner.size || dimensions.size() > 3)
    return {};
  const int64_t lines = last.size, length = inner.size;
  const int64_t matrix = lines * length;
  std::vector<SplitWalk> ways;
  for (int64_t by = 2; by * lines <= kMostLines && length % by == 0; by *= 2) {
    SplitWalk way;
    way.first.Add(elements / matrix, matrix);
    way.first.Add(by, 1);
    way.first.Add(lines, length);
    way.first.Add(length / by, by);
    way.second.Add(elements / matrix, matrix);
    way.second.Add(length / by, 1);
    way.second.Add(by * lines, length / by);
    ways.push_back(way);
  }
  return ways;
}

}  // namespace

std::vector<SplitWalk> SplitPermutation(const Walk& walk, int64_t elements) {
  if (walk.offset != 0 || elements < kFewElements) return {};
  const Dimensions dimensions = Joined(walk);
  if (!IsPermutation(dimensions, elements) || dimensions.back().stride == 1)
    return {};
  if (dimensions.size() < 2) return {};
  if (auto ways = SplitNarrow(dimensions, elements); !ways.empty()) return ways;
  // Of two dimensions it is a transpose, of three with lines a move of lines.
  if (dimensions.size() < 3) return {};
  const Dimension last = dimensions.back();
  size_t inner = 0;  // the dimension of the source's lines
  while (dimensions[inner].stride != 1) ++inner;
  const int64_t line = dimensions[inner].size;
  if (std::max(last.size, line) < kLeastLine) return {};
  std::vector<SplitWalk> ways;
  const auto add = [&ways](const SplitWalk& way) {
    if (!way.first.Dense() && !way.second.Dense()) ways.push_back(way);
  };
  SplitWalk split;
  if (last.size >= line) {
    // What lies within one step of the last dimension comes before it.
    split.first.Add(elements / (last.size * last.stride),
                    last.size * last.stride);
    split.first.Add(last.stride, 1);
    split.first.Add(last.size, last.stride);
    for (const Dimension& d : dimensions) {
      const bool within = d.stride < last.stride;
      split.second.Add(d.size, d.stride == last.stride ? 1
                               : within                ? d.stride * last.size
                                                       : d.stride);
    }
  } else {
    // Lines in the order of the result, then they become columns.
    int64_t behind = 1;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (i == inner) continue;
      split.first.Add(dimensions[i].size, dimensions[i].stride);
      if (i > inner) behind *= dimensions[i].size;
    }
    split.first.Add(line, 1);
    split.second.Add(elements / (behind * line), behind * line);
    split.second.Add(line, 1);
    split.second.Add(behind, line);
  }
  add(split);
  if (last.size * last.stride == elements) {
    // Each matrix in the order of the result, then they become columns.
    SplitWalk within;
    within.first.Add(last.size, last.stride);
    for (size_t i = 0; i + 1 < dimensions.size(); ++i)
      within.first.Add(dimensions[i].size, dimensions[i].stride);
    within.second.Add(last.stride, 1);
    within.second.Add(last.size, last.stride);
    add(within);
  }
  return ways;
}

void SplitPermutations(ir::Module& module, const Preset& preset) {
  Splitter(preset).Split(module);
}

}  // namespace systole::lanes
