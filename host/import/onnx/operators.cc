// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/operators.h"

#include <map>

namespace systole::import {
namespace {

using Table = std::map<absl::string_view, OnnxOperator>;

const Table& Operators() {
  static const auto& table = *new Table([] {
    Table all;
    for (const auto& family :
         {ElementwiseOperators, FunctionOperators,    IntegerOperators,
          ShapeOperators,       MoveOperators,        IndexOperators,
          ReductionOperators,   SortOperators,        NormalizationOperators,
          ProductOperators,     ConvolutionOperators, PoolOperators,
          ResizeOperators,      RecurrentOperators,   ControlOperators,
          QuantizedOperators,   AttentionOperators,   LossOperators,
          SampleOperators,      SignalOperators}) {
      for (const OnnxOperator& op : family()) all.emplace(op.name, op);
    }
    return all;
  }());
  return table;
}

}  // namespace

const OnnxOperator* FindOnnxOperator(absl::string_view name) {
  const auto found = Operators().find(name);
  return found == Operators().end() ? nullptr : &found->second;
}

std::vector<const OnnxOperator*> AllOnnxOperators() {
  std::vector<const OnnxOperator*> all;
  for (const auto& [name, op] : Operators()) all.push_back(&op);
  return all;
}

}  // namespace systole::import
