// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models for the fuzzer of operators that tests/data/tflite/operators.json has
// none of: bytes of .tflite files.
#ifndef SYSTOLE_TESTS_IMPORT_FUZZ_MODELS_H_
#define SYSTOLE_TESTS_IMPORT_FUZZ_MODELS_H_

#include <cstring>
#include <string>
#include <vector>

#include "tests/import/model_builder.h"

namespace systole::import {

inline std::vector<std::string> OtherModels() {
  constexpr auto kInt8 = tflite::TensorType_INT8;
  constexpr auto kInt32 = tflite::TensorType_INT32;
  std::vector<std::string> models;
  {
    ModelBuilder b;
    const int x = b.Tensor({2, 3}, kInt8, {1}, {0});
    const int y = b.Tensor({2, 3}, tflite::TensorType_FLOAT32, {}, {});
    b.Operator(tflite::BuiltinOperator_CAST, {x}, {y});
    models.push_back(b.Model({x}, {y}));
  }
  {
    ModelBuilder b;
    const int x = b.Tensor({2, 3}, kInt8, {0.5f}, {1});
    const int y = b.Tensor({2}, kInt32, {}, {});
    b.Operator(tflite::BuiltinOperator_SHAPE, {x}, {y});
    models.push_back(b.Model({x}, {y}));
  }
  {
    ModelBuilder b;
    const int x = b.Tensor({2, 3}, kInt8, {0.5f}, {1});
    const int y = b.Tensor({2, 2, 3}, kInt8, {0.5f}, {1});
    b.Operator(tflite::BuiltinOperator_PACK, {x, x}, {y},
               tflite::Options_PackOptions,
               tflite::CreatePackOptions(b.fbb, 2, 1).Union());
    models.push_back(b.Model({x}, {y}));
  }
  {
    ModelBuilder b;
    const int indices = b.Tensor({3}, kInt32, {}, {});
    const int table = b.Tensor({5, 4}, kInt8, {0.5f}, {1},
                               b.Buffer(std::vector<uint8_t>(20, 7)));
    const int y = b.Tensor({3, 4}, kInt8, {0.5f}, {1});
    b.Operator(tflite::BuiltinOperator_EMBEDDING_LOOKUP, {indices, table}, {y});
    models.push_back(b.Model({indices}, {y}));
  }
  {  // in pieces, where the core is small
    ModelBuilder b;
    const int x = b.Tensor({1, 70, 90, 8}, kInt8, {0.5f}, {1});
    const int axes = b.Integers({1, 2});
    const int y = b.Tensor({1, 8}, kInt8, {0.25f}, {3});
    b.Operator(tflite::BuiltinOperator_MEAN, {x, axes}, {y},
               tflite::Options_ReducerOptions,
               tflite::CreateReducerOptions(b.fbb, false).Union());
    models.push_back(b.Model({x}, {y}));
  }
  return models;
}

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_FUZZ_MODELS_H_
