// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/runtime/combine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/runtime/random_collective.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::runtime {
namespace {

using ir::Literals;

// All-reduces of which none needs another become one, in loops too. What is
// combined differs in groups, operation and type; one needs two others.
TEST(CombineTest, IndependentSumsAreOne) {
  std::mt19937_64 rng(4);
  std::string text =
      "%x = f32[300] parameter(), name=\"x\"\n"
      "%i = i32[300] parameter(), name=\"i\"\n"
      "%y = f32[300] hlo.multiply(%x, %x)\n"
      "%a = f32[300] hlo.all_reduce(%x), ALL ADD\n"
      "%b = f32[300] hlo.negate(%a)\n"
      "%c = i32[300] hlo.all_reduce(%i), ALL ADD\n"
      "%d = f32[300] hlo.all_reduce(%y), ALL ADD\n"
      "%e = f32[300] hlo.add(%d, %b)\n"
      "%f = f32[300] hlo.all_reduce(%e), ALL ADD\n"
      "%g = f32[300] hlo.all_reduce(%y), PAIRS ADD\n"
      "%h = f32[300] hlo.all_reduce(%y), ALL MAX\n"
      "%j = f32[300] hlo.all_reduce(%g), ALL ADD\n"
      "%n = i32[] constant(), data=[0]\n"
      "%l = (i32[], f32[300]) hlo.while(%n, %x, %j) { %k = i32[] parameter()\n"
      "%v = f32[300] parameter()\n%w = f32[300] parameter()\n"
      "%m = i32[] constant(), data=[2]\n"
      "%t = i1[] hlo.compare(%k, %m), direction=LT\nreturn %t } {\n"
      "%k = i32[] parameter()\n%v = f32[300] parameter()\n"
      "%w = f32[300] parameter()\n%o = i32[] constant(), data=[1]\n"
      "%p = i32[] hlo.add(%k, %o)\n%q = f32[300] hlo.all_reduce(%v), ALL ADD\n"
      "%s = f32[300] hlo.all_reduce(%w), ALL ADD\n"
      "%u = f32[300] hlo.subtract(%q, %s)\nreturn %p, %u }\n"
      "%z = f32[300] hlo.add(%f, %h)\n%r = f32[300] hlo.add(%z, %l#1)\n"
      "%y2 = i32[300] hlo.negate(%c)\nreturn %r as \"r\", %y2 as \"c\"\n";
  const char* const own = "channel=1, use_global_device_ids=true";
  text = absl::StrReplaceAll(
      text, {{"ALL",
              absl::StrCat("replica_groups=[0, 1, 2, 3], group_size=4, ", own)},
             {"PAIRS",
              absl::StrCat("replica_groups=[0, 2, 1, 3], group_size=2, ", own)},
             {" ADD",
              " { %p0 = TYPE[] parameter()\n%p1 = TYPE[] parameter()\n"
              "%p2 = TYPE[] hlo.add(%p0, %p1)\nreturn %p2 }"},
             {" MAX",
              " { %p0 = f32[] parameter()\n%p1 = f32[] parameter()\n"
              "%p2 = f32[] hlo.maximum(%p0, %p1)\nreturn %p2 }"}});
  // The one of i32 is the one of %i.
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;) {
    const size_t node = text.rfind("hlo.all_reduce(", at);
    text.replace(at, 4,
                 text.substr(node, 17) == "hlo.all_reduce(%i" ? "i32" : "f32");
  }
  auto module = ir::Parse(absl::StrCat("module @sums {", text, "}"));
  ASSERT_TRUE(module.ok()) << module.status() << text;
  const auto combined = (*module)->Clone();
  CombineExchanges(*combined, 1 << 20);
  ASSERT_EQ(ir::Verify(*combined), absl::OkStatus()) << ir::Print(*combined);
  int64_t sums = 0, operands = 0;
  const std::function<void(const ir::Module&)> count =
      [&](const ir::Module& inner) {
        for (const auto& node : inner.nodes()) {
          for (const auto& region : node->regions) count(*region);
          if (node->op != ir::Op::kHloAllReduce) continue;
          ++sums;
          operands += static_cast<int64_t>(node->operands.size());
        }
      };
  count(*combined);
  // a + d, c, f + j, g, h; q + s.
  EXPECT_EQ(operands, 9);
  EXPECT_EQ(sums, 6) << ir::Print(*combined);
  std::vector<Literals> inputs;
  for (int p = 0; p < 4; ++p) {
    inputs.emplace_back();
    for (const ir::Node* input : (*module)->inputs())
      inputs.back().push_back(Random(rng, input->type));
  }
  const auto wanted = golden::RunHlo(**module, 1, 4, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  const auto got = golden::RunHlo(*combined, 1, 4, inputs);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, *wanted);
  // Of 300 numbers each, two at most.
  const auto few = (*module)->Clone();
  CombineExchanges(*few, 2400);
  sums = operands = 0;
  count(*few);
  EXPECT_EQ(sums, 6);
  const auto alone = (*module)->Clone();
  CombineExchanges(*alone, 2399);
  sums = operands = 0;
  count(*alone);
  EXPECT_EQ(sums, operands);
}

}  // namespace
}  // namespace systole::runtime
