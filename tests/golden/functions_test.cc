// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions of docs/numerics.md: special values, exact results, and error
// bounds and monotonicity over 2^22 arguments of each, against the host's
// long double.
//
// Every argument there is (2^32 a function, half an hour):
//   golden_functions_test --gtest_also_run_disabled_tests
//   --gtest_filter='*Every*'

#include "verif/golden/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace systole::golden {
namespace {

static_assert(LDBL_MANT_DIG >= 64, "no reference for the error bounds");

constexpr uint32_t kSign = 0x80000000, kInf = 0x7F800000, kNan = 0x7FC00000;
constexpr uint32_t kOne = 0x3F800000;

float ToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

using Function = std::function<uint32_t(uint32_t)>;

struct Case {
  const char* name;
  uint32_t (*function)(uint32_t);
  long double (*reference)(long double);
  double bound;   // of the error in units in the last place
  bool falls[2];  // with a growing magnitude: of positive, of negative
  // Steps against that direction among all neighbours, each of one bit.
  int64_t turns[2] = {0, 0};
};

long double Exp2Reference(long double x) { return std::exp2(x); }
long double Log2Reference(long double x) { return std::log2(x); }
long double RcpReference(long double x) { return 1 / x; }
long double RsqrtReference(long double x) { return 1 / std::sqrt(x); }
long double TanhReference(long double x) { return std::tanh(x); }
long double ExpReference(long double x) { return std::exp(x); }
long double LogReference(long double x) { return std::log(x); }

// The bounds that the page states.
constexpr Case kCases[] = {
    {"exp2", Exp2, Exp2Reference, 0.53, {false, true}},
    {"log2", Log2, Log2Reference, 0.57, {false, false}},
    {"rcp", Reciprocal, RcpReference, 0.54, {true, false}},
    {"rsqrt", ReciprocalSqrt, RsqrtReference, 0.59, {true, true}},
    {"tanh", Tanh, TanhReference, 0.74, {false, true}},
    {"exp", Exp, ExpReference, 1.02, {false, true}, {22334, 114}},
    {"log", Log, LogReference, 1.2457, {false, false}},
};

struct Report {
  double worst = 0;  // units in the last place
  uint32_t worst_at = 0;
  int64_t turns = 0;  // steps against the direction
  int64_t numbers = 0;
};

// Distance from an exact value in units of its last place; infinity counts as
// 2^128.
double Error(uint32_t result, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = exact == 0 ? -149 : std::clamp(exponent - 24, -149, 104);
  const bool infinite = (result & ~kSign) == kInf;
  const long double value =
      infinite ? std::copysign(std::ldexp(1.0L, 128), ToFloat(result))
               : static_cast<long double>(ToFloat(result));
  if (infinite && std::fabs(exact) > value) return 0;
  return static_cast<double>(std::ldexp(std::fabs(value - exact), -last));
}

// Arguments of one sign, i * step + offset, the offset at random.
Report Measure(const Case& c, const Function& function, bool negative,
               uint64_t step) {
  Report report;
  std::mt19937 rng(1);
  float previous = 0;
  bool first = true;
  for (uint64_t i = 0; i < kInf; i += step) {
    const uint32_t a =
        std::min<uint32_t>(i + rng() % step, kInf - 1) | (negative ? kSign : 0);
    const long double exact = c.reference(ToFloat(a));
    const float result = ToFloat(function(a));
    EXPECT_EQ(std::isnan(exact), std::isnan(result)) << std::hex << a;
    if (std::isnan(exact) || std::isinf(exact)) continue;
    ++report.numbers;
    const double error = Error(ToBits(result), exact);
    if (!(error <= report.worst)) report.worst = error, report.worst_at = a;
    const bool turned =
        c.falls[negative] ? !(result <= previous) : !(result >= previous);
    if (!first && turned) ++report.turns;
    previous = result;
    first = false;
  }
  return report;
}

class FunctionTest : public ::testing::TestWithParam<Case> {
 protected:
  void Sweep(uint64_t step) {
    const Case& c = GetParam();
    for (bool negative : {false, true}) {
      const Report report = Measure(c, c.function, negative, step);
      std::printf("%s of %s: %lld results, error at most %.4f at %08x\n",
                  c.name, negative ? "negatives" : "positives",
                  static_cast<long long>(report.numbers), report.worst,
                  report.worst_at);
      EXPECT_LE(report.worst, c.bound) << std::hex << report.worst_at;
      EXPECT_EQ(report.turns, step == 1 ? c.turns[negative] : 0);
    }
  }
};

TEST_P(FunctionTest, ErrorBoundAndMonotonicity) { Sweep(1024); }
TEST_P(FunctionTest, DISABLED_EveryArgument) { Sweep(1); }

// The arguments with the largest errors, and one at which exp falls.
TEST(KnownArguments, ErrorsAndOrder) {
  const auto log = static_cast<long double>(ToFloat(0x3F87C15B));
  EXPECT_NEAR(Error(Log(0x3F87C15B), std::log(log)), 1.24561, 1e-5);
  const auto exp = static_cast<long double>(ToFloat(0x42B008EE));
  EXPECT_NEAR(Error(Exp(0x42B008EE), std::exp(exp)), 1.01882, 1e-5);
  EXPECT_EQ(Exp(0x3F532749), Exp(0x3F532748) - 1);
}

// The measure itself: some results are off by one place.
TEST_P(FunctionTest, MeasureSeesOneWrongPlace) {
  const Case& c = GetParam();
  int64_t faults = 0;
  const auto wrong = [&](uint32_t a) {
    const uint32_t result = c.function(a);
    const bool number = (result & ~kSign) < kInf && (result & ~kSign) > 0;
    if (!number || a >> 13 & 7) return result;
    ++faults;
    return result + 1;
  };
  const Report report = Measure(c, wrong, false, 8192);
  EXPECT_GT(faults, 1000);
  EXPECT_GT(report.worst, 1.0);
  EXPECT_LT(report.worst, 2.6);  // from 1 on a place is twice as wide
}

INSTANTIATE_TEST_SUITE_P(Functions, FunctionTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(SpecialValues, NansGiveTheOneNan) {
  for (const Case& c : kCases) {
    for (uint32_t nan : {0x7F800001u, 0x7FBFFFFFu, kNan, 0x7FFFFFFFu}) {
      EXPECT_EQ(c.function(nan), kNan) << c.name;
      EXPECT_EQ(c.function(nan | kSign), kNan) << c.name;
    }
  }
}

TEST(SpecialValues, ZerosAndInfinities) {
  EXPECT_EQ(Exp2(0), kOne);
  EXPECT_EQ(Exp2(kSign), kOne);
  EXPECT_EQ(Exp2(kInf), kInf);
  EXPECT_EQ(Exp2(kSign | kInf), 0u);
  EXPECT_EQ(Log2(0), kSign | kInf);
  EXPECT_EQ(Log2(kSign), kSign | kInf);
  EXPECT_EQ(Log2(kInf), kInf);
  EXPECT_EQ(Log2(kSign | kInf), kNan);
  EXPECT_EQ(ReciprocalSqrt(0), kInf);
  EXPECT_EQ(ReciprocalSqrt(kSign), kSign | kInf);
  EXPECT_EQ(ReciprocalSqrt(kInf), 0u);
  EXPECT_EQ(ReciprocalSqrt(kSign | kInf), kNan);
  for (uint32_t sign : {0u, kSign}) {
    EXPECT_EQ(Reciprocal(sign), sign | kInf);
    EXPECT_EQ(Reciprocal(sign | kInf), sign);
    EXPECT_EQ(Tanh(sign), sign);
    EXPECT_EQ(Tanh(sign | kInf), sign | kOne);
  }
}

TEST(SpecialValues, ExponentialAndLogarithm) {
  for (uint32_t zero : {0u, kSign}) {
    EXPECT_EQ(Exp(zero), kOne);
    EXPECT_EQ(Log(zero), kSign | kInf);
  }
  EXPECT_EQ(Exp(kInf), kInf);
  EXPECT_EQ(Exp(kSign | kInf), 0u);
  EXPECT_LT(Exp(0x42B17217), kInf);  // the largest argument below
  EXPECT_EQ(Exp(0x42B17218), kInf);
  EXPECT_EQ(Exp(ToBits(-104.0f)), 0u);
  EXPECT_EQ(Log(kInf), kInf);
  EXPECT_EQ(Log(kOne), 0u);
  EXPECT_EQ(Log(kSign | kOne), kNan);
}

TEST(SpecialValues, NegativeArguments) {
  for (uint32_t a :
       {0x00000001u, 0x007FFFFFu, 0x00800000u, kOne, 0x7F7FFFFFu}) {
    EXPECT_EQ(Log2(a | kSign), kNan);
    EXPECT_EQ(ReciprocalSqrt(a | kSign), kNan);
  }
}

TEST(SpecialValues, EdgesOfTheRange) {
  EXPECT_EQ(Exp2(ToBits(128.0f)), kInf);
  EXPECT_EQ(Exp2(ToBits(std::nextafter(128.0f, 0.0f))), 0x7F7FFFA7u);
  EXPECT_EQ(Exp2(0x7F7FFFFF), kInf);
  EXPECT_EQ(Exp2(ToBits(-149.0f)), 1u);
  EXPECT_EQ(Exp2(ToBits(std::nextafter(-150.0f, 0.0f))), 1u);
  EXPECT_EQ(Exp2(ToBits(-150.0f)), 1u);  // halfway; the table is above 1
  EXPECT_EQ(Exp2(ToBits(std::nextafter(-150.0f, -200.0f))), 0u);
  EXPECT_EQ(Exp2(0xFF7FFFFF), 0u);
  EXPECT_EQ(Exp2(1), kOne);
  EXPECT_EQ(Exp2(kSign | 1), kOne);
  EXPECT_EQ(Reciprocal(0x00200000), kInf);  // 2^-128
  EXPECT_EQ(Reciprocal(0x00200001), 0x7F7FFFF8u);
  EXPECT_EQ(Reciprocal(0x7F000000), 0x00400000u);  // 2^127: subnormal
  EXPECT_EQ(Reciprocal(0x7F7FFFFF), 0x00200000u);
  EXPECT_EQ(ReciprocalSqrt(1), ToBits(std::ldexp(std::sqrt(2.0f), 74)));
  EXPECT_EQ(Log2(1), ToBits(-149.0f));
  EXPECT_EQ(Log2(0x7F7FFFFF), ToBits(128.0f));
  EXPECT_EQ(Tanh(0x397FFFFF), 0x397FFFFFu);
  EXPECT_EQ(Tanh(1), 1u);
  EXPECT_EQ(Tanh(0x41200000), kOne);
}

TEST(ExactResults, PowersOfTwo) {
  for (int n = -149; n < 128; ++n) {
    const uint32_t power = ToBits(std::ldexp(1.0f, n));
    const uint32_t number = ToBits(static_cast<float>(n));
    EXPECT_EQ(Exp2(number), power) << n;
    EXPECT_EQ(Log2(power), number) << n;
    EXPECT_EQ(Reciprocal(power), ToBits(std::ldexp(1.0f, -n))) << n;
    if (n % 2 == 0) {
      EXPECT_EQ(ReciprocalSqrt(power), ToBits(std::ldexp(1.0f, -n / 2))) << n;
    }
  }
}

TEST(Symmetry, ReciprocalAndTanhAreOdd) {
  std::mt19937 rng(2);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t a = rng() % kInf;
    EXPECT_EQ(Reciprocal(a | kSign), Reciprocal(a) | kSign);
    EXPECT_EQ(Tanh(a | kSign), Tanh(a) | kSign);
  }
}

}  // namespace
}  // namespace systole::golden
