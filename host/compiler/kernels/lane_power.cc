// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/ir/scalar.h"

namespace systole::lanes {
namespace {

using vpu::Op;

// a^y for a finite a above 0 and a finite y.
Lane PositivePower(LaneGraph& graph, Lane a, Lane y) {
  const LaneBuilder g{graph};
  const Lane tiny = g(Op::kIlt, a, g.K(0x00800000));
  const Lane up = g(Op::kSel, tiny, g(Op::kFmul, a, g.F(16777216.0f)), a);
  const Lane exponent = g(Op::kSar, g(Op::kIsub, up, g.K(0x3F3504F3)), g.K(23));
  const Lane m = g(Op::kIsub, up, g(Op::kShl, exponent, g.K(23)));
  const Lane e =
      g(Op::kI2f, g(Op::kIsub, exponent, g(Op::kIand, tiny, g.K(24))));
  const Lane u = g(Op::kFsub, m, g.F(1)), v = g(Op::kFadd, m, g.F(1));
  const Lane rest = g(Op::kFsub, m, g(Op::kFsub, v, g.F(1)));
  const Lane r = g(Op::kRcp, v);
  const Lane f = g(Op::kFmul, u, r);
  const Lane f_low =
      g(Op::kFmul, g(Op::kFnma, f, rest, g(Op::kFnma, f, v, u)), r);
  const Lane s = g(Op::kFmul, f, f);
  Lane p = g(Op::kFma, s, g.K(0x3E864D42), g.K(0x3EA4258A));
  p = g(Op::kFma, s, p, g.K(0x3ED30BB1));
  p = g(Op::kFma, s, p, g.K(0x3F13BB63));
  p = g(Op::kFma, s, p, g.K(0x3F76384F));
  const Lane c = g.K(0x4038AA3B);
  const Lane high = g(Op::kFmul, f, c);
  Lane low = g(Op::kFma, f, c, g(Op::kFsub, g.K(kSign), high));
  low = g(Op::kFma, f, g.K(0x33257060), low);
  low = g(Op::kFma, f_low, c, low);
  low = g(Op::kFma, g(Op::kFmul, f, s), p, low);
  const Lane sum = g(Op::kFadd, e, high);
  const Lane left = g(Op::kFadd, low, g(Op::kFsub, high, g(Op::kFsub, sum, e)));
  const Lane l = g(Op::kFadd, sum, left);
  const Lane w = g(Op::kFmul, y, l);
  const Lane cut = g(Op::kFmax, g(Op::kFmin, w, g.F(140)), g.F(-160));
  const Lane w_low = g(Op::kFma, y, g(Op::kFsub, left, g(Op::kFsub, l, sum)),
                       g(Op::kFma, y, l, g(Op::kFsub, g.K(kSign), w)));
  const Lane d = g(Op::kIand, g(Op::kFeq, cut, w), w_low);
  const Lane n = g(Op::kF2i, cut);
  const Lane q = g(Op::kExp2, g(Op::kFsub, cut, g(Op::kI2f, n)));
  const Lane t = g(Op::kFma, q, g(Op::kFmul, d, g.K(0x3F317218)), q);
  const auto power = [&](Lane of) {
    return g(Op::kShl, g(Op::kIadd, of, g.K(127)), g.K(23));
  };
  const Lane half = g(Op::kSar, n, g.K(1));
  return g(Op::kFmul, g(Op::kFmul, t, power(half)),
           power(g(Op::kIsub, n, half)));
}

}  // namespace

Lane Power(LaneGraph& graph, Lane x, Lane y) {
  const LaneBuilder g{graph};
  const Lane a = Magnitude(graph, x), size_y = Magnitude(graph, y);
  const Lane small = g(Op::kFlt, size_y, g.F(16777216.0f));
  const Lane integer = g(Op::kF2i, y);
  const Lane equal = g(Op::kFeq, g(Op::kI2f, integer), y);
  const Lane whole = g(Op::kIor, Not(graph, small), equal);
  const Lane odd =
      g(Op::kIand, g(Op::kIand, small, equal), g(Op::kShl, integer, g.K(31)));
  const Lane finite = g(Op::kIlt, a, g.K(kInfinity));
  const Lane regular =
      g(Op::kIand, g(Op::kIand, finite, g(Op::kIlt, g.K(0), a)),
        g(Op::kIlt, size_y, g.K(kInfinity)));
  const Lane special = g(Op::kExp2, g(Op::kFmul, y, g(Op::kLog2, a)));
  Lane size = g(Op::kSel, regular, PositivePower(graph, a, y), special);
  size = g(Op::kSel, g(Op::kIeq, a, g.K(kOne)), g.K(kOne), size);
  Lane result = g(Op::kIor, size, g(Op::kIand, odd, x));
  const Lane root = g(Op::kIand, g(Op::kFlt, x, g.K(0)),
                      g(Op::kIand, finite, Not(graph, whole)));
  const Lane none =
      g(Op::kIor, root, g(Op::kIor, IsNanLane(graph, x), IsNanLane(graph, y)));
  result = g(Op::kSel, none, g.K(ir::kNanBits), result);
  const Lane one =
      g(Op::kIor, g(Op::kFeq, y, g.K(0)), g(Op::kIeq, x, g.K(kOne)));
  return g(Op::kSel, one, g.K(kOne), result);
}

}  // namespace systole::lanes
