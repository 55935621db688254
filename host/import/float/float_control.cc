// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// IF and WHILE: their subgraphs become regions.
#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

constexpr int kMostDepth = 16;

// The subgraph as a region that takes values of these types. A region reads
// only its parameters, so it contains its own copies of the model's constants.
std::shared_ptr<const ir::Module> Region(FloatOperator& in, int subgraph,
                                         const std::vector<ir::Type>& types) {
  FloatContext& context = in.graph().context();
  const auto* const all = context.model.subgraphs();
  if (!in.ok() ||
      !in.Require(0 < subgraph &&
                      subgraph < static_cast<int64_t>(all->size()) &&
                      all->Get(subgraph) != nullptr,
                  "subgraph ", subgraph, " of ", all->size()) ||
      !in.Require(in.graph().depth() < kMostDepth, "more than ", kMostDepth,
                  " subgraphs inside each other"))
    return nullptr;
  auto region = std::make_shared<ir::Module>();
  FloatGraph graph(context, *all->Get(subgraph), *region,
                   in.graph().depth() + 1);
  const absl::Status status = graph.Import(&types);
  if (status.ok()) return region;
  in.Fail(Prefixed(absl::StrCat("subgraph ", subgraph), status));
  return nullptr;
}

std::vector<ir::Type> TypesOf(const Values& values) {
  std::vector<ir::Type> types;
  for (const Value& value : values) types.push_back(value.type());
  return types;
}

using Regions = std::vector<std::shared_ptr<const ir::Module>>;

void SetAll(FloatOperator& in, Op op, const Values& operands, Regions regions) {
  if (!in.ok()) return;
  const Values results =
      in.nodes().Add(op, operands, {}, std::nullopt, std::move(regions));
  if (!in.ok() || !in.Require(static_cast<int>(results.size()) == in.outputs(),
                              in.outputs(), " results of ", results.size()))
    return;
  for (int i = 0; i < in.outputs() && in.ok(); ++i)
    in.Set(results[i], tflite::Activation_NONE, i);
}

void ImportIf(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_IfOptions());
  Values captured;
  for (int i = 1; i < in.inputs() && in.ok(); ++i)
    captured.push_back(in.Raw(i));
  Values operands = {in.nodes().Reshape(in.Raw(0), {})};
  if (!in.ok()) return;
  operands.insert(operands.end(), captured.begin(), captured.end());
  const std::vector<ir::Type> types = TypesOf(captured);
  Regions regions;
  for (const int subgraph : {o->then_subgraph(), o->else_subgraph()})
    regions.push_back(Region(in, subgraph, types));
  SetAll(in, Op::kHloIf, operands, std::move(regions));
}

void ImportWhile(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_WhileOptions());
  Values states;
  for (int i = 0; i < in.inputs() && in.ok(); ++i) states.push_back(in.Raw(i));
  if (!in.ok()) return;
  const std::vector<ir::Type> types = TypesOf(states);
  Regions regions;
  for (const int subgraph : {o->cond_subgraph(), o->body_subgraph()})
    regions.push_back(Region(in, subgraph, types));
  SetAll(in, Op::kHloWhile, states, std::move(regions));
}

}  // namespace

FloatRules ControlRules() {
  return {
      {B::BuiltinOperator_IF, ImportIf},
      {B::BuiltinOperator_WHILE, ImportWhile},
  };
}

}  // namespace systole::import
