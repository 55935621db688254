// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/partitioner.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/verifier.h"
#include "host/partition/call_once.h"
#include "host/partition/chooser.h"
#include "host/partition/known.h"
#include "host/partition/lookup.h"
#include "host/partition/scope.h"
#include "host/partition/sum_sinking.h"

namespace systole::partition {
namespace {

using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

using Suggestion = std::optional<Sharding>;

class Partitioner {
 public:
  Partitioner(const GlobalProgram& program, LocalProgram& local)
      : program_(program), local_(local) {
    numbers_.devices = program.devices;
  }

  absl::Status Run() {
    Scope scope(numbers_, *local_.module);
    Values values;
    size_t next = 0;
    for (const Node* input : program_.module->inputs()) {
      const Suggestion& given = program_.inputs[next++];
      Sharding sharding = Sharding::Replicated(input->type.rank());
      if (given) sharding = FittedTo(*input, *given, input->type);
      Node copy = *input;
      copy.type = TileType(input->type, sharding);
      copy.attr<ir::ParameterAttributes>().replicated =
          sharding == Sharding::Replicated(input->type.rank());
      values[{input, 0}] = {scope.module().Add(std::move(copy)), sharding,
                            input->type};
      local_.inputs.push_back(sharding);
    }
    if (absl::Status s = Convert(*program_.module, scope, values); !s.ok())
      return s;
    for (size_t i = 0; i < program_.module->outputs.size(); ++i) {
      const ir::Output& output = program_.module->outputs[i];
      const Tiles& tiles = values.at({output.node.node, output.node.index});
      const Sharding sharding =
          program_.outputs[i]
              ? FittedTo(*output.node.node, *program_.outputs[i], tiles.whole)
              : tiles.sharding;
      scope.module().outputs.push_back(
          {output.name, Bring(scope, values, output.node, sharding),
           output.stored});
      local_.outputs.push_back(sharding);
    }
    scope.module().RemoveUnused();
    SinkSums(scope.module(), numbers_.sums);
    for (const Node* node : uneven_) ++local_.uneven[ir::OpName(node->op)];
    return ir::Verify(scope.module());
  }

 private:
  using Values = std::map<std::pair<const Node*, int>, Tiles>;

  Suggestion Suggested(const Node& node, int result) const {
    const auto found = program_.suggested.find(&node);
    return found == program_.suggested.end() ? std::nullopt
                                             : found->second[result];
  }

  // The part of a sharding that divides the value of a node evenly.
  Sharding FittedTo(const Node& node, const Sharding& sharding,
                    const Type& whole) {
    Sharding fitted = Fitted(sharding, whole.shape);
    if (fitted != Normalised(sharding)) uneven_.insert(&node);
    return fitted;
  }

  // A value in tiles. A broadcast or a count is made in them, rather than cut.
  Value Bring(Scope& scope, Values& values, Value value,
              const Sharding& sharding) {
    const Tiles& tiles = values.at({value.node, value.index});
    const bool made =
        value->op == Op::kHloBroadcastInDim || value->op == Op::kHloIota;
    if (made && tiles.sharding.replicated() && !sharding.replicated()) {
      const auto [place, added] = made_.try_emplace(
          {&scope, value.node, HloText(sharding, scope.devices())});
      if (added) place->second = Divided(*value, scope, values, {sharding})[0];
      return scope.InTiles(place->second, sharding);
    }
    return scope.InTiles(tiles, sharding);
  }

  absl::Status Convert(const ir::Module& module, Scope& scope, Values& values) {
    for (const auto& node : module.nodes()) {
      if (node->op == Op::kParameter) continue;
      absl::StatusOr<std::vector<Tiles>> results =
          ConvertNode(*node, scope, values);
      if (!results.ok()) return results.status();
      for (int r = 0; r < node->results(); ++r)
        values[{node.get(), r}] = std::move((*results)[r]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tiles>> ConvertNode(const Node& node, Scope& scope,
                                                 Values& values) {
    if (program_.marks.count(&node) > 0) return Marked(node, scope, values);
    if (node.op == Op::kHloWhile) return Loop(node, scope, values);
    if (node.op == Op::kHloIf || node.op == Op::kHloCase)
      return Branch(node, scope, values);
    if (IsCalledOnce(node)) {
      std::vector<Value> operands;
      for (const Value& operand : node.operands) {
        operands.push_back(Bring(scope, values, operand,
                                 Sharding::Replicated(operand.type().rank())));
      }
      return CallOnce(node, operands, numbers_, scope);
    }
    std::vector<Suggestion> suggested;
    for (int r = 0; r < node.results(); ++r) {
      suggested.push_back(
          IsWide(node) && known_.Is(node)
              ? Sharding::Replicated(node.result_type(r).shape.size())
              : Suggested(node, r));
    }
    return Divided(node, scope, values, suggested);
  }

  absl::StatusOr<std::vector<Tiles>> Marked(const Node& node, Scope& scope,
                                            Values& values) {
    const Value operand = node.operands[0];
    const std::string& target = node.attr<ir::HloCustomCallAttributes>().target;
    const Sharding& sharding = program_.marks.at(&node);
    const Type& whole = target == kToWhole ? node.type : operand.type();
    if (target == kConstraint) {
      const Sharding fitted = FittedTo(*operand.node, sharding, whole);
      return std::vector<Tiles>{
          {Bring(scope, values, operand, fitted), fitted, whole}};
    }
    const Type& part = target == kToWhole ? operand.type() : node.type;
    if (Fitted(sharding, whole.shape) != Normalised(sharding) ||
        TileType(whole, sharding) != part) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node '", node.name, "'", node.location.empty() ? "" : " at ",
          node.location, ": ", ir::TypeText(whole),
          " is not divided evenly by ", HloText(sharding, scope.devices()),
          " into ", ir::TypeText(part)));
    }
    // What is divided along other axes stays so, within the tiles.
    const Sharding within =
        WithoutParts(values.at({operand.node, operand.index}).sharding,
                     sharding, part.shape);
    Sharding all = sharding;
    for (size_t d = 0; d < all.dims.size(); ++d) {
      all.dims[d].insert(all.dims[d].end(), within.dims[d].begin(),
                         within.dims[d].end());
    }
    if (all.replicated()) all.devices.clear();
    if (!within.replicated()) all.devices = within.devices;
    all = Normalised(std::move(all));
    if (target == kToTiles) {
      return std::vector<Tiles>{
          {Bring(scope, values, operand, all), within, node.type}};
    }
    return std::vector<Tiles>{
        {Bring(scope, values, operand, within), all, whole}};
  }

  // The results in tiles by the operation's rule.
  std::vector<Tiles> Divided(const Node& node, Scope& scope, Values& values,
                             const std::vector<Suggestion>& suggested) {
    const OpRule rule = RuleOf(node);
    Chooser chooser(node, rule);
    for (size_t r = 0; r < suggested.size(); ++r)
      if (suggested[r]) chooser.Suggest(static_cast<int>(r), *suggested[r]);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Value& operand = node.operands[i];
      chooser.Use(i, values.at({operand.node, operand.index}).sharding);
    }
    const Division& division = chooser.division();
    if (chooser.whole()) ++local_.whole[ir::OpName(node.op)];
    if (chooser.uneven()) uneven_.insert(&node);
    const Parts kept = PartsOfSum(node, rule, division, suggested, values);
    Node copy = node;
    std::vector<Type> operand_types;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Value& operand = node.operands[i];
      Sharding to = division.Of(rule.operands[i]);
      if (node.op == Op::kHloAdd) to.unreduced = kept;
      copy.operands[i] = Bring(scope, values, operand, to);
      operand_types.push_back(copy.operands[i].type());
    }
    std::vector<Sharding> shardings;
    for (int r = 0; r < node.results(); ++r) {
      shardings.push_back(division.Of(rule.results[r]));
      shardings.back().unreduced = kept;
      const Type type = TileType(node.result_type(r), shardings[r]);
      (r == 0 ? copy.type : copy.more_types[r - 1]) = type;
    }
    if (node.op == Op::kHloIota)
      return {{scope.Count(node, shardings[0]), shardings[0], node.type}};
    SetTileSizes(rule, operand_types, copy.type, copy);
    const Lookup lookup(node, rule, division, scope);
    if (lookup.needed()) copy.operands[1] = lookup.Places(copy.operands[1]);
    const Value places = lookup.needed() ? copy.operands[1] : Value();
    const Node* made = AddCopy(std::move(copy), scope);
    const Parts parts = kept.empty() ? Combined(rule, division) : Parts();
    std::vector<Tiles> results;
    for (int r = 0; r < node.results(); ++r) {
      Value value(const_cast<Node*>(made), r);
      const bool looked_up = lookup.needed() && node.op == Op::kHloGather;
      if (looked_up) value = lookup.Own(value, places);
      if (!parts.empty()) {
        value = looked_up ? lookup.Sum(value, parts)
                          : scope.AllReduce(value, rule.combines, parts,
                                            division.devices);
      }
      results.push_back({value, shardings[r], node.result_type(r)});
    }
    return results;
  }

  // Of factors that no result has, the devices have parts.
  static Parts Combined(const OpRule& rule, const Division& division) {
    Parts parts;
    for (int factor = 0; factor < rule.factors; ++factor) {
      if (!rule.Combines(factor)) continue;
      const Parts& own = division.factors[factor];
      parts.insert(parts.end(), own.begin(), own.end());
    }
    return parts;
  }

  // The parts of a sum that the results stay, as is suggested: those that the
  // operation makes, or those of an operand of an addition.
  static Parts PartsOfSum(const Node& node, const OpRule& rule,
                          const Division& division,
                          const std::vector<Suggestion>& suggested,
                          const Values& values) {
    if (node.results() != 1 || !suggested[0] ||
        suggested[0]->unreduced.empty() || rule.combines != Op::kHloAdd)
      return {};
    Sharding made = Sharding::Replicated(0);
    made.unreduced = Combined(rule, division);
    made.devices = division.devices;
    const auto wanted = [&](const Sharding& sharding) {
      return sharding.unreduced == suggested[0]->unreduced &&
             sharding.devices == suggested[0]->devices;
    };
    bool same = wanted(Normalised(made));
    for (const Value& operand : node.operands) {
      same =
          same || (node.op == Op::kHloAdd &&
                   wanted(values.at({operand.node, operand.index}).sharding));
    }
    return same ? suggested[0]->unreduced : Parts();
  }

  const Node* AddCopy(Node copy, Scope& scope) {
    copy.name = absl::StrCat(copy.name, ".", numbers_.names++);
    return scope.module().Add(std::move(copy));
  }

  // A region whose parameters are the given tiles; its outputs in these, or, if
  // there are none, in those that `outputs` then has.
  absl::StatusOr<std::shared_ptr<ir::Module>> Region(
      const ir::Module& region, const std::vector<Tiles>& parameters,
      std::vector<Suggestion>& outputs) {
    auto module = std::make_shared<ir::Module>(region.name);
    Scope scope(numbers_, *module);
    Values values;
    size_t next = 0;
    for (const Node* input : region.inputs()) {
      const Tiles& given = parameters[next++];
      Node copy = *input;
      copy.type = given.value.type();
      values[{input, 0}] = {module->Add(std::move(copy)), given.sharding,
                            input->type};
    }
    if (absl::Status s = Convert(region, scope, values); !s.ok()) return s;
    for (size_t i = 0; i < region.outputs.size(); ++i) {
      const Value& output = region.outputs[i].node;
      if (!outputs[i])
        outputs[i] = values.at({output.node, output.index}).sharding;
      module->outputs.push_back(
          {"", Bring(scope, values, output, *outputs[i])});
    }
    module->RemoveUnused();
    SinkSums(*module, numbers_.sums);
    return module;
  }

  absl::StatusOr<std::vector<Tiles>> Loop(const Node& node, Scope& scope,
                                          Values& values) {
    Node copy = node;
    std::vector<Tiles> parameters;
    std::vector<Suggestion> carried;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Value& operand = node.operands[i];
      Tiles tiles = values.at({operand.node, operand.index});
      const bool is_carried = static_cast<int>(i) < node.results();
      if (is_carried) {
        const Suggestion suggested = Suggested(node, static_cast<int>(i));
        const Sharding to = suggested ? FittedTo(node, *suggested, tiles.whole)
                                      : tiles.sharding;
        tiles = {Bring(scope, values, operand, to), to, tiles.whole};
        carried.push_back(to);
      }
      copy.operands[i] = tiles.value;
      parameters.push_back(std::move(tiles));
    }
    std::vector<Suggestion> truth = {Sharding::Replicated(0)};
    for (int r = 0; r < 2; ++r) {
      auto region =
          Region(*node.regions[r], parameters, r == 0 ? truth : carried);
      if (!region.ok()) return region.status();
      copy.regions[r] = *std::move(region);
    }
    return Finished(node, std::move(copy), carried, scope);
  }

  absl::StatusOr<std::vector<Tiles>> Branch(const Node& node, Scope& scope,
                                            Values& values) {
    Node copy = node;
    std::vector<Tiles> parameters;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Value& operand = node.operands[i];
      const Tiles& tiles = values.at({operand.node, operand.index});
      copy.operands[i] = tiles.value;
      if (i > 0) parameters.push_back(tiles);
    }
    copy.operands[0] =
        Bring(scope, values, node.operands[0], Sharding::Replicated(0));
    std::vector<Suggestion> results;
    for (int r = 0; r < node.results(); ++r) {
      results.push_back(Suggested(node, r));
      if (results[r])
        results[r] = FittedTo(node, *results[r], node.result_type(r));
    }
    for (auto& own : copy.regions) {
      auto region = Region(*own, parameters, results);
      if (!region.ok()) return region.status();
      own = *std::move(region);
    }
    return Finished(node, std::move(copy), results, scope);
  }

  std::vector<Tiles> Finished(const Node& node, Node copy,
                              const std::vector<Suggestion>& shardings,
                              Scope& scope) {
    for (int r = 0; r < node.results(); ++r) {
      const Type type = TileType(node.result_type(r), *shardings[r]);
      (r == 0 ? copy.type : copy.more_types[r - 1]) = type;
    }
    const Node* made = AddCopy(std::move(copy), scope);
    std::vector<Tiles> results;
    for (int r = 0; r < node.results(); ++r) {
      results.push_back({Value(const_cast<Node*>(made), r), *shardings[r],
                         node.result_type(r)});
    }
    return results;
  }

  const GlobalProgram& program_;
  LocalProgram& local_;
  Numbers numbers_;
  Known known_;
  std::set<const Node*> uneven_;
  // Broadcasts and counts that were made in tiles.
  std::map<std::tuple<const Scope*, const Node*, std::string>, Tiles> made_;
};

}  // namespace

absl::StatusOr<LocalProgram> Partition(const GlobalProgram& program) {
  LocalProgram local;
  local.module = std::make_unique<ir::Module>(program.module->name);
  if (absl::Status s = Partitioner(program, local).Run(); !s.ok()) return s;
  return local;
}

}  // namespace systole::partition
