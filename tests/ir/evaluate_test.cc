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
    // Others are below, and in recurrent_test.cc.
    if (DrawsOp(info.op) && HostComputes(info.op)) {
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

// What is not of i8: plain integers, and functions of real numbers.
TEST(EvaluateTest, EqualsTheGoldenPlainValues) {
  const Literal integers(
      std::vector<int32_t>{7, -3, 0, INT32_MAX, INT32_MIN, 65536, 12, -1});
  const Literal reals(std::vector<float>{0.5f, -0.25f, 3.0f, -7.5f, 0.0f,
                                         1e-20f, 90.0f, -90.0f});
  const auto compare = [](const std::string& type, const std::string& result,
                          const std::string& op, const Literal& input) {
    const auto module =
        Parse("module @m { %x = " + type + "[2,4] parameter() %r = " + type +
              "[2,4] strided_slice(%x), begin=[1, 0], "
              "stride=[-1, 1] %y = " +
              result + " " + op + " return %y as \"y\" }");
    ASSERT_TRUE(module.ok()) << module.status() << op;
    const auto expected = golden::RunModule(**module, {input});
    const auto got = EvaluateModule(**module, {input});
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->at(0), expected->at(0)) << op;
  };
  for (const char* op : {"add", "sub", "mul", "maximum", "minimum"}) {
    compare("i32", "i32[2,4]", std::string(op) + "(%x, %r)", integers);
  }
  for (const char* op : {"equal", "not_equal", "less", "less_equal"}) {
    compare("i32", "i8[2,4]{scale=1}", std::string(op) + "(%x, %r)", integers);
  }
  for (const char* op : {"sum", "reduce_prod", "reduce_max", "reduce_min"}) {
    compare("i32", "i32[2]", std::string(op) + "(%r), axes=[1]", integers);
  }
  for (const char* op : {"abs", "neg", "exp", "elu", "gelu"}) {
    compare("f32", "f32[2,4]", std::string(op) + "(%r)", reals);
  }
}

TEST(EvaluateTest, NamesValuesThatHaveNoResult) {
  const std::pair<const char*, const char*> cases[] = {
      {"i8[2]{scale=0.1} rsqrt(%x)", "node 'y': a root of -5, which is below"},
      {"i8[2]{scale=0.1} sqrt(%x)", "node 'y': a root of -5"},
  };
  for (const auto& [op, error] : cases) {
    const auto module = Parse(
                            "module @m { %x = i8[2]{scale=0.5} parameter() "
                            "%y = " +
                            std::string(op) + " return %y as \"y\" }")
                            .value();
    const Literal input(std::vector<int8_t>{3, -5});
    EXPECT_THAT(
        std::string(EvaluateModule(*module, {input}).status().message()),
        HasSubstr(error));
    EXPECT_FALSE(golden::RunModule(*module, {input}).ok());
  }
  const auto gather = Parse(
                          "module @m { %x = i32[2] parameter() "
                          "%t = i8[3,1]{scale=1} constant(), data=[1, 2, 3] "
                          "%y = i8[2,1]{scale=1} gather(%t, %x) "
                          "return %y as \"y\" }")
                          .value();
  for (int32_t index : {-1, 3}) {
    const Literal input(std::vector<int32_t>{0, index});
    EXPECT_THAT(
        std::string(EvaluateModule(*gather, {input}).status().message()),
        HasSubstr("index " + std::to_string(index) + " of 3"));
    EXPECT_FALSE(golden::RunModule(*gather, {input}).ok());
  }
}

TEST(EvaluateTest, ChecksInputs) {
  const auto module = Parse(
                          "module @m { %x = i8[1,2]{scale=1} parameter() "
                          "%y = i8[1,2]{scale=1} relu(%x) return %y as \"y\" }")
                          .value();
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
