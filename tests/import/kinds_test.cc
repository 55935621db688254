// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models of the kinds that files come in, through importer, host and golden
// interpreter, against the reference kernels of TensorFlow Lite
// (scripts/vectors/tflite_kinds.py).
#include "tests/import/kinds.h"

#include <gtest/gtest.h>

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

void Compare(const Kind& kind, const ir::Module& module,
             const absl::StatusOr<std::vector<ir::Literal>>& outputs) {
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), kind.outputs.size());
  for (size_t i = 0; i < outputs->size(); ++i) {
    EXPECT_EQ(module.outputs[i].node.type().shape, kind.shapes[i]);
    const std::string got = ToFile((*outputs)[i], module.outputs[i].stored);
    EXPECT_TRUE(got == kind.outputs[i]) << "output " << i;
  }
}

TEST_P(KindsTest, EqualReferenceKernels) {
  const Kind& kind = GetParam();
  EXPECT_FALSE(IsFloatTflite(kind.model, kind.signature));
  const auto module = ImportTflite(kind.model, kind.name, kind.signature);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<ir::Literal> inputs = InputsOf(kind, (*module)->inputs());
  ASSERT_EQ(inputs.size(), (*module)->inputs().size());
  Compare(kind, **module, golden::RunModule(**module, inputs));
  Compare(kind, **module, ir::EvaluateModule(**module, inputs));
  const auto parsed = ir::Parse(ir::Print(**module));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(ir::Equal(**module, **parsed));
  ir::PassManager passes = ir::StandardPasses();
  ASSERT_EQ(passes.Run(**module), absl::OkStatus());
  Compare(kind, **module, golden::RunModule(**module, inputs));
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
