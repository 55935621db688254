// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/loop_lowering.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/counted_loop.h"

namespace systole::lanes {
namespace {

using ir::Module;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

// Of the memory, the products of a loop.
constexpr uint64_t kPartForProducts = 32;

class LoopEditor {
 public:
  LoopEditor(Module& module, Node& loop)
      : module_(module),
        loop_(loop),
        condition_(loop.regions[0]->Clone()),
        body_(loop.regions[1]->Clone()) {}

 protected:
  size_t carried() const { return static_cast<size_t>(loop_.results()); }
  // The number of the body's input that the value is, or -1.
  int InputOf(const Value& value) const {
    const std::vector<Node*> inputs = body_->inputs();
    const auto found = std::find(inputs.begin(), inputs.end(), value.node);
    return found == inputs.end() ? -1
                                 : static_cast<int>(found - inputs.begin());
  }
  // Whether each turn has the value that was there before the loop.
  bool Stays(int input) const {
    return static_cast<size_t>(input) >= carried() ||
           InputOf(body_->outputs[input].node) == input;
  }
  // The node over other operands, of another type, before `position`.
  static Node* Copy(Module& module, const Node* position, const Node& node,
                    std::vector<Value> operands, Type type) {
    Node copy = node;
    copy.name = module.UniqueName(node.name);
    copy.operands = std::move(operands);
    copy.type = std::move(type);
    return position == nullptr ? module.Add(std::move(copy))
                               : module.InsertBefore(position, std::move(copy));
  }
  void Finish() { loop_.regions = {std::move(condition_), std::move(body_)}; }

  Module& module_;
  Node& loop_;
  std::shared_ptr<Module> condition_, body_;
};

class ProductLifter : private LoopEditor {
 public:
  ProductLifter(Module& module, Node& loop, const Preset& preset)
      : LoopEditor(module, loop),
        room_(static_cast<int64_t>(preset.memory_bytes() / kPartForProducts)) {}

  void Run() {
    const std::optional<int64_t> turns = Turns();
    if (!turns) return;
    std::vector<Node*> products;
    for (const auto& node : body_->nodes())
      if (node->op == Op::kHloDotGeneral) products.push_back(node.get());
    bool lifted = false;
    for (Node* product : products) lifted |= Lift(*product, *turns);
    if (!lifted) return;
    body_->RemoveUnused();
    Finish();
  }

 private:
  std::optional<int64_t> Turns() const {
    const std::optional<CountedLoop> loop = CountedLoopOf(loop_);
    if (!loop) return std::nullopt;
    const auto number = [&](int operand) {
      return NumberOf(loop_.operands[operand]);
    };
    const std::optional<int64_t> first = number(loop->counter);
    const std::optional<int64_t> end =
        loop->bound < 0 ? loop->number : number(loop->bound);
    if (!first || !end) return std::nullopt;
    return loop->Turns(*first, *end,
                       loop_.operands[loop->counter].type().element);
  }

  bool Lift(Node& product, int64_t turns) {
    // A line of an array, in another shape or type.
    std::vector<Node*> forms;
    Value line = product.operands[0];
    while (line->op == Op::kHloReshape || line->op == Op::kHloConvert) {
      forms.insert(forms.begin(), line.node);
      line = line->operands[0];
    }
    const int matrix = InputOf(product.operands[1]);
    if (line->op != Op::kHloDynamicSlice || matrix < 0 || !Stays(matrix))
      return false;
    const int array = InputOf(line->operands[0]);
    if (array < 0 || !Stays(array)) return false;
    const Type& all = line->operands[0].type();
    const ir::Ints& shape = line->type.shape;
    if (shape.empty() || shape[0] != 1 || all.shape[0] < 2 ||
        all.shape[0] > turns ||
        !std::equal(shape.begin() + 1, shape.end(), all.shape.begin() + 1))
      return false;
    auto dot = product.attr<ir::HloDotAttributes>();
    const auto of_all = [&](Type type) {
      type.shape.insert(type.shape.begin(), all.shape[0]);
      return type;
    };
    const Type results = of_all(product.type);
    if (!dot.lhs_batching.empty() || results.bytes() > room_) return false;
    room_ -= results.bytes();
    for (int64_t& dimension : dot.lhs_contracting) ++dimension;
    Value lines = Reshaped(module_, &loop_, product, loop_.operands[array],
                           of_all(line->type));
    for (const Node* form : forms)
      lines = Copy(module_, &loop_, *form, {lines}, of_all(form->type));
    Node* const made = Copy(module_, &loop_, product,
                            {lines, loop_.operands[matrix]}, results);
    made->attributes = dot;
    loop_.operands.push_back(made);
    condition_->AddParameter("products", results);
    Node* const input = body_->AddParameter("products", results);
    Take(product, *line.node, input);
    return true;
  }

  static Value Reshaped(Module& module, const Node* position, const Node& of,
                        Value value, Type type) {
    Node node{module.UniqueName(of.name + ".reshape"),
              Op::kHloReshape,
              std::move(type),
              {value},
              ir::NoAttributes{}};
    node.location = of.location;
    return module.InsertBefore(position, std::move(node));
  }

  // The line of the products in place of the product.
  void Take(Node& product, const Node& line, Node* products) {
    const Value index = line.operands[1];
    const Type& type = index.type();
    Node* const zero = body_->InsertBefore(
        &product, ir::MakeConstant(body_->UniqueName("zero"), type,
                                   ir::Literal::Zeros(type.element, 1)));
    Type one = products->type;
    one.shape[0] = 1;
    std::vector<Value> operands = {products, index};
    operands.resize(one.shape.size() + 1, zero);
    Node* const slice = body_->InsertBefore(
        &product,
        {body_->UniqueName(product.name + ".line"), Op::kHloDynamicSlice, one,
         std::move(operands), ir::HloSizesAttributes{one.shape}});
    slice->location = product.location;
    body_->ReplaceUses(
        &product, Reshaped(*body_, &product, product, slice, product.type));
  }

  int64_t room_;
};

class ConversionCarrier : private LoopEditor {
 public:
  using LoopEditor::LoopEditor;

  void Run() {
    std::vector<Node*> conversions;
    for (const auto& node : body_->nodes())
      if (node->op == Op::kHloConvert) conversions.push_back(node.get());
    bool changed = false;
    for (Node* node : conversions) changed |= Carry(*node);
    if (!changed) return;
    body_->RemoveUnused();
    Finish();
  }

 private:
  bool Carry(Node& conversion) {
    std::vector<const Node*> forms = {&conversion};
    Value from = conversion.operands[0];
    while (from->op == Op::kHloReshape) {
      forms.insert(forms.begin(), from.node);
      from = from->operands[0];
    }
    const int input = InputOf(from);
    if (input < 0 || Stays(input) || !IsFactor(conversion)) return false;
    // Behind the last value that is carried.
    const size_t place = carried();
    Value first = loop_.operands[input], next = body_->outputs[input].node;
    for (const Node* form : forms) {
      first = Copy(module_, &loop_, *form, {first}, form->type);
      next = Copy(*body_, nullptr, *form, {next}, form->type);
    }
    loop_.operands.insert(loop_.operands.begin() + static_cast<int64_t>(place),
                          first);
    loop_.more_types.push_back(conversion.type);
    InsertParameter(*condition_, place, conversion.type);
    body_->ReplaceUses(&conversion,
                       InsertParameter(*body_, place, conversion.type));
    body_->outputs.push_back({"", next});
    return true;
  }

  // Whether a product reads the value, for which it would be written anyway.
  bool IsFactor(const Node& node) const {
    const std::vector<Node*> users = body_->Users(&node);
    return std::any_of(users.begin(), users.end(), [this](const Node* user) {
      return user->op == Op::kHloMatrixProduct ||
             (user->op == Op::kHloReshape && IsFactor(*user));
    });
  }

  static Node* InsertParameter(Module& region, size_t place, const Type& type) {
    const std::vector<Node*> inputs = region.inputs();
    if (place >= inputs.size()) return region.AddParameter("converted", type);
    return region.InsertBefore(inputs[place], {region.UniqueName("converted"),
                                               Op::kParameter,
                                               type,
                                               {},
                                               ir::ParameterAttributes{""}});
  }
};

// In the module and the regions of its nodes, inner loops first.
template <typename Pass>
void InLoops(Module& module, const Pass& pass) {
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes())
    if (!node->regions.empty()) nodes.push_back(node.get());
  for (Node* node : nodes) {
    for (std::shared_ptr<const Module>& region : node->regions) {
      std::shared_ptr<Module> copy = region->Clone();
      InLoops(*copy, pass);
      region = std::move(copy);
    }
    if (node->op == Op::kHloWhile) pass(module, *node);
  }
}

}  // namespace

void LiftProducts(Module& module, const Preset& preset) {
  InLoops(module, [&](Module& around, Node& loop) {
    ProductLifter(around, loop, preset).Run();
  });
}

void CarryConversions(Module& module) {
  InLoops(module, [](Module& around, Node& loop) {
    ConversionCarrier(around, loop).Run();
  });
}

}  // namespace systole::lanes
