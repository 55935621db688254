// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models of the kinds that files come in, through importer, host and golden
// interpreter, against the reference kernels of TensorFlow Lite
// (scripts/vectors/tflite_kinds.py).
#include "tests/import/kinds.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "absl/strings/ascii.h"
#include "host/import/float/float_importer.h"
#include "host/import/tflite_importer.h"
#include "host/ir/evaluate.h"
#include "host/ir/pass.h"
#include "host/ir/text.h"
#include "verif/golden/interpreter.h"

namespace systole::import {
namespace {

class KindsTest : public testing::TestWithParam<Kind> {};

using Evaluate = std::function<absl::StatusOr<std::vector<ir::Literal>>(
    const ir::Module& module, const std::vector<ir::Literal>& inputs)>;

// All calls; states go from one to the next by their names.
void Compare(const Kind& kind, const ir::Module& module, const Evaluate& run) {
  std::map<std::string, ir::Literal> states;
  for (int call = 0; call < kind.calls; ++call) {
    const std::vector<ir::Literal> given =
        InputsOf(kind, module.inputs(), call);
    std::vector<ir::Literal> inputs;
    size_t next = 0;
    for (const ir::Node* p : module.inputs()) {
      const std::string& name = p->attr<ir::ParameterAttributes>().name;
      if (p->operands.empty()) {
        inputs.push_back(given.at(next++));
      } else {
        inputs.push_back(
            states.emplace(name, p->operands[0]->literal()).first->second);
      }
    }
    const auto outputs = run(module, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const ir::Output& output = module.outputs[i];
      if (states.count(output.name) > 0) {
        states.at(output.name) = (*outputs)[i];
        continue;
      }
      ASSERT_LT(i, kind.outputs.size());
      EXPECT_EQ(output.node.type().shape, kind.shapes[i]);
      EXPECT_TRUE(ToFile((*outputs)[i], output.stored) ==
                  OutputOf(kind, i, call))
          << "output " << i << " of call " << call;
    }
    EXPECT_EQ(outputs->size(), kind.outputs.size() + states.size());
  }
}

TEST_P(KindsTest, EqualReferenceKernels) {
  const Kind& kind = GetParam();
  EXPECT_FALSE(IsFloatTflite(kind.model, kind.signature));
  const auto module = ImportTflite(kind.model, kind.name, kind.signature);
  ASSERT_TRUE(module.ok()) << module.status();
  const Evaluate golden = [](const ir::Module& m, const auto& inputs) {
    return golden::RunModule(m, inputs);
  };
  const Evaluate host = [](const ir::Module& m, const auto& inputs) {
    return ir::EvaluateModule(m, inputs);
  };
  Compare(kind, **module, golden);
  Compare(kind, **module, host);
  const auto parsed = ir::Parse(ir::Print(**module));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(ir::Equal(**module, **parsed));
  ir::PassManager passes = ir::StandardPasses();
  ASSERT_EQ(passes.Run(**module), absl::OkStatus());
  Compare(kind, **module, golden);
}

INSTANTIATE_TEST_SUITE_P(All, KindsTest, testing::ValuesIn(Kinds()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             if (!absl::ascii_isalnum(c)) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace systole::import
