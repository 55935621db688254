// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of a training step, their gradients and the loss on the host,
// against the golden model: every bit, signs of zeros too, on arrays of any
// size.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/ir/train/attributes.h"
#include "tests/ir/train_case.h"
#include "verif/golden/fp32.h"

namespace systole::ir {
namespace {

// A product with its types.
struct Product {
  golden::LayerGeometry g;
  TrainProductAttributes attributes;
  Type x, w, dw, z;
  int rows;

  explicit Product(Random& random) {
    rows = 1 << random.Number(1, 7);
    attributes.rows = rows;
    const int batch = random.Number(1, 5), in = random.Number(1, 9),
              out = random.Number(1, 20);
    if (random.Number(0, 2) == 0) {
      const int samples = random.Number(1, 40);
      g = {1, 1, samples, in, 1, samples, out, 1, 1, 0, 0, true};
      x = Bf16Type({samples, in});
      w = Bf16Type({in, out});
      z = Bf16Type({samples, out});
    } else {
      int h = random.Number(1, 10), width = random.Number(1, 10);
      int stride = random.Number(1, 3);
      const int kernel = random.Number(1, 5);
      if (random.Number(0, 3) == 0) {
        // No block fills the array, all of them together do.
        attributes.rows = rows = 4;
        h = 4, width = 3, stride = 1;
      }
      const auto same = [&](int size, int* made) {
        *made = (size + stride - 1) / stride;
        return std::max(0, (*made - 1) * stride + kernel - size);
      };
      int oh, ow;
      const int rest_y = same(h, &oh), rest_x = same(width, &ow);
      g = {batch, h,      width,  in,         oh,         ow,
           out,   kernel, stride, rest_y / 2, rest_x / 2, false};
      attributes.kernel = {kernel, kernel};
      attributes.stride = {stride, stride};
      attributes.padding = {rest_y / 2, rest_x / 2, rest_y - rest_y / 2,
                            rest_x - rest_x / 2};
      x = Bf16Type({batch, h, width, in});
      w = Bf16Type({kernel, kernel, in, out});
      z = Bf16Type({batch, oh, ow, out});
    }
    dw = F32Type(w.shape);
  }
};

TEST(TrainProducts, AndTheirGradients) {
  for (int round = 0; round < 300; ++round) {
    Random random(round);
    const Product p(random);
    random.special = round % 5 == 3;
    random.tiny = round % 3 == 1 ? -70 : round % 6 == 2 ? -90 : 0;
    const Fp32Matrix x = random.Matrix(p.g.images * p.g.in_positions(),
                                       p.g.in_channels, true),
                     w = random.Matrix(p.g.contraction(), p.g.out_channels,
                                       true),
                     dz =
                         random.Matrix(p.g.positions(), p.g.out_channels, true);
    SCOPED_TRACE(round);
    const auto run = [&](Op op, const Type& a, const Fp32Matrix& first,
                         const Type& b, const Fp32Matrix& second,
                         const Type& made) {
      Case k;
      k.Operand(a, first);
      k.Operand(b, second);
      return k.Run(op, {made}, p.attributes)[0];
    };
    ExpectBits(run(Op::kTrainProduct, p.x, x, p.w, w, p.z), p.z,
               golden::Forward(p.g, x, w, p.rows), "z");
    ExpectBits(run(Op::kTrainWeightGradient, p.x, x, p.z, dz, p.dw), p.dw,
               golden::WeightGradient(p.g, x, dz, p.rows), "dw");
    ExpectBits(run(Op::kTrainInputGradient, p.z, dz, p.w, w, p.x), p.x,
               golden::InputGradient(p.g, dz, w, p.rows), "da");
    if (HasFatalFailure()) return;
  }
}

TEST(TrainProducts, Classify) {
  for (int round = 0; round < 200; ++round) {
    Random random(round);
    random.special = round % 4 == 3;
    random.tiny = round % 5 == 2 ? -70 : 0;
    const int rows = 1 << random.Number(1, 7);
    const int batch = random.Number(1, 20), in = random.Number(1, 70),
              classes = random.Number(1, std::min(rows, 12));
    const golden::LayerGeometry g = {1,       1, batch, in, 1, batch,
                                     classes, 1, 1,     0,  0, true};
    const Fp32Matrix x = random.Matrix(batch, in, true),
                     w = random.Matrix(in, classes, true);
    const Fp32Row bias = random.Row(classes);
    std::vector<uint8_t> labels(batch);
    Fp32Matrix hot = Fp32Matrix::Zero(batch, classes);
    for (int n = 0; n < batch; ++n) {
      labels[n] = static_cast<uint8_t>(random.Number(0, classes - 1));
      hot(n, labels[n]) = 1;
    }
    Fp32Matrix logits = golden::Forward(g, x, w, rows);
    for (int n = 0; n < batch; ++n) {
      for (int c = 0; c < classes; ++c)
        logits(n, c) = golden::fp32::Add(logits(n, c), bias(c));
    }
    const golden::ClassLoss want = golden::SoftmaxLoss(logits, labels, rows);
    const Type samples = Bf16Type({batch, classes});
    Case k;
    k.Operand(Bf16Type({batch, in}), x);
    k.Operand(Bf16Type({in, classes}), w);
    k.Operand(F32Type({classes}), bias);
    k.Operand(samples, hot);
    const Literals got =
        k.Run(Op::kTrainClassify, {samples, F32Type({}), F32Type({})},
              TrainArrayAttributes{rows});
    ASSERT_EQ(got.size(), 3u);
    SCOPED_TRACE(round);
    ExpectBits(got[0], samples, want.dz, "dz");
    ExpectBits(got[1], F32Type({}), std::vector<float>{want.loss}, "loss");
    ExpectBits(got[2], F32Type({}), std::vector<float>{want.correct}, "right");
    if (HasFatalFailure()) return;
  }
}

TEST(TrainProducts, SumOfTwoCores) {
  Random random(1);
  random.special = true;
  const Fp32Matrix own = random.Matrix(9, 30, false),
                   other = random.Matrix(9, 30, false);
  const Type type = F32Type({9, 30});
  Case k;
  k.Operand(type, own);
  k.other_core = [&](const Node& node, const Literal&) {
    EXPECT_EQ(node.op, Op::kTrainSumCores);
    return Literal(std::vector<float>(other.data(), other.data() + 270));
  };
  ExpectBits(k.Run(Op::kTrainSumCores, {type}, NoAttributes{})[0], type,
             Fp32Matrix(own.binaryExpr(other, &golden::fp32::Add)), "sum");
}

std::string ErrorOf(Op op, const std::vector<Type>& operands, const Type& made,
                    const Attributes& attributes, const OtherCore& other = {}) {
  Module module("m");
  Node node;
  node.name = "y";
  node.op = op;
  node.type = made;
  if (op == Op::kTrainClassify) node.more_types.assign(2, F32Type({}));
  node.attributes = attributes;
  Literals values;
  for (const Type& type : operands) {
    const std::string name = absl::StrCat("p", values.size());
    node.operands.push_back(module.Add(
        {name, Op::kParameter, type, {}, ParameterAttributes{name}}));
    values.push_back(Literal::Zeros(type.element, type.elements()));
  }
  const Node* y = module.Add(node);
  if (absl::Status s = InfoOf(op).check(*y); !s.ok())
    return std::string(s.message());
  Operands pointers;
  for (const Literal& value : values) pointers.push_back(&value);
  Evaluation evaluation({.other_core = other});
  return std::string(evaluation.Node(*y, pointers).status().message());
}

TEST(TrainProducts, Errors) {
  const Type samples = Bf16Type({3, 4}), w = Bf16Type({4, 5});
  const Type made = Bf16Type({3, 5}), bias = F32Type({5});
  TrainProductAttributes product;
  EXPECT_EQ(ErrorOf(Op::kTrainProduct, {samples, w}, made, product), "");
  for (const int rows : {0, -8, 24}) {
    product.rows = rows;
    EXPECT_EQ(ErrorOf(Op::kTrainProduct, {samples, w}, made, product),
              absl::StrCat("an array of ", rows, " rows, not a power of two"));
  }
  EXPECT_EQ(ErrorOf(Op::kTrainClassify, {samples, w, bias, made}, made,
                    TrainArrayAttributes{8}),
            "");
  EXPECT_EQ(ErrorOf(Op::kTrainClassify, {samples, w, bias, made}, made,
                    TrainArrayAttributes{4}),
            "5 classes, an array of 4 columns");
  EXPECT_EQ(ErrorOf(Op::kTrainSumCores, {bias}, bias, NoAttributes{}),
            "a sum over two cores, and there is one");
  EXPECT_EQ(ErrorOf(Op::kTrainSumCores, {bias}, bias, NoAttributes{},
                    [](const Node&, const Literal&) {
                      return Literal(std::vector<float>(4));
                    }),
            "the other core's gradient has another type");
}

}  // namespace
}  // namespace systole::ir
