// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Sine and cosine" and "Other functions".
#include <initializer_list>

#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/ir/scalar.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr uint32_t kTurns[] = {0x00A2F983, 0x6E4E4415, 0x29FC2757,
                               0xD1F534DD, 0xC0DB6295, 0x993C4390};

struct Angle {
  Lane quadrant, rest;
};

// For magnitudes below 2^17: subtracts a multiple of pi / 2 in three parts.
Angle Small(const LaneBuilder& g, Lane a) {
  const Lane whole = g(Op::kF2i, g(Op::kFmul, a, g.K(0x3F22F983)));
  const Lane n = g(Op::kI2f, whole);
  Lane rest = g(Op::kFnma, n, g.K(0x3FC90FDB), a);
  rest = g(Op::kFnma, n, g.K(0xB33BBD2E), rest);
  return {whole, g(Op::kFnma, n, g.K(0xA6F72CED), rest)};
}

// For other magnitudes: 32 bits of the fraction of a turn, from a 56-bit window
// of 1 / (2 pi).
Angle Large(const LaneBuilder& g, Lane a) {
  // Shifts use only the low five bits of their amount.
  const Lane place = g(Op::kIsub, g(Op::kShr, a, g.K(23)), g.K(144));
  const Lane unplaced = Not(g.graph, place);
  const Lane index = g(Op::kShr, place, g.K(5));
  Lane words[3];
  for (int i = 0; i < 3; ++i) {
    words[i] = g.K(kTurns[i]);
    for (int k = 1; k < 4; ++k)
      words[i] =
          g(Op::kSel, g(Op::kIeq, index, g.K(k)), g.K(kTurns[i + k]), words[i]);
  }
  const auto window = [&](Lane first, Lane second) {
    return g(Op::kIor, g(Op::kShl, first, place),
             g(Op::kShr, g(Op::kShr, second, g.K(1)), unplaced));
  };
  const Lane high = window(words[0], words[1]);
  const Lane low = g(Op::kShr, window(words[1], words[2]), g.K(8));
  const Lane m = g(Op::kIor, g(Op::kIand, a, g.K(0x7FFFFF)), g.K(0x800000));
  // (m * low) >> 24, from halves of 12 bits.
  const Lane bits = g.K(0xFFF), twelve = g.K(12);
  const Lane m1 = g(Op::kShr, m, twelve), m0 = g(Op::kIand, m, bits);
  const Lane low1 = g(Op::kShr, low, twelve), low0 = g(Op::kIand, low, bits);
  const Lane middle =
      g(Op::kIadd, g(Op::kIadd, g(Op::kImul, m1, low0), g(Op::kImul, m0, low1)),
        g(Op::kShr, g(Op::kImul, m0, low0), twelve));
  const Lane carried =
      g(Op::kIadd, g(Op::kImul, m1, low1), g(Op::kShr, middle, twelve));
  const Lane turn = g(Op::kIadd, g(Op::kImul, m, high), carried);
  const Lane quadrant =
      g(Op::kShr, g(Op::kIadd, turn, g.K(0x20000000)), g.K(30));
  const Lane rest = g(Op::kIsub, turn, g(Op::kShl, quadrant, g.K(30)));
  return {quadrant, g(Op::kFmul, g(Op::kI2f, rest), g.K(0x30C90FDB))};
}

Lane SineOf(const LaneBuilder& g, const Angle& angle) {
  const Lane r = angle.rest, s = g(Op::kFmul, r, r);
  Lane p = g(Op::kFma, s, g.K(0x3636CB73), g.K(0xB9500996));
  p = g(Op::kFma, s, p, g.K(0x3C088887));
  p = g(Op::kFma, s, p, g.K(0xBE2AAAAB));
  const Lane sine = g(Op::kFma, g(Op::kFmul, r, s), p, r);
  Lane q = g(Op::kFma, s, g.K(0x37CDD833), g.K(0xBAB60944));
  q = g(Op::kFma, s, q, g.K(0x3D2AAAAA));
  const Lane cosine =
      g(Op::kFma, g(Op::kFmul, s, s), q, g(Op::kFma, s, g.F(-0.5f), g.F(1)));
  const Lane odd = g(Op::kIand, angle.quadrant, g.K(1));
  const Lane size = g(Op::kSel, odd, cosine, sine);
  const Lane sign = g(Op::kShl, g(Op::kIand, angle.quadrant, g.K(2)), g.K(30));
  return g(Op::kIxor, size, sign);
}

// The function of the magnitude of x, shifted by a number of quadrants; NaN if
// x is not finite.
Lane Turned(const LaneBuilder& g, Lane a, uint32_t quadrants) {
  const Angle small = Small(g, a), large = Large(g, a);
  const Lane is_small = g(Op::kIlt, a, g.K(0x48000000));
  Angle angle{g(Op::kSel, is_small, small.quadrant, large.quadrant),
              g(Op::kSel, is_small, small.rest, large.rest)};
  if (quadrants > 0)
    angle.quadrant = g(Op::kIadd, angle.quadrant, g.K(quadrants));
  return SineOf(g, angle);
}

Lane OrNan(const LaneBuilder& g, Lane a, Lane value) {
  return g(Op::kSel, g(Op::kIlt, a, g.K(kInfinity)), value, g.K(ir::kNanBits));
}

}  // namespace

Lane Sine(LaneGraph& graph, Lane x) {
  const LaneBuilder g{graph};
  const Lane a = Magnitude(graph, x);
  const Lane sign = g(Op::kIand, x, g.K(kSign));
  return OrNan(g, a, g(Op::kIxor, Turned(g, a, 0), sign));
}

Lane Cosine(LaneGraph& graph, Lane x) {
  const LaneBuilder g{graph};
  const Lane a = Magnitude(graph, x);
  return OrNan(g, a, Turned(g, a, 1));
}

Lane Tangent(LaneGraph& graph, Lane x) {
  return Divide(graph, Sine(graph, x), Cosine(graph, x));
}

Lane LogPlusOne(LaneGraph& graph, Lane x) {
  const LaneBuilder g{graph};
  const Lane u = g(Op::kFadd, g.F(1), x);
  const Lane log = Logarithm(graph, u);
  const Lane lost = g(Op::kFsub, x, g(Op::kFsub, u, g.F(1)));
  const Lane sum = g(Op::kFma, lost, g(Op::kRcp, u), log);
  const Lane end =
      g(Op::kIor, g(Op::kFeq, u, g.K(0)), g(Op::kIeq, u, g.K(kInfinity)));
  const Lane regular = g(Op::kSel, end, log, sum);
  return g(Op::kSel, g(Op::kIeq, u, g.K(kOne)), x, regular);
}

Lane ExpMinusOne(LaneGraph& graph, Lane x) {
  const LaneBuilder g{graph};
  const Lane t = g(Op::kTanh, g(Op::kFmul, x, g.F(0.5f)));
  const Lane small =
      g(Op::kFmul, g(Op::kFadd, t, t), g(Op::kRcp, g(Op::kFsub, g.F(1), t)));
  const Lane large = g(Op::kFsub, Exponential(graph, x), g.F(1));
  const Lane is_small = g(Op::kFlt, Magnitude(graph, x), g.F(0.5f));
  return g(Op::kSel, is_small, small, large);
}

Lane CubeRoot(LaneGraph& graph, Lane x) {
  const LaneBuilder g{graph};
  const Lane size = Magnitude(graph, x);
  const Lane tiny = g(Op::kIlt, size, g.K(0x00800000));
  const Lane a = g(Op::kSel, tiny, g(Op::kFmul, size, g.F(16777216.0f)), size);
  const Lane t = Power(graph, a, g.K(0x3EAAAAAB));
  const Lane square = g(Op::kFmul, t, t);
  const Lane rest = g(Op::kFnma, square, t, a);
  const Lane third = g(Op::kRcp, g(Op::kFmul, square, g.F(3)));
  const Lane root = g(Op::kFma, rest, third, t);
  const Lane scaled =
      g(Op::kSel, tiny, g(Op::kFmul, root, g.F(0.00390625f)), root);
  const Lane regular = g(Op::kIand, g(Op::kIlt, g.K(0), size),
                         g(Op::kIlt, size, g.K(kInfinity)));
  const Lane result = g(Op::kIor, scaled, g(Op::kIand, x, g.K(kSign)));
  return g(Op::kSel, regular, result, g(Op::kFadd, x, x));
}

Lane ArcTangent2(LaneGraph& graph, Lane y, Lane x) {
  const LaneBuilder g{graph};
  const Lane a = Magnitude(graph, y), b = Magnitude(graph, x);
  const Lane low = g(Op::kImin, a, b), high = g(Op::kImax, a, b);
  const Lane t = g(Op::kSel, g(Op::kIeq, low, high),
                   g(Op::kSel, high, g.F(1), g.K(0)), Divide(graph, low, high));
  const Lane s = g(Op::kFmul, t, t);
  Lane p = g.K(0xBAE9AD89);
  for (const uint32_t c : {0x3C321292u, 0xBCFEBF1Bu, 0x3D6D1509u, 0xBDAC048Eu,
                           0x3DE04627u, 0xBE121043u, 0x3E4CC8F2u, 0xBEAAAA9Fu})
    p = g(Op::kFma, s, p, g.K(c));
  Lane angle = g(Op::kFma, g(Op::kFmul, t, s), p, t);
  const auto less = [&](uint32_t whole, uint32_t rest) {
    return g(Op::kFadd, g(Op::kFsub, g.K(whole), angle), g.K(rest));
  };
  angle = g(Op::kSel, g(Op::kIlt, b, a), less(0x3FC90FDB, 0xB33BBD2E), angle);
  angle =
      g(Op::kSel, g(Op::kSar, x, g.K(31)), less(0x40490FDB, 0xB3BBBD2E), angle);
  const Lane result = g(Op::kIor, angle, g(Op::kIand, y, g.K(kSign)));
  return g(Op::kSel, g(Op::kIlt, g.K(kInfinity), high), g.K(ir::kNanBits),
           result);
}

}  // namespace systole::lanes
