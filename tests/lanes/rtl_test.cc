// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels on the RTL: fused operations, moves, reductions.
#include <gtest/gtest.h>

#include "tests/lanes/device_check.h"
#include "tests/lanes/module_text.h"

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
  // Elements of 16 bits, an odd number of them.
  check.Check(R"(module @halves {
  %x = f16[203] parameter(), name="x"
  %y = i16[203] parameter(), name="y"
  %z = u16[203] parameter(), name="z"
  %a = f16[203] hlo.multiply(%x, %x)
  %b = f16[203] hlo.exponential(%a)
  %c = i16[203] hlo.multiply(%y, %y)
  %d = u16[203] hlo.bitcast_convert(%c)
  %e = u16[203] hlo.shift_right_logical(%d, %z)
  %f = i16[203] hlo.convert(%b)
  %g = f16[203] hlo.bitcast_convert(%y)
  %h = f16[203] hlo.subtract(%g, %x)
  return %b as "b", %c as "c", %e as "e", %f as "f", %h as "h"
}
)",
              4);
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

// Products: tiles from the unified buffer, rows and columns of them, windows
// that the array walks over where they lie.
TEST(RtlTest, ProductsAreTheHosts) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @products {
  %x = f32[2,9,20] parameter(), name="x"
  %y = f32[2,20,11] parameter(), name="y"
  %z = f32[2,11,20] parameter(), name="z"
  %a = f32[2,9,11] hlo.dot_general(%x, %y), lhs_batching=[0],
    rhs_batching=[0], lhs_contracting=[2], rhs_contracting=[1]
  %b = f32[2,9,11] hlo.dot_general(%x, %z), lhs_batching=[0],
    rhs_batching=[0], lhs_contracting=[2], rhs_contracting=[2], precision=HIGH
  return %a as "a", %b as "b"
}
)",
              7);
  check.Check(R"(module @windows {
  %x = f32[2,7,6,5] parameter(), name="x"
  %y = f32[3,2,5,9] parameter(), name="y"
  %a = f32[2,4,6,9] hlo.convolution(%x, %y), stride=[2,1], low=[1,0],
    high=[1,1], lhs_dilation=[1,1], rhs_dilation=[1,1], reversal=[0,1],
    input_batch=0, input_feature=3, input_spatial=[1,2],
    kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0,1],
    output_batch=0, output_feature=3, output_spatial=[1,2]
  return %a as "a"
}
)",
              8);
}

// Sections of a contraction; stages that go by lines, with and without guards.
// Sums of columns in sections, whose first levels the stage before combines,
// and an optimizer's step along with a product.
TEST(RtlTest, ColumnsAreTheHosts) {
  DeviceCheck check("mini", "rtl");
  check.Check(ModuleText(R"(  %x = f32[A,B] parameter(), name="x"
  %c = i1[A,B] parameter(), name="c"
  %m = f32[B] parameter(), name="m"
  %zero = f32[] constant(), data=[0]
  %zz = f32[A,B] hlo.broadcast_in_dim(%zero), dimensions=[]
  %mm = f32[A,B] hlo.broadcast_in_dim(%m), dimensions=[1]
  %d = f32[A,B] hlo.subtract(%x, %mm)
  %g = f32[A,B] hlo.select(%c, %d, %zz)
  %dg = f32[A,B] hlo.multiply(%d, %g)
  %s = f32[B] hlo.reduce(%g, %zero), dimensions=[0] SUM
  %t = f32[B] hlo.reduce(%dg, %zero), dimensions=[0] SUM
  return %s as "s", %t as "t", %g as "g"
)",
                         35 * 128, 12),
              11);
  check.Check(R"(module @pair {
  %x = bf16[256,128] parameter(), name="x"
  %y = bf16[128,128] parameter(), name="y"
  %w = f32[9001] parameter(), name="w"
  %g = f32[9001] parameter(), name="g"
  %z = f32[256,128] hlo.dot_general(%x, %y), lhs_batching=[],
    rhs_batching=[], lhs_contracting=[1], rhs_contracting=[0]
  %q = f32[9001] hlo.divide(%w, %g)
  %v = f32[9001] hlo.subtract(%w, %q)
  return %z as "z", %v as "v"
}
)",
              12);
}

TEST(RtlTest, LongLinesAreTheHosts) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @sections {
  %x = f32[3,8200] parameter(), name="x"
  %y = f32[8200,9] parameter(), name="y"
  %a = f32[3,9] hlo.dot_general(%x, %y), lhs_batching=[], rhs_batching=[],
    lhs_contracting=[1], rhs_contracting=[0]
  return %a as "a"
}
)",
              9);
  check.Check(ModuleText(R"(  %x = f32[A,B] parameter(), name="x"
  %g = f32[B] parameter(), name="g"
  %zero = f32[] constant(), data=[0]
  %low = f32[] constant(), data=[-inf]
  %y = f32[A,B] hlo.add(%x, %x)
  %l = f32[A] hlo.reduce(%y, %low), dimensions=[1] LARGEST
  %ll = f32[A,B] hlo.broadcast_in_dim(%l), dimensions=[0]
  %d = f32[A,B] hlo.subtract(%y, %ll)
  %e = f32[A,B] hlo.exponential(%d)
  %s = f32[A] hlo.reduce(%e, %zero), dimensions=[1] SUM
  %ss = f32[A,B] hlo.broadcast_in_dim(%s), dimensions=[0]
  %r = f32[A,B] hlo.divide(%e, %ss)
  %gg = f32[A,B] hlo.broadcast_in_dim(%g), dimensions=[1]
  %rg = f32[A,B] hlo.multiply(%r, %gg)
  return %rg as "rg"
)",
                         70, 32),
              10);
}

// Addresses that the core loads: rows that are gathered, and sums at places
// that come several times, each behind the one before.
TEST(RtlTest, AddressesFromData) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @addresses {
  %x = f32[11,13] parameter(), name="x"
  %n = i32[30,1] parameter(), name="n"
  %u = f32[30,13] parameter(), name="u"
  %s = i32[] parameter(), name="s"
  %k = i32[30,1] constant(), data=[13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 13]
  %i = i32[30,1] hlo.remainder(%n, %k)
  %g = f32[30,13] hlo.gather(%x, %i), offset_dims=[1],
    collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1,
    slice_sizes=[1,13]
  %w = f32[11,13] hlo.scatter(%x, %i, %u), update_window_dims=[1],
    inserted_window_dims=[0], scatter_dims_to_operand_dims=[0],
    index_vector_dim=1 {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  %d = f32[4,5] hlo.dynamic_slice(%x, %s, %s), sizes=[4,5]
  %e = f32[11,13] hlo.dynamic_update_slice(%x, %d, %s, %s)
  %f = f32[11,13] hlo.sine(%x)
  return %g as "g", %w as "w", %d as "d", %e as "e", %f as "f"
}
)",
              4);
}

// Rows of a tensor that stays in HBM: indexed loads and stores, bands, and
// updates of what the program has made, in place.
TEST(RtlTest, RowsOfHbm) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @rows {
  %x = f32[1200,40] parameter(), name="x"
  %n = i32[50,1] parameter(), name="n"
  %u = f32[50,40] parameter(), name="u"
  %s = i32[] parameter(), name="s"
  %most = i32[] constant(), data=[1203]
  %k = i32[50,1] hlo.broadcast_in_dim(%most), dimensions=[]
  %i = i32[50,1] hlo.remainder(%n, %k)
  %g = f32[50,40] hlo.gather(%x, %i), offset_dims=[1],
    collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1,
    slice_sizes=[1,40]
  %w = f32[1200,40] hlo.scatter(%x, %i, %u), update_window_dims=[1],
    inserted_window_dims=[0], scatter_dims_to_operand_dims=[0],
    index_vector_dim=1 {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  %zero = i32[] constant(), data=[0]
  %p = i32[] hlo.remainder(%s, %most)
  %d = f32[3,40] hlo.dynamic_slice(%x, %p, %zero), sizes=[3,40]
  %e = f32[1200,40] hlo.add(%x, %w)
  %f = f32[1200,40] hlo.dynamic_update_slice(%e, %d, %p, %zero)
  %h = f32[1200,40] hlo.dynamic_update_slice(%f, %d, %zero, %zero)
  return %g as "g", %w as "w", %d as "d", %h as "h"
}
)",
              6);
}

// Turns that are part of the program: lines of arrays as parts of their memory,
// a product of all lines, code and a matrix that stay, a loop in the loop.
TEST(RtlTest, LoopsOfKnownTurns) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @loops {
  %x = f32[4,2,64] parameter(), name="x"
  %h = f32[2,9] parameter(), name="h"
  %w = f32[64,9] parameter(), name="w"
  %u = f32[9,9] parameter(), name="u"
  %y = f32[4,2,64] parameter(), name="y"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[2,9], f32[4,2,64]) hlo.while(%z, %h, %y, %x, %w, %u) {
    %i = i32[] parameter()
    %h = f32[2,9] parameter()
    %y = f32[4,2,64] parameter()
    %x = f32[4,2,64] parameter()
    %w = f32[64,9] parameter()
    %u = f32[9,9] parameter()
    %m = i32[] constant(), data=[4]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %h = f32[2,9] parameter()
    %y = f32[4,2,64] parameter()
    %x = f32[4,2,64] parameter()
    %w = f32[64,9] parameter()
    %u = f32[9,9] parameter()
    %o = i32[] constant(), data=[0]
    %one = i32[] constant(), data=[1]
    %three = i32[] constant(), data=[3]
    %j = i32[] hlo.add(%i, %one)
    %n = i32[] hlo.subtract(%three, %i)
    %l = f32[1,2,64] hlo.dynamic_slice(%x, %n, %o, %o), sizes=[1, 2, 64]
    %a = f32[2,64] hlo.reshape(%l)
    %b = f32[2,9] hlo.dot_general(%a, %w), lhs_contracting=[1], rhs_contracting=[0]
    %c = f32[2,9] hlo.dot_general(%h, %u), lhs_contracting=[1], rhs_contracting=[0]
    %d = f32[2,9] hlo.add(%b, %c)
    %e = f32[2,9] hlo.tanh(%d)
    %s = (i32[], f32[2,64]) hlo.while(%o, %a) {
      %k = i32[] parameter()
      %v = f32[2,64] parameter()
      %m = i32[] constant(), data=[2]
      %p = i1[] hlo.compare(%k, %m), direction=LT
      return %p
    } {
      %k = i32[] parameter()
      %v = f32[2,64] parameter()
      %one = i32[] constant(), data=[1]
      %q = i32[] hlo.add(%k, %one)
      %f = f32[] hlo.convert(%q)
      %g = f32[2,64] hlo.broadcast_in_dim(%f), dimensions=[]
      %t = f32[2,64] hlo.maximum(%v, %g)
      %n = f32[2,64] hlo.negate(%t)
      return %q, %n
    }
    %sr = f32[1,2,64] hlo.reshape(%s#1)
    %ys = f32[4,2,64] hlo.dynamic_update_slice(%y, %sr, %i, %o, %o)
    return %j, %e, %ys
  }
  return %r#1 as "h", %r#2 as "ys"
}
)",
              7);
}

// Networks of exchanges, and unknowns one after the other.
TEST(RtlTest, SortsAndTriangularSystems) {
  DeviceCheck check("mini", "rtl");
  check.Check(R"(module @sorts {
  %x = f32[3,21] parameter(), name="x"
  %i = i32[3,21] hlo.iota(), dimension=1
  %s = (f32[3,21], i32[3,21]) hlo.sort(%x, %i), dimension=1, is_stable=true {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %p = i32[] parameter()
    %q = i32[] parameter()
    %c = i1[] hlo.compare(%a, %b), direction=GT, type=TOTALORDER
    return %c
  }
  %a = f32[5,5] parameter(), name="a"
  %b = f32[5,3] parameter(), name="b"
  %t = f32[5,3] hlo.triangular_solve(%a, %b), left_side=true, lower=false,
    unit_diagonal=false, transpose_a=true
  %r = f32[3,21] hlo.atan2(%x, %s)
  %m = f32[3,21] hlo.remainder(%s, %x)
  return %s as "keys", %s#1 as "positions", %t as "t", %r as "r", %m as "m"
}
)",
              5);
}

}  // namespace
}  // namespace systole::lanes
