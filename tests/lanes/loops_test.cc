// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops whose turns are known: part of the program around them
// (host/compiler/kernels/loop_expansion.h), with the host's values.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

using Replacements = std::vector<std::pair<std::string, std::string>>;

// A scan over three arrays of as many types. INDEX makes %n from the counter.
constexpr char kScan[] = R"(module @m {
  %xs = f32[N,W] parameter(), name="xs"
  %ks = i32[N,W] parameter(), name="ks"
  %bs = bf16[N,W] parameter(), name="bs"
  %h0 = f32[W] parameter(), name="h"
  %y0 = f32[N,W] parameter(), name="y"
  %first = CC[] constant(), data=[FIRST]
  %r = (CC[], f32[W], f32[N,W], i32[N,W]) hlo.while(%first, %h0, %y0, %ks, %xs, %ks, %bs) {
    %i = CC[] parameter()
    %h = f32[W] parameter()
    %y = f32[N,W] parameter()
    %c = i32[N,W] parameter()
    %x = f32[N,W] parameter()
    %k = i32[N,W] parameter()
    %b = bf16[N,W] parameter()
    %m = CC[] constant(), data=[LAST]
    %p = i1[] hlo.compare(%i, %m), direction=ORDER
    return %p
  } {
    %i = CC[] parameter()
    %h = f32[W] parameter()
    %y = f32[N,W] parameter()
    %c = i32[N,W] parameter()
    %x = f32[N,W] parameter()
    %k = i32[N,W] parameter()
    %b = bf16[N,W] parameter()
    %o = CC[] constant(), data=[0]
    %by = CC[] constant(), data=[STEP]
    %j = CC[] hlo.add(%i, %by)
    INDEX
    %xi = f32[1,W] hlo.dynamic_slice(%x, %n, %o), sizes=[1, W]
    %ki = i32[1,W] hlo.dynamic_slice(%k, %n, %o), sizes=[1, W]
    %bi = bf16[1,W] hlo.dynamic_slice(%b, %n, %o), sizes=[1, W]
    %bf = f32[1,W] hlo.convert(%bi)
    %t = f32[1,W] hlo.maximum(%xi, %bf)
    %tr = f32[W] hlo.reshape(%t)
    %s = f32[] hlo.convert(%i)
    %sb = f32[W] hlo.broadcast_in_dim(%s), dimensions=[]
    %u = f32[W] hlo.add(%h, %tr)
    %g = f32[W] hlo.maximum(%u, %sb)
    %gr = f32[1,W] hlo.reshape(%g)
    %ys = f32[N,W] hlo.dynamic_update_slice(%y, %gr, %n, %o)
    %d = i32[1,W] hlo.add(%ki, %ki)
    %cs = i32[N,W] hlo.dynamic_update_slice(%c, %d, %n, %o)
    return %j, %g, %ys, %cs
  }
  %again = f32[N,W] hlo.add(%y0, %r#2)
  return %r#1 as "h", %r#2 as "ys", %r#3 as "cs", %again as "again", %r as "i"
}
)";

class LoopsTest : public testing::TestWithParam<const char*> {
 protected:
  LoopsTest() : check_(GetParam()) {}
  const Preset& preset() const { return *FindPreset(GetParam()); }

  // Results as the host's and the golden model's. Returns how many programs and
  // other steps the plan has.
  size_t Check(const std::string& text) {
    check_.Check(text, ++seed_);
    const auto module = ir::Parse(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return 0;
    LowerModule(**module, preset());
    const DevicePlan plan = PlanFor(**module, preset());
    return plan.steps.size() + plan.regions.size();
  }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

std::string Scan(int64_t size, int64_t width, Replacements more) {
  more.insert(more.end(), {{"N,W", absl::StrFormat("%d,%d", size, width)},
                           {"[W]", absl::StrFormat("[%d]", width)},
                           {"1,W]", absl::StrFormat("1,%d]", width)},
                           {"1, W]", absl::StrFormat("1, %d]", width)},
                           {"N1", absl::StrCat(size - 1)}});
  return absl::StrReplaceAll(kScan, more);
}

// Forwards, backwards, each second line, some lines only, a counter that
// decreases; lines that begin where values may, and others.
TEST_P(LoopsTest, Scans) {
  const std::string same = "%n = CC[] hlo.add(%i, %o)";
  const std::string reverse =
      "%l = CC[] constant(), data=[N1]\n    %n = CC[] hlo.subtract(%l, %i)";
  const struct {
    const char *type, *first, *last, *step, *order;
    bool reverse;
  } kLoops[] = {{"i32", "0", "SIZE", "1", "LT", false},
                {"i32", "0", "SIZE", "1", "LT", true},
                {"u32", "1", "SIZE", "2", "LT", false},
                {"i32", "N1", "0", "-1", "GE", false},
                {"u32", "0", "2", "1", "LE", true}};
  for (const auto& loop : kLoops) {
    for (const int64_t width : {64, 128, 7}) {
      for (const int64_t size : {5, 1}) {
        const size_t steps = Check(
            absl::StrReplaceAll(Scan(size, width,
                                     {{"INDEX", loop.reverse ? reverse : same},
                                      {"FIRST", loop.first},
                                      {"LAST", loop.last},
                                      {"STEP", loop.step},
                                      {"ORDER", loop.order}}),
                                {{"CC", loop.type},
                                 {"SIZE", absl::StrCat(size)},
                                 {"N1", absl::StrCat(size - 1)}}));
        // One that has no turn is left to the host.
        const bool none = size == 1 && loop.first[0] == '1';
        EXPECT_EQ(steps == 1, !none) << loop.type << " of " << size;
      }
    }
  }
}

// %i to %e: the counter, carried lines of 64 and arrays of 4 such lines.
std::string FourTurns(const std::string& body, const std::string& results) {
  const std::string parameters = R"(    %i = i32[] parameter()
    %a = f32[64] parameter()
    %b = f32[64] parameter()
    %c = f32[4,64] parameter()
    %d = f32[4,64] parameter()
    %e = f32[4,64] parameter()
    %w = f32[4,64] parameter()
)";
  return absl::StrCat(R"(module @m {
  %a = f32[64] parameter(), name="a"
  %b = f32[64] parameter(), name="b"
  %c = f32[4,64] parameter(), name="c"
  %w = f32[4,64] parameter(), name="w"
  %v = f32[4,64] hlo.add(%c, %w)
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[64], f32[64], f32[4,64], f32[4,64], f32[4,64]) hlo.while(%z, %a, %b, %v, %c, %v, %w) {
)",
                      parameters, R"(    %m = i32[] constant(), data=[4]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
)",
                      parameters, R"(    %o = i32[] constant(), data=[0]
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %ar = f32[1,64] hlo.reshape(%a)
    %br = f32[1,64] hlo.reshape(%b)
    %wi = f32[1,64] hlo.dynamic_slice(%w, %i, %o), sizes=[1, 64]
    %g = f32[64] hlo.add(%a, %b)
    %gr = f32[1,64] hlo.reshape(%g)
)",
                      body, "    return %j, ", results, R"(
  }
  return %r#1 as "a", %r#2 as "b", %r#3 as "c", %r#4 as "d", %r#5 as "e"
}
)");
}

std::string Write(const std::string& name, const std::string& array,
                  const std::string& line, const std::string& index = "%i") {
  return absl::StrFormat(
      "    %s = f32[4,64] hlo.dynamic_update_slice(%s, %s, %s, %%o)\n", name,
      array, line, index);
}

// What is carried: exchanged, returned twice or as it came; lines that are
// written to several arrays, that come from before the turn, that are read
// of an array.
TEST_P(LoopsTest, CarriedValues) {
  EXPECT_EQ(Check(FourTurns("", "%b, %g, %d, %e, %c")), 1u);
  EXPECT_EQ(Check(FourTurns("", "%g, %g, %c, %c, %e")), 1u);
  EXPECT_EQ(Check(FourTurns(Write("%u", "%c", "%gr") + Write("%t", "%d", "%gr"),
                            "%g, %a, %u, %t, %e")),
            1u);
  EXPECT_EQ(Check(FourTurns(Write("%u", "%c", "%ar") + Write("%t", "%d", "%wi"),
                            "%b, %g, %u, %t, %e")),
            1u);
  // Of an array that is written and read, each turn a line of the turn before.
  const std::string read =
      "    %q = f32[1,64] hlo.dynamic_slice(%c, %i, %o), sizes=[1, 64]\n"
      "    %qa = f32[1,64] hlo.add(%q, %gr)\n";
  EXPECT_EQ(
      Check(FourTurns(read + Write("%u", "%c", "%qa"), "%b, %g, %u, %d, %e")),
      1u);
  EXPECT_EQ(Check(FourTurns(read + Write("%u", "%c", "%qa", "%j"),
                            "%b, %g, %u, %u, %e")),
            1u);
  // All turns write the same line, or the last ones do.
  EXPECT_EQ(Check(FourTurns(Write("%u", "%c", "%gr", "%o") +
                                "    %x = i32[] hlo.add(%j, %j)\n" +
                                Write("%t", "%d", "%gr", "%x"),
                            "%g, %b, %u, %t, %e")),
            1u);
  // A line of the turn before the last one, which the next turn overwrites.
  EXPECT_EQ(
      Check(FourTurns(Write("%u", "%c", "%gr", "%o"), "%g, %a, %u, %d, %e")),
      1u);
  // An array that leaves the loop in another place than it came.
  EXPECT_EQ(Check(FourTurns(Write("%u", "%c", "%gr") + Write("%t", "%e", "%br"),
                            "%g, %b, %d, %u, %t")),
            1u);
  // The counter as a value, and what follows from it.
  EXPECT_EQ(Check(FourTurns("    %s = f32[] hlo.convert(%j)\n"
                            "    %sb = f32[64] hlo.broadcast_in_dim(%s), "
                            "dimensions=[]\n",
                            "%sb, %g, %c, %d, %e")),
            1u);
}

// SIZES of arrays; an inner loop whose lines are parts of the outer one's.
constexpr char kNested[] = R"(module @m {
  %x = f32[3,4,64] parameter(), name="x"
  %h = f32[64] parameter(), name="h"
  %y = f32[3,4,64] parameter(), name="y"
  %k = f32[4,64] parameter(), name="k"
  %z = i32[] constant(), data=[0]
  %r = (i32[], f32[64], f32[3,4,64]) hlo.while(%z, %h, %y, %x, %k) {
    %i = i32[] parameter()
    %h = f32[64] parameter()
    %y = f32[3,4,64] parameter()
    %x = f32[3,4,64] parameter()
    %k = f32[4,64] parameter()
    %m = i32[] constant(), data=[3]
    %p = i1[] hlo.compare(%i, %m), direction=LT
    return %p
  } {
    %i = i32[] parameter()
    %h = f32[64] parameter()
    %y = f32[3,4,64] parameter()
    %x = f32[3,4,64] parameter()
    %k = f32[4,64] parameter()
    %o = i32[] constant(), data=[0]
    %one = i32[] constant(), data=[1]
    %j = i32[] hlo.add(%i, %one)
    %xi = f32[1,4,64] hlo.dynamic_slice(%x, %i, %o, %o), sizes=[1, 4, 64]
    %xr = f32[4,64] hlo.reshape(%xi)
    %s = (i32[], f32[64], f32[4,64]) hlo.while(%o, %h, INIT, %xr, %i) {
      %l = i32[] parameter()
      %h = f32[64] parameter()
      %y = f32[4,64] parameter()
      %x = f32[4,64] parameter()
      %q = i32[] parameter()
      %m = i32[] constant(), data=[TURNS]
      %p = i1[] hlo.compare(%l, %m), direction=LT
      return %p
    } {
      %l = i32[] parameter()
      %h = f32[64] parameter()
      %y = f32[4,64] parameter()
      %x = f32[4,64] parameter()
      %q = i32[] parameter()
      %o = i32[] constant(), data=[0]
      %one = i32[] constant(), data=[1]
      %n = i32[] hlo.add(%l, %one)
      %xl = f32[1,64] hlo.dynamic_slice(%x, %l, %o), sizes=[1, 64]
      %xv = f32[64] hlo.reshape(%xl)
      %qf = f32[] hlo.convert(%q)
      %qb = f32[64] hlo.broadcast_in_dim(%qf), dimensions=[]
      %a = f32[64] hlo.add(%h, %xv)
      %g = f32[64] hlo.maximum(%a, %qb)
      %gr = f32[1,64] hlo.reshape(%g)
      %u = f32[4,64] hlo.dynamic_update_slice(%y, %gr, %l, %o)
      return %n, %g, %u
    }
    %sr = f32[1,4,64] hlo.reshape(%s#2)
    %u = f32[3,4,64] hlo.dynamic_update_slice(%y, %sr, %i, %o, %o)
    return %j, %s#1, %u
  }
  return %r#1 as "h", %r#2 as "ys"
}
)";

TEST_P(LoopsTest, Nested) {
  for (const char* init : {"%xr", "%k"}) {
    for (const char* turns : {"4", "3"}) {
      EXPECT_EQ(Check(absl::StrReplaceAll(kNested,
                                          {{"INIT", init}, {"TURNS", turns}})),
                1u)
          << init << ", " << turns;
    }
  }
}

// Around the loop: turns that are not known before, and a branch that the host
// takes, which reads a line of the array that the loop has written.
TEST_P(LoopsTest, BesideControl) {
  std::string text = FourTurns(Write("%u", "%c", "%gr"), "%g, %b, %u, %d, %e");
  const size_t end = text.rfind("  return");
  text.replace(end, std::string::npos, R"(  %zero = f32[] constant(), data=[0]
  %q = f32[64] hlo.maximum(%r#1, %b)
  %sum = f32[] hlo.reduce(%q, %zero), dimensions=[0] {
    %s = f32[] parameter()
    %t = f32[] parameter()
    %u = f32[] hlo.maximum(%s, %t)
    return %u
  }
  %p = i1[] hlo.compare(%sum, %zero), direction=GT
  %f = f16[64] hlo.convert(%b)
  %x = (f32[64], f16[64]) hlo.if(%p, %r#1, %f) {
    %s = f32[64] parameter()
    %t = f16[64] parameter()
    %u = f32[64] hlo.negate(%s)
    return %u, %t
  } {
    %s = f32[64] parameter()
    %t = f16[64] parameter()
    %u = f16[64] hlo.negate(%t)
    return %s, %u
  }
  return %x as "x", %x#1 as "f", %r#3 as "c"
}
)");
  EXPECT_GT(Check(text), 1u);
  const std::string inner = FourTurns("", "%g, %b, %c, %d, %e");
  check_.Check(absl::StrReplaceAll(inner, {{"data=[4]", "data=[5000]"}}),
               ++seed_);
}

INSTANTIATE_TEST_SUITE_P(Presets, LoopsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
