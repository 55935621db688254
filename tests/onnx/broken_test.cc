// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Broken models: one error each, which names the place and the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/onnx/model.h"

namespace systole::import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

OnnxModel Small() {
  OnnxModel m;
  m.Input("x", {2, 3}).Output("y", OnnxModel::kFloat);
  m.Constant("w", {3, 4}, Sample(12));
  m.Node("MatMul", {"x", "w"}, {"h"});
  m.Node("Relu", {"h"}, {"y"});
  return m;
}

TEST(OnnxBrokenTest, EveryEndOfAFile) {
  const std::string bytes = Small().proto.SerializeAsString();
  ASSERT_TRUE(ImportOnnx(bytes, {}).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto program = ImportOnnx(bytes.substr(0, size), {});
    // What ends between two fields is a message too, of a smaller model.
    if (program.ok()) continue;
    EXPECT_FALSE(program.status().message().empty()) << size;
  }
  for (const char* text : {"", "not a model", "\x08\x07\xff\xff"}) {
    const auto program = ImportOnnx(text, {});
    EXPECT_EQ(program.status().code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(std::string(program.status().message()),
                HasSubstr("not an ONNX model"));
  }
}

TEST(OnnxBrokenTest, Versions) {
  OnnxModel m = Small();
  m.proto.set_ir_version(99);
  EXPECT_EQ(m.Error(), "ONNX of ir version 99; up to 14 is supported");
  m.proto.set_ir_version(8);
  m.proto.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(m.Error(), HasSubstr("opset 6; 7 to 28 are supported"));
  m.proto.mutable_opset_import(0)->set_version(99);
  EXPECT_THAT(m.Error(), HasSubstr("opset 99; 7 to 28 are supported"));
  m.proto.clear_opset_import();
  EXPECT_THAT(m.Error(), HasSubstr("no opset_import"));
}

TEST(OnnxBrokenTest, AllObstaclesAtOnce) {
  OnnxModel m = Small();
  m.Input("d", {2}, onnx::TensorProto::DOUBLE).Output("z").Output("u");
  m.Node("FancyOp", {"x"}, {"f"}).proto().set_name("/a/b");
  m.Node("FancyOp", {"f"}, {"f2"});  // the same reason is said once
  m.Node("Relu", {"d"}, {"z"});
  m.Node("Reshape", {"x", "y"}, {"u"});
  const std::string error = m.Error();
  EXPECT_THAT(error, AllOf(HasSubstr("3 obstacles:"),
                           HasSubstr("FancyOp '/a/b': not "
                                     "supported"),
                           HasSubstr("input 'd': type double"),
                           HasSubstr("Reshape 'u': the shape is f32[2,4]"),
                           Not(HasSubstr("Relu"))));
}

TEST(OnnxBrokenTest, NamesThatNothingMakes) {
  OnnxModel m = Small();
  m.proto.mutable_graph()->mutable_node(0)->set_input(0, "nobody");
  EXPECT_EQ(m.Error(),
            "MatMul 'h': reads 'nobody', which is no input, "
            "initializer or output of a node before it");
  m.proto.mutable_graph()->mutable_node(0)->set_input(0, "y");
  EXPECT_THAT(m.Error(), HasSubstr("in no order, or in a circle"));
  m = Small();
  m.proto.mutable_graph()->mutable_node(1)->set_output(0, "h");
  EXPECT_THAT(m.Error(), HasSubstr("makes 'h', which there is already"));
  m = Small();
  m.proto.mutable_graph()->mutable_output(0)->set_name("nobody");
  EXPECT_THAT(m.Error(), HasSubstr("output 'nobody': reads 'nobody'"));
  m.proto.mutable_graph()->clear_output();
  EXPECT_EQ(m.Error(), "no outputs");
  m = Small();
  m.Input("x", {1});
  EXPECT_EQ(m.Error(), "two inputs 'x'");
}

TEST(OnnxBrokenTest, ShapesAndTypesThatDoNotFit) {
  OnnxModel m = Small();
  m.proto.mutable_graph()->mutable_initializer(0)->set_dims(0, 2);
  EXPECT_THAT(m.Error(),
              HasSubstr("initializer 'w': 12 values for 8 elements"));
  m.proto.mutable_graph()->mutable_initializer(0)->set_dims(1, 6);
  EXPECT_THAT(m.Error(), HasSubstr("MatMul 'h': "));
  m.proto.mutable_graph()->mutable_initializer(0)->set_dims(0,
                                                            int64_t{1} << 40);
  EXPECT_THAT(m.Error(), HasSubstr("up to 2^31 elements"));
  m.proto.mutable_graph()->mutable_initializer(0)->set_dims(0, -3);
  EXPECT_THAT(m.Error(), HasSubstr("a tensor of shape"));

  OnnxModel output = Small();
  output.proto.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(onnx::TensorProto::INT64);
  EXPECT_EQ(output.Error(), "output 'y': is float, but the file says int64");

  OnnxModel huge;
  huge.Input("x", {1 << 20, 1 << 20}).Output("y");
  huge.Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(huge.Error(), HasSubstr("input 'x': a size of 1048576"));

  OnnxModel wide;
  wide.Input("x", {1}).Integers("s", {1e9, 1e9, 1e9}).Output("y");
  wide.Node("Expand", {"x", "s"}, {"y"});
  EXPECT_THAT(wide.Error(), HasSubstr("Expand 'y': "));

  OnnxModel mixed;
  mixed.Input("x", {2}).Input("i", {2}, onnx::TensorProto::INT64).Output("y");
  mixed.Node("Add", {"x", "i"}, {"y"});
  EXPECT_THAT(mixed.Error(), HasSubstr("Add 'y': "));
}

TEST(OnnxBrokenTest, NodesThatAreWrong) {
  const auto error = [](auto change) {
    OnnxModel m;
    m.Input("x", {1, 2, 8, 8}).Output("y");
    m.Constant("w", {4, 2, 3, 3}, Sample(72));
    NodeMaker node = m.Node("Conv", {"x", "w"}, {"y"});
    change(node);
    return m.Error();
  };
  EXPECT_EQ(error([](NodeMaker&) {}), "");
  EXPECT_THAT(error([](NodeMaker& n) {
                n.Set("strides", Shape{0, 1});
              }),
              HasSubstr("Conv 'y': a window of [3,3], strides [0,1]"));
  EXPECT_THAT(error([](NodeMaker& n) { n.Set("strides", 2); }),
              HasSubstr("attribute 'strides' is not a list of whole numbers"));
  EXPECT_THAT(error([](NodeMaker& n) { n.Set("group", 3); }),
              HasSubstr("in 3 groups"));
  EXPECT_THAT(error([](NodeMaker& n) {
                n.Set("dilations", Shape{9, 9});
              }),
              HasSubstr("is larger than [8,8]"));
  EXPECT_THAT(error([](NodeMaker& n) { n.Set("shininess", 1); }),
              HasSubstr("attribute 'shininess' is not known"));
  EXPECT_THAT(error([](NodeMaker& n) { n.proto().add_input("x"); }),
              HasSubstr("Conv 'y': a bias of"));
  EXPECT_THAT(error([](NodeMaker& n) { n.proto().clear_input(); }),
              HasSubstr("0 inputs: 2 to 3 are allowed"));
  EXPECT_THAT(error([](NodeMaker& n) { n.proto().set_input(0, ""); }),
              HasSubstr("input 0 is left out"));
}

}  // namespace
}  // namespace systole::import
