// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Images with channels second, as PyTorch has them: the same bits with channels
// last, and no transposes between the operations of a network.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/kernels/image_layout.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// The attributes of a convolution of images [N, C, H, W] with weights
// [O, I, 3, 3].
std::string Forward(int stride, int pad) {
  return absl::StrFormat(
      "stride=[%1$d, %1$d], low=[%2$d, %2$d], high=[%2$d, %2$d], "
      "lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 0], "
      "input_batch=0, input_feature=1, input_spatial=[2, 3], "
      "kernel_input_feature=1, kernel_output_feature=0, kernel_spatial=[2, 3], "
      "output_batch=0, output_feature=1, output_spatial=[2, 3], "
      "feature_group_count=1, batch_group_count=1, precision=DEFAULT",
      stride, pad);
}

constexpr char kAdd[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = f32[] hlo.add(%p, %q)\n return %r }";
constexpr char kMaximum[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = f32[] hlo.maximum(%p, %q)\n return %r }";
constexpr char kGreater[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = i1[] hlo.compare(%p, %q), direction=GE\n return %r }";
constexpr char kPool[] =
    "window=[1,1,2,2], stride=[1,1,2,2], base_dilation=[1,1,1,1], "
    "window_dilation=[1,1,1,1], low=[0,0,0,0], high=[0,0,0,0]";

// A block of a residual network, with a pool, a skip by concatenation, a pad, a
// slice, means, and a transpose by the user.
std::string Network() {
  return absl::StrCat(R"(module @m {
  %x = f32[2,3,8,6] parameter(), name="x"
  %v = f32[12,3,3,3] parameter(), name="v"
  %w = f32[12,12,3,3] parameter(), name="w"
  %b = f32[12] parameter(), name="b"
  %zero = f32[] parameter(), name="zero"
  %a = f32[2,12,8,6] hlo.convolution(%x, %v), )",
                      Forward(1, 1), R"(
  %bb = f32[2,12,8,6] hlo.broadcast_in_dim(%b), dimensions=[1]
  %zeros = f32[2,12,8,6] hlo.broadcast_in_dim(%zero), dimensions=[]
  %c = f32[2,12,8,6] hlo.add(%a, %bb)
  %d = f32[2,12,8,6] hlo.maximum(%c, %zeros)
  %e = f32[2,12,8,6] hlo.convolution(%d, %w), )",
                      Forward(1, 1), R"(
  %f = f32[2,12,8,6] hlo.add(%e, %d)
  %p = f32[2,12,4,3] hlo.reduce_window(%f, %zero), )",
                      kPool, kMaximum, R"(
  %g = f32[2,12,4,3] hlo.convolution(%f, %w), )",
                      Forward(2, 1), R"(
  %h = f32[2,24,4,3] hlo.concatenate(%p, %g), dimension=1
  %i = f32[2,24,5,3] hlo.pad(%h, %zero), low=[0,0,1,0], high=[0,0,0,0], interior=[0,0,0,0]
  %j = f32[2,11,5,2] hlo.slice(%i), start=[0,2,0,1], limit=[2,24,5,3], strides=[1,2,1,1]
  %k = f32[2,11] hlo.reduce(%j, %zero), dimensions=[2, 3] )",
                      kAdd, R"(
  %l = f32[11,5] hlo.reduce(%j, %zero), dimensions=[0, 3] )",
                      kAdd, R"(
  %m = f32[2,5,2,11] hlo.transpose(%j), permutation=[0, 2, 3, 1]
  %o = f32[2] hlo.reduce(%j, %zero), dimensions=[1, 2, 3] )",
                      kAdd, R"(
  return %k as "k", %l as "l", %m as "m", %o as "o"
}
)");
}

// The gradients of a strided convolution and of a pool before it.
std::string Gradients() {
  return absl::StrCat(R"(module @m {
  %x = f32[3,5,8,8] parameter(), name="x"
  %y = f32[3,7,4,4] parameter(), name="y"
  %w = f32[7,5,3,3] parameter(), name="w"
  %s = f32[3,5,4,4] parameter(), name="s"
  %zero = f32[] parameter(), name="zero"
  %r = f32[7,5,3,3] hlo.reverse(%w), dimensions=[2, 3]
  %t = f32[3,5,8,8] hlo.convolution(%y, %r), stride=[1, 1], low=[1, 1], high=[2, 2], lhs_dilation=[2, 2], rhs_dilation=[1, 1], reversal=[0, 0], input_batch=0, input_feature=1, input_spatial=[2, 3], kernel_input_feature=0, kernel_output_feature=1, kernel_spatial=[2, 3], output_batch=0, output_feature=1, output_spatial=[2, 3], feature_group_count=1, batch_group_count=1, precision=DEFAULT
  %u = f32[7,5,3,3] hlo.convolution(%x, %y), stride=[1, 1], low=[1, 1], high=[0, 0], lhs_dilation=[1, 1], rhs_dilation=[2, 2], reversal=[0, 0], input_batch=1, input_feature=0, input_spatial=[2, 3], kernel_input_feature=0, kernel_output_feature=1, kernel_spatial=[2, 3], output_batch=1, output_feature=0, output_spatial=[2, 3], feature_group_count=1, batch_group_count=1, precision=HIGHEST
  %q = f32[3,5,8,8] hlo.multiply(%t, %x)
  %z = f32[3,5,8,8] hlo.select_and_scatter(%q, %s, %zero), )",
                      kPool, kGreater, " ", kAdd, R"(
  return %t as "t", %u as "u", %z as "z"
}
)");
}

int Count(const ir::Module& module, ir::Op op) {
  int count = 0;
  for (const auto& node : module.nodes()) count += node->op == op;
  return count;
}

TEST(LayoutsTest, SameBits) {
  for (const char* preset : {"mini", "lite", "v2"}) {
    DeviceCheck check(preset);
    for (int seed = 1; seed <= 3; ++seed) {
      check.Check(Network(), seed);
      check.Check(Gradients(), seed);
    }
  }
}

TEST(LayoutsTest, NoTransposesBetween) {
  auto module = ir::Parse(Network());
  ASSERT_TRUE(module.ok()) << module.status();
  MoveChannelsLast(**module);
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus());
  // The image, the sums over a dimension before the channels, and what is
  // summed over channels first.
  EXPECT_EQ(Count(**module, ir::Op::kHloTranspose), 3) << ir::Print(**module);

  module = ir::Parse(Gradients());
  ASSERT_TRUE(module.ok()) << module.status();
  MoveChannelsLast(**module);
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus());
  EXPECT_EQ(Count(**module, ir::Op::kHloReverse), 0) << ir::Print(**module);
}

// Channels last already, and what is no image, stay as they are.
TEST(LayoutsTest, OthersStay) {
  const std::string text = R"(module @m {
  %x = f32[2,8,6,3] parameter(), name="x"
  %w = f32[3,3,3,4] parameter(), name="w"
  %a = f32[2,8,6,4] hlo.convolution(%x, %w), stride=[1, 1], low=[1, 1], high=[1, 1], lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 0], input_batch=0, input_feature=3, input_spatial=[1, 2], kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0, 1], output_batch=0, output_feature=3, output_spatial=[1, 2], feature_group_count=1, batch_group_count=1, precision=DEFAULT
  %t = f32[2,4,8,6] hlo.transpose(%a), permutation=[0, 3, 1, 2]
  %n = f32[2,4,8,6] hlo.negate(%t)
  return %n as "n"
}
)";
  const auto module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto before = (*module)->Clone();
  MoveChannelsLast(**module);
  EXPECT_TRUE(ir::Equal(**module, *before)) << ir::Print(**module);
}

}  // namespace
}  // namespace systole::lanes
