// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/turn_body.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/shard_lowering.h"
#include "host/ir/evaluate.h"

namespace systole::lanes {
namespace {

using ir::Literal;
using ir::Node;
using ir::Op;
using ir::Value;

int64_t IntegerOf(const Literal& literal) {
  return literal.Visit([](const auto& values) -> int64_t {
    using T = typename std::decay_t<decltype(values)>::value_type;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(values[0]);
    } else {
      return 0;  // no type of an index
    }
  });
}

// The first byte of a window of an array, if it is one piece of memory.
// starts: by dimension.
std::optional<int64_t> BeginOf(const ir::Type& array, const ir::Ints& window,
                               const std::vector<int64_t>& starts) {
  int64_t begin = 0, inner = ir::ElementBytes(array.element);
  bool whole = true;  // all dimensions behind are
  for (int d = array.rank() - 1; d >= 0; --d) {
    if (!whole && window[d] != 1) return std::nullopt;
    whole = whole && window[d] == array.shape[d];
    begin +=
        inner * std::clamp<int64_t>(starts[d], 0, array.shape[d] - window[d]);
    inner *= array.shape[d];
  }
  return begin;
}

class Turn {
 public:
  Turn(const Node& loop, const CountedLoop& counted, int64_t first,
       int64_t turns, const Preset& preset)
      : carried_(static_cast<size_t>(loop.results())),
        counted_(counted),
        first_(first),
        align_(ValueAlignment(preset)),
        body_(loop.regions[1]->Clone()) {
    made_.turns = turns;
  }

  std::optional<TurnBody> Make() {
    inputs_ = body_->inputs();
    if (!FindNumbers()) return std::nullopt;
    made_.end = CounterAt(made_.turns);
    // Nobody needs the next number of the counter.
    body_->outputs[counted_.counter].node = inputs_[counted_.counter];
    FindParts();
    FindWritten();
    GiveNumbers();
    body_->RemoveUnused();
    made_.module = std::move(body_);
    return std::move(made_);
  }

 private:
  Literal CounterAt(int64_t turn) const {
    const int64_t number = first_ + turn * counted_.step;
    return inputs_[counted_.counter]->type.element == ir::ElementType::kInt32
               ? Literal(std::vector<int32_t>{static_cast<int32_t>(number)})
               : Literal(std::vector<uint32_t>{static_cast<uint32_t>(number)});
  }

  // Computes the nodes of one element that depend on the counter alone.
  bool FindNumbers() {
    std::vector<const Node*> nodes;
    const Node* const counter = inputs_[counted_.counter];
    std::set<const Node*> known = {counter};
    for (const auto& node : body_->nodes()) {
      if (node->is_constant()) known.insert(node.get());
      if (node->is_constant() || !MayBeKnown(*node) ||
          node->type.elements() != 1 ||
          !std::all_of(node->operands.begin(), node->operands.end(),
                       [&](const Value& operand) {
                         return known.count(operand.node) > 0;
                       }))
        continue;
      known.insert(node.get());
      nodes.push_back(node.get());
    }
    for (int64_t turn = 0; turn < made_.turns; ++turn) {
      numbers_[counter].push_back(CounterAt(turn));
      for (const Node* node : nodes) {
        ir::Operands operands;
        for (const Value& operand : node->operands)
          operands.push_back(NumberAt(operand, turn));
        absl::StatusOr<Literal> value = ir::Evaluate(*node, operands);
        if (!value.ok()) return false;
        numbers_[node].push_back(*std::move(value));
      }
    }
    return true;
  }

  const Literal* NumberAt(const Value& value, int64_t turn) const {
    if (value->is_constant()) return &value->literal();
    const auto numbers = numbers_.find(value.node);
    return numbers == numbers_.end() ? nullptr : &numbers->second[turn];
  }

  // Where the window begins in each turn, if it is always one piece that begins
  // where a value may. starts: the operands from `from` on.
  std::optional<std::vector<int64_t>> BeginsOf(const Node& node, size_t from,
                                               const ir::Ints& window) const {
    const ir::Type& array = node.operands[0].type();
    if (array.elements() == 0) return std::nullopt;
    std::vector<int64_t> begins;
    for (int64_t turn = 0; turn < made_.turns; ++turn) {
      std::vector<int64_t> starts;
      for (size_t i = from; i < node.operands.size(); ++i) {
        const Literal* const start = NumberAt(node.operands[i], turn);
        if (start == nullptr) return std::nullopt;
        starts.push_back(IntegerOf(*start));
      }
      const std::optional<int64_t> begin = BeginOf(array, window, starts);
      if (!begin || *begin % align_ != 0) return std::nullopt;
      begins.push_back(*begin);
    }
    return begins;
  }

  int InputOf(const Value& value) const {
    const auto found = std::find(inputs_.begin(), inputs_.end(), value.node);
    return found == inputs_.end() ? -1
                                  : static_cast<int>(found - inputs_.begin());
  }

  // Whether each turn has the value that was there before the loop.
  bool Stays(int input) const {
    return static_cast<size_t>(input) >= carried_ ||
           InputOf(body_->outputs[input].node) == input;
  }

  void Give(Node* node, TurnBody::Given given) {
    Node* const parameter = body_->AddParameter("given", node->type);
    body_->ReplaceUses(node, parameter);
    made_.given.push_back(std::move(given));
  }

  // What a turn reads of arrays that stay.
  void FindParts() {
    for (const auto& [node, of] : Slices()) {
      std::optional<std::vector<int64_t>> begins =
          BeginsOf(*node, 1, node->type.shape);
      if (begins) Give(node, {of, *std::move(begins)});
    }
  }
  std::vector<std::pair<Node*, int>> Slices() const {
    std::vector<std::pair<Node*, int>> slices;
    for (const auto& node : body_->nodes()) {
      if (node->op != Op::kHloDynamicSlice || node->type.elements() == 0)
        continue;
      const int of = InputOf(node->operands[0]);
      if (of >= 0 && of != counted_.counter && Stays(of))
        slices.emplace_back(node.get(), of);
    }
    return slices;
  }

  // Of how many nodes and outputs the value is an operand.
  size_t ReadersOf(const Node* node) const {
    return body_->Users(node).size() +
           std::count_if(
               body_->outputs.begin(), body_->outputs.end(),
               [&](const ir::Output& output) { return output.node == node; });
  }

  // Arrays of which each turn writes a part that no other turn does, and that
  // no turn reads.
  void FindWritten() {
    for (size_t i = 0; i < carried_; ++i) {
      Node* const update = body_->outputs[i].node.node;
      if (update->op != Op::kHloDynamicUpdateSlice ||
          update->operands[0] != inputs_[i] || ReadersOf(inputs_[i]) != 1 ||
          ReadersOf(update) != 1)
        continue;
      const Value part = update->operands[1];
      std::optional<std::vector<int64_t>> begins =
          BeginsOf(*update, 2, part.type().shape);
      if (!begins || part.type().elements() == 0) continue;
      std::vector<int64_t> sorted = *begins;
      std::sort(sorted.begin(), sorted.end());
      const int64_t bytes = part.type().bytes();
      bool apart = true, dense = sorted[0] == 0;
      for (size_t t = 1; t < sorted.size(); ++t) {
        apart = apart && sorted[t] >= sorted[t - 1] + bytes;
        dense = dense && sorted[t] == sorted[t - 1] + bytes;
      }
      if (!apart) continue;
      dense = dense && sorted.back() + bytes == update->type.bytes();
      made_.written[static_cast<int>(i)] = {*std::move(begins), dense};
      body_->outputs[i].node = part;
    }
    body_->RemoveUnused();
  }

  // Numbers that other nodes still read, or that are carried on.
  void GiveNumbers() {
    std::vector<Node*> nodes = {inputs_[counted_.counter]};
    for (const auto& node : body_->nodes()) {
      if (numbers_.count(node.get()) > 0 && node.get() != nodes[0])
        nodes.push_back(node.get());
    }
    for (Node* node : nodes) {
      const std::vector<Node*> users = body_->Users(node);
      const bool counter = node == nodes[0];
      const bool is_read =
          (!counter && body_->IsOutput(node)) ||
          (counter && ReadersOf(node) > users.size() + 1) ||
          std::any_of(users.begin(), users.end(), [&](const Node* user) {
            return numbers_.count(user) == 0;
          });
      if (!is_read) continue;
      TurnBody::Given given;
      for (const Literal& number : numbers_.at(node)) {
        given.begins.push_back(static_cast<int64_t>(made_.table.size()));
        const std::vector<uint8_t> bytes = number.Bytes();
        made_.table.insert(made_.table.end(), bytes.begin(), bytes.end());
        made_.table.resize(compiler::RoundUp(
            static_cast<int64_t>(made_.table.size()), align_));
      }
      Give(node, std::move(given));
    }
  }

  const size_t carried_;
  const CountedLoop& counted_;
  const int64_t first_, align_;
  std::shared_ptr<ir::Module> body_;
  std::vector<Node*> inputs_;
  // Of each node that follows from the counter, by turn.
  std::unordered_map<const Node*, std::vector<Literal>> numbers_;
  TurnBody made_;
};

}  // namespace

std::optional<TurnBody> TurnBodyOf(const Node& loop, const CountedLoop& counted,
                                   NodeKinds& kinds, int64_t most,
                                   const Preset& preset) {
  const auto known = [&](int operand) -> std::optional<int64_t> {
    const Value root = kinds.Root(loop.operands[operand]);
    if (kinds.Of(*root.node) != NodeKind::kKnown) return std::nullopt;
    return IntegerOf(kinds.Known(root.node));
  };
  const std::optional<int64_t> first = known(counted.counter);
  const std::optional<int64_t> end =
      counted.bound < 0 ? counted.number : known(counted.bound);
  if (!first || !end) return std::nullopt;
  const std::optional<int64_t> turns = counted.Turns(
      *first, *end, loop.operands[counted.counter].type().element);
  if (!turns || *turns < 1 || *turns > most) return std::nullopt;
  return Turn(loop, counted, *first, *turns, preset).Make();
}

}  // namespace systole::lanes
