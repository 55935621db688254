// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the host makes of the operations of train/, against the golden model of
// a training step: every bit, of random tensors with special values.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/ir/train/attributes.h"
#include "tests/ir/train_case.h"
#include "verif/golden/optimiser.h"
#include "verif/golden/training_layers.h"

namespace systole::ir {
namespace {

struct Shape {
  golden::LayerGeometry g;
  Ints shape;
  Type image, row;
};

Shape RandomShape(Random& random, bool dense) {
  Shape s;
  s.g = {};
  const int batch = random.Number(1, 9), c = random.Number(1, 40);
  const int h = random.Number(1, 9), w = random.Number(1, 9);
  if (dense) {
    s.g = {1, 1, 1, 1, 1, batch, c, 1, 1, 0, 0, true};
    s.shape = {batch, c};
  } else {
    s.g = {batch, h, w, c, h, w, c, 1, 1, 0, 0, false};
    s.shape = {batch, h, w, c};
  }
  s.image = Bf16Type(s.shape);
  s.row = F32Type({c});
  return s;
}

TEST(TrainEvaluate, Norms) {
  for (int round = 0; round < 120; ++round) {
    Random random(round);
    const Shape s = RandomShape(random, round % 3 == 0);
    random.special = round % 4 == 3;
    const int64_t n = s.g.positions(), c = s.g.out_channels;
    const Fp32Matrix z = random.Matrix(n, c, true),
                     da = random.Matrix(n, c, true),
                     beta = random.Matrix(1, c, false);
    Fp32Row mean = random.Row(c), var = random.Row(c, true);
    const auto norm = golden::BatchStatistics(s.g, z);
    SCOPED_TRACE(round);
    {
      Case k;
      k.Operand(s.image, z);
      k.Operand(s.row, beta);
      k.Operand(s.row, mean);
      k.Operand(s.row, var);
      const Literals got =
          k.Run(Op::kTrainNorm, {s.image, s.row, s.row, s.row, s.row},
                NoAttributes{});
      ASSERT_EQ(got.size(), 5u);
      ExpectBits(got[0], s.image, golden::NormaliseRelu(norm, z, beta), "a");
      ExpectBits(got[1], s.row, norm.mean, "mean");
      ExpectBits(got[2], s.row, norm.inv, "inv");
      Fp32Row run_mean = mean, run_var = var;
      golden::UpdateRunning(norm.mean, &run_mean);
      golden::UpdateRunning(norm.var, &run_var);
      ExpectBits(got[3], s.row, run_mean, "running mean");
      ExpectBits(got[4], s.row, run_var, "running variance");
    }
    {
      Case k;
      k.Operand(s.image, z);
      k.Operand(s.row, beta);
      k.Operand(s.row, mean);
      k.Operand(s.row, var);
      const Literals got =
          k.Run(Op::kTrainNormInference, {s.image}, NoAttributes{});
      ASSERT_EQ(got.size(), 1u);
      ExpectBits(
          got[0], s.image,
          golden::NormaliseRelu(golden::FromStatistics(mean, var), z, beta),
          "a");
    }
    Case k;
    k.Operand(s.image, z);
    k.Operand(s.row, beta);
    k.Operand(s.row, norm.mean);
    k.Operand(s.row, norm.inv);
    k.Operand(s.image, da);
    const Literals got =
        k.Run(Op::kTrainNormGradient, {s.image, s.row}, NoAttributes{});
    ASSERT_EQ(got.size(), 2u);
    const auto want = golden::NormaliseReluGradient(s.g, norm, z, beta, da);
    ExpectBits(got[0], s.image, want.dz, "dz");
    ExpectBits(got[1], s.row, want.sum_g, "dbeta");
    if (HasFatalFailure()) return;
  }
}

TEST(TrainEvaluate, PoolsAndTheirGradients) {
  for (int round = 0; round < 160; ++round) {
    Random random(round);
    const Shape s = RandomShape(random, false);
    random.special = round % 4 == 3;
    golden::TrainingPool pool;
    const bool max = round % 2 == 0;
    pool.kind = max ? golden::TrainingPool::Kind::kMax
                    : golden::TrainingPool::Kind::kAverage;
    pool.same = round % 3 > 0;
    pool.height = random.Number(1, std::min(4, s.g.out_height));
    pool.width = random.Number(1, std::min(4, s.g.out_width));
    pool.stride_y = random.Number(1, 3);
    pool.stride_x = random.Number(1, 3);
    const auto p = golden::PoolOf(pool, s.g.out_height, s.g.out_width);
    if (p.out_height == 0 || p.out_width == 0) continue;
    TrainWindowAttributes w;
    w.kernel = {pool.height, pool.width};
    w.stride = {pool.stride_y, pool.stride_x};
    // What the windows need, or nothing.
    const auto behind = [&](int size, int out, int kernel, int stride,
                            int before) {
      return pool.same
                 ? std::max(0, (out - 1) * stride + kernel - size - before)
                 : 0;
    };
    w.padding = {p.pad_top, p.pad_left,
                 behind(s.g.out_height, p.out_height, pool.height,
                        pool.stride_y, p.pad_top),
                 behind(s.g.out_width, p.out_width, pool.width, pool.stride_x,
                        p.pad_left)};
    const int64_t c = s.g.out_channels;
    const int64_t windows = int64_t{s.g.images} * p.out_height * p.out_width;
    const Type pooled_type =
        Bf16Type({s.g.images, p.out_height, p.out_width, c});
    const Fp32Matrix a = random.Matrix(s.g.positions(), c, true),
                     d = random.Matrix(windows, c, true);
    const Fp32Matrix pooled = golden::PoolForward(s.g, pool, a);
    SCOPED_TRACE(round);
    {
      Case k;
      k.Operand(s.image, a);
      const Literals got = k.Run(
          max ? Op::kTrainMaxPool : Op::kTrainAveragePool, {pooled_type}, w);
      ASSERT_EQ(got.size(), 1u);
      ExpectBits(got[0], pooled_type, pooled, "pooled");
    }
    Case k;
    if (max) {
      k.Operand(s.image, a);
      k.Operand(pooled_type, pooled);
    }
    k.Operand(pooled_type, d);
    const Literals got =
        k.Run(max ? Op::kTrainMaxPoolGradient : Op::kTrainAveragePoolGradient,
              {s.image}, w);
    ASSERT_EQ(got.size(), 1u);
    ExpectBits(got[0], s.image, golden::PoolGradient(s.g, pool, a, pooled, d),
               "da");
    if (HasFatalFailure()) return;
  }
}

TEST(TrainEvaluate, SumsAndUpdates) {
  for (int round = 0; round < 100; ++round) {
    Random random(round);
    random.special = round % 3 == 2;
    const int64_t n = random.Number(1, 40), c = random.Number(1, 20);
    const Type half = Bf16Type({n, c}), full = F32Type({n, c});
    SCOPED_TRACE(round);
    const Fp32Matrix x = random.Matrix(n, c, true);
    {
      Case k;
      k.Operand(half, x);
      const Literals got =
          k.Run(Op::kTrainBiasGradient, {F32Type({c})}, NoAttributes{});
      ASSERT_EQ(got.size(), 1u);
      ExpectBits(got[0], F32Type({c}), golden::SampleSum(x), "sum");
    }
    const bool adam = round % 2 == 0;
    golden::Optimiser optimiser;
    if (adam) {
      golden::Adam a;
      a.rate = 0.01f;
      optimiser = a;
    } else {
      golden::Sgd s;
      s.rate = 0.02f;
      s.momentum = 0.9f;
      optimiser = s;
    }
    golden::TrainingState state;
    state.power1 = 0.7f;
    state.power2 = 0.99f;
    const Fp32Row before =
        (Fp32Row(2) << state.power1, state.power2).finished();
    golden::BeginStep(optimiser, &state);
    TrainAdamAttributes a;
    if (adam) {
      const auto& set = std::get<golden::Adam>(optimiser);
      a.decay1 = static_cast<float>(set.beta1);
      a.decay2 = static_cast<float>(set.beta2);
      a.share1 = static_cast<float>(1 - set.beta1);
      a.share2 = static_cast<float>(1 - set.beta2);
      Case k;
      k.Operand(F32Type({2}), before);
      const Literals got = k.Run(Op::kTrainAdamPowers, {F32Type({2})}, a);
      ASSERT_EQ(got.size(), 1u);
      const Fp32Row want =
          (Fp32Row(2) << state.power1, state.power2).finished();
      ExpectBits(got[0], F32Type({2}), want, "powers");
    }
    golden::Parameter parameter;
    parameter.value = random.Matrix(n, c, false);
    parameter.first = random.Matrix(n, c, false);
    parameter.second = random.Matrix(n, c, false).cwiseAbs();
    const Fp32Matrix gradient = random.Matrix(n, c, false) * 1e3f;
    Case k;
    k.Operand(full, parameter.value);
    k.Operand(full, parameter.first);
    if (adam) k.Operand(full, parameter.second);
    k.Operand(full, gradient);
    if (adam)
      k.Operand(F32Type({2}),
                (Fp32Row(2) << state.power1, state.power2).finished().eval());
    const Fp32Row rate = (Fp32Row(1) << (adam ? 0.01f : 0.02f)).finished();
    k.Operand(F32Type({}), rate);
    golden::Update(optimiser, state, gradient, &parameter);
    std::vector<Type> types(adam ? 3 : 2, full);
    types.push_back(half);
    TrainSgdAttributes sgd;
    const Literals got = k.Run(adam ? Op::kTrainAdam : Op::kTrainSgd, types,
                               adam ? Attributes(a) : Attributes(sgd));
    ASSERT_EQ(got.size(), types.size());
    ExpectBits(got[0], full, parameter.value, "w");
    ExpectBits(got[1], full, parameter.first, "first");
    if (adam) ExpectBits(got[2], full, parameter.second, "second");
    ExpectBits(got.back(), half, golden::RoundedToBf16(parameter.value), "wb");
    if (HasFatalFailure()) return;
  }
}

// All that a step is made of.
TEST(TrainEvaluate, NothingIsLeftOut) {
  for (Op op = Op::kTrainProduct; op <= Op::kTrainSgd;
       op = static_cast<Op>(static_cast<int>(op) + 1))
    EXPECT_TRUE(HostComputes(op)) << OpName(op);
}

}  // namespace
}  // namespace systole::ir
