// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the verifier says of modules that text cannot express.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

using testing::HasSubstr;

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

// A part of the host that has nothing to do.
TEST_F(StructureTest, EmptyModule) {
  const Module empty("nothing");
  EXPECT_EQ(Verify(empty), absl::OkStatus());
  const auto parsed = Parse(Print(empty));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(Equal(empty, **parsed));
}

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
