// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels on the RTL: fused operations, moves, reductions.
#include <gtest/gtest.h>

#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

TEST(RtlTest, KernelsAreTheHosts) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @fused {
  %x = f32[203] parameter(), name="x"
  %y = f32[203] parameter(), name="y"
  %s = f32[] parameter(), name="s"
  %t = f32[203] hlo.broadcast_in_dim(%s), dimensions=[]
  %a = f32[203] hlo.divide(%x, %y)
  %b = f32[203] hlo.exponential(%a)
  %c = f32[203] hlo.sqrt(%x)
  %d = f32[203] hlo.maximum(%b, %c)
  %p = i1[203] hlo.compare(%x, %t), direction=LT
  %e = f32[203] hlo.select(%p, %d, %a)
  %f = bf16[203] hlo.convert(%e)
  %g = i32[203] hlo.convert(%y)
  %h = f32[203] hlo.power(%x, %y)
  return %e as "e", %f as "f", %g as "g", %p as "p", %h as "h"
}
)",
              1);
  check.Check(R"(module @moves {
  %x = f32[9,12] parameter(), name="x"
  %i = f32[] parameter(), name="i"
  %t = f32[12,9] hlo.transpose(%x), permutation=[1,0]
  %b = f32[3,12,9] hlo.broadcast_in_dim(%t), dimensions=[1,2]
  %c = f32[12,18] hlo.concatenate(%t, %t), dimension=1
  return %b as "b", %c as "c"
}
)",
              2);
  check.Check(R"(module @sums {
  %x = f32[9,12] parameter(), name="x"
  %i = f32[] parameter(), name="i"
  %r = f32[12] hlo.reduce(%x, %i), dimensions=[0] {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  %s = f32[9] hlo.reduce(%x, %i), dimensions=[1] {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.maximum(%a, %b)
    return %c
  }
  return %r as "r", %s as "s"
}
)",
              3);
}

}  // namespace
}  // namespace systole::lanes
