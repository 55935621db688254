// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Graphs: shapes that are computed, initializers, dimensions, functions,
// subgraphs, files of values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "absl/strings/str_split.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/import/onnx/operators.h"
#include "tests/onnx/model.h"

namespace systole::import {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As PyTorch exports x.view(x.size(0), -1, 3).
TEST(OnnxGraphsTest, ShapesThatAreComputedAreKnown) {
  OnnxModel m;
  m.Input("x", {2, 6}).Output("y");
  m.Integers("minus", {-1}).Integers("three", {3});
  m.Constant("zero", {}, {0}, onnx::TensorProto::INT64);
  m.Integers("axes", {0});
  m.Node("Shape", {"x"}, {"s"});
  m.Node("Gather", {"s", "zero"}, {"n"});
  m.Node("Unsqueeze", {"n", "axes"}, {"n1"});
  m.Node("Concat", {"n1", "minus", "three"}, {"shape"}).Set("axis", 0);
  m.Node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(m.OutputShape(), (Shape{2, 2, 3}));
  const auto program = m.Import();
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->module->nodes().size(), 2u);  // x and its reshape
}

// What is made of a node has the name of its first output; so have the layers
// of a profile.
TEST(OnnxGraphsTest, NodesHaveTheNamesOfOutputs) {
  OnnxModel m;
  m.Input("x", {2, 6}).Output("y");
  m.Node("Softmax", {"x"}, {"shares"}).Set("axis", 1);
  m.Node("Relu", {"shares"}, {"y"});
  const auto program = m.Import();
  ASSERT_TRUE(program.ok());
  std::vector<std::string> names;
  for (const auto& node : program->module->nodes())
    if (!node->is_constant()) names.push_back(node->name);
  EXPECT_EQ(names.front(), "x");
  EXPECT_THAT(names, Contains("shares.exponential"));
  EXPECT_THAT(names, Contains("shares"));
  EXPECT_EQ(names.back(), "y");
}

TEST(OnnxGraphsTest, OpenDimensions) {
  OnnxModel m;
  m.Input("x", {1, 1, 4}).Output("y");
  auto* shape = m.proto.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->mutable_dim(1)->set_dim_param("steps");
  shape->mutable_dim(2)->clear_dim_value();
  m.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(m.Error(),
            "open dimensions: give --dim steps=SIZE --dim x[2]=SIZE");
  OnnxOptions options;
  options.dims = {{"steps", 7}, {"x[2]", 5}};
  EXPECT_EQ(m.OutputShape(options), (Shape{1, 7, 5}));
  EXPECT_THAT(m.Import(options)->notes,
              ElementsAre("dimension batch is 1 (--dim batch=SIZE sets it)"));
  options.dims["batch"] = 3;
  EXPECT_EQ(m.OutputShape(options), (Shape{3, 7, 5}));
  EXPECT_TRUE(m.Import(options)->notes.empty());
  options.dims["width"] = 3;
  EXPECT_THAT(m.Error(options), HasSubstr("--dim width: there is no such"));
}

TEST(OnnxGraphsTest, FixedInputsAreConstants) {
  OnnxModel m;
  m.Input("x", {6}).Input("s", {2}, onnx::TensorProto::INT64).Output("y");
  m.Node("Reshape", {"x", "s"}, {"y"});
  EXPECT_EQ(m.Error(), "Reshape 'y': the shape depends on the model's inputs");
  OnnxOptions options;
  options.fixed["s"] = [](const ir::Type& type) {
    return LiteralOf(type.element, {2, 3});
  };
  EXPECT_EQ(m.OutputShape(options), (Shape{2, 3}));
  options.fixed["t"] = options.fixed["s"];
  EXPECT_THAT(m.Error(options), HasSubstr("--fix t: there is no such input"));
}

TEST(OnnxGraphsTest, InitializersGiveInputsTheirValues) {
  OnnxModel m;
  m.Input("x", {2}).Input("w", {2}).Output("y");
  m.Constant("w", {2}, {3, 4});
  m.Node("Mul", {"x", "w"}, {"y"});
  EXPECT_EQ(m.Run({{5, 6}}), (Doubles{15, 24}));
}

TEST(OnnxGraphsTest, RawAndExternalValues) {
  const std::string folder = ::testing::TempDir();
  const float values[] = {0, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(values),
                          sizeof(values));
  OnnxModel m;
  m.Input("x", {2}).Output("y");
  onnx::TensorProto* w = m.proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(2);
  w->set_raw_data(bytes.substr(4));
  m.Node("Mul", {"x", "w"}, {"y"});
  EXPECT_EQ(m.Run({{5, 6}}), (Doubles{15, 24}));

  std::ofstream(folder + "/values.bin", std::ios::binary) << bytes;
  w->clear_raw_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const char* value) {
    auto* entry = w->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", "values.bin");
  add("offset", "4");
  add("length", "8");
  OnnxOptions options;
  EXPECT_THAT(m.Error(options), HasSubstr("the model was read from memory"));
  options.folder = folder;
  EXPECT_EQ(m.Run({{5, 6}}, options), (Doubles{15, 24}));
  w->mutable_external_data(1)->set_value("8");
  EXPECT_THAT(m.Error(options), HasSubstr("8 bytes at 8 of 'values.bin'"));
  w->mutable_external_data(0)->set_value("../values.bin");
  EXPECT_THAT(m.Error(options), HasSubstr("not below the model's folder"));
}

// y = x * slope + x, in a function whose attribute the node gives.
TEST(OnnxGraphsTest, FunctionsAreInlined) {
  OnnxModel m;
  m.proto.add_opset_import()->set_domain("mine");
  m.proto.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto* f = m.proto.add_functions();
  f->set_name("Leak");
  f->set_domain("mine");
  f->add_input("a");
  f->add_output("b");
  f->add_attribute("slope");
  f->add_opset_import()->set_version(21);
  onnx::NodeProto* node = f->add_node();
  node->set_op_type("LeakyRelu");
  node->add_input("a");
  node->add_output("c");
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name("alpha");
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_ref_attr_name("slope");
  node = f->add_node();
  node->set_op_type("Add");
  node->add_input("c");
  node->add_input("a");
  node->add_output("b");
  m.Input("x", {2}).Output("y");
  NodeMaker call = m.Node("Leak", {"x"}, {"y"});
  call.proto().set_domain("mine");
  call.Set("slope", 0.5f);
  EXPECT_EQ(m.Run({{-2, 3}}), (Doubles{-3, 6}));

  node->set_op_type("Leak");  // calls itself
  node->set_domain("mine");
  EXPECT_THAT(m.Error(), HasSubstr("functions that call themselves"));
}

onnx::GraphProto Graph(const std::vector<std::string>& inputs, OnnxModel body,
                       const std::vector<std::string>& outputs) {
  onnx::GraphProto graph = *body.proto.mutable_graph();
  for (const std::string& name : inputs) graph.add_input()->set_name(name);
  for (const std::string& name : outputs) graph.add_output()->set_name(name);
  return graph;
}

TEST(OnnxGraphsTest, IfReadsTheGraphAround) {
  OnnxModel yes, no;
  yes.Node("Add", {"x", "x"}, {"r"});
  no.Node("Neg", {"x"}, {"r"});
  OnnxModel m;
  m.Input("c", {}, onnx::TensorProto::BOOL).Input("x", {2}).Output("y");
  m.Node("If", {"c"}, {"y"})
      .Set("then_branch", Graph({}, yes, {"r"}))
      .Set("else_branch", Graph({}, no, {"r"}));
  EXPECT_EQ(m.Run({{1}, {3, 4}}), (Doubles{6, 8}));
  EXPECT_EQ(m.Run({{0}, {3, 4}}), (Doubles{-3, -4}));
}

// Sums x until it is more than the limit, and collects what it was.
TEST(OnnxGraphsTest, LoopWithAConditionAndLoopThatCollects) {
  OnnxModel body;
  body.Constant("limit", {}, {10});
  body.Node("Add", {"s", "x"}, {"s2"});
  body.Node("Less", {"s2", "limit"}, {"go"});
  OnnxModel m;
  m.Input("x", {}).Constant("zero", {}, {0}).Output("y");
  m.Constant("true", {}, {1}, onnx::TensorProto::BOOL);
  m.Node("Loop", {"", "true", "zero"}, {"y"})
      .Set("body", Graph({"i", "c", "s"}, body, {"go", "s2"}));
  EXPECT_EQ(m.Run({{3}}), (Doubles{12}));

  OnnxModel counted;
  counted.Node("Identity", {"c"}, {"go"});
  counted.Node("Add", {"s", "x"}, {"s2"});
  OnnxModel n;
  n.Input("x", {2}).Constant("zero", {2}, {0, 0}).Output("y").Output("all");
  n.Constant("three", {}, {3}, onnx::TensorProto::INT64);
  n.Node("Loop", {"three", "", "zero"}, {"y", "all"})
      .Set("body", Graph({"i", "c", "s"}, counted, {"go", "s2", "s2"}));
  EXPECT_EQ(n.Run({{1, 2}}), (Doubles{3, 6}));
  EXPECT_EQ(n.Run({{1, 2}}, {}, 1), (Doubles{1, 2, 2, 4, 3, 6}));
}

// The table of docs/onnx.md has the operators that there are.
TEST(OnnxGraphsTest, PageNamesTheOperators) {
  std::ifstream page(SYSTOLE_SOURCE_DIR "/docs/onnx.md");
  std::set<std::string> named, known;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| family |", 0) == 0) inside = true;
    if (line.empty()) inside = false;
    if (!inside || line.rfind("|-", 0) == 0 || line.rfind("| family", 0) == 0)
      continue;
    for (const absl::string_view word :
         absl::StrSplit(line.substr(line.find('|', 1)), absl::ByAnyChar("| "),
                        absl::SkipEmpty()))
      named.insert(std::string(word));
  }
  for (const OnnxOperator* op : AllOnnxOperators()) known.insert(op->name);
  EXPECT_EQ(named, known);
}

// A value that grows: the iterations are known, so they are unrolled.
TEST(OnnxGraphsTest, LoopWhoseValuesChangeTheirShapes) {
  OnnxModel body;
  body.Node("Identity", {"c"}, {"go"});
  body.Node("Concat", {"s", "x"}, {"s2"}).Set("axis", 0);
  OnnxModel m;
  m.Input("x", {1}).Constant("none", {1}, {7}).Output("y");
  m.Constant("two", {}, {2}, onnx::TensorProto::INT64);
  m.Node("Loop", {"two", "", "none"}, {"y"})
      .Set("body", Graph({"i", "c", "s"}, body, {"go", "s2"}));
  EXPECT_EQ(m.Run({{1}}), (Doubles{7, 1, 1}));
}

TEST(OnnxGraphsTest, ScanBackwards) {
  OnnxModel body;
  body.Node("Add", {"s", "v"}, {"s2"});
  OnnxModel m;
  m.Input("x", {3}).Constant("zero", {}, {0}).Output("y").Output("all");
  m.Node("Scan", {"zero", "x"}, {"y", "all"})
      .Set("body", Graph({"s", "v"}, body, {"s2", "s2"}))
      .Set("num_scan_inputs", 1)
      .Set("scan_input_directions", Shape{1});
  EXPECT_EQ(m.Run({{1, 2, 4}}), (Doubles{7}));
  EXPECT_EQ(m.Run({{1, 2, 4}}, {}, 1), (Doubles{4, 6, 7}));
}

}  // namespace
}  // namespace systole::import
