// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Collectives of groups of some of the devices, and in loops, in programs of
// kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/exchange_test.h"

namespace systole::runtime {
namespace {

using GroupsTest = ExchangeTest;

const std::vector<int> kAll = {0, 1, 2, 3, 4, 5, 6, 7};

// The axes of a mesh of 2 x 2 x 2 devices, one, two or all of them.
const char* const kGroups[] = {
    "replica_groups=[0, 1, 2, 3, 4, 5, 6, 7], group_size=2",
    "replica_groups=[0, 2, 1, 3, 4, 6, 5, 7], group_size=2",
    "replica_groups=[0, 4, 1, 5, 2, 6, 3, 7], group_size=2",
    "replica_groups=[0, 1, 2, 3, 4, 5, 6, 7], group_size=4",
    "replica_groups=[0, 1, 4, 5, 2, 3, 6, 7], group_size=4",
    "replica_groups=[0, 2, 4, 6, 1, 3, 5, 7], group_size=4",
    "replica_groups=[0, 1, 2, 3, 4, 5, 6, 7], group_size=8",
};

int SizeOf(const std::string& groups) { return groups.back() - '0'; }

std::string Collective(const std::string& result, const std::string& operand,
                       const std::string& op, const std::string& groups,
                       const std::string& more) {
  return absl::StrCat(result, " hlo.", op, "(", operand, "), ", groups,
                      ", channel=1, use_global_device_ids=true", more, "\n");
}

// Chains of collectives of different groups, with kernels between them and
// beside them.
TEST_F(GroupsTest, ChainsOfDifferentGroups) {
  const int rounds = g_backend == "rtl" ? 2 : 40;
  for (int round = 0; round < rounds; ++round) {
    const int64_t length = 512 * (1 + static_cast<int64_t>(rng_() % 12));
    std::string text, outputs;
    for (int chain = 0; chain < 2; ++chain) {
      const std::string name = absl::StrCat("%c", chain, "_");
      const std::string whole = absl::StrCat("f32[", length, "]");
      absl::StrAppend(&text, name, "0 = ", whole, " parameter(), name=\"c",
                      chain, "\"\n");
      for (int i = 0; i < 4; ++i) {
        const std::string groups = kGroups[rng_() % 7];
        const std::string part =
            absl::StrCat("f32[", length / SizeOf(groups), "]");
        const std::string in = absl::StrCat(name, i),
                          made = absl::StrCat(name, "m", i);
        switch (rng_() % 3) {
          case 0:
            text +=
                Collective(absl::StrCat(made, " = ", whole), in, "all_reduce",
                           groups, rng_() % 2 == 0 ? " ADD" : " MAX");
            break;
          case 1:
            text += Collective(absl::StrCat(name, "p", i, " = ", part), in,
                               "reduce_scatter", groups, ", dimension=0 ADD");
            text += Collective(absl::StrCat(made, " = ", whole),
                               absl::StrCat(name, "p", i), "all_gather", groups,
                               ", dimension=0");
            break;
          default:
            absl::StrAppend(&text, made, " = ", whole, " hlo.negate(", in,
                            ")\n");
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

// What the members of one group do does not wait for the other groups, and
// what the program does next, in groups across them, still comes right.
TEST_F(GroupsTest, NeighboursThenChips) {
  for (const int64_t elements : {700, 1, 40000}) {
    const std::string type = absl::StrCat("f32[", elements, "]");
    std::string text =
        absl::StrCat("%v0 = ", type, " parameter(), name=\"v\"\n");
    for (int i = 0; i < 6; ++i) {
      text +=
          Collective(absl::StrCat("%s", i, " = ", type), absl::StrCat("%v", i),
                     "all_reduce", kGroups[i % 3], " ADD");
      absl::StrAppend(&text, "%v", i + 1, " = ", type, " hlo.maximum(%s", i,
                      ", %v0)\n");
    }
    Check(text, "%v6 as \"v\"", /*programs=*/1, kAll);
    if (g_backend == "rtl") return;  // it takes long
  }
}

// A core has link flags for two others. Groups that need more are not together
// in one program, however the devices come to lie.
TEST_F(GroupsTest, GroupsThatNeedMoreFlags) {
  const std::string type = "f32[3000]";
  std::string text = "%v0 = f32[3000] parameter(), name=\"v\"\n";
  const char* const groups[] = {
      kGroups[1], kGroups[2],
      "replica_groups=[0, 6, 1, 7, 2, 4, 3, 5], group_size=2",
      "replica_groups=[0, 3, 1, 2, 4, 7, 5, 6], group_size=2"};
  for (int i = 0; i < 4; ++i) {
    text += Collective(absl::StrCat("%v", i + 1, " = ", type),
                       absl::StrCat("%v", i), "all_reduce", groups[i], " ADD");
    absl::StrAppend(&text, "%w", i, " = ", type, " hlo.negate(%v", i + 1,
                    ")\n");
  }
  Check(text, "%v4 as \"v\", %w0 as \"a\", %w1 as \"b\", %w3 as \"c\"",
        /*programs=*/2, kAll);
  // Groups that fit devices in some orders.
  std::string axes = "%v0 = f32[3000] parameter(), name=\"v\"\n";
  for (int i = 0; i < 3; ++i) {
    axes += Collective(absl::StrCat("%s", i, " = ", type),
                       absl::StrCat("%v", i), "all_reduce", kGroups[i], " ADD");
    absl::StrAppend(&axes, "%v", i + 1, " = ", type, " hlo.negate(%s", i,
                    ")\n");
  }
  const std::string out = "%v3 as \"v\"";
  Check(axes, out, /*programs=*/1, {2, 3, 0, 1, 6, 7, 4, 5});
  Check(axes, out, /*programs=*/1, {0, 2, 1, 3, 4, 6, 5, 7});
  Check(axes, out, /*programs=*/6, {0, 2, 4, 6, 7, 5, 3, 1});
}

// A sum of parts, which the cores of a chip read where each has its own.
TEST_F(GroupsTest, SumsOfParts) {
  std::string text = "%v = f32[4096] parameter(), name=\"v\"\n";
  text += Collective("%part = f32[1024]", "%v", "reduce_scatter", kGroups[5],
                     ", dimension=0 ADD");
  text +=
      Collective("%s = f32[1024]", "%part", "all_reduce", kGroups[0], " ADD");
  text += Collective("%all = f32[4096]", "%s", "all_gather", kGroups[5],
                     ", dimension=0");
  Check(text, "%all as \"all\"", /*programs=*/1, kAll);
}

// The cores of a chip meet first in one group, last in the other: they would
// take each other's posts for another one.
TEST_F(GroupsTest, CoresOfAChipMeetAtDifferentTimes) {
  std::string text = "%v = f32[3000] parameter(), name=\"v\"\n";
  text += Collective("%a = f32[3000]", "%v", "all_reduce",
                     "replica_groups=[0, 2, 1, 3, 4, 6, 5, 7], group_size=4",
                     " ADD");
  text += "%b = f32[3000] hlo.negate(%a)\n";
  text += Collective("%c = f32[3000]", "%b", "all_reduce", kGroups[0], " ADD");
  Check(text, "%c as \"c\"", /*programs=*/2, kAll);
}

// A loop whose turns are known is a program a turn; in another one, groups
// meet as often as their members turn.
TEST_F(GroupsTest, Loops) {
  for (const bool known : {true, false}) {
    const std::string body = Collective("%s = f32[900]", "%v", "all_reduce",
                                        kGroups[known ? 5 : 0], " ADD");
    const std::string text = absl::StrCat(
        "%x = f32[900] parameter(), name=\"x\"\n"
        "%p = u32[] hlo.partition_id()\n"
        "%two = u32[] constant(), data=[2]\n"
        "%chip = u32[] hlo.divide(%p, %two)\n"
        "%far = i32[] hlo.convert(%chip)\n"
        "%zero = i32[] constant(), data=[0]\n"
        "%l = (i32[], f32[900]) hlo.while(",
        known ? "%zero" : "%far",
        ", %x) {\n"
        "%i = i32[] parameter()\n%v = f32[900] parameter()\n"
        "%five = i32[] constant(), data=[5]\n"
        "%r = i1[] hlo.compare(%i, %five), direction=LT\nreturn %r\n} {\n"
        "%i = i32[] parameter()\n%v = f32[900] parameter()\n"
        "%one = i32[] constant(), data=[1]\n"
        "%j = i32[] hlo.add(%i, %one)\n",
        body,
        "%half = f32[] constant(), data=[0.375]\n"
        "%h = f32[900] hlo.broadcast_in_dim(%half)\n"
        "%w = f32[900] hlo.multiply(%s, %h)\n"
        "return %j, %w\n}\n");
    // Apart, the sum has a program of its own, and what is before and behind
    // it.
    Check(text, "%l#1 as \"v\"", known ? 5 : 1 + 3 * 5, kAll);
  }
}

// Half of the devices do not take the branch.
TEST_F(GroupsTest, BranchOfSome) {
  const std::string text = absl::StrCat(
      "%x = f32[4000] parameter(), name=\"x\"\n"
      "%p = u32[] hlo.partition_id()\n"
      "%four = u32[] constant(), data=[4]\n"
      "%low = i1[] hlo.compare(%p, %four), direction=LT\n"
      "%y = f32[4000] hlo.if(%low, %x) {\n"
      "%v = f32[4000] parameter()\n",
      Collective("%s = f32[4000]", "%v", "all_reduce", kGroups[3], " ADD"),
      "%t = f32[4000] hlo.multiply(%s, %s)\nreturn %t\n} {\n"
      "%v = f32[4000] parameter()\n%t = f32[4000] hlo.negate(%v)\n"
      "return %t\n}\n");
  Check(text, "%y as \"y\"", /*programs=*/3, kAll);
}

}  // namespace
}  // namespace systole::runtime
