// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What complex numbers become when a program is imported, evaluated by the
// golden model, against std::complex; and Fourier transforms against their sums
// in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/import/hlo/hlo_fourier.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/evaluate.h"
#include "tests/stablehlo/artifacts.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::import {
namespace {

using Number = std::complex<long double>;
using Numbers = std::vector<Number>;
using ::testing::HasSubstr;

constexpr int kElements = 4096;

ir::Literal LiteralOf(const Numbers& values) {
  std::vector<float> parts;
  for (const Number& value : values) {
    parts.push_back(static_cast<float>(value.real()));
    parts.push_back(static_cast<float>(value.imag()));
  }
  return ir::Literal(std::move(parts));
}

Numbers NumbersOf(const ir::Literal& literal) {
  const std::vector<float>& parts = literal.values<float>();
  Numbers values;
  for (size_t i = 0; i + 1 < parts.size(); i += 2)
    values.emplace_back(parts[i], parts[i + 1]);
  return values;
}

Numbers Random(std::mt19937_64& random, size_t count, int low, int high) {
  std::uniform_real_distribution<float> significand(0.5, 1);
  std::uniform_int_distribution<int> exponent(low, high);
  const auto part = [&] {
    const float size = std::ldexp(significand(random), exponent(random));
    return random() % 30 == 0 ? 0 : random() % 2 == 0 ? size : -size;
  };
  Numbers values;
  for (size_t i = 0; i < count; ++i) {
    const float re = part();
    values.emplace_back(re, part());
  }
  return values;
}

std::vector<ir::Literal> Golden(const std::string& name,
                                const std::vector<ir::Literal>& inputs) {
  const auto program = ImportStableHlo(Artifact(name));
  EXPECT_TRUE(program.ok()) << program.status();
  auto results = golden::RunHlo(*program->module, inputs);
  EXPECT_TRUE(results.ok()) << results.status();
  const auto same = ir::EvaluateModule(*program->module, inputs);
  EXPECT_TRUE(same.ok()) << same.status();
  for (size_t i = 0; i < results->size(); ++i)
    EXPECT_EQ((*results)[i].Bytes(), (*same)[i].Bytes()) << "output " << i;
  return *std::move(results);
}

// Within `tolerance` of the size of what is wanted, and a rounding of subnormal
// numbers. What is beyond fp32 may be anything.
void ExpectNear(const char* name, const Numbers& got, const Numbers& wanted,
                const Numbers& x, const Numbers& y, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  int checked = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const long double size = std::abs(wanted[i]);
    if (!(size < 3.3e38L)) continue;
    ++checked;
    // Not written as >, for NaN.
    ASSERT_TRUE(std::abs(got[i] - wanted[i]) <= tolerance * size + 0x1p-147)
        << name << " of " << x[i] << ", " << y[i] << ": " << got[i]
        << " instead of " << wanted[i];
  }
  EXPECT_GT(checked, static_cast<int>(got.size()) / 4) << name;
}

struct Function {
  const char* name;
  std::function<Number(Number, Number)> f;
  bool any_size;  // otherwise within 2^-20..2^6
  double tolerance = 4e-7;
};

const std::vector<Function>& Functions() {
  static const auto& functions = *new std::vector<Function>{
      {"negate", [](Number x, Number) { return -x; }, true, 0},
      {"sign",
       [](Number x, Number) { return x == Number() ? x : x / std::abs(x); },
       true, 2e-7},
      {"sqrt", [](Number x, Number) { return std::sqrt(x); }, true, 2e-7},
      {"rsqrt", [](Number x, Number) { return 1.0L / std::sqrt(x); }, true,
       2e-7},
      {"log", [](Number x, Number) { return std::log(x); }, true, 2e-7},
      {"log_plus_one", [](Number x, Number) { return std::log(1.0L + x); },
       false},
      {"exponential", [](Number x, Number) { return std::exp(x); }, false},
      {"exponential_minus_one",
       [](Number x, Number) { return std::exp(x) - 1.0L; }, false},
      {"logistic",
       [](Number x, Number) { return 1.0L / (1.0L + std::exp(-x)); }, false,
       1e-3},  // near its poles
      {"sine", [](Number x, Number) { return std::sin(x); }, false},
      {"cosine", [](Number x, Number) { return std::cos(x); }, false},
      {"tan", [](Number x, Number) { return std::tan(x); }, false},
      {"tanh", [](Number x, Number) { return std::tanh(x); }, false},
      {"add", [](Number x, Number y) { return x + y; }, true, 2e-7},
      {"subtract", [](Number x, Number y) { return x - y; }, true, 2e-7},
      {"multiply", [](Number x, Number y) { return x * y; }, true, 2e-7},
      {"divide", [](Number x, Number y) { return x / y; }, true, 2e-7},
      {"power",
       [](Number x, Number y) {
         if (x != Number()) return std::pow(x, y);
         // 0 to the power of what has no positive real part has no value.
         return y == Number()  ? Number(1)
                : y.real() > 0 ? Number()
                               : Number(INFINITY);
       },
       false, 1e-5}};
  return functions;
}

TEST(ComplexTest, FunctionsAreThoseOfStd) {
  std::mt19937_64 random(1);
  for (const bool any_size : {true, false}) {
    const int low = any_size ? -149 : -20, high = any_size ? 128 : 6;
    Numbers x = Random(random, kElements, low, high);
    Numbers y = Random(random, kElements, low, any_size ? high : 2);
    // Parts of like sizes, and the same.
    for (int i = 0; i < kElements / 2; ++i)
      x[i].imag(i % 8 == 0 ? x[i].real()
                           : static_cast<float>(x[i].real() * 0.7L));
    const auto results =
        Golden("complex_functions", {LiteralOf(x), LiteralOf(y)});
    ASSERT_EQ(results.size(), Functions().size() + 1);
    Numbers sizes, wanted;
    for (const float size : results[0].values<float>())
      sizes.emplace_back(size);
    for (const Number& value : x) wanted.emplace_back(std::abs(value));
    ExpectNear("abs", sizes, wanted, x, y, 2e-7);
    for (size_t i = 0; i < Functions().size(); ++i) {
      const Function& function = Functions()[i];
      if (any_size && !function.any_size) continue;
      wanted.clear();
      for (int e = 0; e < kElements; ++e)
        wanted.push_back(function.f(x[e], y[e]));
      ExpectNear(function.name, NumbersOf(results[i + 1]), wanted, x, y,
                 function.tolerance);
    }
  }
}

TEST(ComplexTest, RegionsTakeBothParts) {
  std::mt19937_64 random(2);
  const Numbers x = Random(random, 6, -2, 2), y = Random(random, 6, -2, 2);
  for (const bool chosen : {false, true}) {
    const auto results =
        Golden("complex_regions",
               {LiteralOf(x), LiteralOf(y),
                ir::Literal(std::vector<ir::Bool>{ir::Bool(chosen)})});
    ASSERT_EQ(results.size(), 8);
    Number sum, product = 1;
    Numbers picked = y, powers = x, sorted = x, scattered = x;
    const Numbers ramp = {{1, 0.5},   {2, 0.25}, {3, 0.125},
                          {4, -1.0L}, {5, -2},   {6, -3}};
    const int places[] = {1, 1, 4, 0, 4, 5};
    for (int i = 0; i < 6; ++i) {
      sum += x[i];
      product *= x[i];
      if (chosen) picked[i] *= ramp[i];
      powers[i] *= y[i] * y[i] * y[i];
      scattered[places[i]] += y[i];
    }
    std::stable_sort(
        sorted.begin(), sorted.end(),
        [](const Number& a, const Number& b) { return a.imag() < b.imag(); });
    Numbers dot(4);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 3; ++k)
          dot[i * 2 + j] += x[i * 3 + k] * y[k * 2 + j];
    const std::vector<Numbers> wanted = {{sum},  {product}, picked,
                                         powers, sorted,    scattered};
    for (size_t i = 0; i < wanted.size(); ++i)
      ExpectNear("a region", NumbersOf(results[i]), wanted[i], x, y, 1e-5);
    ExpectNear("a product", NumbersOf(results[7]), dot, x, y, 1e-5);
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(bool(results[6].values<ir::Bool>()[i]), i == 2 || i == 3) << i;
  }
}

TEST(ComplexTest, ArgumentsAreStoredAsComplex) {
  const auto program = ImportStableHlo(Artifact("complex_regions"));
  ASSERT_TRUE(program.ok()) << program.status();
  const ir::Node& x = *program->module->inputs()[0];
  EXPECT_EQ(x.type.shape, (ir::Ints{6, 2}));
  EXPECT_EQ(x.attr<ir::ParameterAttributes>().stored, ir::kComplexStored);
  EXPECT_EQ(
      program->module->inputs()[2]->attr<ir::ParameterAttributes>().stored, "");
  EXPECT_EQ(program->module->outputs[0].stored, ir::kComplexStored);
  EXPECT_EQ(program->module->outputs[6].stored, "");
}

// The sum itself. The largest error, relative to the largest value.
double Error(const Numbers& got, const Numbers& x, bool inverse) {
  const size_t n = x.size();
  long double error = 0, largest = 0;
  Numbers roots;
  for (size_t i = 0; i < n; ++i)
    roots.push_back(std::polar(
        1.0L, (inverse ? 2 : -2) * static_cast<long double>(M_PIl) * i / n));
  for (size_t k = 0; k < got.size(); ++k) {
    Number sum;
    for (size_t j = 0; j < n; ++j) sum += x[j] * roots[j * k % n];
    if (inverse) sum /= n;
    largest = std::max(largest, std::abs(sum));
    error = std::max(error, std::abs(sum - got[k]));
  }
  return static_cast<double>(error / largest);
}

class FourierTest : public ::testing::TestWithParam<int64_t> {
 protected:
  // The results of a transform of literals of its own parameters.
  static std::vector<std::vector<float>> Run(
      const std::vector<std::vector<float>>& inputs,
      const std::function<Values(HloBuilder&, const Values&)>& body) {
    ir::Module module("fourier");
    BuildState state;
    HloBuilder b(module, state);
    Values parameters;
    std::vector<ir::Literal> literals;
    for (const std::vector<float>& input : inputs) {
      const auto size = static_cast<int64_t>(input.size());
      parameters.push_back(b.Parameter(
          "x", {ir::ElementType::kFloat32, {size}, std::nullopt}, "x"));
      literals.emplace_back(input);
    }
    for (const Value& value : body(b, parameters))
      module.outputs.push_back({"", value});
    EXPECT_TRUE(state.status.ok()) << state.status;
    const auto results = ir::EvaluateModule(module, literals);
    EXPECT_TRUE(results.ok()) << results.status();
    std::vector<std::vector<float>> values;
    for (const ir::Literal& result : *results)
      values.push_back(result.values<float>());
    return values;
  }
};

Numbers Joined(const std::vector<std::vector<float>>& parts) {
  Numbers values;
  for (size_t i = 0; i < parts[0].size(); ++i)
    values.emplace_back(parts[0][i], parts[1][i]);
  return values;
}

TEST_P(FourierTest, IsTheSum) {
  const int64_t n = GetParam();
  std::mt19937_64 random(n);
  std::normal_distribution<float> normal;
  std::vector<float> re, im;
  Numbers x, real;
  for (int64_t i = 0; i < n; ++i) {
    re.push_back(normal(random));
    im.push_back(normal(random));
    x.emplace_back(re.back(), im.back());
    real.emplace_back(re.back());
  }
  for (const bool inverse : {false, true}) {
    const auto parts = Run({re, im}, [&](HloBuilder& b, const Values& v) {
      const Complex y = Fourier(b, {v[0], v[1]}, inverse);
      return Values{y.re, y.im};
    });
    EXPECT_LE(Error(Joined(parts), x, inverse), 5e-7) << inverse;
  }
  const auto half = Run({re}, [&](HloBuilder& b, const Values& v) {
    const Complex y = FourierOfReal(b, v[0]);
    return Values{y.re, y.im};
  });
  ASSERT_EQ(half[0].size(), n / 2 + 1);
  EXPECT_LE(Error(Joined(half), real, false), 5e-7);
  // And back; what the first and last imaginary parts are makes no difference.
  auto given = half;
  given[1][0] += 1;
  if (n % 2 == 0) given[1].back() -= 3;
  const auto back = Run(given, [&](HloBuilder& b, const Values& v) {
    return Values{FourierToReal(b, {v[0], v[1]}, n)};
  });
  ASSERT_EQ(back[0].size(), re.size());
  for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(back[0][i], re[i], 4e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Lengths, FourierTest,
                         ::testing::Values(1, 2, 3, 4, 7, 12, 97, 128, 257, 360,
                                           521, 1000, 1042, 2048));

TEST(FourierLimitTest, NamesTheLargestLength) {
  EXPECT_TRUE(CheckFourier(kLongestFourier).ok());
  EXPECT_THAT(CheckFourier(kLongestFourier + 1).message(),
              HasSubstr("the largest length is 1048576"));
}

}  // namespace
}  // namespace systole::import
