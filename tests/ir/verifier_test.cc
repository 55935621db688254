// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Legal modules of every operation, and what the verifier says when one thing
// about them is wrong.
#include "host/ir/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "tests/ir/verifier_cases.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

// The statements of a module whose input is %x and result %y.
std::string Text(const std::string& statements) {
  return "module @m {\n" + statements + "\n return %y as \"y\"\n}";
}

absl::Status VerifyText(const std::string& statements) {
  const auto module = Parse(Text(statements));
  if (!module.ok()) return module.status();
  return Verify(**module);
}

std::string Function(const std::string& op) {
  return Input("[9]") + "%y = i8[9]{scale=0.25} " + op + "(%x)";
}

std::vector<Case> Cases() {
  // Weights are constants in what follows; one value stands for many.
  const auto constant = [](const std::string& name, const std::string& type,
                           int bytes) {
    return "%" + name + " = " + type + " constant(), data=x\"" +
           std::string(2 * bytes, '1') + "\"\n";
  };
  const std::string conv =
      Input("[1,6,6,2]") +
      constant("w", "i8[3,3,3,2]{axis=0, scale=[0.1, 0.2, 0.3]}", 54) +
      constant("b", "i32[3]{axis=0, scale=[0.05, 0.1, 0.15]}", 12) +
      "%y = i8[1,3,3,3]{scale=0.4} conv2d(%x, %w, %b), stride=[2, 2], "
      "padding=[0, 0, 1, 1]";
  const std::string depthwise =
      Input("[1,6,6,2]") + constant("w", "i8[1,3,3,4]{scale=0.1}", 36) +
      "%y = i8[1,4,4,4]{scale=0.4} depthwise_conv2d(%x, %w)";
  const std::string dense =
      Input("[2,3,4]") + constant("w", "i8[5,12]{scale=0.1}", 60) +
      constant("b", "i32[5]{scale=0.05}", 20) +
      "%y = i8[2,5]{scale=0.4} fully_connected(%x, %w, %b)";
  const std::string add = Input("[2,1,4]") +
                          constant("c", "i8[3,4]{scale=0.1}", 12) +
                          "%y = i8[2,3,4]{scale=0.4} add(%x, %c)";
  const std::string pool =
      Input("[1,6,6,2]") +
      "%y = i8[1,3,3,2]{scale=0.5, zero=7} average_pool(%x), kernel=[2, 2], "
      "stride=[2, 2]";
  const std::string mean =
      Input("[1,6,6,2]") + "%y = i8[1,2]{scale=0.1} mean(%x), axes=[1, 2]";
  const std::string softmax =
      Input("[2,9]") +
      "%y = i8[2,9]{scale=0.00390625, zero=-128} softmax(%x), beta=0.5";
  const std::string tanh =
      Input("[9]") + "%y = i8[9]{scale=0.0078125} tanh(%x)";
  const std::string hard_swish =
      Input("[9]") + "%y = i8[9]{scale=0.25} hard_swish(%x)";
  const std::string pad =
      Input("[2,3]") +
      "%y = i8[4,3]{scale=0.5, zero=7} pad(%x), low=[1, 0], high=[1, 0], "
      "value=7";
  const std::string concatenate =
      Input("[2,3]") +
      "%y = i8[2,6]{scale=0.5, zero=7} concatenate(%x, %x), axis=1";
  const std::string transpose =
      Input("[2,3]") +
      "%y = i8[3,2]{scale=0.5, zero=7} transpose(%x), permutation=[1, 0]";
  const std::string slice =
      Input("[9,4]") +
      "%y = i8[4,2]{scale=0.5, zero=7} strided_slice(%x), begin=[8, 1], "
      "stride=[-2, 2]";
  const std::string resize =
      Input("[1,3,3,2]") +
      "%y = i8[1,5,7,2]{scale=0.5, zero=7} resize_bilinear(%x), "
      "align_corners=true";
  const std::string maximum = Input("[3]") +
                              constant("c", "i8[3]{scale=0.5, zero=7}", 3) +
                              "%y = i8[3]{scale=0.5, zero=7} maximum(%x, %c)";
  const std::string less =
      Input("[2,3]") + "%y = i8[2,3]{scale=1} less(%x, %x)";
  const std::string reduce_max =
      Input("[2,3]") + "%y = i8[3]{scale=0.5, zero=7} reduce_max(%x), axes=[0]";
  const std::string arg_max =
      Input("[2,3]") + "%y = i32[2] arg_max(%x), axis=1";
  const std::string gather =
      Input("[2,3]") + constant("i", "i32[2]", 8) +
      "%y = i8[2,2]{scale=0.5, zero=7} gather(%x, %i), axis=1";
  const std::string sums = Input("[2,3]") +
                           constant("w", "i8[4,3]{scale=1}", 12) +
                           "%y = i8[2,16]{scale=1} dense_sums(%x, %w)";
  const std::string bitcast = Input("[2,8]") + "%y = i32[2,2] bitcast(%x)";
  const std::string lstm = constant("s", "i32[1,8]", 32) +
                           constant("c", "i16[1,2]{scale=0.00048828125}", 4);
  const std::string cell = lstm +
                           "%y = i16[1,2]{scale=0.00048828125} "
                           "lstm_cell(%s, %s, %c), clip=99";
  const std::string hidden =
      lstm +
      "%y = i8[1,2]{scale=0.5} lstm_output(%s, %s, %c), hidden_scale=0.25";
  const std::string reals =
      "%a = f32[2,3] parameter(), name=\"a\" "
      "%b = f32[3] parameter(), name=\"b\" "
      "%y = f32[2,3] div(%a, %b)";
  const std::string volume =
      "%x = f32[1,4,5,6,2] parameter(), name=\"x\" "
      "%w = f32[1,2,3,2,4] parameter(), name=\"w\" "
      "%y = f32[1,4,4,4,4] conv3d(%x, %w)";
  return {
      {sums,
       {{"i8[4,3]", "i8[3,4]", "not rows of 4"},
        {"i8[2,16]", "i8[2,4]", "i8[2,4]"},
        {"{scale=1} con", "{scale=1, zero=1} con", "zero point 0"}}},
      {bitcast,
       {{"i32[2,2]", "i32[2,3]", "are not the bytes of i32[2,3]"},
        {"i32[2,2]", "i16[2,4]", "not i8 to plain i32"}}},
      {cell,
       {{"clip=99", "clip=32768", "clip 32768"},
        {"clip=99", "input_factors=[1, 1]", "2 factors of three"},
        {"clip=99", "recurrent_factors=[1, nan, 1]", "nan"},
        {"i16[1,2]{scale=0.00048828125} lstm", "i16[1,2]{scale=1} lstm",
         "the cell i16"},
        {"0.00048828125", "0.0005", "not 2^-15 .. 2^-9"}}},
      {hidden,
       {{"hidden_scale=0.25", "hidden_scale=0", "hidden scale 0"},
        {"hidden_scale=0.25", "hidden_zero=128", "hidden zero point 128"},
        {"i8[1,2]", "i8[1,3]", "i8[1,3]"}}},
      {reals,
       {{"f32[3] par", "i32[3] par", "i32[3] is not f32"},
        {"f32[3] par", "f32[4] par", "[2,3]"}}},
      {volume,
       {{"f32[1,4,4,4,4]", "f32[1,4,4,5,4]", "[1,4,4,4,4]"},
        {"f32[1,2,3,2,4]", "f32[1,2,3,3,4]", "weights 3"},
        {"conv3d(%x, %w)", "conv3d(%x, %w), stride=[1, 1]", "three axes"},
        {"f32[1,2,3,2,4]", "f32[9,2,3,2,4]", "larger than"}}},
      {conv,
       {{"i8[1,3,3,3]", "i8[1,3,4,3]", "the operands make [1,3,3,3]"},
        {"i8[1,3,3,3]", "i32[1,3,3,3]", "result is i32"},
        {"stride=[2, 2]", "stride=[2, 0]", "stride [2,0] is not a pair"},
        {"stride=[2, 2]", "stride=[2]", "stride [2] is not a pair"},
        {"padding=[0, 0, 1, 1]", "padding=[0, 0, 1]", "padding [0,0,1]"},
        {"padding=[0, 0, 1, 1]", "padding=[0, 0, -1, 1]", "padding"},
        {"stride=[2, 2]", "stride=[2, 2], dilation=[9, 9]", "is larger than"},
        {"stride=[2, 2]", "stride=[2, 2], clamp=[5, 4]", "clamp [5,4]"},
        {"stride=[2, 2]", "stride=[2, 2], clamp=[-129, 4]", "clamp [-129,4]"},
        {"{axis=0, scale=[0.1, 0.2, 0.3]}", "{axis=2, scale=[0.1, 0.2, 0.3]}",
         "along axis 2, not 0"},
        {"{axis=0, scale=[0.1, 0.2, 0.3]}", "{scale=0.1, zero=3}",
         "weights of int8 have zero point 3"},
        {"i32[3]{axis=0, scale=[0.05, 0.1, 0.15]} constant(), "
         "data=x\"111111111111111111111111\"",
         "i32[2]{scale=0.05} constant(), data=[1, 2]", "not i32[3]"},
        {"{scale=0.4}", "{scale=1e-30}", "make a factor of"},
        {"%x, %w, %b", "%x", "1 operands"},
        {"[1,6,6,2]", "[1,6,6,3]", "input has 3 channels, weights 2"},
        {"[1,6,6,2]", "[6,6,2]", "not of rank 4"}}},
      {depthwise,
       {{"[1,6,6,2]", "[1,6,6,3]", "multiple of the input's 3 channels"},
        {"[1,4,4,4]", "[1,4,4,2]", "the operands make [1,4,4,4]"},
        {"(%x, %w)", "(%x, %w), zero_point_folded=true", "no bias"}}},
      {dense,
       {{"[2,3,4]", "[2,3,5]", "is not rows of 12"},
        {"i8[2,5]", "i8[3,5]", "is not 2 rows of 5"},
        {"i8[5,12]", "i8[5,3,4]", "not of rank 2"}}},
      {add,
       {{"[2,1,4]", "[2,2,4]", "do not fit each other"},
        {"i8[2,3,4]", "i8[2,3,1]", "the operands make [2,3,4]"},
        {"{scale=0.4}", "{scale=1e-9}", "are 2^19 times"}}},
      {absl::StrReplaceAll(add, {{"add(", "sub("}}), {}},
      {absl::StrReplaceAll(add, {{"add(", "mul("}}),
       {{"{scale=0.4}", "{scale=1e-20}", "make a factor of"}}},
      {pool,
       {{"{scale=0.5, zero=7} average", "{scale=0.5, zero=8} average",
         "differ in scale or zero point"},
        {"kernel=[2, 2]", "kernel=[2, 2], padding=[0, 0, 2, 0]",
         "the operands make [1,4,3,2]"},
        {"kernel=[2, 2], stride=[2, 2]",
         "kernel=[2, 2], stride=[4, 4], padding=[2, 2, 2, 2]",
         "is not below the kernel"}}},
      {absl::StrReplaceAll(pool, {{"average_pool", "max_pool"}}), {}},
      {mean,
       {{"axes=[1, 2]", "axes=[2, 1]", "axes [2,1]"},
        {"axes=[1, 2]", "axes=[1, 4]", "axes [1,4]"},
        {"i8[1,2]", "i8[1,1,2]", "the operands make [1,1,1,2]"}}},
      {softmax,
       {{"scale=0.00390625", "scale=0.004", "must have scale 1/256"},
        {"zero=-128", "zero=-127", "zero point -128"},
        {"beta=0.5", "beta=0", "beta 0"},
        {"i8[2,9]{scale=0.0", "i8[9,2]{scale=0.0", "the operands make"}}},
      {absl::StrReplaceAll(softmax,
                           {{"softmax(%x), beta=0.5", "logistic(%x)"}}),
       {{"scale=0.00390625", "scale=0.004", "must have scale 1/256"}}},
      {tanh, {{"i8[9]{scale=0.00", "i8[8]{scale=0.00", "[8]"}}},
      {hard_swish,
       {{"i8[9]{scale=0.25", "i8[8]{scale=0.25", "[8]"},
        {"scale=0.25", "scale=1e-12", "the scale of the result"}}},
      {Input("[4]") + "%y = i8[4]{scale=0.25} relu(%x), clamp=[0, 127]",
       {{"scale=0.25", "scale=1e-12", "make a factor"}}},
      {"%x = f32[4] parameter()\n%y = i8[4]{scale=0.25} quantize(%x)",
       {{"i8[4]", "i8[2,2]", "the operands make [4]"},
        {"i8[4]{scale=0.25}", "i32[4]", "quantised side is i32"}}},
      {Input("[4]") + "%y = f32[4] dequantize(%x)",
       {{"f32[4]", "i32[4]", "not f32"}}},
      {Input("[4,6]") + "%y = i8[24]{scale=0.5, zero=7} reshape(%x)",
       {{"i8[24]", "i8[23]", "differ in size"},
        {"i8[24]{scale=0.5", "i8[24]{scale=0.6", "differ in scale"}}},
      {pad,
       {{"value=7", "value=128", "value 128 is not one of"},
        {"low=[1, 0]", "low=[1]", "are not for"},
        {"low=[1, 0]", "low=[-1, 0]", "padding below 0"},
        {"i8[4,3]", "i8[5,3]", "the operands make [4,3]"}}},
      {concatenate,
       {{"axis=1", "axis=2", "axis 2 of [2,3]"},
        {"i8[2,6]", "i8[4,3]", "the operands make [2,6]"}}},
      {transpose,
       {{"[1, 0]", "[1, 1]", "permutation [1,1]"},
        {"[1, 0]", "[1]", "the operands make [3]"}}},
      {slice,
       {{"begin=[8, 1]", "begin=[9, 1]", "dimension 0 begins at 9"},
        {"begin=[8, 1]", "begin=[5, 1]", "dimension 0 ends at -1"},
        {"stride=[-2, 2]", "stride=[-2, 0]", "stride 0"},
        {"begin=[8, 1]", "begin=[-9223372036854775808, 1]", "begins at"},
        {"stride=[-2, 2]", "stride=[-9223372036854775808, 2]", "stride"}}},
      {resize,
       {{"align_corners=true", "align_corners=true, half_pixel_centers=true",
         "half pixels"},
        {"[1,5,7,2]", "[1,5,7,3]", "changes more than height and width"}}},
      {absl::StrReplaceAll(resize, {{"bilinear", "nearest"}}), {}},
      {maximum,
       {{"%y = i8[3]{scale=0.5", "%y = i8[3]{scale=0.6", "differ in scale"},
        {"%y = i8[3]", "%y = i8[2]", "the operands make [3]"}}},
      {absl::StrReplaceAll(maximum, {{"maximum", "minimum"}}), {}},
      {Input("[2,3]") + "%y = i8[2,3]{scale=0.4} squared_difference(%x, %x)",
       {{"{scale=0.4}", "{scale=1e-6}", "is 2^12 times"},
        {"i8[2,3]{scale=0.4}", "i8[3]{scale=0.4}", "the operands make [2,3]"}}},
      {Input("[2,3]") + constant("s", "i8[3]{scale=0.1}", 3) +
           "%y = i8[2,3]{scale=0.4} prelu(%x, %s)",
       {{"{scale=0.4}", "{scale=1e-12}", "make a factor of"}}},
      {less,
       {{"scale=1}", "scale=0.5}", "not of truth values"},
        {"scale=0.5", "scale=1.5", "is above 1"}}},
      {absl::StrReplaceAll(less, {{"less", "less_equal"}}), {}},
      {absl::StrReplaceAll(less, {{"less", "equal"}}), {}},
      {absl::StrReplaceAll(less, {{"less", "not_equal"}}), {}},
      {Input("[2,3]") + "%c = i8[2,3]{scale=1} less(%x, %x)\n" +
           "%y = i8[2,3]{scale=0.5, zero=7} select(%c, %x, %x)",
       {{"select(%c,", "select(%x,", "not of truth values"},
        {"{scale=0.5, zero=7} select", "{scale=0.5, zero=6} select",
         "differ in scale"}}},
      {Input("[2,3]") + "%y = i8[2]{scale=0.5} sum(%x), axes=[1]",
       {{"axes=[1]", "axes=[2]", "axes [2]"}}},
      {"%x = i32[2,3] parameter()\n%y = i32[3] reduce_prod(%x), axes=[0]",
       {{"i32[3]", "i32[2]", "the operands make [1,3]"},
        {"%x = i32[2,3]", "%x = i8[2,3]{scale=1}", "not plain i32"}}},
      {reduce_max,
       {{"{scale=0.5, zero=7} reduce", "{scale=0.4} reduce",
         "differ in scale"}}},
      {absl::StrReplaceAll(reduce_max, {{"_max", "_min"}}), {}},
      {arg_max,
       {{"i32[2]", "i32[3]", "the operands make [2]"},
        {"axis=1", "axis=2", "axis 2 of"},
        {"i32[2]", "i8[2]{scale=1}", "not plain i32"}}},
      {absl::StrReplaceAll(arg_max, {{"_max", "_min"}}), {}},
      {Input("[2,3,4]") + constant("w", "i8[4,5]{scale=0.1}", 20) +
           "%y = i8[2,3,5]{scale=0.4} batch_matmul(%x, %w)",
       {{"batch_matmul(%x, %w)", "batch_matmul(%x, %w), transpose_right=true",
         "do not fit each other"},
        {"i8[2,3,5]", "i8[3,5]", "the operands make [2,3,5]"},
        {"[2,3,4]{", "[4]{", "are not matrices"}}},
      {Input("[2,9]") + "%y = i8[2,9]{scale=0.0625, zero=127} log_softmax(%x)",
       {{"zero=127", "zero=126", "zero point 127"}}},
      {Input("[2,9]") + "%y = i8[2,9]{scale=0.0078125} l2_normalize(%x)",
       {{"0.0078125", "0.0625", "must have scale"}}},
      {Function("abs"), {{"{scale=0.25}", "{scale=1e-12}", "too many of"}}},
      {"%x = f32[4] parameter()\n%y = f32[4] neg(%x)",
       {{"%y = f32[4]", "%y = f32[3]", "the operands make [4]"},
        {"%x = f32[4]", "%x = i32[4]", "are of two kinds"}}},
      {absl::StrReplaceAll(Function("exp"), {{"0.5,", "0.1,"}}),
       {{"scale=0.1", "scale=5", "is too many steps"}}},
      {Function("log"), {}},
      {Function("sqrt"), {}},
      {Function("rsqrt"), {{"{scale=0.25}", "{scale=1e9}", "2^-11 .. 2^29"}}},
      {Function("elu"), {}},
      {Function("gelu"), {{"i8[9]{scale=0.25}", "i8[8]{scale=0.25}", "[8]"}}},
      {absl::StrReplaceAll(Function("leaky_relu"),
                           {{"(%x)", "(%x), slope=0.1"}}),
       {{"slope=0.1", "slope=-1", "slope -1"},
        {"slope=0.1", "slope=nan", "slope nan"}}},
      {gather,
       {{"axis=1", "axis=2", "axis 2 of"},
        {"{scale=0.5, zero=7} gather", "{scale=0.4} gather", "differ in scale"},
        {"i32[2] con", "i32[2]{scale=1} con", "not plain i32"}}},
  };
}

TEST(VerifierTest, AcceptsLegalAndNamesWhatIsWrong) {
  std::set<Op> seen;
  std::vector<Case> cases = Cases();
  for (Case& item : MoreCases()) cases.push_back(std::move(item));
  for (const Case& item : cases) {
    const auto module = Parse(Text(item.statements));
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << item.statements;
    EXPECT_EQ(Verify(**module), absl::OkStatus()) << item.statements;
    const Node& y = *(*module)->outputs[0].node;
    for (const auto& node : (*module)->nodes()) seen.insert(node->op);
    for (const Edit& edit : item.edits) {
      const std::string text =
          absl::StrReplaceAll(item.statements, {{edit.from, edit.to}});
      ASSERT_NE(text, item.statements) << edit.from;
      const absl::Status status = VerifyText(text);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
      EXPECT_THAT(std::string(status.message()), HasSubstr(edit.error));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(std::string("node 'y' (") + OpName(y.op)))
          << text;
    }
  }
  for (const OpInfo& info : AllOps()) {
    if (SetOf(info.op) >= OpSet::kHlo) continue;  // theirs
    EXPECT_EQ(seen.count(info.op), 1u) << info.name << " has no case";
  }
}

TEST(VerifierTest, TypesOfAnyNode) {
  const std::pair<const char*, const char*> cases[] = {
      {"i8[4]{scale=0}", "scale 0 is not finite and positive"},
      {"i8[4]{scale=-1}", "scale -1 is not"},
      {"i8[4]{scale=nan}", "scale nan is not"},
      {"i8[4]{scale=inf}", "scale inf is not"},
      {"i8[4]{scale=1, zero=128}", "zero point 128"},
      {"i8[4]{scale=1, zero=-129}", "zero point -129"},
      {"i8[2]{axis=0, scale=[1, 2], zero=1}", "zero point 1"},
      {"i8[2]{axis=1, scale=[1, 2]}", "2 scales for axis 1"},
      {"i8[3]{axis=0, scale=[1, 2]}", "2 scales for axis 0"},
      {"i8[3]{axis=-1, scale=[1, 2]}", "2 scales for axis -1"},
      {"i8[2]{axis=0, scale=[]}", "without scale"},
      {"i32[2]{scale=1, zero=1}", "zero point 1"},
      {"f32[2]{scale=1}", "has a quantisation"},
      {"i8[2]{axis=0, scale=[1, 2]}", "an input with a scale for each"},
  };
  for (const auto& [type, error] : cases) {
    const absl::Status status =
        VerifyText("%y = " + std::string(type) + " parameter()");
    EXPECT_THAT(std::string(status.message()), HasSubstr(error)) << type;
  }
}

TEST(VerifierTest, TypesOfQuantisedOperations) {
  const std::pair<const char*, const char*> cases[] = {
      {"i8[4]", "has no quantisation"},
      {"i32[0]", "is empty or too large"},
      {"i64[2]", "is no type of quantised models"},
      {"i32[1,1,1,1,1,1,1]", "rank 7 is more than 6"},
  };
  for (const auto& [type, error] : cases) {
    const std::string text(type);
    const absl::Status status = VerifyText(
        "%x = " + text + " parameter()\n%y = " + text + " reshape(%x)");
    EXPECT_THAT(std::string(status.message()), HasSubstr(error)) << type;
  }
}

}  // namespace
}  // namespace systole::ir
