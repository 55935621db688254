// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Each pass on textual IR: what it does, and what it must leave alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/ir/pass.h"
#include "host/ir/passes/clamp_fusion.h"
#include "host/ir/passes/constant_folding.h"
#include "host/ir/passes/maximum_expansion.h"
#include "host/ir/passes/pad_folding.h"
#include "host/ir/passes/residual_ordering.h"
#include "host/ir/passes/simplification.h"
#include "host/ir/passes/zero_point_folding.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

std::string Text(const std::string& statements) {
  return "module @m {\n" + statements + "}\n";
}

// What a pass makes of statements.
template <typename P>
std::string After(const std::string& statements) {
  auto module = Parse(Text(statements));
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Verify(**module), absl::OkStatus());
  const auto before = (*module)->Clone();
  const absl::StatusOr<bool> changed = P().Run(**module);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, !Equal(*before, **module));
  EXPECT_EQ(Verify(**module), absl::OkStatus());
  return Print(**module);
}

#define EXPECT_UNCHANGED(Pass, statements) \
  EXPECT_EQ(After<Pass>(statements), Text(statements))

constexpr char kX[] =
    "  %x = i8[1,4,4,1]{scale=0.5, zero=7} parameter(), name=\"x\"\n";

TEST(ConstantFoldingTest, FoldsMoves) {
  EXPECT_EQ(
      After<ConstantFolding>(
          "  %c = i8[2,3]{scale=1} constant(), data=[1, 2, 3, 4, 5, 6]\n"
          "  %t = i8[3,2]{scale=1} transpose(%c), permutation=[1, 0]\n"
          "  %p = i8[3,4]{scale=1} pad(%t), low=[0, 1], high=[0, 1], value=9\n"
          "  %s = i8[2,4]{scale=1} strided_slice(%p), begin=[2, 0], "
          "stride=[-2, 1]\n"
          "  %k = i8[4,4]{scale=1} concatenate(%s, %s)\n"
          "  %y = i8[16]{scale=1} reshape(%k)\n"
          "  return %y as \"y\"\n"),
      Text("  %y = i8[16]{scale=1} constant(), data=[9, 3, 6, 9, 9, 1, 4, 9, "
           "9, 3, 6, 9, 9, 1, 4, 9]\n"
           "  return %y as \"y\"\n"));
}

TEST(ConstantFoldingTest, FoldsConversions) {
  EXPECT_EQ(After<ConstantFolding>(
                "  %c = f32[4] constant(), data=[0.25, -0.25, 100, 0.1]\n"
                "  %y = i8[4]{scale=0.5, zero=3} quantize(%c)\n"
                "  %z = f32[4] dequantize(%y)\n"
                "  return %y as \"y\", %z as \"z\"\n"),
            Text("  %y = i8[4]{scale=0.5, zero=3} constant(), "
                 "data=[4, 2, 127, 3]\n"
                 "  %z = f32[4] constant(), data=[0.5, -0.5, 62, 0]\n"
                 "  return %y as \"y\", %z as \"z\"\n"));
}

TEST(ConstantFoldingTest, FoldsArithmetic) {
  EXPECT_EQ(After<ConstantFolding>(
                "  %c = i8[2]{scale=1} constant(), data=[10, -20]\n"
                "  %k = i8[2]{scale=0.5, zero=1} constant(), data=[3, 5]\n"
                "  %y = i8[2]{scale=1} add(%c, %k), clamp=[-18, 127]\n"
                "  return %y as \"y\"\n"),
            Text("  %y = i8[2]{scale=1} constant(), data=[11, -18]\n"
                 "  return %y as \"y\"\n"));
  EXPECT_EQ(
      After<ConstantFolding>("  %c = i8[1,2]{scale=1} constant(), data=[1, 2]\n"
                             "  %y = i8[1,1]{scale=1} fully_connected(%c, %c)\n"
                             "  return %y as \"y\"\n"),
      Text("  %y = i8[1,1]{scale=1} constant(), data=[5]\n"
           "  return %y as \"y\"\n"));
}

TEST(ConstantFoldingTest, LeavesTheRest) {
  EXPECT_UNCHANGED(ConstantFolding,
                   std::string(kX) +
                       "  %y = i8[16]{scale=0.5, zero=7} reshape(%x)\n"
                       "  return %y as \"y\"\n");
  EXPECT_UNCHANGED(  // would be far larger than what it comes from
      ConstantFolding,
      "  %c = i8[2]{scale=1} constant(), data=[1, 2]\n"
      "  %y = i8[200002]{scale=1} pad(%c), low=[100000], high=[100000]\n"
      "  return %y as \"y\"\n");
}

TEST(SimplificationTest, RemovesWhatChangesNothing) {
  const std::string type = " = i8[1,4,4,1]{scale=0.5, zero=7} ";
  EXPECT_EQ(
      After<Simplification>(
          kX + std::string("  %a") + type + "reshape(%x)\n  %b" + type +
          "transpose(%a), permutation=[0, 1, 2, 3]\n  %c" + type +
          "pad(%b), low=[0, 0, 0, 0], high=[0, 0, 0, 0], value=1\n  %d" + type +
          "strided_slice(%c), begin=[0, 0, 0, 0], stride=[2, 1, 1, 1]\n  %e" +
          type + "concatenate(%d), axis=2\n  %f" + type +
          "resize_bilinear(%e), half_pixel_centers=true\n  %g" + type +
          "relu(%f)\n  %h" + type + "quantize(%g)\n  %y" + type +
          "relu(%h), clamp=[0, 127]\n  return %y as \"y\", %h as \"h\"\n"),
      Text(kX + std::string("  %y") + type +
           "relu(%x), clamp=[0, 127]\n  return %y as \"y\", %x as \"h\"\n"));
}

TEST(SimplificationTest, MergesReshapes) {
  EXPECT_EQ(
      After<Simplification>(
          std::string(kX) +
          "  %a = i8[16]{scale=0.5, zero=7} reshape(%x)\n"
          "  %b = i8[2,8]{scale=0.5, zero=7} reshape(%a)\n"
          "  %c = i8[1,4,4,1]{scale=0.5, zero=7} reshape(%b)\n"
          "  return %b as \"b\", %c as \"c\"\n"),
      Text(std::string(kX) + "  %b = i8[2,8]{scale=0.5, zero=7} reshape(%x)\n"
                             "  return %b as \"b\", %x as \"c\"\n"));
}

TEST(SimplificationTest, LeavesWhatMatters) {
  EXPECT_UNCHANGED(
      Simplification,
      "  %x = i8[4,4]{scale=0.5, zero=7} parameter()\n"
      "  %a = i8[4,4]{scale=0.5, zero=7} transpose(%x), permutation=[1, 0]\n"
      "  %b = i8[4,4]{scale=0.5, zero=7} strided_slice(%a), begin=[3, 0], "
      "stride=[-1, 1]\n"
      "  %c = i8[4,4]{scale=0.5, zero=8} quantize(%b)\n"
      "  %y = i8[4,4]{scale=0.5, zero=8} relu(%c), clamp=[-128, 126]\n"
      "  return %y as \"y\"\n");
}

TEST(ClampFusionTest, NarrowsTheProducersClamp) {
  EXPECT_EQ(After<ClampFusion>(
                std::string(kX) +
                "  %a = i8[1,4,4,1]{scale=1} add(%x, %x), clamp=[-100, 50]\n"
                "  %b = i8[1,4,4,1]{scale=1} relu(%a), clamp=[0, 127]\n"
                "  %y = i8[1,4,4,1]{scale=1} relu(%b), clamp=[-3, 40]\n"
                "  return %y as \"y\"\n"),
            Text(std::string(kX) +
                 "  %a = i8[1,4,4,1]{scale=1} add(%x, %x), clamp=[0, 40]\n"
                 "  return %a as \"y\"\n"));
}

TEST(ClampFusionTest, RangesThatDoNotMeet) {
  EXPECT_EQ(After<ClampFusion>(
                std::string(kX) +
                "  %a = i8[1,4,4,1]{scale=1} add(%x, %x), clamp=[-9, -5]\n"
                "  %y = i8[1,4,4,1]{scale=1} relu(%a), clamp=[0, 127]\n"
                "  return %y as \"y\"\n"),
            Text(std::string(kX) +
                 "  %a = i8[1,4,4,1]{scale=1} add(%x, %x), clamp=[0, 0]\n"
                 "  return %a as \"y\"\n"));
}

TEST(ClampFusionTest, LeavesOtherUsersAndScales) {
  EXPECT_UNCHANGED(ClampFusion,
                   std::string(kX) +
                       "  %a = i8[1,4,4,1]{scale=1} add(%x, %x)\n"
                       "  %y = i8[1,4,4,1]{scale=1} relu(%a), clamp=[0, 127]\n"
                       "  return %y as \"y\", %a as \"a\"\n");
  EXPECT_UNCHANGED(ClampFusion,
                   std::string(kX) +
                       "  %a = i8[1,4,4,1]{scale=1} add(%x, %x)\n"
                       "  %y = i8[1,4,4,1]{scale=1} relu(%a), clamp=[0, 127]\n"
                       "  %z = i8[1,4,4,1]{scale=1} sub(%a, %y)\n"
                       "  return %z as \"z\"\n");
  EXPECT_UNCHANGED(ClampFusion,
                   std::string(kX) +
                       "  %a = i8[1,4,4,1]{scale=1} add(%x, %x)\n"
                       "  %y = i8[1,4,4,1]{scale=1, zero=1} relu(%a), "
                       "clamp=[1, 127]\n"
                       "  return %y as \"y\"\n");
  EXPECT_UNCHANGED(ClampFusion,
                   std::string(kX) +
                       "  %y = i8[1,4,4,1]{scale=0.5, zero=7} relu(%x), "
                       "clamp=[1, 127]\n"
                       "  return %y as \"y\"\n");
}

TEST(MaximumExpansionTest, AddsWhatIsAbove) {
  const std::string c =
      "  %c = i8[1,1,1,1]{scale=0.5, zero=7} parameter(), name=\"c\"\n";
  EXPECT_EQ(After<MaximumExpansion>(
                kX + c +
                "  %y = i8[1,4,4,1]{scale=0.5, zero=7} maximum(%c, %x)\n"
                "  %z = i8[1,4,4,1]{scale=0.5, zero=7} minimum(%x, %y)\n"
                "  return %z as \"z\"\n"),
            Text(kX + c +
                 "  %y.above = i8[1,4,4,1]{scale=0.5, zero=-128} sub(%c, %x)\n"
                 "  %y = i8[1,4,4,1]{scale=0.5, zero=7} add(%x, %y.above)\n"
                 "  %z.above = i8[1,4,4,1]{scale=0.5, zero=-128} sub(%x, %y)\n"
                 "  %z = i8[1,4,4,1]{scale=0.5, zero=7} sub(%x, %z.above)\n"
                 "  return %z as \"z\"\n"));
}

TEST(MaximumExpansionTest, LeavesOthers) {
  // A table, several images, sizes that stretch otherwise, integers.
  EXPECT_UNCHANGED(MaximumExpansion,
                   std::string(kX) +
                       "  %c = i8[1,1]{scale=0.5, zero=7} constant(), "
                       "data=[5]\n"
                       "  %y = i8[1,4,4,1]{scale=0.5, zero=7} maximum(%x, "
                       "%c)\n"
                       "  return %y as \"y\"\n");
  for (const char* shape : {"[2,3,4,5]", "[1,1,4,5]", "[1,3,4,1]"}) {
    const std::string size = shape[1] == '2' ? "[2,3,4,5]" : "[1,3,4,5]";
    EXPECT_UNCHANGED(
        MaximumExpansion,
        absl::StrCat("  %a = i8", size,
                     "{scale=0.5} parameter(), name=\"a\"\n  %b = i8", shape,
                     "{scale=0.5} parameter(), name=\"b\"\n  %y = i8", size,
                     "{scale=0.5} minimum(%a, %b)\n  return %y as \"y\"\n"));
  }
  EXPECT_UNCHANGED(MaximumExpansion,
                   "  %a = i32[4] parameter(), name=\"a\"\n"
                   "  %b = i32[4] parameter(), name=\"b\"\n"
                   "  %y = i32[4] maximum(%a, %b)\n  return %y as \"y\"\n");
}

// Of all pairs of int8.
TEST(MaximumExpansionTest, IsExact) {
  std::vector<int8_t> a, b;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      a.push_back(static_cast<int8_t>(i));
      b.push_back(static_cast<int8_t>(j));
    }
  }
  for (const char* type : {"{scale=0.3, zero=-128}", "{scale=7}",
                           "{scale=1e-05, zero=127}", "{scale=0.1, zero=-3}"}) {
    SCOPED_TRACE(type);
    const std::string t = absl::StrCat("i8[1,256,256,1]", type);
    const auto module = Parse(Text(absl::StrCat(
        "  %a = ", t, " parameter(), name=\"a\"\n  %b = ", t,
        " parameter(), name=\"b\"\n  %y = ", t, " maximum(%a, %b)\n  %z = ", t,
        " minimum(%a, %b)\n  return %y as \"y\", %z as \"z\"\n")));
    ASSERT_TRUE(module.ok()) << module.status();
    const Literals inputs = {Literal(a), Literal(b)};
    const auto want = EvaluateModule(**module, inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(MaximumExpansion().Run(**module).value());
    ASSERT_EQ(Verify(**module), absl::OkStatus());
    const auto got = EvaluateModule(**module, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, *want);
  }
}

constexpr char kW[] =
    "  %w = i8[1,2,2,1]{scale=0.1} constant(), data=[1, -2, 3, 4]\n";

TEST(PadFoldingTest, FoldsChainsForAllUsers) {
  EXPECT_EQ(
      After<PadFolding>(
          std::string(kX) +
          "  %p = i8[1,6,5,1]{scale=0.5, zero=7} pad(%x), low=[0, 1, 0, 0], "
          "high=[0, 1, 1, 0], value=7\n"
          "  %q = i8[1,8,5,1]{scale=0.5, zero=7} pad(%p), low=[0, 2, 0, 0], "
          "high=[0, 0, 0, 0], value=7\n" +
          kW +
          "  %y = i8[1,8,4,1]{scale=1} conv2d(%q, %w), padding=[1, 0, 0, 0]\n"
          "  %z = i8[1,5,4,1]{scale=1} depthwise_conv2d(%p, %w)\n"
          "  return %y as \"y\", %z as \"z\"\n"),
      Text(std::string(kX) + kW +
           "  %y = i8[1,8,4,1]{scale=1} conv2d(%x, %w), padding=[4, 0, 1, 1]\n"
           "  %z = i8[1,5,4,1]{scale=1} depthwise_conv2d(%x, %w), "
           "padding=[1, 0, 1, 1]\n"
           "  return %y as \"y\", %z as \"z\"\n"));
}

TEST(PadFoldingTest, LeavesOtherPads) {
  EXPECT_UNCHANGED(  // by another value than the zero point
      PadFolding,
      std::string(kX) +
          "  %p = i8[1,6,4,1]{scale=0.5, zero=7} pad(%x), low=[0, 1, 0, 0], "
          "high=[0, 1, 0, 0]\n" +
          kW +
          "  %y = i8[1,5,3,1]{scale=1} conv2d(%p, %w)\n"
          "  return %y as \"y\"\n");
  EXPECT_UNCHANGED(  // of images
      PadFolding,
      std::string(kX) +
          "  %p = i8[2,4,4,1]{scale=0.5, zero=7} pad(%x), low=[0, 0, 0, 0], "
          "high=[1, 0, 0, 0], value=7\n" +
          kW +
          "  %y = i8[2,3,3,1]{scale=1} conv2d(%p, %w)\n"
          "  return %y as \"y\"\n");
  EXPECT_UNCHANGED(  // a pool leaves padding out
      PadFolding,
      std::string(kX) +
          "  %p = i8[1,6,4,1]{scale=0.5, zero=7} pad(%x), low=[0, 1, 0, 0], "
          "high=[0, 1, 0, 0], value=7\n"
          "  %y = i8[1,5,3,1]{scale=0.5, zero=7} average_pool(%p), "
          "kernel=[2, 2]\n"
          "  return %y as \"y\"\n");
}

TEST(ZeroPointFoldingTest, AddsToTheBias) {
  EXPECT_EQ(
      After<ZeroPointFolding>(
          "  %x = i8[1,4]{scale=0.5, zero=-7} parameter()\n"
          "  %w = i8[2,4]{scale=0.1} constant(), data=[1, 2, 3, 4, -1, -1, 0, "
          "0]\n"
          "  %b = i32[2]{scale=0.05} constant(), data=[100, 200]\n"
          "  %y = i8[1,2]{scale=1} fully_connected(%x, %w, %b), clamp=[0, "
          "127]\n"
          "  return %y as \"y\"\n"),
      Text("  %x = i8[1,4]{scale=0.5, zero=-7} parameter()\n"
           "  %w = i8[2,4]{scale=0.1} constant(), data=[1, 2, 3, 4, -1, -1, 0, "
           "0]\n"
           "  %b.folded = i32[2]{scale=0.05} constant(), data=[170, 186]\n"
           "  %y = i8[1,2]{scale=1} fully_connected(%x, %w, %b.folded), "
           "clamp=[0, 127], zero_point_folded=true\n"
           "  return %y as \"y\"\n"));
}

TEST(ZeroPointFoldingTest, MakesABiasWhereThereIsNone) {
  EXPECT_EQ(
      After<ZeroPointFolding>(
          std::string(kX) +
          "  %w = i8[1,1,1,2]{scale=0.1} constant(), data=[5, -2]\n"
          "  %y = i8[1,4,4,2]{scale=1} depthwise_conv2d(%x, %w)\n"
          "  return %y as \"y\"\n"),
      Text(std::string(kX) +
           "  %w = i8[1,1,1,2]{scale=0.1} constant(), data=[5, -2]\n"
           "  %y.folded = i32[2] constant(), data=[-35, 14]\n"
           "  %y = i8[1,4,4,2]{scale=1} depthwise_conv2d(%x, %w, %y.folded), "
           "zero_point_folded=true\n"
           "  return %y as \"y\"\n"));
}

TEST(ZeroPointFoldingTest, RefusesABiasBeyond32Bits) {
  auto module =
      Parse(Text("  %x = i8[1,1]{scale=0.5, zero=-7} parameter()\n"
                 "  %w = i8[1,1]{scale=0.1} constant(), data=[1]\n"
                 "  %b = i32[1] constant(), data=[2147483645]\n"
                 "  %y = i8[1,1]{scale=1} fully_connected(%x, %w, %b)\n"
                 "  return %y as \"y\"\n"))
          .value();
  EXPECT_THAT(std::string(ZeroPointFolding().Run(*module).status().message()),
              HasSubstr("node 'y': the bias of channel 0 with the zero point "
                        "in it is 2147483652"));
}

constexpr char kBranches[] =
    "  %x = i8[1,4,4,1]{scale=0.5, zero=7} parameter(), name=\"x\"\n"
    "  %w1 = i8[2,3,3,1]{scale=1} constant(), "
    "data=x\"000102030405060708090a0b0c0d0e0f1011\"\n"
    "  %a = i8[1,4,4,2]{scale=0.5} conv2d(%x, %w1), padding=[1, 1, 1, 1]\n"
    "  %w2 = i8[2,1,1,1]{scale=1} constant(), data=[1, 2]\n"
    "  %b = i8[1,4,4,2]{scale=0.5} conv2d(%x, %w2)\n";

TEST(ResidualOrderingTest, PutsTheLighterBranchFirst) {
  const std::string add =
      "  %y = i8[1,4,4,2]{scale=0.5} add(%a, %b)\n"
      "  return %y as \"y\"\n";
  const std::string branches = kBranches;
  const size_t heavy = branches.find("  %a ="),
               light = branches.find("  %w2 =");
  const std::string ordered = branches.substr(0, heavy) +
                              branches.substr(light) +
                              branches.substr(heavy, light - heavy) + add;
  EXPECT_EQ(After<ResidualOrdering>(branches + add), Text(ordered));
  EXPECT_UNCHANGED(ResidualOrdering, ordered);
}

TEST(ResidualOrderingTest, LeavesOthersAlone) {
  // One branch reads the other's result.
  EXPECT_UNCHANGED(
      ResidualOrdering,
      std::string(kBranches) +
          "  %w3 = i8[2,1,1,2]{scale=1} constant(), data=[1, 2, 3, 4]\n"
          "  %c = i8[1,4,4,2]{scale=0.5} conv2d(%a, %w3)\n"
          "  %y = i8[1,4,4,2]{scale=0.5} add(%a, %c)\n"
          "  return %y as \"y\", %b as \"b\"\n");
  // No branch is a convolution.
  EXPECT_UNCHANGED(ResidualOrdering,
                   std::string(kX) +
                       "  %t = i8[1,4,4,1]{scale=0.0078125} tanh(%x)\n"
                       "  %y = i8[1,4,4,1]{scale=0.5} add(%x, %t)\n"
                       "  return %y as \"y\"\n");
}

}  // namespace
}  // namespace systole::ir
