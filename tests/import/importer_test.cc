// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the importer makes of small models, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "host/import/tflite_importer.h"
#include "host/ir/text.h"
#include "tests/import/model_builder.h"

namespace systole::import {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using tflite::TensorType_FLOAT32;
using tflite::TensorType_INT32;
using tflite::TensorType_INT8;

std::string Error(const std::string& bytes) {
  const auto module = ImportTflite(bytes, "m");
  return module.ok() ? "" : module.status().ToString();
}

// A model of one RELU whose parts a test changes.
struct Relu {
  std::vector<int32_t> shape = {1, 4};
  tflite::TensorType type = TensorType_INT8;
  std::vector<float> scales = {0.5f};
  std::vector<int64_t> zero_points = {3};
  uint32_t buffer = 0;
  bool variable = false;
  std::vector<int32_t> inputs = {0}, outputs = {1};
  std::vector<int32_t> graph_inputs = {0}, graph_outputs = {1};
  int repeat = 1;
  int subgraphs = 1;
  uint32_t version = 3;

  std::string Bytes() const {
    ModelBuilder b;
    b.subgraphs = subgraphs;
    b.version = version;
    b.Tensor(shape, type, scales, zero_points, buffer, 0, variable);
    b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3});
    for (int i = 0; i < repeat; ++i) {
      b.Operator(tflite::BuiltinOperator_RELU, inputs, outputs);
    }
    return b.Model(graph_inputs, graph_outputs);
  }
};

TEST(ImporterTest, ReadsASmallModel) {
  const auto module = ImportTflite(Relu().Bytes(), "relu");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Print(**module),
            "module @relu {\n"
            "  %t0 = i8[1,4]{scale=0.5, zero=3} parameter(), name=\"t0\"\n"
            "  %t1 = i8[1,4]{scale=0.5, zero=3} relu(%t0), clamp=[3, 127]\n"
            "  return %t1 as \"t1\"\n"
            "}\n");
}

TEST(ImporterTest, RefusesWhatIsNoModel) {
  const std::string bytes = Relu().Bytes();
  EXPECT_THAT(Error(""), HasSubstr("DATA_LOSS: m: not a TensorFlow Lite"));
  EXPECT_THAT(Error("TFL3"), HasSubstr("DATA_LOSS"));
  EXPECT_THAT(Error(bytes.substr(0, bytes.size() - 8)), HasSubstr("DATA_LOSS"));
  std::string other = bytes;
  other[7] = '4';  // the file identifier
  EXPECT_THAT(Error(other), HasSubstr("DATA_LOSS"));
  Relu old;
  old.version = 2;
  EXPECT_THAT(Error(old.Bytes()), HasSubstr("schema version 2"));
  EXPECT_EQ(ReadTflite("/no/such/file.tflite").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ImporterTest, RefusesOneOperatorByNameIndexAndShapes) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3});
  const int y = b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3});
  const int i = b.Integers({1, 2, 3});
  const int z = b.Tensor({3, 4}, tflite::TensorType_UINT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_RELU, {x}, {y});
  b.Operator(tflite::BuiltinOperator_WHERE, {y, i}, {z});
  EXPECT_EQ(Error(b.Model({x}, {z})),
            "UNIMPLEMENTED: m: operator 1 WHERE(i8[1,4], i32[3]) -> "
            "UINT8[3,4]: the operator is not supported");
}

TEST(ImporterTest, NamesAllOperatorsThatStandInTheWay) {
  ModelBuilder b;
  std::vector<int> t;
  for (int i = 0; i < 5; ++i) {
    t.push_back(b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3}));
  }
  b.Operator(tflite::BuiltinOperator_UNIQUE, {t[0]}, {t[1]});
  b.Operator(tflite::BuiltinOperator_RELU, {t[1]}, {t[2]});
  b.Operator(tflite::BuiltinOperator_WHERE, {t[2]}, {t[3]});
  b.Operator(tflite::BuiltinOperator_RELU, {t[3]}, {t[4]});
  EXPECT_EQ(Error(b.Model({t[0]}, {t[4]})),
            "UNIMPLEMENTED: m: 2 operators stand in the way: UNIQUE, WHERE: "
            "the operator is not supported\n"
            "  operator 0 UNIQUE(i8[1,4]) -> i8[1,4]: the operator is not "
            "supported\n"
            "  operator 2 WHERE(i8[1,4]) -> i8[1,4]: the operator is not "
            "supported");
}

// What a Flatten of a model with a free batch becomes: the batch from the
// input's shape, packed with the rest.
TEST(ImporterTest, ArithmeticOnShapesIsDoneAtOnce) {
  ModelBuilder b;
  const int x = b.Tensor({1, 2, 3}, TensorType_INT8, {0.5f}, {3});
  const int shape = b.Tensor({3}, TensorType_INT32, {}, {});
  const int batch = b.Tensor({1}, TensorType_INT32, {}, {});
  const int scalar = b.Tensor({}, TensorType_INT32, {}, {});
  const std::vector<uint8_t> six = {6, 0, 0, 0};
  const int rest = b.Tensor({}, TensorType_INT32, {}, {}, b.Buffer(six));
  const int packed = b.Tensor({2}, TensorType_INT32, {}, {});
  const int y = b.Tensor({1, 6}, TensorType_INT8, {0.5f}, {3});
  const int begin = b.Integers({0}), end = b.Integers({1}),
            stride = b.Integers({1});
  b.Operator(tflite::BuiltinOperator_SHAPE, {x}, {shape});
  b.Operator(tflite::BuiltinOperator_STRIDED_SLICE, {shape, begin, end, stride},
             {batch}, tflite::Options_StridedSliceOptions,
             tflite::CreateStridedSliceOptions(b.fbb, 0, 0, 0, 0, 0).Union());
  b.Operator(tflite::BuiltinOperator_SQUEEZE, {batch}, {scalar});
  b.Operator(tflite::BuiltinOperator_PACK, {scalar, rest}, {packed},
             tflite::Options_PackOptions,
             tflite::CreatePackOptions(b.fbb, 2, 0).Union());
  b.Operator(tflite::BuiltinOperator_RESHAPE, {x, packed}, {y});
  const auto module = ImportTflite(b.Model({x}, {y, packed}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Print(**module),
            "module @m {\n"
            "  %t0 = i8[1,2,3]{scale=0.5, zero=3} parameter(), name=\"t0\"\n"
            "  %t5 = i32[2] constant(), data=[1, 6]\n"
            "  %t6 = i8[1,6]{scale=0.5, zero=3} reshape(%t0)\n"
            "  return %t6 as \"t6\", %t5 as \"t5\"\n"
            "}\n");
}

TEST(ImporterTest, PackPutsOperandsBehindEachOther) {
  ModelBuilder b;
  const int x = b.Tensor({2, 3}, TensorType_INT8, {0.5f}, {3});
  const int y = b.Tensor({2, 3, 2}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_PACK, {x, x}, {y},
             tflite::Options_PackOptions,
             tflite::CreatePackOptions(b.fbb, 2, -1).Union());
  const auto module = ImportTflite(b.Model({x}, {y}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(ir::Print(**module), HasSubstr("%t1 = i8[2,3,2]{scale=0.5"));
  EXPECT_THAT(ir::Print(**module), HasSubstr("concatenate(%t1.2, %t1.1)"));
}

TEST(ImporterTest, NamesCustomAndUnknownOperators) {
  ModelBuilder b;
  const int x = b.Tensor({4}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_CUSTOM, {x}, {x}, tflite::Options_NONE, 0,
             "Warp");
  EXPECT_THAT(Error(b.Model({x}, {x})),
              HasSubstr("operator 0 CUSTOM 'Warp'(i8[4]) -> i8[4]"));
  ModelBuilder c;
  const int y = c.Tensor({4}, TensorType_INT8, {0.5f}, {3});
  c.Operator(static_cast<tflite::BuiltinOperator>(9999), {y}, {y});
  EXPECT_THAT(Error(c.Model({y}, {y})), HasSubstr("operator 0 builtin 9999("));
}

TEST(ImporterTest, ChecksTensors) {
  Relu m;
  m.shape = {1, -4};
  EXPECT_THAT(
      Error(m.Bytes()),
      AllOf(HasSubstr("INVALID_ARGUMENT: m: input: tensor 0 (i8[1,-4])"),
            HasSubstr("a size of -4")));
  m.shape = {1 << 20, 1 << 20};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("too many elements"));
  m.shape = {1, 1, 1, 1, 1, 1, 4};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("rank 7 is more than 6"));
  m = Relu();
  m.type = tflite::TensorType_COMPLEX64;
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("type COMPLEX64 is not supported"));
  m = Relu();
  m.variable = true;
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("variables, sparse tensors"));
}

TEST(ImporterTest, ChecksQuantisation) {
  for (float bad : {0.0f, -1.0f, NAN, INFINITY}) {
    Relu m;
    m.scales = {bad};
    EXPECT_THAT(Error(m.Bytes()), HasSubstr("is not finite and positive"));
  }
  Relu m;
  m.zero_points = {200};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("zero point 200"));
  m.zero_points = {int64_t{1} << 40};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("zero point 1099511627776"));
  m.zero_points = {};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("1 scales and 0 zero points"));
  m.zero_points = {1, 2};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("1 scales and 2 zero points"));
  m.scales = {1, 2};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("zero points that differ"));
  m.scales = m.scales = {};
  m.zero_points = {};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("has no quantisation"));
}

TEST(ImporterTest, ChecksTheGraph) {
  Relu m;
  m.inputs = {7};
  EXPECT_THAT(Error(m.Bytes()),
              HasSubstr("operator 0 RELU(tensor 7 (none)) -> i8[1,4]: tensor "
                        "index 7 of 2 tensors"));
  m.inputs = {-1};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("tensor index -1"));
  m.inputs = {1};  // its own result
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("is read before it is computed"));
  m.inputs = {};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("no operand 0"));
  m = Relu();
  m.outputs = {};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("0 outputs"));
  m.outputs = {0};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("has a value already"));
  m = Relu();
  m.repeat = 2;
  EXPECT_THAT(Error(m.Bytes()),
              HasSubstr("operator 1 RELU(i8[1,4]) -> i8[1,4]: tensor 1 "
                        "(i8[1,4]) has a value already"));
  m = Relu();
  m.graph_inputs = {0, 0};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("has a value already"));
  m.graph_inputs = {5};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("input: tensor index 5"));
  m = Relu();
  m.graph_outputs = {5};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("output: tensor index 5"));
  m.graph_outputs = {};
  EXPECT_THAT(Error(m.Bytes()), HasSubstr("no outputs"));
  m = Relu();
  m.subgraphs = 2;  // one that nothing calls
  EXPECT_EQ(Error(m.Bytes()), "");
}

// A dense layer whose weights lie in a buffer.
std::string Dense(uint32_t buffer(ModelBuilder&), const std::string& tail) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3});
  const int w = b.Tensor({2, 4}, TensorType_INT8, {0.25f}, {0}, buffer(b));
  const int y = b.Tensor({1, 2}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_FULLY_CONNECTED, {x, w, -1}, {y},
             tflite::Options_FullyConnectedOptions,
             tflite::CreateFullyConnectedOptions(b.fbb).Union());
  return b.Model({x}, {y}) + tail;
}

TEST(ImporterTest, ChecksBuffers) {
  EXPECT_EQ(Error(Dense(
                [](ModelBuilder& b) {
                  return b.Buffer({1, 2, 3, 4, 5, 6, 7, 8});
                },
                "")),
            "");
  EXPECT_THAT(
      Error(Dense(
          [](ModelBuilder& b) {
            return b.Buffer({1, 2, 3});
          },
          "")),
      HasSubstr("tensor 1 (i8[2,4]): a buffer of 3 bytes instead of 8"));
  EXPECT_THAT(Error(Dense([](ModelBuilder&) { return 9u; }, "")),
              HasSubstr("buffer 9 of"));
  EXPECT_THAT(Error(Dense([](ModelBuilder&) { return 0u; }, "")),
              HasSubstr("is read before it is computed"));
  EXPECT_THAT(
      Error(Dense([](ModelBuilder& b) { return b.OutsideBuffer(1 << 20, 8); },
                  "")),
      HasSubstr("from 1048576 of 8 bytes, in a file of"));
  EXPECT_THAT(
      Error(Dense(
          [](ModelBuilder& b) { return b.OutsideBuffer(16, ~uint64_t{0}); },
          "")),
      HasSubstr("from 16 of 18446744073709551615 bytes"));
}

TEST(ImporterTest, ReadsBuffersBehindTheFlatbuffer) {
  const auto far = [](ModelBuilder& b) { return b.OutsideBuffer(4096, 8); };
  std::string bytes = Dense(far, "");
  ASSERT_LT(bytes.size(), 4096u);
  bytes.resize(4096);
  bytes += "\x01\x02\x03\x04\x05\x06\x07\x08";
  const auto module = ImportTflite(bytes, "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT((*module)->Find("t1")->literal().values<int8_t>(),
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(ImporterTest, WantsOptionsAndConstants) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4, 4, 1}, TensorType_INT8, {0.5f}, {3});
  const int y = b.Tensor({1, 2, 2, 1}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_MAX_POOL_2D, {x}, {y});
  EXPECT_THAT(Error(b.Model({x}, {y})),
              HasSubstr("operator 0 MAX_POOL_2D(i8[1,4,4,1]) -> i8[1,2,2,1]: "
                        "no options, or of another operator"));
  ModelBuilder c;
  const int p = c.Tensor({2, 3}, TensorType_INT8, {0.5f}, {3});
  const int q = c.Tensor({2}, TensorType_INT32, {}, {});
  const int r = c.Tensor({3, 2}, TensorType_INT8, {0.5f}, {3});
  c.Operator(tflite::BuiltinOperator_TRANSPOSE, {p, q}, {r});
  EXPECT_THAT(Error(c.Model({p, q}, {r})),
              HasSubstr("tensor 1 (i32[2]) is not a constant of integers"));
}

TEST(ImporterTest, FloatModelsAreRefusedWithTheirTypes) {
  ModelBuilder b;
  const int x = b.Tensor({4}, TensorType_FLOAT32, {}, {});
  const int y = b.Tensor({4}, TensorType_FLOAT32, {}, {});
  b.Operator(tflite::BuiltinOperator_ADD, {x, x}, {y});
  EXPECT_THAT(Error(b.Model({x}, {y})),
              HasSubstr("operator 0 ADD(f32[4], f32[4]) -> f32[4]: node 't1' "
                        "(add): result is f32[4], not i8 with one scale"));
}

TEST(ImporterTest, ActivationsBecomeClamps) {
  const auto clamp = [](tflite::Activation activation, float scale, int zero) {
    ModelBuilder b;
    const int x = b.Tensor({4}, TensorType_INT8, {0.5f}, {3});
    const int y = b.Tensor({4}, TensorType_INT8, {scale}, {zero});
    b.Operator(tflite::BuiltinOperator_ADD, {x, x}, {y},
               tflite::Options_AddOptions,
               tflite::CreateAddOptions(b.fbb, activation).Union());
    const auto module = ImportTflite(b.Model({x}, {y}), "m");
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok()
               ? (*module)->Find("t1")->attr<ir::ClampAttributes>().clamp
               : ir::Ints{};
  };
  EXPECT_EQ(clamp(tflite::Activation_NONE, 0.5f, 3), (ir::Ints{-128, 127}));
  EXPECT_EQ(clamp(tflite::Activation_RELU, 0.5f, 3), (ir::Ints{3, 127}));
  EXPECT_EQ(clamp(tflite::Activation_RELU6, 0.5f, 3), (ir::Ints{3, 15}));
  EXPECT_EQ(clamp(tflite::Activation_RELU6, 0.01f, 3), (ir::Ints{3, 127}));
  EXPECT_EQ(clamp(tflite::Activation_RELU6, 0.8f, -128),
            (ir::Ints{-128, -120}));  // 7.5 away from zero
  EXPECT_EQ(clamp(tflite::Activation_RELU_N1_TO_1, 0.5f, 3), (ir::Ints{1, 5}));
}

TEST(ImporterTest, NamesStayUnique) {
  ModelBuilder b;
  std::vector<int32_t> tensors;
  for (int i = 0; i < 3; ++i) {
    tensors.push_back(b.Tensor({4}, TensorType_INT8, {0.5f}, {3}));
  }
  b.Operator(tflite::BuiltinOperator_RELU, {0}, {1});
  b.Operator(tflite::BuiltinOperator_RELU, {1}, {2});
  std::string bytes = b.Model({0}, {2});
  for (size_t at = 0; (at = bytes.find("t1", at)) != std::string::npos; ++at) {
    bytes[at + 1] = '0';
  }
  const auto module = ImportTflite(bytes, "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_NE((*module)->Find("t0.1"), nullptr);
}

TEST(ImporterTest, ResultsThatNobodyReadsAreLeftOut) {
  ModelBuilder b;
  for (int i = 0; i < 3; ++i) b.Tensor({4}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_RELU, {0}, {1});
  b.Operator(tflite::BuiltinOperator_RELU, {0}, {2});
  const auto module = ImportTflite(b.Model({0}, {2}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->nodes().size(), 2u);
}

}  // namespace
}  // namespace systole::import
