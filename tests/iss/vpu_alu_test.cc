// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes of the ALUs: fp32 against exact sums in whole numbers, the rest against
// the sentences of docs/vpu.md in wider arithmetic.

#include "sim/iss/vpu_alu.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "sim/iss/vpu_lanes.h"
#include "verif/golden/fused.h"

namespace systole::iss {
namespace {

using vpu::Op;
using Lane = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;

constexpr uint32_t kOne = 0x3F800000, kMinusZero = 0x80000000,
                   kSignBit = 0x80000000;

uint32_t Fma(uint32_t a, uint32_t b, uint32_t c) {
  return golden::ExactFusedMultiplyAdd(golden::kFp32, golden::kFp32, a, b, c);
}
bool Nan(uint32_t a) { return std::isnan(FloatOf(a)); }
// Orders numbers with -0 below +0.
int64_t Rank(uint32_t a) {
  return (a & kSignBit) != 0 ? -int64_t{a & ~kSignBit} - 1 : int64_t{a};
}
int64_t Wide(uint32_t a) { return static_cast<int32_t>(a); }
uint32_t Low(int64_t v) { return static_cast<uint32_t>(v); }
uint32_t Int(uint32_t a, double (*round)(double)) {
  const double v = FloatOf(a);
  if (std::isnan(v)) return 0;
  return Low(
      static_cast<int64_t>(std::clamp(round(v), -2147483648.0, 2147483647.0)));
}
// To bf16 by looking at both neighbours.
uint32_t ToBf16(uint32_t a) {
  if (Nan(a)) return kNan;
  if (std::isinf(FloatOf(a))) return a;
  const uint32_t low = a & 0xFFFF0000, high = low + 0x10000;
  const double v = FloatOf(a), l = FloatOf(low);
  // Of the largest numbers the upper neighbour is infinity, which stands for
  // 2^128.
  const double h = std::isinf(FloatOf(high))
                       ? std::copysign(std::ldexp(1.0, 128), v)
                       : FloatOf(high);
  const double to_low = std::abs(v - l), to_high = std::abs(h - v);
  if (to_low != to_high) return to_low < to_high ? low : high;
  return (low >> 16 & 1) == 0 ? low : high;
}

const std::map<Op, Lane>& Lanes() {
  const auto compare = [](auto f) {
    return [f](uint32_t a, uint32_t b, uint32_t) {
      return f(double{FloatOf(a)}, double{FloatOf(b)}) ? 0xFFFFFFFFu : 0u;
    };
  };
  const auto wide = [](auto f) {
    return [f](uint32_t a, uint32_t b, uint32_t) {
      return Low(f(Wide(a), Wide(b)));
    };
  };
  static const std::map<Op, Lane> lanes = {
      {Op::kFadd, [](auto a, auto b, auto) { return Fma(a, kOne, b); }},
      {Op::kFsub,
       [](auto a, auto b, auto) { return Fma(a, kOne, b ^ kSignBit); }},
      {Op::kFmul, [](auto a, auto b, auto) { return Fma(a, b, kMinusZero); }},
      {Op::kFma, [](auto a, auto b, auto c) { return Fma(a, b, c); }},
      {Op::kFnma,
       [](auto a, auto b, auto c) { return Fma(a ^ kSignBit, b, c); }},
      {Op::kFmin,
       [](auto a, auto b, auto) {
         return Nan(a) || Nan(b) ? kNan : Rank(a) < Rank(b) ? a : b;
       }},
      {Op::kFmax,
       [](auto a, auto b, auto) {
         return Nan(a) || Nan(b) ? kNan : Rank(a) < Rank(b) ? b : a;
       }},
      {Op::kFeq, compare([](double a, double b) { return a == b; })},
      {Op::kFlt, compare([](double a, double b) { return a < b; })},
      {Op::kFle, compare([](double a, double b) { return a <= b; })},
      {Op::kSel, [](auto a, auto b, auto c) { return a ? b : c; }},
      {Op::kIadd, wide([](int64_t a, int64_t b) { return a + b; })},
      {Op::kIsub, wide([](int64_t a, int64_t b) { return a - b; })},
      {Op::kImul, wide([](int64_t a, int64_t b) { return a * b; })},
      {Op::kIlt, wide([](int64_t a, int64_t b) { return -int64_t{a < b}; })},
      {Op::kIeq, wide([](int64_t a, int64_t b) { return -int64_t{a == b}; })},
      {Op::kImin, wide([](int64_t a, int64_t b) { return std::min(a, b); })},
      {Op::kImax, wide([](int64_t a, int64_t b) { return std::max(a, b); })},
      {Op::kIand, wide([](int64_t a, int64_t b) { return a & b; })},
      {Op::kIor, wide([](int64_t a, int64_t b) { return a | b; })},
      {Op::kIxor, wide([](int64_t a, int64_t b) { return a ^ b; })},
      {Op::kShl,
       [](auto a, auto b, auto) {
         return Low(static_cast<int64_t>(uint64_t{a} << (b % 32)));
       }},
      {Op::kShr,
       [](auto a, auto b, auto) {
         return Low(static_cast<int64_t>(uint64_t{a} >> (b % 32)));
       }},
      {Op::kSar, [](auto a, auto b, auto) { return Low(Wide(a) >> (b % 32)); }},
      {Op::kF2i, [](auto a, auto, auto) { return Int(a, std::nearbyint); }},
      {Op::kF2iFloor, [](auto a, auto, auto) { return Int(a, std::floor); }},
      {Op::kI2f,
       [](auto a, auto, auto) {
         return BitsOf(static_cast<float>(static_cast<double>(Wide(a))));
       }},
      {Op::kBf16, [](auto a, auto, auto) { return ToBf16(a); }},
      {Op::kSr,
       [](auto a, auto b, auto) {
         if (Nan(a)) return kNan;
         if (std::isinf(FloatOf(a))) return a;
         const uint64_t sum = uint64_t{a} + b % 65536;
         return static_cast<uint32_t>(sum - sum % 65536);
       }},
      {Op::kMov, [](auto a, auto, auto) { return a; }},
  };
  return lanes;
}

TEST(VpuAlu, EachOperationLaneByLane) {
  const std::vector<uint32_t> special = {
      0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x807FFFFF,
      0x00800000, 0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000,
      0x40200000, 0xC0200000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F8000, 0x7F7F7FFF,
      0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFFFFFFF, 0x7FFFFFFF,
      0x4F000000, 0xCF000000, 0x4EFFFFFF, 0xCF000001, 0x3F808000, 0x3F818000,
      31,         32,         0x33000000, 0x0000FFFF, 0x4B000001, 0x4B800001};
  std::mt19937 random(3);
  const auto value = [&]() -> uint32_t {
    if (random() % 4 == 0) return special[random() % special.size()];
    if (random() % 3 == 0) return random();
    return (random() & 0x807FFFFF) | (110 + random() % 40) << 23;
  };
  std::vector<uint32_t> a, b, c;
  for (uint32_t x : special) {
    for (uint32_t y : special) {
      for (uint32_t z : special) a.push_back(x), b.push_back(y), c.push_back(z);
    }
  }
  while (a.size() < 200000)
    a.push_back(value()), b.push_back(value()), c.push_back(value());
  std::vector<uint32_t> out(a.size());
  for (const vpu::OpInfo& info : vpu::kOps) {
    const bool is_alu =
        info.cls >= vpu::Class::kFloat && info.cls <= vpu::Class::kConvert;
    if (!is_alu && info.op != Op::kMov) continue;
    ASSERT_TRUE(Lanes().count(info.op)) << info.name;
    const Lane& lane = Lanes().at(info.op);
    ComputeRow(info.op, a.data(), b.data(), c.data(), a.size(), out.data());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(out[i], lane(a[i], b[i], c[i]))
          << info.name << std::hex << " 0x" << a[i] << " 0x" << b[i] << " 0x"
          << c[i];
    }
  }
}

}  // namespace
}  // namespace systole::iss
