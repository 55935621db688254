// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Adam's kernel on a device against the golden model, to the bit, with
// gradients from the smallest to the largest, infinite ones and NaNs.
// Options: --backend=iss|rtl --preset=mini|lite|v2 --rows=n --seed=n.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/options.h"
#include "tests/vpu/run_kernel.h"
#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"
#include "verif/golden/optimiser.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "mini";
int g_rows = 61;  // a round of 16 rows, and a last one that is not full
uint64_t g_seed = 1;

using golden::Fp32Matrix;

float Gradient(int64_t index, std::mt19937_64& rng) {
  constexpr float kEdges[] = {0.0f,   -0.0f,    1e-38f,    1.8e19f,
                              1.9e19, -1.9e19f, 3.4e38f,   -3.4e38f,
                              1e25f,  -1e30f,   HUGE_VALF, -HUGE_VALF,
                              0x1p63, -0x1p63f, 0x1.8p63f, 1e-30f};
  constexpr int64_t kCount = std::size(kEdges);
  if (index < kCount) return kEdges[index];
  if (index == kCount) return NAN;
  const int exponent = std::uniform_int_distribution<>(-140, 127)(rng);
  return std::ldexp(std::uniform_real_distribution<float>(-2, 2)(rng),
                    exponent);
}

TEST(KernelAdam, DeviceMatchesGoldenAndStaysFinite) {
  SCOPED_TRACE("--seed=" + std::to_string(g_seed));
  const auto device = OpenStalled(g_backend, g_preset, g_seed);
  ASSERT_TRUE(device.ok()) << device.status();
  const int64_t lanes = (*device)->preset().cols;
  const int64_t count = g_rows * lanes;
  std::mt19937_64 rng(g_seed);
  golden::TrainingState state;
  const golden::Adam adam;
  golden::Parameter p;
  p.value = Fp32Matrix::Random(g_rows, lanes);
  p.first = p.second = Fp32Matrix::Zero(g_rows, lanes);
  for (int step = 0; step < 3; ++step) {
    golden::BeginStep(adam, &state);
    Fp32Matrix gradient(g_rows, lanes);
    // The first step's edges are followed by small gradients.
    for (int64_t i = 0; i < count; ++i)
      gradient.data()[i] = step == 1 ? 1e-3f : Gradient(i, rng);
    std::vector<float> input;
    for (const Fp32Matrix* part : {&p.value, &p.first, &p.second, &gradient})
      input.insert(input.end(), part->data(), part->data() + count);
    const auto inverse = [](float power) {
      return golden::fp32::FromBits(
          golden::Reciprocal(golden::fp32::ToBits(1 - power)));
    };
    for (const float value : {state.power1, state.power2, inverse(state.power1),
                              inverse(state.power2), adam.rate})
      input.insert(input.end(), lanes, value);
    const int64_t bytes = WholeBeats(static_cast<int64_t>(input.size()) * 4);
    input.resize(bytes / 4);
    const auto bits = [](double value) {
      return int64_t{golden::fp32::ToBits(static_cast<float>(value))};
    };
    const auto got = RunKernel(device->get(), "adam",
                               {{"w", 0},
                                {"m", 4 * count},
                                {"v", 8 * count},
                                {"g", 12 * count},
                                {"wb", bytes},
                                {"rows", g_rows},
                                {"c1", bits(1 - adam.beta1)},
                                {"c2", bits(1 - adam.beta2)},
                                {"powers", 16 * count}},
                               BytesOf(input));
    ASSERT_TRUE(got.ok()) << got.status();
    const Fp32Matrix before = p.value;
    golden::Update(adam, state, gradient, &p);
    for (int64_t i = 0; i < count; ++i) {
      const float w = p.value.data()[i];
      ASSERT_EQ(ValueOf<uint16_t>(*got, i),
                golden::fp32::ToBits(golden::fp32::Bf16(w)) >> 16)
          << "step " << step << ", gradient " << gradient.data()[i];
      if (std::isnan(before.data()[i]) || std::isnan(gradient.data()[i])) {
        EXPECT_TRUE(std::isnan(w));
      } else {
        // No step is longer than the rate times 1 / sqrt(1 - beta2).
        EXPECT_LT(std::abs(w - before.data()[i]), 40 * adam.rate)
            << gradient.data()[i];
      }
    }
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"rows", &systole::g_rows},
                                             {"seed", &systole::g_seed}});
}
