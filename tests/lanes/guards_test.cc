// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Divisions and roots of tensors that are large enough for guarded code
// (host/compiler/kernels/lane_guard.h): where no argument is extreme, where
// few are, and where most are.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// %m and %n: floats from 2^-7 to 2, of either sign, and zeros of either sign.
// Their significands are those of the parameters.
std::string Module(int64_t elements, const std::string& body) {
  std::string text = R"(module @m {
  %l = u32[] constant(), data=[2281701375]
  %h = u32[] constant(), data=[1006632960]
  %x = f32[N] parameter(), name="x"
  %y = f32[N] parameter(), name="y"
  %p = i1[N] parameter(), name="p"
  %low = u32[N] hlo.broadcast_in_dim(%l), dimensions=[]
  %high = u32[N] hlo.broadcast_in_dim(%h), dimensions=[]
  %a = u32[N] hlo.bitcast_convert(%x)
  %b = u32[N] hlo.and(%a, %low)
  %c = u32[N] hlo.or(%b, %high)
  %n = f32[N] hlo.bitcast_convert(%c)
  %one = f32[N] hlo.convert(%p)
  %m = f32[N] hlo.multiply(%n, %one)
  %d = u32[N] hlo.bitcast_convert(%y)
  %e = u32[N] hlo.and(%d, %low)
  %f = u32[N] hlo.or(%e, %high)
  %o = f32[N] hlo.bitcast_convert(%f)
)" + body + "\n  return %r as \"r\"\n}\n";
  return absl::StrReplaceAll(text,
                             {{"[N]", absl::StrFormat("[%d]", elements)}});
}

class GuardsTest : public testing::TestWithParam<const char*> {
 protected:
  GuardsTest()
      : check_(GetParam()),
        elements_(GetParam() == std::string("v2") ? 128 * 130 + 77 : 1303) {}

  void Check(const std::string& body) {
    for (const uint64_t seed : {3, 8}) {
      check_.Check(Module(elements_, body), seed);
    }
  }

  DeviceCheck check_;
  const int64_t elements_;
};

TEST_P(GuardsTest, ModerateArguments) {
  Check("  %r = f32[N] hlo.divide(%m, %o)");
  Check("  %r = f32[N] hlo.sqrt(%m)");
  Check("  %r = f32[N] hlo.logistic(%m)");
}

// Of both signs, by divisors of both signs.
TEST_P(GuardsTest, Zeros) {
  for (const char* zero : {"0", "-0"}) {
    Check(absl::StrFormat(R"(  %%k = f32[] constant(), data=[%s]
  %%z = f32[N] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%r = f32[N] hlo.divide(%%z, %%o))",
                          zero));
    // Not known when compiled.
    Check(absl::StrFormat(R"(  %%k = f32[] constant(), data=[%s]
  %%z = f32[N] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%g = f32[N] hlo.multiply(%%one, %%z)
  %%r = f32[N] hlo.divide(%%g, %%o))",
                          zero));
  }
}

TEST_P(GuardsTest, AnyArguments) {
  Check("  %r = f32[N] hlo.divide(%x, %y)");
  Check("  %r = f32[N] hlo.divide(%m, %y)");
  Check("  %r = f32[N] hlo.divide(%x, %o)");
  Check("  %r = f32[N] hlo.sqrt(%x)");
  Check("  %r = f32[N] hlo.logistic(%x)");
}

// A quotient of a root, whose argument is often negative: NaN is not extreme.
TEST_P(GuardsTest, RootsOfNegativeNumbers) {
  Check(R"(  %s = f32[N] hlo.sqrt(%n)
  %r = f32[N] hlo.divide(%o, %s))");
}

// Where the guards end: %m and %n are from 2^-7 to 2, or 0.
TEST_P(GuardsTest, ArgumentsAtTheBounds) {
  const auto scaled = [](const char* power, const char* value,
                         const char* body) {
    return absl::StrFormat(R"(  %%k = f32[] constant(), data=[%s]
  %%kk = f32[N] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%t = f32[N] hlo.multiply(%%%s, %%kk)
  %s)",
                           power, value, body);
  };
  // 2^-98 to 2^-86, 2^57 to 2^66.
  for (const char* power : {"4.0389678e-28", "5.1698788e-26", "1.8446744e19"}) {
    Check(scaled(power, "n", "%r = f32[N] hlo.sqrt(%t)"));
    Check(scaled(power, "m", "%r = f32[N] hlo.divide(%t, %o)"));
  }
  // Of dividends 2^28 to 2^36 and 2^90 to 2^98; of divisors 2^-38 to 2^-28, and
  // 2^25 to 2^34.
  for (const char* power : {"34359738368", "1.2379401e27", "7.9228163e28"})
    Check(scaled(power, "m", "%r = f32[N] hlo.divide(%t, %o)"));
  for (const char* power : {"4.656613e-10", "4.2949673e9", "1.7179869e10"})
    Check(scaled(power, "o", "%r = f32[N] hlo.divide(%m, %t)"));
}

// As in Adam: the divisor has no guard of its own.
TEST_P(GuardsTest, QuotientsOfARootAndAConstant) {
  for (const char* constant : {"1e-7", "4e-10", "128", "1e-12", "1000"}) {
    for (const char* square : {"%x", "%n", "%m"}) {
      Check(absl::StrFormat(R"(  %%eps = f32[] constant(), data=[%s]
  %%ee = f32[N] hlo.broadcast_in_dim(%%eps), dimensions=[]
  %%q = f32[N] hlo.multiply(%s, %s)
  %%s = f32[N] hlo.sqrt(%%q)
  %%sum = f32[N] hlo.add(%%s, %%ee)
  %%r = f32[N] hlo.divide(%%m, %%sum))",
                            constant, square, square));
    }
  }
}

// Around the largest argument whose exponential is finite, and far from it.
TEST_P(GuardsTest, Exponentials) {
  for (const char* middle : {"88.72283", "88", "-103.9", "0"}) {
    for (const char* width : {"1e-5", "1", "200"}) {
      Check(absl::StrCat("  %mid = f32[] constant(), data=[", middle,
                         "]\n  %wid = f32[] constant(), data=[", width, R"(]
  %cc = f32[N] hlo.broadcast_in_dim(%mid), dimensions=[]
  %ww = f32[N] hlo.broadcast_in_dim(%wid), dimensions=[]
  %s = f32[N] hlo.multiply(%m, %ww)
  %v = f32[N] hlo.add(%s, %cc)
  %r = f32[N] hlo.exponential(%v))"));
    }
  }
  Check("  %r = f32[N] hlo.exponential(%x)");
}

// Less the largest one of its line, an argument is not above 0; less that of
// another line, or the smallest one, it is.
TEST_P(GuardsTest, ExponentialsOfDifferences) {
  for (const char* statements : {
           "%b = f32[S,S] hlo.broadcast_in_dim(%m), dimensions=[0]",
           "%b = f32[S,S] hlo.broadcast_in_dim(%m), dimensions=[1]",
           "%b = f32[S,S] hlo.broadcast_in_dim(%n), dimensions=[0]",
           "%b = f32[S,S] hlo.broadcast_in_dim(%o), dimensions=[0]",
           "%k = f32[S] hlo.broadcast_in_dim(%low), dimensions=[]\n"
           "%c = f32[S] hlo.maximum(%k, %m)\n"
           "%d = f32[S,1] hlo.reshape(%c)\n"
           "%b = f32[S,S] hlo.broadcast_in_dim(%d), dimensions=[0,1]",
           "%d = f32[1,S] hlo.reshape(%m)\n"
           "%b = f32[S,S] hlo.broadcast_in_dim(%d), dimensions=[0,1]",
           "%k = f32[S] hlo.broadcast_in_dim(%low), dimensions=[]\n"
           "%c = f32[S] hlo.minimum(%k, %m)\n"
           "%b = f32[S,S] hlo.broadcast_in_dim(%c), dimensions=[0]",
       }) {
    std::string text = R"(module @m {
  %x = f32[S,S] parameter(), name="x"
  %k0 = f32[] constant(), data=[300]
  %w = f32[S,S] hlo.broadcast_in_dim(%k0), dimensions=[]
  %t = f32[S,S] hlo.tanh(%x)
  %s = f32[S,S] hlo.multiply(%t, %w)
  %low = f32[] constant(), data=[-inf]
  %high = f32[] constant(), data=[inf]
  %m = f32[S] hlo.reduce(%s, %low), dimensions=[1] OF(maximum)
  %n = f32[S] hlo.reduce(%s, %high), dimensions=[1] OF(minimum)
  %o = f32[S] hlo.reduce(%s, %low), dimensions=[0] OF(maximum)
  )" + std::string(statements) +
                       R"(
  %v = f32[S,S] hlo.subtract(%s, %b)
  %r = f32[S,S] hlo.exponential(%v)
  return %r as "r"
}
)";
    for (const char* op : {"maximum", "minimum"}) {
      text = absl::StrReplaceAll(
          text, {{absl::StrCat("OF(", op, ")"),
                  absl::StrCat("{ %p = f32[] parameter()\n %q = f32[] "
                               "parameter()\n %e = f32[] hlo.",
                               op, "(%p, %q)\n return %e }")}});
    }
    const char* const size = GetParam() == std::string("v2") ? "256" : "64";
    text = absl::StrReplaceAll(
        text, {{"[S,S]", absl::StrCat("[", size, ",", size, "]")},
               {"[S,1]", absl::StrCat("[", size, ",1]")},
               {"[1,S]", absl::StrCat("[1,", size, "]")},
               {"[S]", absl::StrCat("[", size, "]")}});
    check_.Check(text, 3);
  }
}

// One divisor for many dividends: of a line, of a column, of all.
TEST_P(GuardsTest, SharedDivisors) {
  const int64_t cols = GetParam() == std::string("v2") ? 128 : 32;
  const auto check = [&](int64_t count, const std::string& dimensions,
                         const std::string& divisor, const std::string& a,
                         const std::string& scale = "1e-37") {
    const int64_t lines = 131, columns = 2 * cols + 7;
    std::string text = R"(module @m {
  %l = u32[] constant(), data=[2281701375]
  %h = u32[] constant(), data=[1006632960]
  %x = f32[A,B] parameter(), name="x"
  %y = f32[C] parameter(), name="y"
  %d = u32[C] hlo.bitcast_convert(%y)
  %low = u32[C] hlo.broadcast_in_dim(%l), dimensions=[]
  %e = u32[C] hlo.and(%d, %low)
  %high = u32[C] hlo.broadcast_in_dim(%h), dimensions=[]
  %f = u32[C] hlo.or(%e, %high)
  %o = f32[C] hlo.bitcast_convert(%f)
  %k = f32[] constant(), data=[SCALE]
  %kc = f32[C] hlo.broadcast_in_dim(%k), dimensions=[]
  %small = f32[C] hlo.multiply(%o, %kc)
  %s = f32[A,B] hlo.broadcast_in_dim(DIVISOR), dimensions=[DIMS]
  %t = f32[A,B] hlo.tanh(%x)
  %ka = f32[A,B] hlo.broadcast_in_dim(%k), dimensions=[]
  %xb = u32[A,B] hlo.bitcast_convert(%x)
  %lowx = u32[A,B] hlo.broadcast_in_dim(%l), dimensions=[]
  %highx = u32[A,B] hlo.broadcast_in_dim(%h), dimensions=[]
  %xl = u32[A,B] hlo.and(%xb, %lowx)
  %xh = u32[A,B] hlo.or(%xl, %highx)
  %n = f32[A,B] hlo.bitcast_convert(%xh)
  %tiny = f32[A,B] hlo.multiply(%n, %ka)
  %z = f32[A,B] hlo.divide(DIVIDEND, %s)
  return %z as "z"
}
)";
    text = absl::StrReplaceAll(
        text, {{"[A,B]", absl::StrFormat("[%d,%d]", lines, columns)},
               {"[C]", count == 0 ? "[]" : absl::StrFormat("[%d]", count)},
               {"DIMS", dimensions},
               {"SCALE", scale},
               {"DIVISOR", divisor},
               {"DIVIDEND", a}});
    for (const uint64_t seed : {3, 8}) check_.Check(text, seed);
  };
  for (const char* divisor : {"%o", "%y", "%small"}) {
    for (const char* dividend : {"%t", "%x", "%n", "%tiny"}) {
      check(131, "0", divisor, dividend);
      check(2 * cols + 7, "1", divisor, dividend);
      check(0, "", divisor, dividend);
    }
  }
  // Where the guards end: divisors about 2^-20, quotients about 2^-72 and 2^56;
  // and far below, where remainders are not exact.
  check(131, "0", "%small", "%n", "9.5367432e-07");
  for (const char* scale : {"2.1175824e-22", "7.2057594e16", "1.6543612e-24",
                            "7.7037198e-34", "4.7019774e-38"})
    check(131, "0", "%o", "%tiny", scale);
}

TEST_P(GuardsTest, Constants) {
  for (const char* value :
       {"3", "-7.1", "1e-30", "1e30", "0", "inf", "nan", "1e-40"}) {
    const std::string constant = absl::StrCat(
        "  %k = f32[] constant(), data=[", value,
        "]\n  %w = f32[N] hlo.broadcast_in_dim(%k), dimensions=[]\n");
    Check(constant + "  %r = f32[N] hlo.divide(%m, %w)");
    Check(constant + "  %r = f32[N] hlo.divide(%w, %o)");
    Check(constant + "  %r = f32[N] hlo.divide(%x, %w)");
  }
}

// Divisors of a constant from 2^-128 to 2^127, as of logistic.
TEST_P(GuardsTest, ConstantsByAnything) {
  for (const char* value : {"1", "-7.1", "1e-27", "5e28"}) {
    for (const char* power : {"1.1754944e-38", "7.5231638e-37", "1e-30",
                              "1.3292280e36", "1.7e38"}) {
      Check(absl::StrFormat(R"(  %%k = f32[] constant(), data=[%s]
  %%w = f32[N] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%p2 = f32[] constant(), data=[%s]
  %%pp = f32[N] hlo.broadcast_in_dim(%%p2), dimensions=[]
  %%t = f32[N] hlo.multiply(%%o, %%pp)
  %%r = f32[N] hlo.divide(%%w, %%t))",
                            value, power));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, GuardsTest, testing::Values("mini", "v2"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::lanes
