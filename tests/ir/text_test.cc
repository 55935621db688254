// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

constexpr char kSmall[] = R"(module @small {
  %x = i8[1,4,4,2]{scale=0.1, zero=-3} parameter(), name="serving_x:0"
  %w = i8[3,1,1,2]{axis=0, scale=[0.5, 0.25, 1e-09]} constant(), data=[1, -2, 3, 4, -128, 127]
  %b = i32[3]{axis=0, scale=[0.05, 0.025, 1e-10]} constant(), data=[100, -5, 2147483647]
  %conv/out.1 = i8[1,2,2,3]{scale=0.3} conv2d(%x, %w, %b), stride=[2, 2], clamp=[0, 127]
  %"a b;\"c\"" = f32[1,2,2,3] dequantize(%conv/out.1)
  return %conv/out.1 as "y", %"a b;\"c\"" as "z\n"
}
)";

std::unique_ptr<Module> MustParse(std::string_view text) {
  auto module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : std::make_unique<Module>();
}

std::string Error(std::string_view text) {
  return std::string(Parse(text).status().message());
}

TEST(TextTest, PrintsWhatItParsed) {
  const auto module = MustParse(kSmall);
  EXPECT_EQ(Print(*module), kSmall);
  EXPECT_EQ(Verify(*module), absl::OkStatus());
}

TEST(TextTest, ReadsEveryPart) {
  const auto module = MustParse(kSmall);
  ASSERT_EQ(module->nodes().size(), 5u);
  const Node& conv = *module->nodes()[3];
  EXPECT_EQ(conv.op, Op::kConv2D);
  EXPECT_EQ(conv.attr<ConvAttributes>().stride, (Ints{2, 2}));
  EXPECT_EQ(conv.attr<ConvAttributes>().dilation, (Ints{1, 1}));
  EXPECT_EQ(conv.quantization().scale(), 0.3f);
  EXPECT_EQ(conv.operands[1]->quantization().scale(2), 1e-9f);
  EXPECT_EQ(conv.operands[1]->literal().values<int8_t>()[4], -128);
  EXPECT_EQ(module->inputs()[0]->attr<ParameterAttributes>().name,
            "serving_x:0");
  EXPECT_EQ(module->nodes()[4]->name, "a b;\"c\"");
  EXPECT_EQ(module->outputs[1].name, "z\n");
}

TEST(TextTest, EveryFloatReadsBackExactly) {
  for (float scale : {0.1f, 1.0f / 3, 1e-38f, 3.4e38f, 0.003921569f,
                      std::nextafter(0.25f, 1.0f), 1.4e-45f}) {
    Module module("m");
    Type type{ElementType::kInt8, {2}, Quantization{{scale}, 5, 0}};
    Node* x =
        module.Add({"x", Op::kParameter, type, {}, ParameterAttributes{}});
    module.outputs.push_back({"y", x});
    EXPECT_TRUE(Equal(*MustParse(Print(module)), module)) << scale;
  }
}

TEST(TextTest, LargeAndOddConstantsReadBackExactly) {
  std::vector<float> odd = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -0.0f,
                            1e-45f};
  std::vector<int16_t> large(1000);
  for (int i = 0; i < 1000; ++i) large[i] = static_cast<int16_t>(i * 77);
  Module module("m");
  Node* a = module.Add(
      MakeConstant("a", {ElementType::kFloat32, {4}, {}}, Literal(odd)));
  Node* b = module.Add(
      MakeConstant("b", {ElementType::kInt16, {10, 100}, {}}, Literal(large)));
  Node* c = module.Add(MakeConstant("c", {ElementType::kInt32, {}, {}},
                                    Literal(std::vector<int32_t>{-7})));
  module.outputs = {{"a", a}, {"b", b}, {"c", c}};
  const std::string text = Print(module);
  EXPECT_THAT(text, HasSubstr("data=x\"0000c07f0000807f0000008001000000\""));
  EXPECT_TRUE(Equal(*MustParse(text), module));

  const std::string elided = Print(module, {/*elide_constants=*/true});
  EXPECT_THAT(elided, HasSubstr("data=elided(bytes=2000, crc32="));
  EXPECT_THAT(elided, HasSubstr("data=[-7]"));
  EXPECT_THAT(Error(elided), HasSubstr("were left out"));
}

TEST(TextTest, CommentsAndBlanksAreFree) {
  const auto module = MustParse(
      "module @m{//c\n%x=i32[2]parameter( ) ,name=\"\"//x\n\n return %x "
      "as\"y\"}");
  EXPECT_EQ(
      Print(*module),
      "module @m {\n  %x = i32[2] parameter()\n  return %x as \"y\"\n}\n");
}

TEST(TextTest, EqualSeesEveryDifference) {
  const auto module = MustParse(kSmall);
  const std::pair<const char*, const char*> edits[] = {
      {"@small", "@other"},        {"%x", "%xx"},
      {"zero=-3", "zero=-2"},      {"[1,4,4,2]", "[1,4,2,4]"},
      {"serving", "Serving"},      {"-128", "-127"},
      {"scale=0.3", "scale=0.31"}, {"stride=[2, 2]", "stride=[2, 1]"},
      {"clamp=[0", "clamp=[1"},    {"as \"y\"", "as \"yy\""},
      {"i8[1,2", "i16[1,2"},       {"return %conv/out.1", "return %x"}};
  for (const auto& [from, to] : edits) {
    std::string text = kSmall;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += strlen(to)) {
      text.replace(at, strlen(from), to);
    }
    EXPECT_FALSE(Equal(*module, *MustParse(text))) << from;
    EXPECT_NE(text, kSmall);
  }
  EXPECT_TRUE(Equal(*module, *module->Clone()));
}

TEST(TextTest, ErrorsNameTheLine) {
  EXPECT_THAT(Error(""), HasSubstr("line 1: 'module' wanted"));
  EXPECT_THAT(Error("module @m {\n\n  %x = i9[1] parameter()"),
              HasSubstr("line 3: 'i9' is no element type"));
  EXPECT_THAT(Error("module @m {\n  %x = i8[1] paramter()"),
              HasSubstr("line 2: no operation 'paramter'"));
  EXPECT_THAT(Error("module @m {\n  %y = i8[1] relu(%x)"),
              HasSubstr("%x is not defined before it is used"));
  EXPECT_THAT(Error("module @m { %x = i32[1] parameter() %x = i32[1] "
                    "parameter() return %x as \"\" }"),
              HasSubstr("%x is defined twice"));
  EXPECT_THAT(Error("module @m { %x = i32[1] parameter(), nme=\"\""),
              HasSubstr("no attribute 'nme'"));
  EXPECT_THAT(Error("module @m { %x = i8[2] constant(), data=[1, 300]"),
              HasSubstr("300 is not a value of the type"));
  EXPECT_THAT(Error("module @m { %x = i8[2] constant(), data=[1]"),
              HasSubstr("1 values instead of 2"));
  EXPECT_THAT(Error("module @m { %x = i8[2] constant(), data=x\"00\""),
              HasSubstr("2 hexadecimal digits instead of 4"));
  EXPECT_THAT(Error("module @m { %x = i8[99999,99999] constant()"),
              HasSubstr("too large"));
  EXPECT_THAT(Error("module @m { return %x as \"y\" }"),
              HasSubstr("not defined"));
  EXPECT_THAT(
      Error("module @m { %x = i32[1] parameter() return %x as \"y\" } x"),
      HasSubstr("text behind the module"));
}

// No prefix, and no damaged byte, makes the parser misbehave.
TEST(TextTest, DamagedTextIsAnErrorOrAModule) {
  const std::string text = kSmall;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 3 < text.size()) {
      EXPECT_FALSE(Parse(text.substr(0, i)).ok());
    }
    for (char c : {'\0', '"', '\\', '%', '9', '-', '\xff'}) {
      std::string damaged = text;
      damaged[i] = c;
      const auto module = Parse(damaged);
      if (module.ok()) {
        EXPECT_TRUE(Equal(**module, *MustParse(Print(**module)))) << damaged;
      }
    }
  }
}

}  // namespace
}  // namespace systole::ir
