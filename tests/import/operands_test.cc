// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operands of single operators: shapes that follow from them, integers of any
// width, and what does not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/import/tflite_importer.h"
#include "host/ir/text.h"
#include "tests/import/model_builder.h"

namespace systole::import {
namespace {

using testing::HasSubstr;
using tflite::TensorType_INT8;

std::string Error(const std::string& bytes) {
  return ImportTflite(bytes, "m").status().ToString();
}

// Sizes that the file leaves open follow from the operands, whatever it has.
TEST(OperandsTest, InfersOpenSizes) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4, 6}, TensorType_INT8, {0.5f}, {3});
  const std::vector<int32_t> open = {-1, -1};
  const int y = b.OpenTensor({1, 1}, open, TensorType_INT8, {0.5f}, {3});
  const int z = b.OpenTensor({1, 1}, open, TensorType_INT8, {0.5f}, {3});
  const int shape = b.Integers({8, -1}), order = b.Integers({1, 0});
  b.Operator(tflite::BuiltinOperator_RESHAPE, {x, shape}, {y});
  b.Operator(tflite::BuiltinOperator_TRANSPOSE, {y, order}, {z});
  const auto module = ImportTflite(b.Model({x}, {z}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->outputs[0].node->type.shape, ir::Ints({3, 8}));
}

// Images that no window spans become rows of one, which the device has.
TEST(OperandsTest, JoinsImagesOfRowsToOne) {
  ModelBuilder b;
  const int flat = b.Tensor({1, 30}, TensorType_INT8, {0.5f}, {3});
  const int x = b.Tensor({3, 2, 5, 1}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_RESHAPE, {flat}, {x});
  const int w =
      b.Tensor({1, 1, 2, 1}, TensorType_INT8, {0.5f}, {0}, b.Buffer({1, 2}));
  const int y = b.Tensor({3, 2, 4, 1}, TensorType_INT8, {0.5f}, {3});
  b.Operator(
      tflite::BuiltinOperator_CONV_2D, {x, w}, {y},
      tflite::Options_Conv2DOptions,
      tflite::CreateConv2DOptions(b.fbb, tflite::Padding_VALID, 1, 1).Union());
  const auto module = ImportTflite(b.Model({flat}, {y}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  for (const auto& node : (*module)->nodes()) {
    if (node->op == ir::Op::kConv2D) {
      EXPECT_EQ(node->type.shape, ir::Ints({1, 6, 4, 1}));
    }
  }
  EXPECT_EQ((*module)->outputs[0].node->type.shape, ir::Ints({3, 2, 4, 1}));
}

// Of a file of one operator: what its operands and options have wrong.
TEST(OperandsTest, RefusesOperandsThatDoNotFit) {
  struct Case {
    tflite::BuiltinOperator code;
    std::vector<int32_t> shape;                  // of the first operand
    std::vector<std::vector<int32_t>> integers;  // the others
    std::vector<int32_t> result;
    const char* error;
  };
  const Case cases[] = {
      {tflite::BuiltinOperator_SLICE, {4}, {{3}, {2}}, {2}, "ends at 4"},
      {tflite::BuiltinOperator_SPLIT_V, {4}, {{3}, {0}}, {3}, "parts of 3"},
      {tflite::BuiltinOperator_SPLIT_V, {4}, {{4}, {1}}, {4}, "axis 1"},
      {tflite::BuiltinOperator_TILE, {2, 3}, {{2}}, {4, 3}, "i8[2,3]"},
      {tflite::BuiltinOperator_TILE, {2}, {{0}}, {4}, "0 times"},
      {tflite::BuiltinOperator_TILE, {2}, {{3}}, {4}, "differ in size"},
      {tflite::BuiltinOperator_BROADCAST_TO, {2}, {{3}}, {3}, "i8[2]"},
      {tflite::BuiltinOperator_REVERSE_V2, {2}, {{1}}, {2}, "axis 1"},
      {tflite::BuiltinOperator_ARG_MAX, {2, 3}, {{2}}, {2}, "axis 2"},
      {tflite::BuiltinOperator_SPACE_TO_BATCH_ND,
       {1, 5, 1},
       {{2}, {0, 0}},
       {2, 2, 1},
       "i8[1,5,1]"},
      {tflite::BuiltinOperator_SPACE_TO_BATCH_ND,
       {1, 4, 1},
       {{2}, {-2, 0}},
       {2, 1, 1},
       "paddings [-2,0]"},
      {tflite::BuiltinOperator_BATCH_TO_SPACE_ND,
       {3, 5, 1},
       {{2}, {0, 0}},
       {1, 10, 1},
       "i8[3,5,1]"},
      {tflite::BuiltinOperator_BATCH_TO_SPACE_ND,
       {2, 5, 1},
       {{2}, {1, 0}},
       {1, 10, 1},
       "i8[1,10,1]"},
      {tflite::BuiltinOperator_FILL, {1}, {}, {3}, "no operand 1"},
  };
  for (const Case& item : cases) {
    ModelBuilder b;
    std::vector<int32_t> operands = {
        b.Tensor(item.shape, TensorType_INT8, {0.5f}, {3})};
    for (const auto& values : item.integers) {
      operands.push_back(b.Integers(values));
    }
    const int y = b.Tensor(item.result, TensorType_INT8, {0.5f}, {3});
    b.Operator(item.code, operands, {y});
    EXPECT_THAT(Error(b.Model({operands[0]}, {y})), HasSubstr(item.error))
        << tflite::EnumNameBuiltinOperator(item.code);
  }
}

TEST(OperandsTest, HoldsOtherIntegersAsItsOwn) {
  ModelBuilder b;
  const int x = b.Tensor({2}, tflite::TensorType_UINT8, {0.5f}, {130});
  const int y = b.Tensor({2}, TensorType_INT8, {0.5f}, {2});
  b.Operator(tflite::BuiltinOperator_QUANTIZE, {x}, {y});
  const auto module = ImportTflite(b.Model({x}, {y}), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Print(**module),
            "module @m {\n"
            "  %t0 = i8[2]{scale=0.5, zero=2} parameter(), name=\"t0\", "
            "stored=\"u8\"\n"
            "  %t1 = i8[2]{scale=0.5, zero=2} quantize(%t0)\n"
            "  return %t1 as \"t1\"\n"
            "}\n");
  ModelBuilder wide;
  std::vector<uint8_t> bytes(16);
  bytes[0] = 1;
  bytes[12] = 1;  // 2^32
  const int table = wide.Tensor({2}, TensorType_INT8, {0.5f}, {3});
  const int indices =
      wide.Tensor({2}, tflite::TensorType_INT64, {}, {}, wide.Buffer(bytes));
  const int z = wide.Tensor({2}, TensorType_INT8, {0.5f}, {3});
  wide.Operator(tflite::BuiltinOperator_GATHER, {table, indices}, {z});
  EXPECT_THAT(Error(wide.Model({table}, {z})),
              HasSubstr("tensor 1 (INT64[2]): an integer beyond 32 bits"));
}

// Every way in which an LSTM differs from the one that is supported.
TEST(OperandsTest, SaysAllThatALstmHasBeyond) {
  ModelBuilder b;
  const int x = b.Tensor({1, 3, 4}, TensorType_INT8, {0.5f}, {3});
  const int y = b.Tensor({1, 3, 2}, TensorType_INT8, {0.5f}, {3});
  std::vector<int32_t> operands(24, x);
  operands[1] = operands[5] = -1;    // the input gate is the forget gate's rest
  operands[16] = operands[17] = -1;  // no projection
  b.Operator(tflite::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM, operands,
             {y}, tflite::Options_UnidirectionalSequenceLstmOptions,
             tflite::CreateUnidirectionalSequenceLstmOptions(
                 b.fbb, tflite::Activation_RELU)
                 .Union());
  EXPECT_THAT(
      Error(b.Model({x}, {y})),
      HasSubstr("an LSTM with an activation other than TANH, a joint input "
                "and forget gate, peepholes, layer normalisation"));
}

// A variable's handle that nobody gave.
TEST(OperandsTest, RefusesVariablesWithoutHandle) {
  ModelBuilder b;
  const int x = b.Tensor({2}, TensorType_INT8, {0.5f}, {3});
  const int y = b.Tensor({2}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_READ_VARIABLE, {x}, {y});
  EXPECT_THAT(Error(b.Model({x}, {y})), HasSubstr("no variable's handle"));
  ModelBuilder once;
  const int z = once.Tensor({2}, TensorType_INT8, {0.5f}, {3});
  once.Operator(tflite::BuiltinOperator_CALL_ONCE, {}, {},
                tflite::Options_CallOnceOptions,
                tflite::CreateCallOnceOptions(once.fbb, 3).Union());
  EXPECT_THAT(Error(once.Model({z}, {z})), HasSubstr("subgraph 3 of 1"));
}

// A converter puts a QUANTIZE before a branch of another scale.
// All of them, and not as an invalid model.
TEST(OperandsTest, SaysWhatToDoWith16Bits) {
  ModelBuilder b;
  std::vector<int> t;
  for (int i = 0; i < 3; ++i) {
    t.push_back(b.Tensor({1, 4}, tflite::TensorType_INT16, {0.5f}, {0}));
  }
  b.Operator(tflite::BuiltinOperator_HARD_SWISH, {t[0]}, {t[1]});
  b.Operator(tflite::BuiltinOperator_ELU, {t[1]}, {t[2]});
  EXPECT_THAT(Error(b.Model({t[0]}, {t[2]})),
              HasSubstr("2 operators stand in the way: HARD_SWISH, ELU: "
                        "activations of 16 bits; quantise the model with "
                        "activations of 8"));
}

TEST(OperandsTest, NamesWhatOperatorsOf16BitsDoNotTake) {
  const auto error = [](tflite::BuiltinOperator op, int64_t zero, float scale,
                        bool powers_of_two) {
    ModelBuilder b;
    const int x = b.Tensor({1, 4}, tflite::TensorType_INT16, {0.5f}, {zero});
    const int y = b.Tensor({1, 4}, tflite::TensorType_INT16, {scale}, {0});
    if (op != tflite::BuiltinOperator_ADD) {
      b.Operator(op, {x}, {y});
    } else {
      b.Operator(op, {x, x}, {y}, tflite::Options_AddOptions,
                 tflite::CreateAddOptions(b.fbb, tflite::Activation_NONE,
                                          powers_of_two)
                     .Union());
    }
    return Error(b.Model({x}, {y}));
  };
  EXPECT_THAT(error(tflite::BuiltinOperator_RELU, 3, 0.5f, false),
              HasSubstr("operand 0 is not of 16 bits with zero point 0"));
  EXPECT_THAT(error(tflite::BuiltinOperator_LOGISTIC, 0, 0.5f, false),
              HasSubstr("a result with scale 0.5, not 1/32768"));
  EXPECT_THAT(error(tflite::BuiltinOperator_ADD, 0, 0.5f, true),
              HasSubstr("sums of 16 bits by powers of two"));
}

TEST(OperandsTest, NamesConcatenationsOfOtherScales) {
  ModelBuilder b;
  const int x = b.Tensor({1, 4}, TensorType_INT8, {0.5f}, {3});
  const int z = b.Tensor({1, 4}, TensorType_INT8, {0.25f}, {3});
  const int y = b.Tensor({1, 8}, TensorType_INT8, {0.5f}, {3});
  b.Operator(tflite::BuiltinOperator_CONCATENATION, {x, z}, {y},
             tflite::Options_ConcatenationOptions,
             tflite::CreateConcatenationOptions(b.fbb, 1).Union());
  EXPECT_THAT(Error(b.Model({x, z}, {y})),
              testing::AllOf(HasSubstr("CONCATENATION"), HasSubstr("scale")));
}

}  // namespace
}  // namespace systole::import
