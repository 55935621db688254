// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Permutations, all-to-alls, broadcasts, and all-gathers of lines, in programs
// of kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/exchange_test.h"

namespace systole::runtime {
namespace {

const std::vector<int> kAll = {0, 1, 2, 3, 4, 5, 6, 7};

// The axes of a mesh of 2 x 2 x 2 devices, one, two or all of them.
const char* const kGroups[] = {
    "replica_groups=[0, 1, 2, 3, 4, 5, 6, 7], group_size=2",
    "replica_groups=[0, 4, 1, 5, 2, 6, 3, 7], group_size=2",
    "replica_groups=[0, 1, 4, 5, 2, 3, 6, 7], group_size=4",
    "replica_groups=[0, 2, 4, 6, 1, 3, 5, 7], group_size=4",
    "replica_groups=[0, 1, 2, 3, 4, 5, 6, 7], group_size=8",
};

class PermutationsTest : public ExchangeTest {
 protected:
  static int SizeOf(const std::string& groups) { return groups.back() - '0'; }

  // Adds `result`, of the type of `in`.
  static std::string Line(const std::string& result, const std::string& type,
                          const std::string& op, const std::string& operand,
                          const std::string& attributes) {
    return absl::StrCat(result, " = ", type, " hlo.", op, "(", operand, "), ",
                        attributes, "\n");
  }
  static std::string Shift(const std::string& result, const std::string& type,
                           const std::string& operand, int by) {
    std::vector<std::string> pairs;
    for (int p = 0; p < 8; ++p)
      pairs.push_back(absl::StrCat(p, ", ", (p + by + 8) % 8));
    return Permute(result, type, operand, pairs);
  }
  static std::string Permute(const std::string& result, const std::string& type,
                             const std::string& operand,
                             const std::vector<std::string>& pairs) {
    return Line(result, type, "collective_permute", operand,
                absl::StrCat("channel=1, group_size=2, replica_groups=[",
                             absl::StrJoin(pairs, ", "), "]"));
  }
  // Of whom some send to nobody, and some get nothing.
  std::string AnyPermute(const std::string& result, const std::string& type,
                         const std::string& operand) {
    std::vector<int> to = kAll;
    std::shuffle(to.begin(), to.end(), rng_);
    std::vector<std::string> pairs;
    for (int p = 0; p < 8; ++p)
      if (rng_() % 4 != 0) pairs.push_back(absl::StrCat(p, ", ", to[p]));
    if (pairs.empty()) pairs.emplace_back("2, 5");
    return Permute(result, type, operand, pairs);
  }
};

// Chains of exchanges with kernels between them and beside them.
TEST_F(PermutationsTest, Chains) {
  const int rounds = g_backend == "rtl" ? 2 : 40;
  for (int round = 0; round < rounds; ++round) {
    // Lines of 64 bytes and more, a column each for eight members.
    const int64_t rows = 8 * (1 + static_cast<int64_t>(rng_() % 3)),
                  columns = 128 * (1 + static_cast<int64_t>(rng_() % 3));
    std::string text, outputs;
    for (int chain = 0; chain < 2; ++chain) {
      const std::string name = absl::StrCat("%c", chain, "_");
      const std::string whole = absl::StrCat("f32[", rows, ",", columns, "]");
      absl::StrAppend(&text, name, "0 = ", whole, " parameter(), name=\"c",
                      chain, "\"\n");
      for (int i = 0; i < 4; ++i) {
        const std::string groups = kGroups[rng_() % 5];
        const int64_t n = SizeOf(groups);
        const std::string in = absl::StrCat(name, i),
                          made = absl::StrCat(name, "m", i),
                          part = absl::StrCat(name, "p", i);
        switch (rng_() % 6) {
          case 0:
            text += Shift(made, whole, in, static_cast<int>(rng_() % 8));
            break;
          case 1:
            text += AnyPermute(made, whole, in);
            break;
          case 2: {
            // There and back.
            const int to = static_cast<int>(rng_() % 2);
            const std::string cut =
                to == 0 ? absl::StrCat("f32[", rows * n, ",", columns / n, "]")
                        : absl::StrCat("f32[", rows / n, ",", columns * n, "]");
            text += Line(
                part, cut, "all_to_all", in,
                absl::StrCat("dimension=", 1 - to, ", concat_dimension=", to,
                             ", channel=1, ", groups));
            text += Line(made, whole, "all_to_all", part,
                         absl::StrCat("dimension=", to, ", concat_dimension=",
                                      1 - to, ", channel=1, ", groups));
            break;
          }
          case 3:
            text += Line(made, whole, "collective_broadcast", in,
                         absl::StrCat("channel=1, ", groups));
            break;
          case 4: {
            const std::string all =
                absl::StrCat("f32[", rows, ",", columns * n, "]");
            text += Line(part, all, "all_gather", in,
                         absl::StrCat("dimension=1, channel=1, "
                                      "use_global_device_ids=true, ",
                                      groups));
            absl::StrAppend(&text, made, " = ", whole, " hlo.slice(", part,
                            "), start=[0, ", columns * (n - 1), "], limit=[",
                            rows, ", ", columns * n, "], strides=[1, 1]\n");
            break;
          }
          default:
            text += Line(made, whole, "all_reduce", in,
                         absl::StrCat(groups,
                                      ", channel=1, "
                                      "use_global_device_ids=true ADD"));
        }
        absl::StrAppend(&text, name, i + 1, " = ", whole, " hlo.minimum(", made,
                        ", ", name, "0)\n");
      }
      absl::StrAppend(&outputs, name, "4 as \"c", chain, "\", ");
    }
    SCOPED_TRACE(text);
    Check(text + Products(4), outputs + "%x4 as \"x\"", /*programs=*/1, kAll);
  }
}

// As in ring attention: what others have goes around while the own is used.
TEST_F(PermutationsTest, AroundARing) {
  std::string text =
      "%x0 = f32[64,64] parameter(), name=\"x\"\n"
      "%y0 = f32[64,64] hlo.negate(%x0)\n";
  const int turns = g_backend == "rtl" ? 3 : 8;
  for (int i = 0; i < turns; ++i) {
    text += Shift(absl::StrCat("%x", i + 1), "f32[64,64]",
                  absl::StrCat("%x", i), i % 2 == 0 ? 1 : -1);
    absl::StrAppend(&text, "%p", i, " = f32[64,64] hlo.dot_general(%x", i,
                    ", %y", i,
                    "), lhs_contracting=[1], rhs_contracting=[0]\n%y", i + 1,
                    " = f32[64,64] hlo.minimum(%p", i, ", %y", i, ")\n");
  }
  Check(text, absl::StrCat("%y", turns, " as \"y\", %x", turns, " as \"x\""),
        /*programs=*/1, kAll);
}

// Who gets nothing has zeros, which kernels read.
TEST_F(PermutationsTest, WhoGetsNothingHasZeros) {
  for (const int64_t elements : {1, 1000, 20000}) {
    const std::string type = absl::StrCat("f32[", elements, "]");
    const std::string text =
        absl::StrCat("%v = ", type, " parameter(), name=\"v\"\n",
                     Permute("%s", type, "%v", {"0, 1", "1, 2", "2, 3"}),
                     "%w = ", type, " hlo.subtract(%s, %v)\n",
                     Permute("%t", type, "%w", {"5, 0", "4, 4", "7, 6"}),
                     "%u = ", type, " hlo.add(%t, %s)\n");
    Check(text, "%u as \"u\", %t as \"t\"", /*programs=*/1, kAll);
    if (g_backend == "rtl") return;  // it takes long
  }
}

TEST_F(PermutationsTest, WhereNobodyGivesAnythingAllHaveZeros) {
  Check(absl::StrCat("%v = f32[900] parameter(), name=\"v\"\n",
                     Permute("%s", "f32[900]", "%v", {}),
                     "%w = f32[900] hlo.negate(%s)\n"),
        "%w as \"w\", %s as \"s\"", /*programs=*/1, kAll);
}

// All turns of a loop whose number is known.
TEST_F(PermutationsTest, InALoop) {
  const std::string text = absl::StrCat(
      "%x = f32[640] parameter(), name=\"x\"\n"
      "%zero = i32[] constant(), data=[0]\n"
      "%l = (i32[], f32[640], f32[640]) hlo.while(%zero, %x, %x) {\n"
      "%i = i32[] parameter()\n%v = f32[640] parameter()\n"
      "%w = f32[640] parameter()\n"
      "%five = i32[] constant(), data=[5]\n"
      "%r = i1[] hlo.compare(%i, %five), direction=LT\nreturn %r\n} {\n"
      "%i = i32[] parameter()\n%v = f32[640] parameter()\n"
      "%w = f32[640] parameter()\n"
      "%one = i32[] constant(), data=[1]\n"
      "%j = i32[] hlo.add(%i, %one)\n",
      Shift("%next", "f32[640]", "%v", 2),
      "%sum = f32[640] hlo.maximum(%w, %next)\n"
      "return %j, %next, %sum\n}\n");
  Check(text, "%l#1 as \"v\", %l#2 as \"w\"", /*programs=*/5, kAll);
}

// Where the devices lie on the chips so that no bit of their numbers leads to
// another chip everywhere, and where a group is none of 2, 4 or 8.
TEST_F(PermutationsTest, StraightWhereBitsDoNotLead) {
  const std::string type = "f32[3000]";
  const std::string text = absl::StrCat(
      "%v = f32[3000] parameter(), name=\"v\"\n", Shift("%s", type, "%v", 1),
      "%w = f32[3000] hlo.negate(%s)\n");
  Check(text, "%w as \"w\"", /*programs=*/1, {2, 3, 0, 1, 6, 7, 4, 5});
  Check(text, "%w as \"w\"", /*programs=*/2, {0, 1, 2, 4, 3, 5, 6, 7});
  const std::string three =
      absl::StrCat("%v = f32[3000] parameter(), name=\"v\"\n",
                   Permute("%s", type, "%v", {"0, 1", "1, 2", "2, 0"}),
                   "%w = f32[3000] hlo.negate(%s)\n");
  Check(three, "%w as \"w\"", /*programs=*/2, {0, 1, 2});
}

// An exchange and a chain of products that does not need it.
TEST_F(PermutationsTest, TakesLessThanTwo) {
  const std::string exchange = absl::StrCat(
      "%v = f32[64,256] parameter(), name=\"v\"\n",
      Line("%s", "f32[512,32]", "all_to_all", "%v",
           absl::StrCat("dimension=1, concat_dimension=0, channel=1, ",
                        kGroups[4])),
      "%w = f32[512,32] hlo.negate(%s)\n");
  const uint64_t alone = Check(exchange, "%w as \"w\"", /*programs=*/1, kAll);
  const uint64_t products =
      Check(Products(6), "%x6 as \"x\"", /*programs=*/1, kAll);
  const uint64_t both =
      Check(exchange + Products(6), "%w as \"w\", %x6 as \"x\"", /*programs=*/1,
            kAll);
  if (g_backend != "rtl") return;  // the simulator has no cycles
  EXPECT_LT(both, alone + products);
  EXPECT_GE(both, std::max(alone, products));
}

}  // namespace
}  // namespace systole::runtime
