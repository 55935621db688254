// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the host computes against the golden operations, which share no code
// with it, and both against TensorFlow Lite in tests/import.
#include "host/ir/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "host/ir/text.h"
#include "tests/ir/random_module.h"
#include "verif/golden/interpreter.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

std::vector<const Literal*> OperandsOf(const Node& node,
                                       const golden::NodeValues& values) {
  std::vector<const Literal*> operands;
  for (const Node* operand : node.operands) {
    operands.push_back(&values.at(operand));
  }
  return operands;
}

TEST(EvaluateTest, EqualsTheGoldenOperations) {
  std::map<Op, int> seen;
  for (uint64_t seed = 1000; seed < 2500; ++seed) {
    SCOPED_TRACE(seed);
    const auto module = RandomModule(seed);
    const auto values = golden::RunNodes(*module, RandomInputs(*module, seed));
    ASSERT_TRUE(values.ok()) << values.status();
    for (const auto& node : module->nodes()) {
      if (!HostComputes(node->op)) continue;
      const auto got = Evaluate(*node, OperandsOf(*node, *values));
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(*got, values->at(node.get())) << Print(*node);
      ++seen[node->op];
    }
  }
  for (const OpInfo& info : AllOps()) {
    if (HostComputes(info.op) && info.op != Op::kDequantize) {
      EXPECT_GE(seen[info.op], 30) << info.name;
    }
  }
}

// All inputs of the functions of one value, and floats.
TEST(EvaluateTest, EqualsTheGoldenTables) {
  std::vector<int8_t> all(256);
  for (int i = 0; i < 256; ++i) all[i] = static_cast<int8_t>(i - 128);
  for (int i = 0; i < 300; ++i) {
    const double scale = 7.9 * std::exp(-0.05 * i);
    for (const char* op :
         {"{scale=0.00390625, zero=-128} logistic(%x)",
          "{scale=0.0078125} tanh(%x)",
          "{scale=0.00390625, zero=-128} softmax(%x), beta=0.7",
          "{scale=0.01, zero=5} quantize(%x)"}) {
      const auto module =
          Parse("module @m { %x = i8[1,256]{scale=" +
                FloatText(static_cast<float>(scale)) +
                ", zero=" + std::to_string(i * 37 % 256 - 128) +
                "} parameter() %y = i8[1,256]" + op + " return %y as \"y\" }");
      ASSERT_TRUE(module.ok()) << module.status();
      const auto expected = golden::RunModule(**module, {Literal(all)});
      const auto got = EvaluateModule(**module, {Literal(all)});
      ASSERT_TRUE(expected.ok()) << expected.status();
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(got->at(0), expected->at(0)) << op << " " << scale;
    }
  }
}

TEST(EvaluateTest, EqualsTheGoldenConversions) {
  const auto module = Parse(
                          "module @m { %x = f32[7] parameter() "
                          "%q = i8[7]{scale=0.3, zero=-7} quantize(%x) "
                          "%y = f32[7] dequantize(%q) return %y as \"y\" }")
                          .value();
  const Literal input(
      std::vector<float>{0.15f, -0.15f, 1e30f, -1e30f, NAN, 0.4500001f, -0.0f});
  EXPECT_EQ(EvaluateModule(*module, {input})->at(0),
            golden::RunModule(*module, {input})->at(0));
}

TEST(EvaluateTest, RefusesWhatTheDeviceIsFor) {
  const auto module =
      Parse(
          "module @m { %x = i8[1,2]{scale=1} parameter() "
          "%w = i8[1,2]{scale=1} constant(), data=[1, 2] "
          "%y = i8[1,1]{scale=1} fully_connected(%x, %w) return %y as \"y\" }")
          .value();
  const auto refused =
      EvaluateModule(*module, {Literal(std::vector<int8_t>(2))});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("node 'y': the host does not compute"));
  EXPECT_THAT(std::string(EvaluateModule(*module, {}).status().message()),
              HasSubstr("0 inputs for 1 parameters"));
  EXPECT_THAT(
      std::string(EvaluateModule(*module, {Literal(std::vector<int8_t>(3))})
                      .status()
                      .message()),
      HasSubstr("input 'x': 3 values of i8 for i8[1,2]"));
}

}  // namespace
}  // namespace systole::ir
