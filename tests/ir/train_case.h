// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One operation of train/ on random tensors, evaluated on the host.
//   Case k;
//   k.Operand(type, random.Matrix(rows, cols, /*half=*/true));
//   ExpectBits(k.Run(op, {type}, attributes)[0], type, wanted, "y");
#ifndef SYSTOLE_TESTS_IR_TRAIN_CASE_H_
#define SYSTOLE_TESTS_IR_TRAIN_CASE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/ir/module.h"
#include "verif/golden/training_layers.h"

namespace systole::ir {

using golden::Fp32Matrix;
using golden::Fp32Row;

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  int Number(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }
  float Value(bool half) {
    static const float kSpecial[] = {0.0f,      -0.0f,  1.0f,  INFINITY,
                                     -INFINITY, 1e-40f, 3e38f, NAN};
    float v = std::normal_distribution<float>(0.2f, 1.0f)(random_);
    // Far apart, so that the order of a sum shows.
    if (Number(0, 2) == 0) v = std::ldexp(v, Number(-14, 14));
    v = std::ldexp(v, tiny);
    if (special && Number(0, 60) == 0) v = kSpecial[Number(0, 7)];
    return half ? float{Bfloat16(v)} : v;
  }
  Fp32Matrix Matrix(int64_t rows, int64_t cols, bool half) {
    Fp32Matrix m(rows, cols);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = Value(half);
    // Equal neighbours, so that a pool has several maxima.
    for (Eigen::Index i = 1; i < m.size(); ++i) {
      if (half && Number(0, 4) == 0) m.data()[i] = m.data()[i - 1];
    }
    return m;
  }
  Fp32Row Row(int64_t cols, bool positive = false) {
    Fp32Row r(cols);
    for (Eigen::Index i = 0; i < r.size(); ++i) {
      r.data()[i] = Value(false);
      if (positive) r.data()[i] = std::abs(r.data()[i]);
    }
    return r;
  }

  bool special = false;
  int tiny = 0;  // exponent; products of -90 round to zeros of either sign

 private:
  std::mt19937_64 random_;
};

inline Type Bf16Type(const Ints& shape) {
  Type t;
  t.element = ElementType::kBfloat16;
  t.shape = shape;
  return t;
}
inline Type F32Type(const Ints& shape) {
  Type t;
  t.element = ElementType::kFloat32;
  t.shape = shape;
  return t;
}

// One operation, evaluated.
class Case {
 public:
  template <typename Values>
  void Operand(const Type& type, const Values& values) {
    const auto* from = values.data();
    std::vector<float> floats(from, from + values.size());
    if (type.element == ElementType::kFloat32) {
      literals_.emplace_back(floats);
    } else {
      std::vector<Bfloat16> halves;
      for (const float v : floats) halves.emplace_back(v);
      literals_.emplace_back(halves);
    }
    parameters_.push_back(module_.Add(
        {absl::StrCat("p", parameters_.size()),
         Op::kParameter,
         type,
         {},
         ParameterAttributes{absl::StrCat("p", parameters_.size())}}));
  }

  Literals Run(Op op, const std::vector<Type>& types, Attributes attributes) {
    Node node;
    node.name = "y";
    node.op = op;
    node.type = types[0];
    node.more_types.assign(types.begin() + 1, types.end());
    node.attributes = std::move(attributes);
    for (ir::Node* p : parameters_) node.operands.push_back(p);
    ir::Node* added = module_.Add(node);
    EXPECT_EQ(InfoOf(op).check(*added), absl::OkStatus()) << OpName(op);
    Operands operands;
    for (const Literal& l : literals_) operands.push_back(&l);
    Evaluation evaluation({.other_core = other_core});
    auto results = evaluation.Node(*added, operands);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *std::move(results) : Literals();
  }

  OtherCore other_core = {};

 private:
  Module module_{"m"};
  std::vector<ir::Node*> parameters_;
  std::vector<Literal> literals_;
};

template <typename Values>
void ExpectBits(const Literal& got, const Type& type, const Values& want,
                const char* what) {
  for (int64_t i = 0; i < type.elements(); ++i) {
    uint32_t a, b;
    const float value = type.element == ElementType::kFloat32
                            ? got.values<float>()[i]
                            : float{got.values<Bfloat16>()[i]};
    float wanted = want.data()[i];
    if (type.element != ElementType::kFloat32) wanted = Bfloat16(wanted);
    std::memcpy(&a, &value, 4);
    std::memcpy(&b, &wanted, 4);
    ASSERT_EQ(a, b) << what << " " << i << ": " << value << " for " << wanted;
  }
}

}  // namespace systole::ir

#endif  // SYSTOLE_TESTS_IR_TRAIN_CASE_H_
