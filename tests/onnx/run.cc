// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What of model.h runs models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/import/hlo/hlo_builder.h"
#include "host/ir/evaluate.h"
#include "tests/onnx/model.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::import {

Shape OnnxModel::OutputShape(const OnnxOptions& options) {
  const auto program = Import(options);
  if (!program.ok()) {
    ADD_FAILURE() << program.status();
    return {};
  }
  return program->module->outputs[0].node.type().shape;
}

Doubles OnnxModel::Run(const std::vector<Doubles>& inputs,
                       const OnnxOptions& options, size_t output) {
  const auto program = Import(options);
  if (!program.ok()) {
    ADD_FAILURE() << program.status();
    return {};
  }
  const std::vector<ir::Node*> parameters = program->module->inputs();
  if (parameters.size() != inputs.size()) {
    ADD_FAILURE() << parameters.size() << " inputs";
    return {};
  }
  std::vector<ir::Literal> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(LiteralOf(parameters[i]->type.element, inputs[i]));
    if (values.back().size() != parameters[i]->type.elements()) {
      ADD_FAILURE() << "values of input " << i;
      return {};
    }
  }
  const auto host = ir::EvaluateModule(*program->module, values);
  const auto golden = golden::RunHlo(*program->module, values);
  if (!host.ok() || !golden.ok()) {
    ADD_FAILURE() << host.status() << ", " << golden.status();
    return {};
  }
  for (size_t i = 0; i < host->size(); ++i)
    EXPECT_TRUE((*host)[i] == (*golden)[i]) << "output " << i;
  return NumbersOf((*host)[output]);
}

void ExpectNear(const Doubles& got, const Doubles& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double value : wanted)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
      continue;
    ASSERT_NEAR(got[i], wanted[i], tolerance * largest) << "element " << i;
  }
}

}  // namespace systole::import
