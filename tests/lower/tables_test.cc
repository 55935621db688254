// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of one value as tables, and products, against the golden
// interpreter: every value, every pair of values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/lower/lowering.h"
#include "verif/golden/interpreter.h"
#include "verif/golden/network.h"

namespace systole::lower {
namespace {

std::unique_ptr<ir::Module> Parsed(const std::string& statements) {
  auto module = ir::Parse("module @m {\n" + statements + "}\n");
  EXPECT_TRUE(module.ok()) << module.status() << statements;
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus()) << statements;
  return *std::move(module);
}

std::vector<int8_t> AllValues() {
  std::vector<int8_t> values(256);
  std::iota(values.begin(), values.end(), static_cast<int8_t>(-128));
  return values;
}

// The one layer of a module that is a function of %x of shape [1,256].
std::vector<int8_t> TableOf(const ir::Module& module) {
  const auto lowered = LowerModule(module);
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return {};
  EXPECT_EQ(lowered->networks.size(), 1u);
  EXPECT_EQ(lowered->networks[0].layers.size(), 1u);
  EXPECT_EQ(model::Validate(lowered->networks[0]), absl::OkStatus());
  for (const Placement& p : lowered->placements)
    EXPECT_EQ(p.unit, "vector unit") << p.node;
  EXPECT_EQ(lowered->networks[0].layers[0].op, model::Op::kTable);
  return lowered->networks[0].layers[0].table;
}

std::vector<int8_t> Expected(const ir::Module& module) {
  const auto outputs = golden::RunModule(module, {ir::Literal(AllValues())});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs->at(0).values<int8_t>();
}

TEST(Tables, EveryFunctionOfEveryValue) {
  struct Case {
    const char* op;
    const char* attributes;
    const char* result;  // scale and zero point, if the operation says them
  };
  const Case cases[] = {{"logistic", "", "scale=0.00390625, zero=-128"},
                        {"tanh", "", ""},
                        {"hard_swish", "", ""},
                        {"abs", "", ""},
                        {"exp", "", ""},
                        {"elu", "", ""},
                        {"gelu", "", ""},
                        {"leaky_relu", ", slope=0.2", ""},
                        {"relu", ", clamp=[-7, 90]", ""},
                        {"quantize", "", ""}};
  std::mt19937 random(3);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::map<std::string, int> compared;
  for (const Case& c : cases) {
    for (int round = 0; round < 40; ++round) {
      const double most = round < 20 ? 0.2 : 8;
      const auto quantisation = [&] {
        return absl::StrCat("scale=", static_cast<float>(number(0.003, most)),
                            ", zero=", static_cast<int>(number(-128, 128)));
      };
      const std::string text = absl::StrCat(
          "  %x = i8[1,256]{", quantisation(), "} parameter(), name=\"x\"\n",
          "  %y = i8[1,256]{", *c.result ? c.result : quantisation(), "} ",
          c.op, "(%x)", c.attributes, "\n  return %y as \"y\"\n");
      // A scale too small for the largest result is refused.
      auto parsed = ir::Parse("module @m {\n" + text + "}\n");
      ASSERT_TRUE(parsed.ok()) << parsed.status() << text;
      const ir::Module& module = **parsed;
      if (!ir::Verify(module).ok()) continue;
      ++compared[c.op];
      ASSERT_EQ(TableOf(module), Expected(module)) << text;
    }
  }
  for (const Case& c : cases) EXPECT_GE(compared[c.op], 5) << c.op;
}

// A swish as Keras exports it, and arithmetic with constants of one element.
TEST(Tables, ChainsOfOneValueAreOneTable) {
  const auto swish = Parsed(
      "  %x = i8[1,256]{scale=0.05, zero=3} parameter(), name=\"x\"\n"
      "  %s = i8[1,256]{scale=0.00390625, zero=-128} logistic(%x)\n"
      "  %y = i8[1,256]{scale=0.04, zero=-120} mul(%x, %s)\n"
      "  return %y as \"y\"\n");
  EXPECT_EQ(TableOf(*swish), Expected(*swish));
  const auto hard = Parsed(
      "  %x = i8[1,256]{scale=0.05, zero=3} parameter(), name=\"x\"\n"
      "  %c = i8[]{scale=0.02} constant(), data=[100]\n"
      "  %a = i8[1,256]{scale=0.06, zero=-20} add(%x, %c)\n"
      "  %r = i8[1,256]{scale=0.0235, zero=-128} relu(%a)\n"
      "  %d = i8[1,1]{scale=0.002} constant(), data=[83]\n"
      "  %m = i8[1,256]{scale=0.0039, zero=-128} mul(%r, %d)\n"
      "  %y = i8[1,256]{scale=0.04, zero=-110} mul(%m, %x)\n"
      "  return %y as \"y\"\n");
  EXPECT_EQ(TableOf(*hard), Expected(*hard));
}

// A value within a chain that others read is a table of its own.
TEST(Tables, WhatOthersReadStays) {
  const auto module = Parsed(
      "  %x = i8[1,256]{scale=0.05, zero=3} parameter(), name=\"x\"\n"
      "  %s = i8[1,256]{scale=0.00390625, zero=-128} logistic(%x)\n"
      "  %y = i8[1,256]{scale=0.04, zero=-120} mul(%x, %s)\n"
      "  return %y as \"y\", %s as \"s\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  ASSERT_EQ(lowered->networks.size(), 1u);
  const std::vector<model::Layer>& layers = lowered->networks[0].layers;
  ASSERT_EQ(layers.size(), 2u);
  const auto outputs = golden::RunModule(*module, {ir::Literal(AllValues())});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(layers[0].table, outputs->at(1).values<int8_t>());
  EXPECT_EQ(layers[1].table, outputs->at(0).values<int8_t>());
  EXPECT_EQ(layers[0].inputs, layers[1].inputs);
}

// What TensorFlow's converter makes of a function that has no int8 kernel.
constexpr char kReals[] =
    "  %x = i8[1,256]{scale=0.05, zero=3} parameter(), name=\"x\"\n"
    "  %d = f32[1,256] dequantize(%x)\n"
    "  %e = f32[1,256] elu(%d)\n"
    "  %n = f32[1,256] neg(%e)\n"
    "  %y = i8[1,256]{scale=0.03, zero=-9} quantize(%n)\n";

TEST(Tables, FunctionsOfFloatsBetweenAreOneTable) {
  const auto module = Parsed(std::string(kReals) + "  return %y as \"y\"\n");
  EXPECT_EQ(TableOf(*module), Expected(*module));
}

// A float within that is asked for: the host has it, and the device the rest.
TEST(Tables, FloatsThatOthersReadStay) {
  const auto module =
      Parsed(std::string(kReals) + "  return %y as \"y\", %e as \"e\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  std::map<std::string, std::string> units;
  for (const Placement& p : lowered->placements) units[p.node] = p.unit;
  EXPECT_EQ(units, (std::map<std::string, std::string>{{"d", "host"},
                                                       {"e", "host"},
                                                       {"n", "vector unit"},
                                                       {"y", "vector unit"}}));
  ASSERT_EQ(lowered->networks.size(), 1u);
  const std::vector<model::Layer>& layers = lowered->networks[0].layers;
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].table, Expected(*module));
}

// All 65,536 pairs, and a vector of channels that is repeated, on either side.
TEST(Products, EveryPair) {
  std::vector<int8_t> a, b;
  for (int i = 0; i < 65536; ++i) {
    a.push_back(static_cast<int8_t>(i >> 8));
    b.push_back(static_cast<int8_t>(i));
  }
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    const auto number = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    const bool repeated = round % 3 == 1, swapped = round % 3 == 2;
    const std::string vector = "i8[1,1,1,256]", tensor = "i8[1,16,16,256]";
    const auto quantisation = [&] {
      return absl::StrCat("{scale=0.0", number(1, 99),
                          ", zero=", number(-128, 127), "} ");
    };
    const std::string text = absl::StrCat(
        "  %a = ", swapped ? vector : tensor, quantisation(),
        "parameter(), name=\"a\"\n  %b = ", repeated ? vector : tensor,
        quantisation(), "parameter(), name=\"b\"\n  %y = ", tensor,
        "{scale=0.0", number(1, 99), ", zero=", number(-128, 127),
        "} mul(%a, %b), clamp=[", number(-128, -90), ", ", number(90, 127),
        "]\n  return %y as \"y\"\n");
    const auto module = Parsed(text);
    const auto lowered = LowerModule(*module);
    ASSERT_TRUE(lowered.ok()) << lowered.status() << text;
    ASSERT_EQ(lowered->networks.size(), 1u);
    const model::Network& network = lowered->networks[0];
    ASSERT_EQ(network.layers[0].op, model::Op::kMul);
    std::vector<int8_t> left = a, right = b;
    if (swapped) left = AllValues();
    if (repeated) right = AllValues();
    std::vector<golden::TensorI8> inputs;
    for (const int input : network.inputs) {
      const model::Tensor& t = network.tensors[input];
      inputs.emplace_back(1, t.height, t.width, t.channels,
                          t.name == "a" ? left : right);
    }
    const auto got = golden::RunNetwork(network, inputs);
    const auto want =
        golden::RunModule(*module, {ir::Literal(left), ir::Literal(right)});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_EQ(got->at(0).data(), want->at(0).values<int8_t>()) << text;
  }
}

// Means over an image.
TEST(Means, OfAnImage) {
  std::mt19937 random(7);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 60; ++round) {
    const int h = number(1, 30), w = number(1, 30), c = number(1, 9);
    const std::string text =
        absl::StrCat("  %x = i8[1,", h, ",", w, ",", c, "]{scale=0.0",
                     number(1, 99), ", zero=", number(-128, 127),
                     "} parameter(), name=\"x\"\n", "  %y = i8[1,", c,
                     "]{scale=0.0", number(1, 99), ", zero=", number(-128, 127),
                     "} mean(%x), axes=[1, 2]\n  return %y as \"y\"\n");
    const auto module = Parsed(text);
    const auto lowered = LowerModule(*module);
    ASSERT_TRUE(lowered.ok()) << lowered.status() << text;
    ASSERT_EQ(lowered->placements[0].unit, "vector unit");
    std::vector<int8_t> values(h * w * c);
    const int low = number(-128, 127), high = number(low, 127);
    for (int8_t& value : values) value = static_cast<int8_t>(number(low, high));
    const auto got = golden::RunNetwork(lowered->networks[0],
                                        {golden::TensorI8(1, h, w, c, values)});
    const auto want = golden::RunModule(*module, {ir::Literal(values)});
    ASSERT_TRUE(got.ok()) << got.status() << text;
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_EQ(got->at(0).data(), want->at(0).values<int8_t>()) << text;
  }
}

}  // namespace
}  // namespace systole::lower
