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

namespace systole::ir {
namespace {

using testing::HasSubstr;

// The statements of a module whose input is %x and result %y.
std::string Text(const std::string& statements) {
  return "module @m {\n" + statements + "\n return %y as \"y\"\n}";
}

std::string Input(const std::string& shape) {
  return "%x = i8" + shape + "{scale=0.5, zero=7} parameter()\n";
}

absl::Status VerifyText(const std::string& statements) {
  const auto module = Parse(Text(statements));
  if (!module.ok()) return module.status();
  return Verify(**module);
}

struct Edit {
  const char* from;
  const char* to;
  const char* error;
};

struct Case {
  std::string statements;
  std::vector<Edit> edits;
};

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
  return {
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
         "weights have zero point 3"},
        {"0.15]", "0.17]", "bias scale 0.17 of channel 2 is not the product"},
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
       {{"scale=0.00390625", "scale=0.004", "must have scale 0.00390625"},
        {"zero=-128", "zero=-127", "zero point -128"},
        {"beta=0.5", "beta=0", "beta 0"},
        {"i8[2,9]{scale=0.0", "i8[9,2]{scale=0.0", "the operands make"}}},
      {absl::StrReplaceAll(softmax,
                           {{"softmax(%x), beta=0.5", "logistic(%x)"}}),
       {{"scale=0.5", "scale=8", "not in 2^-27 .. 8"}}},
      {tanh, {{"scale=0.0078125", "scale=0.00390625", "must have scale"}}},
      {hard_swish,
       {{"i8[9]{scale=0.25", "i8[8]{scale=0.25", "[8]"},
        {"scale=0.25", "scale=1e-12", "the scale of the result"}}},
      {Input("[4]") + "%y = i8[4]{scale=0.25} relu(%x), clamp=[0, 127]",
       {{"scale=0.25", "scale=1e-12", "make a factor"}}},
      {"%x = f32[4] parameter()\n%y = i8[4]{scale=0.25} quantize(%x)",
       {{"i8[4]", "i8[2,2]", "the operands make [4]"},
        {"i8[4]{scale=0.25}", "i32[4]{scale=0.25}", "quantised side is i32"}}},
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
  };
}

TEST(VerifierTest, AcceptsLegalAndNamesWhatIsWrong) {
  std::set<Op> seen;
  for (const Case& item : Cases()) {
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
    EXPECT_EQ(seen.count(info.op), 1u) << info.name << " has no case";
  }
}

TEST(VerifierTest, TypesOfAnyNode) {
  const std::pair<const char*, const char*> cases[] = {
      {"i8[4]", "has no quantisation"},
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
      {"i32[0]", "is empty or too large"},
      {"i32[1,1,1,1,1,1,1]", "rank 7 is more than 6"},
      {"i8[2]{axis=0, scale=[1, 2]}", "an input with a scale for each"},
  };
  for (const auto& [type, error] : cases) {
    const absl::Status status =
        VerifyText("%y = " + std::string(type) + " parameter()");
    EXPECT_THAT(std::string(status.message()), HasSubstr(error)) << type;
  }
}

// Structure that text cannot express.
class StructureTest : public testing::Test {
 protected:
  StructureTest() {
    x_ = module_.Add({"x", Op::kParameter, type_, {}, ParameterAttributes{}});
    y_ = module_.Add({"y", Op::kRelu, type_, {x_}, ClampAttributes{}});
    module_.outputs.push_back({"y", y_});
  }
  std::string Error() const { return std::string(Verify(module_).message()); }

  Type type_{ElementType::kInt8, {4}, Quantization{{1.0f}, 0, 0}};
  Module module_{"m"};
  Node* x_;
  Node* y_;
};

TEST_F(StructureTest, Legal) { EXPECT_EQ(Verify(module_), absl::OkStatus()); }

TEST_F(StructureTest, UseBeforeDefinition) {
  Node* z = module_.Add({"z", Op::kRelu, type_, {y_}, ClampAttributes{}});
  module_.outputs[0].node = z;
  y_->operands[0] = z;
  EXPECT_THAT(Error(), HasSubstr("node 'y' (relu): operand 'z' comes later"));
  y_->operands[0] = y_;
  EXPECT_THAT(Error(), HasSubstr("operand 'y' comes later"));
}

TEST_F(StructureTest, NodesOfOtherModules) {
  Node stranger = *x_;
  y_->operands[0] = &stranger;
  EXPECT_THAT(Error(), HasSubstr("an operand is not in the module"));
  y_->operands[0] = nullptr;
  EXPECT_THAT(Error(), HasSubstr("an operand is not in the module"));
  y_->operands[0] = x_;
  module_.outputs[0].node = &stranger;
  EXPECT_THAT(Error(), HasSubstr("output 'y' is not in the module"));
}

TEST_F(StructureTest, NamesAndOutputs) {
  y_->name = "x";
  EXPECT_THAT(Error(), HasSubstr("two nodes 'x'"));
  y_->name = "";
  EXPECT_THAT(Error(), HasSubstr("a node without name"));
  y_->name = "y";
  module_.outputs.push_back({"y", x_});
  EXPECT_THAT(Error(), HasSubstr("two outputs 'y'"));
  module_.outputs.clear();
  EXPECT_THAT(Error(), HasSubstr("no outputs"));
}

TEST_F(StructureTest, InputNames) {
  module_.InsertBefore(
      y_, {"x2", Op::kParameter, type_, {}, ParameterAttributes{}});
  EXPECT_THAT(Error(), HasSubstr("two inputs ''"));
}

TEST_F(StructureTest, DanglingAndMalformed) {
  Node* z = module_.Add({"z", Op::kRelu, type_, {y_}, ClampAttributes{}});
  EXPECT_THAT(Error(), HasSubstr("node 'z' (relu): nothing uses the result"));
  module_.outputs.push_back({"z", z});
  EXPECT_EQ(Error(), "");
  z->attributes = NoAttributes{};
  EXPECT_THAT(Error(), HasSubstr("attributes of another operation"));
  z->attributes = ClampAttributes{};
  z->operands.clear();
  EXPECT_THAT(Error(), HasSubstr("0 operands"));
}

TEST_F(StructureTest, Constants) {
  Node* c = module_.InsertBefore(
      y_, MakeConstant("c", type_, Literal(std::vector<int8_t>(3))));
  y_->op = Op::kAdd;
  y_->operands.push_back(c);
  EXPECT_THAT(Error(), HasSubstr("node 'c' (constant): 3 values of i8"));
  c->attributes =
      ConstantAttributes{std::make_shared<Literal>(std::vector<int32_t>(4))};
  EXPECT_THAT(Error(), HasSubstr("4 values of i32"));
  c->attributes = ConstantAttributes{};
  EXPECT_THAT(Error(), HasSubstr("no values"));
}

}  // namespace
}  // namespace systole::ir
