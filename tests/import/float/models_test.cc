// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What makes a model a float model, regions, shapes that the caller gives, and
// what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "host/files/read_file.h"
#include "host/import/float/float_operator.h"
#include "tests/import/detections.h"
#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Doubles a value if a number is below 1, otherwise adds 1 to it.
TEST(FloatModels, BranchesAreRegions) {
  const Array x = Random({2, 3}, 1);
  for (const float number : {0.5f, 1.5f}) {
    FloatNet net;
    const auto branch = [&](B code, float operand) {
      const int a = net.Out({2, 3}), b = net.Out({2, 3});
      net.Add(code, {a, net.Const(Array({}, {operand}))}, {b});
      return net.b.Subgraph({a}, {b});
    };
    const int twice = branch(tflite::BuiltinOperator_MUL, 2),
              more = branch(tflite::BuiltinOperator_ADD, 1);
    const int in = net.In(x), limit = net.In(Array({}, {number})),
              below = net.Out({}, kTruth), y = net.Out({2, 3});
    net.Add(tflite::BuiltinOperator_LESS, {limit, net.Const(Array({}, {1}))},
            {below});
    net.Add(tflite::BuiltinOperator_IF, {below, in}, {y},
            tflite::Options_IfOptions,
            tflite::CreateIfOptions(net.b.fbb, twice, more).Union());
    ExpectNear(net.Run({y})[0], Made({2, 3}, [&](const Shape& i) {
                 return number < 1 ? 2 * x.at(i) : x.at(i) + 1;
               }));
  }
}

// Doubles a value seven times.
TEST(FloatModels, LoopsAreRegions) {
  FloatNet net;
  int i = net.Out({}, kInt), x = net.Out({4}), go = net.Out({}, kTruth);
  net.Add(tflite::BuiltinOperator_LESS, {i, net.Const(Array({}, {7}), kInt)},
          {go});
  const int condition = net.b.Subgraph({i, x}, {go});
  i = net.Out({}, kInt);
  x = net.Out({4});
  const int next = net.Out({}, kInt), twice = net.Out({4});
  net.Add(tflite::BuiltinOperator_ADD, {i, net.Const(Array({}, {1}), kInt)},
          {next});
  net.Add(tflite::BuiltinOperator_ADD, {x, x}, {twice});
  const int body = net.b.Subgraph({i, x}, {next, twice});
  const Array start = Random({4}, 1);
  const int count = net.Out({}, kInt), y = net.Out({4});
  net.Add(tflite::BuiltinOperator_WHILE,
          {net.Const(Array({}, {0}), kInt), net.In(start)}, {count, y},
          tflite::Options_WhileOptions,
          tflite::CreateWhileOptions(net.b.fbb, condition, body).Union());
  ExpectNear(net.Run({y})[0],
             Made({4}, [&](const Shape& k) { return 128 * start.at(k); }));
}

std::string Softmax(tflite::TensorType type, const FloatNet::Scale& scale,
                    bool around) {
  FloatNet net;
  const int x = net.Out({1, 4}, around ? kFloat : type, {}),
            q = net.Out({1, 4}, type, scale), y = net.Out({1, 4}, type, scale),
            z = net.Out({1, 4});
  if (around) net.b.Operator(tflite::BuiltinOperator_QUANTIZE, {x}, {q});
  net.b.Operator(tflite::BuiltinOperator_SOFTMAX, {around ? q : x}, {y},
                 tflite::Options_SoftmaxOptions,
                 tflite::CreateSoftmaxOptions(net.b.fbb, 1).Union());
  if (around) net.b.Operator(tflite::BuiltinOperator_DEQUANTIZE, {y}, {z});
  return net.b.Model({x}, {around ? z : y});
}

// Integers between QUANTIZE and DEQUANTIZE are an int8 model.
TEST(FloatModels, AreThoseThatComputeWithFloats) {
  EXPECT_TRUE(IsFloatTflite(Softmax(kFloat, {}, false)));
  EXPECT_FALSE(
      IsFloatTflite(Softmax(tflite::TensorType_INT8, {{0.1f}, {3}}, true)));
  EXPECT_FALSE(IsFloatTflite("TFL3, but no model"));
  EXPECT_FALSE(IsFloatTflite(""));
}

TEST(FloatModels, TakeShapesFromTheCaller) {
  FloatNet net;
  const int x = net.b.OpenTensor({1, 1}, {-1, -1}, kFloat, {}, {}),
            y = net.b.OpenTensor({1, 1}, {-1, -1}, kFloat, {}, {});
  net.b.Operator(tflite::BuiltinOperator_ABS, {x}, {y});
  const std::string bytes = net.b.Model({x}, {y});
  const auto shape = [&](const FloatOptions& options) {
    const auto module = ImportFloatTflite(bytes, "m", options);
    EXPECT_TRUE(module.ok()) << module.status();
    return (*module)->outputs[0].node.type().shape;
  };
  EXPECT_EQ(shape({}), ir::Ints({1, 1}));
  EXPECT_EQ(shape({ir::Precision::kDefault, {{"", {3, 5}}}}), ir::Ints({3, 5}));
  EXPECT_EQ(shape({ir::Precision::kDefault, {{"t0", {2, 7}}}}),
            ir::Ints({2, 7}));
  EXPECT_THAT(
      ImportFloatTflite(bytes, "m", {ir::Precision::kDefault, {{"z", {3}}}})
          .status()
          .message(),
      HasSubstr("m: there is no input 'z'"));
  EXPECT_THAT(
      ImportFloatTflite(bytes, "m", {ir::Precision::kDefault, {{"", {3}}}})
          .status()
          .message(),
      HasSubstr("input 't0' is f32[1,1]: not of the shape [3]"));
}

// All of them at once, custom ones by their name.
TEST(FloatModels, NameEveryOperatorThatIsNotThere) {
  FloatNet net;
  const int x = net.Out({1, 8}), y = net.Out({1, 8}), z = net.Out({1, 8});
  net.b.Operator(tflite::BuiltinOperator_CUSTOM, {x}, {y}, tflite::Options_NONE,
                 0, "MyOp");
  net.b.Operator(tflite::BuiltinOperator_HASHTABLE_LOOKUP, {y}, {z});
  const int w = net.Out({1, 8});
  net.b.Operator(tflite::BuiltinOperator_ABS, {z}, {w});
  const auto module = ImportFloatTflite(net.b.Model({x}, {w}), "net.tflite");
  EXPECT_TRUE(absl::IsUnimplemented(module.status()));
  EXPECT_THAT(
      module.status().message(),
      AllOf(HasSubstr("net.tflite: 2 operators stand in the way: CUSTOM "
                      "'MyOp'"),
            HasSubstr("operator 0 CUSTOM 'MyOp'(f32[1,8]) -> f32[1,8]: "
                      "the operator is not supported\n"),
            HasSubstr("operator 1 HASHTABLE_LOOKUP"), Not(HasSubstr("ABS"))));
}

TEST(FloatModels, SayWhatDoesNotFit) {
  const Array x = Random({1, 4, 4, 3}, 1), w = Random({2, 5, 5, 3}, 2);
  FloatNet conv;
  const auto options =
      tflite::CreateConv2DOptions(conv.b.fbb, tflite::Padding_VALID, 1, 1);
  EXPECT_THAT(conv.Refusal(tflite::BuiltinOperator_CONV_2D,
                           {conv.In(x), conv.Const(w)}, {1, 1, 1, 2},
                           tflite::Options_Conv2DOptions, options.Union()),
              AllOf(HasSubstr("net.tflite: operator 0 CONV_2D"),
                    HasSubstr("smaller than the windows")));
  FloatNet add;
  EXPECT_THAT(
      add.Refusal(tflite::BuiltinOperator_ADD,
                  {add.In(Random({2, 3}, 1)), add.In(Random({4}, 2))}, {2, 3}),
      HasSubstr("f32[2,3] and f32[4] do not go together"));
  FloatNet result;
  EXPECT_THAT(result.Refusal(tflite::BuiltinOperator_ABS,
                             {result.In(Random({2, 3}, 1))}, {3, 2}),
              HasSubstr("the operands make f32[2,3]"));
  FloatNet shape;
  EXPECT_THAT(
      shape.Refusal(
          tflite::BuiltinOperator_RESHAPE,
          {shape.In(Random({2, 3}, 1)), shape.In(Array({1}, {6}), kInt)}, {6}),
      HasSubstr("operand 1 (i32[1]) is not a constant of integers"));
  FloatNet sign;
  EXPECT_THAT(sign.Refusal(tflite::BuiltinOperator_ADD,
                           {sign.In(Random({2}, 1)), sign.In(Random({2}, 2))},
                           {2}, tflite::Options_AddOptions,
                           tflite::CreateAddOptions(sign.b.fbb,
                                                    tflite::Activation_SIGN_BIT)
                               .Union()),
              HasSubstr("fused activation SIGN_BIT"));
  FloatNet branch;
  const int nothing = branch.b.Subgraph({}, {}),
            is = branch.In(Array({}, {1}), kTruth);
  EXPECT_THAT(
      branch.Refusal(
          tflite::BuiltinOperator_IF, {is}, {2}, tflite::Options_IfOptions,
          tflite::CreateIfOptions(branch.b.fbb, nothing, nothing).Union()),
      HasSubstr("a region without results"));
  FloatNet none;
  EXPECT_THAT(none.Refusal(tflite::BuiltinOperator_ABS, {none.Out({2})}, {2}),
              HasSubstr("tensor 0 (f32[2]): is read before it is computed"));
}

// docs/tflite.md has every operator in its section.
TEST(FloatModels, OperatorsAreDocumented) {
  const auto page = ReadFile(SYSTOLE_SOURCE_DIR "/docs/tflite.md");
  ASSERT_TRUE(page.ok()) << page.status();
  const size_t begin = page->find("## Float models"),
               end = page->find("\n## ", begin);
  const std::string section = page->substr(begin, end - begin);
  for (const B code : FloatOperators()) {
    const std::string name = tflite::EnumNameBuiltinOperator(code);
    EXPECT_TRUE(std::regex_search(section, std::regex("\\b" + name + "\\b")))
        << name;
  }
}

// Boxes from floats that the model computes. The file says nothing of the
// shapes of the results.
TEST(FloatModels, DetectBoxes) {
  FloatNet net;
  const int codes = net.In(Array({1, 3, 4}, {0, 0, 0, 0,  //
                                             0, 1, 0, 0,  //
                                             4, 0, 0, 0})),
            scores = net.In(Array({1, 3, 3}, {0, 4, 1,  //
                                              0, 3, 2,  //
                                              0, 1, 2})),
            anchors = net.Const(Array({3, 4}, {0.5f, 0.5f, 0.5f, 0.5f,  //
                                               0.5f, 0.5f, 0.5f, 0.5f,  //
                                               0.5f, 0.5f, 1, 1})),
            twice = net.Out({1, 3, 3});
  net.Add(tflite::BuiltinOperator_ADD, {scores, scores}, {twice});
  const std::vector<int> results = {net.Out({}), net.Out({}), net.Out({}),
                                    net.Out({})};
  const auto options = FlexbufferOf([](flexbuffers::Builder& builder) {
    for (const char* name : {"max_detections", "num_classes"})
      builder.Int(name, 2);
    builder.Int("max_classes_per_detection", 1);
    builder.Float("nms_score_threshold", 0.5f);
    builder.Float("nms_iou_threshold", 0.5f);
    for (const char* name : {"y_scale", "x_scale", "h_scale", "w_scale"})
      builder.Float(name, 10);
  });
  net.AddCustom("TFLite_Detection_PostProcess", {codes, twice, anchors},
                results, options);
  const std::vector<Array> detected = net.Run(results);
  ExpectNear(detected[0], Array({1, 2, 4}, {0.25f, 0.25f, 0.75f, 0.75f,  //
                                            0.4f, 0, 1.4f, 1}));
  ExpectNear(detected[1], Array({1, 2}, {0, 1}));
  ExpectNear(detected[2], Array({1, 2}, {8, 4}));
  ExpectNear(detected[3], Array({1}, {2}));
}

// A subgraph that calls itself has no end.
TEST(FloatModels, RefuseRecursion) {
  FloatNet net;
  const int x = net.Out({2}), y = net.Out({2});
  net.b.Operator(tflite::BuiltinOperator_WHILE, {x}, {y},
                 tflite::Options_WhileOptions,
                 tflite::CreateWhileOptions(net.b.fbb, 1, 1).Union());
  net.b.Subgraph({x}, {y});
  const int a = net.Out({2}), b = net.Out({2});
  net.b.Operator(tflite::BuiltinOperator_WHILE, {a}, {b},
                 tflite::Options_WhileOptions,
                 tflite::CreateWhileOptions(net.b.fbb, 1, 1).Union());
  EXPECT_THAT(ImportFloatTflite(net.b.Model({a}, {b}), "m").status().message(),
              HasSubstr("subgraphs inside each other"));
}

}  // namespace
}  // namespace systole::import
