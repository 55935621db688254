// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/vpu_alu.h"

#include <algorithm>
#include <cmath>

#include "sim/iss/vpu_functions.h"
#include "sim/iss/vpu_lanes.h"

namespace systole::iss {
namespace {

// Applies f(a, b, c) to each lane, fully inlined so that the loop vectorises.
template <typename F>
inline void Map(const uint32_t* __restrict a, const uint32_t* __restrict b,
                const uint32_t* __restrict c, int64_t lanes,
                uint32_t* __restrict out, F f) {
  for (int64_t l = 0; l < lanes; ++l) out[l] = f(a[l], b[l], c[l]);
}

int32_t Signed(uint32_t v) { return static_cast<int32_t>(v); }

}  // namespace

void ComputeRow(vpu::Op op, const uint32_t* a, const uint32_t* b,
                const uint32_t* c, int64_t lanes, uint32_t* out) {
  using vpu::Op;
  const auto map = [=](auto f) { Map(a, b, c, lanes, out, f); };
  const auto map_float = [=](auto f) {
    map([f](uint32_t x, uint32_t y, uint32_t z) {
      return Canonical(f(FloatOf(x), FloatOf(y), FloatOf(z)));
    });
  };
  const auto compare = [=](auto f) {
    map([f](uint32_t x, uint32_t y, uint32_t) {
      return Mask(f(FloatOf(x), FloatOf(y)));
    });
  };
  switch (op) {
    case Op::kFadd:
      return map_float([](float x, float y, float) { return x + y; });
    case Op::kFsub:
      return map_float([](float x, float y, float) { return x - y; });
    case Op::kFmul:
      return map_float([](float x, float y, float) { return x * y; });
    case Op::kFma:
      return map_float(
          [](float x, float y, float z) { return std::fma(x, y, z); });
    case Op::kFnma:
      return map_float(
          [](float x, float y, float z) { return std::fma(-x, y, z); });
    case Op::kFmin:
      return map(
          [](uint32_t x, uint32_t y, uint32_t) { return FloatMin(x, y); });
    case Op::kFmax:
      return map(
          [](uint32_t x, uint32_t y, uint32_t) { return FloatMax(x, y); });
    case Op::kFeq:
      return compare([](float x, float y) { return x == y; });
    case Op::kFlt:
      return compare([](float x, float y) { return x < y; });
    case Op::kFle:
      return compare([](float x, float y) { return x <= y; });
    case Op::kSel:
      return map(
          [](uint32_t x, uint32_t y, uint32_t z) { return x != 0 ? y : z; });
    case Op::kIadd:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x + y; });
    case Op::kIsub:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x - y; });
    case Op::kImul:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x * y; });
    case Op::kIlt:
      return map([](uint32_t x, uint32_t y, uint32_t) {
        return Mask(Signed(x) < Signed(y));
      });
    case Op::kIeq:
      return map([](uint32_t x, uint32_t y, uint32_t) { return Mask(x == y); });
    case Op::kImin:
      return map([](uint32_t x, uint32_t y, uint32_t) {
        return Signed(x) < Signed(y) ? x : y;
      });
    case Op::kImax:
      return map([](uint32_t x, uint32_t y, uint32_t) {
        return Signed(x) > Signed(y) ? x : y;
      });
    case Op::kIand:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x & y; });
    case Op::kIor:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x | y; });
    case Op::kIxor:
      return map([](uint32_t x, uint32_t y, uint32_t) { return x ^ y; });
    case Op::kShl:
      return map(
          [](uint32_t x, uint32_t y, uint32_t) { return x << (y & 31); });
    case Op::kShr:
      return map(
          [](uint32_t x, uint32_t y, uint32_t) { return x >> (y & 31); });
    case Op::kSar:
      return map([](uint32_t x, uint32_t y, uint32_t) {
        return static_cast<uint32_t>(Signed(x) >> (y & 31));
      });
    case Op::kF2i:
      return map([](uint32_t x, uint32_t, uint32_t) {
        return SaturatedInt(std::nearbyint(FloatOf(x)));
      });
    case Op::kF2iFloor:
      return map([](uint32_t x, uint32_t, uint32_t) {
        return SaturatedInt(std::floor(FloatOf(x)));
      });
    case Op::kI2f:
      return map([](uint32_t x, uint32_t, uint32_t) {
        return BitsOf(static_cast<float>(Signed(x)));
      });
    case Op::kBf16:
      return map([](uint32_t x, uint32_t, uint32_t) { return RoundBf16(x); });
    case Op::kSr:
      return map([](uint32_t x, uint32_t y, uint32_t) {
        return RoundStochastically(x, y);
      });
    case Op::kExp2:
      return map([](uint32_t x, uint32_t, uint32_t) { return Exp2(x); });
    case Op::kLog2:
      return map([](uint32_t x, uint32_t, uint32_t) { return Log2(x); });
    case Op::kRcp:
      return map([](uint32_t x, uint32_t, uint32_t) { return Reciprocal(x); });
    case Op::kRsqrt:
      return map([](uint32_t x, uint32_t, uint32_t) {
        return ReciprocalSquareRoot(x);
      });
    case Op::kTanh:
      return map([](uint32_t x, uint32_t, uint32_t) { return Tanh(x); });
    case Op::kMov:
      std::copy(a, a + lanes, out);
      return;
    default:
      return;  // vpu.cc handles these
  }
}

}  // namespace systole::iss
