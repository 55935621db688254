// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Small float models with the values to run them with. The modules that they
// become are evaluated on the host and by the golden model, which must agree to
// the bit.
//
//   FloatNet net;
//   const int x = net.In(Random({2, 3}, 1));
//   const Array y = net.One(tflite::BuiltinOperator_ABS, {x}, {2, 3});
#ifndef SYSTOLE_TESTS_IMPORT_FLOAT_FLOAT_NET_H_
#define SYSTOLE_TESTS_IMPORT_FLOAT_FLOAT_NET_H_

#include <functional>
#include <string>
#include <vector>

#include "host/import/float/float_importer.h"
#include "host/ir/literal.h"
#include "tests/import/model_builder.h"

namespace systole::import {

using Shape = std::vector<int32_t>;
using B = tflite::BuiltinOperator;

constexpr auto kFloat = tflite::TensorType_FLOAT32;
constexpr auto kInt = tflite::TensorType_INT32;
constexpr auto kTruth = tflite::TensorType_BOOL;

// Values of any type, row-major; all of them are numbers that floats hold.
struct Array {
  Shape shape;
  std::vector<float> v;

  explicit Array(Shape s = {}) : shape(std::move(s)), v(Size(shape)) {}
  Array(Shape s, std::vector<float> values)
      : shape(std::move(s)), v(std::move(values)) {}

  static size_t Size(const Shape& shape) {
    size_t size = 1;
    for (const int32_t s : shape) size *= s;
    return size;
  }
  float& at(const Shape& i) { return v[Place(i)]; }
  float at(const Shape& i) const { return v[Place(i)]; }
  // `outside` for places that are not inside.
  float Get(const Shape& i, float outside = 0) const {
    for (size_t d = 0; d < i.size(); ++d)
      if (i[d] < 0 || i[d] >= shape[d]) return outside;
    return at(i);
  }

 private:
  size_t Place(const Shape& i) const {
    size_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + i[d];
    return place;
  }
};

Array Random(const Shape& shape, uint64_t seed, float low = -1, float high = 1);
// Whole numbers, both ends included.
Array Whole(const Shape& shape, uint64_t seed, int low, int high);
// An array whose elements are f(index).
Array Made(const Shape& shape, const std::function<float(const Shape&)>& f);

// Of the same shape, within `tolerance` of the larger of 1 and the largest.
void ExpectNear(const Array& got, const Array& wanted, float tolerance = 3e-6f);

// The files of all models that were run.
const std::vector<std::string>& FilesRun();

class FloatNet {
 public:
  // A scale and zero point; none: not quantised.
  struct Scale {
    std::vector<float> scales;
    std::vector<int64_t> zeros;
    int axis = 0;
  };

  ModelBuilder b;
  FloatOptions options{ir::Precision::kHighest, {}};

  int In(const Array& values, tflite::TensorType type = kFloat);
  int In(const Array& values, tflite::TensorType type, const Scale& scale);
  int Const(const Array& values, tflite::TensorType type = kFloat);
  int Const(const Array& values, tflite::TensorType type, const Scale& scale);
  int Ints(const std::vector<int32_t>& values) { return b.Integers(values); }
  int Out(const Shape& shape, tflite::TensorType type = kFloat);
  int Out(const Shape& shape, tflite::TensorType type, const Scale& scale);

  void Add(B code, const std::vector<int32_t>& inputs,
           const std::vector<int32_t>& outputs,
           tflite::Options kind = tflite::Options_NONE,
           ModelBuilder::Offset options = 0);
  // A custom operator and the flexbuffer of its options.
  void AddCustom(const char* name, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs,
                 const std::vector<uint8_t>& custom_options);
  // The results as numbers.
  std::vector<Array> Run(const std::vector<int32_t>& outputs);
  // The only result of one operator, after those that were added.
  Array One(B code, const std::vector<int32_t>& inputs, const Shape& shape,
            tflite::Options kind = tflite::Options_NONE,
            ModelBuilder::Offset options = 0, tflite::TensorType type = kFloat);
  // The same, of a model that is refused: the message.
  std::string Refusal(B code, const std::vector<int32_t>& inputs,
                      const Shape& shape,
                      tflite::Options kind = tflite::Options_NONE,
                      ModelBuilder::Offset options = 0);

 private:
  std::vector<int32_t> inputs_;
  std::vector<ir::Literal> values_;
};

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_FLOAT_FLOAT_NET_H_
