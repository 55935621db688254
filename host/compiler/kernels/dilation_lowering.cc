// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// In one dimension, the window of position p meets with tap t the place
// p * stride + t * rhs_dilation - low of the dilated input. That is an element
// if the base dilation d divides it. Which taps do so repeats with the period
// d / gcd(d, stride) of p, and for each phase they are every
// (d / gcd(d, rhs_dilation))th one.
#include "host/compiler/kernels/dilation_lowering.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/hlo/window.h"

namespace systole::lanes {
namespace {

using compiler::CeilDiv;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

int64_t Modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// The positions of one dimension that are equal to `phase` modulo the period.
struct Phase {
  int64_t first_tap = 0, taps = 0;
  int64_t low = 0;  // padding before the input
};

// One dimension: its phases, and what their windows have in common.
struct Phases {
  Phases(const ir::WindowDimension& w)
      : size(w.size),
        period(w.base_dilation / std::gcd(w.base_dilation, w.stride)),
        tap_step(w.base_dilation /
                 std::gcd(w.base_dilation, w.window_dilation)),
        stride(period * w.stride / w.base_dilation),
        dilation(tap_step * w.window_dilation / w.base_dilation),
        count(CeilDiv(w.positions(), period)) {
    for (int64_t r = 0; r < period; ++r) {
      Phase phase;
      const auto place = [&](int64_t tap) {
        return r * w.stride + tap * w.window_dilation - w.low;
      };
      while (phase.first_tap < std::min(tap_step, w.window) &&
             Modulo(place(phase.first_tap), w.base_dilation) != 0)
        ++phase.first_tap;
      if (phase.first_tap < std::min(tap_step, w.window)) {
        phase.taps = CeilDiv(w.window - phase.first_tap, tap_step);
        phase.low = -place(phase.first_tap) / w.base_dilation;
      }
      all.push_back(phase);
    }
  }

  int64_t size, period, tap_step, stride, dilation;
  int64_t count;  // positions of each phase, the last ones may be too many
  std::vector<Phase> all;
};

// Phases of one dimension that one convolution computes.
struct Group {
  std::vector<int64_t> phases;
  int64_t taps = 0, low = 0;
  int64_t positions = 0;
};

class Dilated : private ProductNodes {
 public:
  Dilated(ir::Module& module, Node& node)
      : ProductNodes(module, node),
        module_(module),
        node_(node),
        a_(node.attr<ir::HloConvolutionAttributes>()),
        merges_(a_.feature_group_count == 1 && a_.batch_group_count == 1) {
    for (size_t i = 0; i < a_.stride.size(); ++i) {
      dimensions_.emplace_back(ir::WindowDimension{
          node.operands[0].type().shape[a_.input_spatial[i]],
          node.operands[1].type().shape[a_.kernel_spatial[i]], a_.stride[i],
          a_.lhs_dilation[i], a_.rhs_dilation[i], a_.low[i], a_.high[i]});
      groups_.push_back(GroupsOf(dimensions_.back()));
    }
    batch_ = node.type.shape[a_.output_batch];
    outputs_ = node.type.shape[a_.output_feature];
  }

  std::vector<Node*> Lower() {
    Ints periods;
    for (const Phases& d : dimensions_) periods.push_back(d.period);
    phases_.resize(SizeOf(periods));
    Each(groups_,
         [&](const std::vector<const Group*>& groups) { AddGroup(groups); });
    module_.ReplaceUses(Value(&node_), Interleaved());
    return made_;
  }

 private:
  // Groups phases with as many taps whose windows begin at whole strides of
  // each other.
  std::vector<Group> GroupsOf(const Phases& d) const {
    std::map<std::tuple<int64_t, int64_t, int64_t>, Group> groups;
    for (int64_t r = 0; r < d.period; ++r) {
      const Phase& phase = d.all[r];
      Group& group =
          groups[{phase.taps, Modulo(phase.low, d.stride), merges_ ? 0 : r}];
      group.low =
          group.phases.empty() ? phase.low : std::max(group.low, phase.low);
      group.taps = phase.taps;
      group.phases.push_back(r);
    }
    std::vector<Group> all;
    for (auto& [key, group] : groups) {
      for (const int64_t r : group.phases) {
        group.positions = std::max(
            group.positions, d.count + (group.low - d.all[r].low) / d.stride);
      }
      all.push_back(std::move(group));
    }
    return all;
  }

  // Calls it with one of the choices of each dimension, for all combinations,
  // the last dimension fastest.
  template <typename T, typename Call>
  static void Each(const std::vector<std::vector<T>>& choices, Call call) {
    Ints index(choices.size(), 0);
    for (;;) {
      std::vector<const T*> chosen;
      for (size_t i = 0; i < index.size(); ++i)
        chosen.push_back(&choices[i][index[i]]);
      call(chosen);
      size_t i = index.size();
      while (i > 0 &&
             ++index[i - 1] == static_cast<int64_t>(choices[i - 1].size())) {
        index[--i] = 0;
      }
      if (i == 0) return;
    }
  }

  // The phases of a group, one after the other along the output features.
  void AddGroup(const std::vector<const Group*>& groups) {
    std::vector<Ints> phases;
    std::vector<std::vector<int64_t>> choices;
    for (const Group* group : groups) choices.push_back(group->phases);
    Each(choices, [&](const std::vector<const int64_t*>& chosen) {
      Ints phase;
      for (const int64_t* r : chosen) phase.push_back(*r);
      phases.push_back(std::move(phase));
    });
    Ints counts = {batch_};
    for (const Phases& d : dimensions_) counts.push_back(d.count);
    counts.push_back(outputs_);
    const bool none =
        std::any_of(groups.begin(), groups.end(),
                    [](const Group* group) { return group->taps == 0; });
    if (none) {
      const Value zeros = Number(node_.type.element, 0, counts);
      for (const Ints& phase : phases) phases_[NumberOf(phase)] = zeros;
      return;
    }
    const Value sums = Convolution(groups, phases);
    if (phases.size() == phases_.size() && Aligned(sums, counts)) {
      all_ = sums;
      return;
    }
    for (size_t p = 0; p < phases.size(); ++p)
      phases_[NumberOf(phases[p])] =
          PhaseOf(sums, groups, phases[p], p, counts);
  }

  // The columns of phase number `p` of a convolution, at the phase's positions.
  Value PhaseOf(Value sums, const std::vector<const Group*>& groups,
                const Ints& phase, size_t p, const Ints& counts) {
    if (counts == sums.type().shape) return sums;
    ir::HloSliceAttributes part;
    part.start = {0};
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      const Phases& d = dimensions_[i];
      part.start.push_back((groups[i]->low - d.all[phase[i]].low) / d.stride);
    }
    part.start.push_back(static_cast<int64_t>(p) * outputs_);
    for (size_t i = 0; i < counts.size(); ++i)
      part.limit.push_back(part.start[i] + counts[i]);
    part.strides.assign(counts.size(), 1);
    return Make(Op::kHloSlice, {node_.type.element, counts, {}}, {sums}, part);
  }

  // Whether all phases are computed at the same positions.
  bool Aligned(const Value& sums, Ints counts) const {
    counts.back() *= static_cast<int64_t>(phases_.size());
    return sums.type().shape == counts;
  }

  int64_t NumberOf(const Ints& phase) const {
    int64_t number = 0;
    for (size_t i = 0; i < phase.size(); ++i)
      number = number * dimensions_[i].period + phase[i];
    return number;
  }

  // [batch, positions, phases * outputs].
  Value Convolution(const std::vector<const Group*>& groups,
                    const std::vector<Ints>& phases) {
    ir::HloConvolutionAttributes a = a_;
    a.output_batch = 0;
    a.output_feature = static_cast<int64_t>(dimensions_.size()) + 1;
    Ints shape = {batch_};
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      const Phases& d = dimensions_[i];
      const Group& group = *groups[i];
      a.stride[i] = d.stride;
      a.lhs_dilation[i] = 1;
      a.rhs_dilation[i] = d.dilation;
      a.low[i] = group.low;
      a.high[i] = (group.positions - 1) * d.stride +
                  (group.taps - 1) * d.dilation + 1 - d.size - group.low;
      a.output_spatial[i] = static_cast<int64_t>(i) + 1;
      shape.push_back(group.positions);
    }
    std::vector<Value> kernels;
    for (const Ints& phase : phases) kernels.push_back(KernelOf(phase));
    Value kernel = kernels[0];
    const auto count = static_cast<int64_t>(kernels.size());
    if (count > 1) {
      Type type = kernel.type();
      type.shape[a_.kernel_output_feature] *= count;
      kernel = Make(Op::kHloConcatenate, type, kernels,
                    ir::HloDimensionAttributes{a_.kernel_output_feature});
    }
    shape.push_back(count * outputs_);
    const Value made =
        Make(Op::kHloConvolution, {node_.type.element, shape, {}},
             {node_.operands[0], kernel}, std::move(a));
    made_.push_back(made.node);
    return made;
  }

  // The taps of a phase.
  Value KernelOf(const Ints& phase) {
    Type type = node_.operands[1].type();
    ir::HloSliceAttributes taps{Ints(type.shape.size(), 0), type.shape,
                                Ints(type.shape.size(), 1)};
    for (size_t i = 0; i < phase.size(); ++i) {
      const Phases& d = dimensions_[i];
      const Phase& p = d.all[phase[i]];
      const int64_t at = a_.kernel_spatial[i];
      const int64_t last = p.first_tap + (p.taps - 1) * d.tap_step;
      taps.start[at] =
          a_.reversal[i] != 0 ? type.shape[at] - 1 - last : p.first_tap;
      taps.limit[at] = taps.start[at] + last - p.first_tap + 1;
      taps.strides[at] = d.tap_step;
      type.shape[at] = p.taps;
    }
    if (type.shape == node_.operands[1].type().shape) return node_.operands[1];
    return Make(Op::kHloSlice, type, {node_.operands[1]}, taps);
  }

  // All phases in the result's order.
  Value Interleaved() {
    Ints stored = {static_cast<int64_t>(phases_.size()), batch_};
    for (const Phases& d : dimensions_) stored.push_back(d.count);
    stored.push_back(outputs_);
    Value value = all_;
    Ints step(stored.size());  // of phases, batch, positions, outputs
    if (value.node != nullptr) {
      Ints order(stored.begin() + 1, stored.end() - 1);
      order.push_back(stored[0]);
      order.push_back(outputs_);
      const Ints dense = ir::StridesOf(order);
      step[0] = dense[order.size() - 2];
      for (size_t i = 1; i + 1 < step.size(); ++i) step[i] = dense[i - 1];
      step.back() = 1;
    } else {
      Ints shape = stored;
      shape[0] = 1;
      std::vector<Value> parts;
      for (const Value& phase : phases_) parts.push_back(Reshape(phase, shape));
      value = parts[0];
      if (parts.size() > 1)
        value = Make(Op::kHloConcatenate, {node_.type.element, stored, {}},
                     parts, ir::HloDimensionAttributes{0});
      step = ir::StridesOf(stored);
    }
    Walk walk;
    Ints whole;
    for (int64_t d = 0; d < node_.type.rank(); ++d) {
      if (d == a_.output_batch) {
        walk.Add(batch_, step[1]);
        whole.push_back(batch_);
      } else if (d == a_.output_feature) {
        walk.Add(outputs_, step.back());
        whole.push_back(outputs_);
      } else {
        const auto i = static_cast<size_t>(
            std::find(a_.output_spatial.begin(), a_.output_spatial.end(), d) -
            a_.output_spatial.begin());
        int64_t of_phase = step[0];
        for (size_t j = i + 1; j < dimensions_.size(); ++j)
          of_phase *= dimensions_[j].period;
        walk.Add(dimensions_[i].count, step[2 + i]);
        walk.Add(dimensions_[i].period, of_phase);
        whole.push_back(dimensions_[i].count * dimensions_[i].period);
      }
    }
    value = Reshape(Walked(value, walk), whole);
    if (whole == node_.type.shape) return value;
    return Make(Op::kHloSlice, node_.type, {value},
                ir::HloSliceAttributes{Ints(whole.size(), 0), node_.type.shape,
                                       Ints(whole.size(), 1)});
  }

  ir::Module& module_;
  Node& node_;
  const ir::HloConvolutionAttributes& a_;
  const bool merges_;  // phases into one convolution
  std::vector<Phases> dimensions_;
  std::vector<std::vector<Group>> groups_;  // of each dimension
  int64_t batch_ = 1, outputs_ = 1;
  std::vector<Value> phases_;  // [batch, positions, outputs] of each
  Value all_;                  // [batch, positions, phases, outputs], or none
  std::vector<Node*> made_;
};

}  // namespace

bool IsDilated(const Node& node) {
  if (node.op != Op::kHloConvolution || node.type.elements() == 0 ||
      node.operands[0].type().elements() == 0 ||
      node.operands[1].type().elements() == 0)
    return false;
  const Ints& dilation = node.attr<ir::HloConvolutionAttributes>().lhs_dilation;
  return std::any_of(dilation.begin(), dilation.end(),
                     [](int64_t d) { return d > 1; });
}

std::vector<Node*> LowerDilated(ir::Module& module, Node& node) {
  return Dilated(module, node).Lower();
}

}  // namespace systole::lanes
