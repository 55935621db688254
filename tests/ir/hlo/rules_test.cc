// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the verifier says of operations of hlo/, and their text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/hlo/ops.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

std::string Text(const std::string& statements, const std::string& result) {
  return "module @m {\n" + statements + "\n  return %" + result +
         " as \"y\"\n}\n";
}

absl::Status VerifyText(const std::string& statements) {
  const auto module = Parse(Text(statements, "y"));
  if (!module.ok()) return module.status();
  return Verify(**module);
}

constexpr char kParameters[] = R"(
  %s = f32[] parameter(), name="s"
  %i = i32[] parameter(), name="i"
  %k = i1[] parameter(), name="k"
  %v = f32[4] parameter(), name="v"
  %w = f32[5] parameter(), name="w"
  %b = i1[4] parameter(), name="b"
  %n = i32[4] parameter(), name="n"
  %u = u64[2] parameter(), name="u"
  %m = f32[3,4] parameter(), name="m"
  %x = f32[1,5,5,2] parameter(), name="x"
  %f = f32[3,3,2,6] parameter(), name="f"
)";
constexpr char kAdd[] = R"( {
    %p = f32[] parameter()
    %q = f32[] parameter()
    %r = f32[] hlo.add(%p, %q)
    return %r
  })";
constexpr char kConvolution[] =
    "stride=[1, 1], low=[1, 1], high=[1, 1], lhs_dilation=[1, 1], "
    "rhs_dilation=[1, 1], reversal=[0, 0], input_batch=0, input_feature=3, "
    "input_spatial=[1, 2], kernel_input_feature=2, kernel_output_feature=3, "
    "kernel_spatial=[0, 1], output_batch=0, output_feature=3, "
    "output_spatial=[1, 2]";

struct Bad {
  std::string statement;
  const char* error;
};

TEST(HloRulesTest, NamesWhatIsWrong) {
  const std::string add = kAdd, conv = kConvolution;
  const Bad cases[] = {
      {"f32[4] hlo.add(%v, %w)", "f32[4] and f32[5] differ"},
      {"f32[5] hlo.add(%v, %v)", "but the operands make f32[4]"},
      {"(f32[4], f32[4]) hlo.add(%v, %v)", "2 results, but the operation has"},
      {"f32[4] hlo.add(%v)", "1 operands"},
      {"f32[4] hlo.and(%v, %v)", "f32[4] is no type of the operation"},
      {"i1[4] hlo.subtract(%b, %b)", "i1[4] is no type of the operation"},
      {"u64[2] hlo.abs(%u)", "u64[2] is no type"},
      {"i32[4] hlo.tanh(%n)", "i32[4] is no type"},
      {"f32[4] hlo.negate(%v)" + add, "1 regions"},
      {"i1[4] hlo.compare(%v, %v), type=SIGNED", "is not compared as SIGNED"},
      {"i1[4] hlo.compare(%n, %n), type=FLOAT", "is not compared as FLOAT"},
      {"f32[4] hlo.select(%n, %v, %v)", "the condition is i32[4]"},
      {"f32[4] hlo.clamp(%w, %v, %s)", "a limit is f32[5]"},
      {"i32[5] hlo.convert(%v)", "make i32[4]"},
      {"u8[4] hlo.bitcast_convert(%v)", "make u8[4,4]"},
      {"i1[4] hlo.bitcast_convert(%n)", "has no bits of"},
      {"f32[4] hlo.iota(), dimension=1", "dimension 1 of f32[4]"},
      {"f32[4,4] hlo.broadcast_in_dim(%v), dimensions=[2]", "[2] of rank 2"},
      {"f32[3] hlo.broadcast_in_dim(%v), dimensions=[0]", "does not stretch"},
      {"f32[4] hlo.broadcast_in_dim(%v), dimensions=[]", "0 entries of"},
      {"f32[5] hlo.reshape(%v)", "has not as many elements"},
      {"f32[4,3] hlo.transpose(%m), permutation=[1, 1]", "twice 1"},
      {"f32[2] hlo.slice(%v), start=[3], limit=[5], strides=[1]", "from 3 to"},
      {"f32[2] hlo.slice(%v), start=[0], limit=[2], strides=[0]", "steps of 0"},
      {"f32[5] hlo.dynamic_slice(%v, %i), sizes=[5]", "a slice of [5]"},
      {"f32[2] hlo.dynamic_slice(%v, %s), sizes=[2]", "start index 0 is f32"},
      {"f32[2] hlo.dynamic_slice(%v), sizes=[2]", "0 start indices"},
      {"f32[4] hlo.dynamic_update_slice(%v, %w, %i)", "an update of f32[5]"},
      {"f32[9] hlo.concatenate(%v, %n), dimension=0", "does not continue"},
      {"f32[4] hlo.pad(%v, %i), low=[0], high=[0], interior=[0]",
       "the padding is i32[]"},
      {"f32[4] hlo.pad(%v, %s), low=[0], high=[0], interior=[-1]", "0, -1, 0"},
      {"f32[4] hlo.reverse(%v), dimensions=[1]", "[1] of rank 1"},
      {"f32[2] hlo.rng_bit_generator(%u)", "1 results"},
      {"f32[] hlo.dot_general(%v, %w), lhs_contracting=[0], "
       "rhs_contracting=[0]",
       "does not go with"},
      {"i32[] hlo.dot_general(%v, %v), lhs_contracting=[0], "
       "rhs_contracting=[0]",
       "a product of f32[4] is not i32[]"},
      {"f32[4,4] hlo.dot_general(%v, %v), lhs_contracting=[0]", "differ"},
      {"f32[1,5,5,6] hlo.convolution(%x, %f), feature_group_count=2, " + conv,
       "has not the features"},
      {"f32[1,5,5,6] hlo.convolution(%x, %f), batch_group_count=3, " + conv,
       "has not 3 groups"},
      {"f32[1,5,4,6] hlo.convolution(%x, %f), " + conv, "make f32[1,5,5,6]"},
      {"f32[1,5,5,6] hlo.convolution(%x, %f)", "0 entries of the convolution"},
      {"f32[] hlo.reduce(%v, %i), dimensions=[0]" + add,
       "an initial value is i32[]"},
      {"f32[] hlo.reduce(%v, %s), dimensions=[1]" + add, "[1] of rank 1"},
      {"f32[] hlo.reduce(%v, %s), dimensions=[0]", "0 regions"},
      {"f32[] hlo.reduce(%v, %s, %s), dimensions=[0]" + add,
       "region 0 has 2 parameters, not 3"},
      {"f32[2] hlo.reduce_window(%v, %s), window=[0], stride=[1], "
       "base_dilation=[1], window_dilation=[1], low=[0], high=[0]" +
           add,
       "a window of 0"},
      {"f32[4] hlo.sort(%v), dimension=1" + add, "dimension 1 of f32[4]"},
      {"f32[4] hlo.sort(%v), dimension=0" + add, "output 0 of region 0 is f32"},
      {"f32[4] hlo.gather(%v, %n), start_index_map=[0], index_vector_dim=1, "
       "slice_sizes=[1]",
       "0 entries of window dimensions"},
      {"f32[4] hlo.gather(%v, %v), collapsed_slice_dims=[0], "
       "start_index_map=[0], index_vector_dim=1, slice_sizes=[1]",
       "indices are f32[4]"},
      {"f32[4] hlo.gather(%v, %n), collapsed_slice_dims=[0], "
       "start_index_map=[0], index_vector_dim=1, slice_sizes=[2]",
       "slices of [2]"},
      {"f32[4] hlo.scatter(%v, %n, %w), inserted_window_dims=[0], "
       "scatter_dims_to_operand_dims=[0], index_vector_dim=1" +
           add,
       "updates are f32[5]"},
      {"f32[4] hlo.case(%k, %v)" + add, "the branch is chosen by i1[]"},
      {"f32[3,4] hlo.cholesky(%m)", "is not of square matrices"},
      {"f32[4] hlo.custom_call(%v)", "a call without target"},
      {"u8[4]{scale=1} hlo.add(%v, %v)", "has a quantisation"},
      {"f32[4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] hlo.reshape(%v)",
       "rank 17 is more than 16"},
  };
  for (const Bad& bad : cases) {
    const absl::Status status =
        VerifyText(kParameters + std::string("  %y = ") + bad.statement);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << bad.statement;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.error))
        << bad.statement;
    EXPECT_THAT(std::string(status.message()), HasSubstr("node 'y' (hlo."));
  }
}

constexpr char kLoop[] = R"(module @loop {
  %n = i32[] parameter(), name="n"
  %x = bf16[2] constant(), data=[1.5, -2]
  %t = i1[3] constant(), data=[0, 1, 1]
  %big = u64[1] constant(), data=[18446744073709551615]
  %w = (i32[], bf16[2]) hlo.while(%n, %x, %t) {
    %i = i32[] parameter()
    %a = bf16[2] parameter()
    %c = i1[3] parameter()
    %zero = i32[] constant(), data=[0]
    %more = i1[] hlo.compare(%i, %zero), direction=GT
    return %more
  } {
    %i = i32[] parameter()
    %a = bf16[2] parameter()
    %c = i1[3] parameter()
    %one = i32[] constant(), data=[1]
    %less = i32[] hlo.subtract(%i, %one)
    %sum = bf16[2] hlo.add(%a, %a)
    return %less, %sum
  }
  return %w#1 as "x", %w as "n", %big as "big"
}
)";

TEST(HloTextTest, RegionsAndResultsReadBack) {
  const auto module = Parse(kLoop);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Verify(**module), absl::OkStatus());
  EXPECT_EQ(Print(**module), kLoop);
  EXPECT_TRUE(Equal(**module, *(*module)->Clone()));
  EXPECT_EQ((*module)->outputs[0].node.index, 1);
}

TEST(HloTextTest, SaysWhatDoesNotRead) {
  const std::pair<const char*, const char*> edits[] = {
      {"%w#1 as", "%w#2 as"},
      {"direction=GT", "direction=MORE"},
      {"hlo.while", "hlo.loop"},
      {"data=[0, 1, 1]", "data=[0, 1, 2]"},
      {"%sum = bf16[2] hlo.add(%a, %a)", "%sum = bf16[2] hlo.add(%x, %a)"},
  };
  const char* errors[] = {"%w has no result 2", "'MORE' is no value",
                          "no operation 'hlo.loop'", "2 is not a value",
                          "%x is not defined"};
  int i = 0;
  for (const auto& [from, to] : edits) {
    std::string text = kLoop;
    text.replace(text.find(from), std::string(from).size(), to);
    EXPECT_THAT(std::string(Parse(text).status().message()),
                HasSubstr(errors[i++]));
  }
  std::string deep = "module @m {\n";
  for (int k = 0; k < 70; ++k) deep += "%y = f32[] hlo.if() {\n";
  EXPECT_THAT(std::string(Parse(deep).status().message()),
              HasSubstr("nested too deeply"));
}

TEST(HloRulesTest, TypesFollow) {
  const auto module = Parse(kLoop);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto types = InferTypes(*(*module)->Find("w"));
  ASSERT_TRUE(types.ok()) << types.status();
  ASSERT_EQ(types->size(), 2u);
  EXPECT_EQ(TypeText((*types)[1]), "bf16[2]");
}

}  // namespace
}  // namespace systole::ir
