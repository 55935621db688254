// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The passes over plans, each on its text, and their verifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/passes/column_joining.h"
#include "host/compiler/passes/memory_planning.h"
#include "host/compiler/passes/tiling.h"
#include "host/compiler/passes/vector_fusion.h"
#include "tests/compiler/plan_text.h"

namespace systole::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class P>
std::string ErrorOf(const std::string& text) {
  Plan plan = Parsed(text);
  const auto changed = P().Run(plan);
  EXPECT_FALSE(changed.ok()) << Print(plan);
  return std::string(changed.status().message());
}

std::string Conv(const char* width, const char* filters, const char* more) {
  return absl::StrCat("plan @m on edge, batch=1, ub=524288 {\n  %x = 32x",
                      width, "x16, input\n  %y = 32x", width, "x", filters,
                      ", output\n  conv: %y = conv2d(%x), kernel=[3, 3], "
                      "padding=[1, 1]",
                      more, "\n}\n");
}

TEST(ColumnJoining, JoinsWhereColumnsAreFree) {
  EXPECT_EQ(After<ColumnJoining>(Conv("32", "16", "")),
            Conv("32", "16", ", columns=2"));
  EXPECT_EQ(After<ColumnJoining>(Conv("32", "8", "")),
            Conv("32", "8", ", columns=4"));
}

TEST(ColumnJoining, LeavesAlone) {
  for (const std::string& text :
       {Conv("32", "32", ""),  // no column is free
        Conv("31", "16", ""),  // 31 is odd
        // the taps of a row are apart
        absl::StrReplaceAll(Conv("32", "16", ", dilation=[1, 2]"),
                            {{"kernel=[3, 3], padding=[1, 1], dilation=[1, 2]",
                              "kernel=[3, 3], dilation=[1, 2], "
                              "padding=[1, 2]"}})})
    EXPECT_EQ(After<ColumnJoining>(text), text);
}

// conv1 - conv2 - add with the result of conv1 - pool - conv3
std::string Residual(const char* add, const char* pool) {
  return absl::StrCat(
      "plan @m on nano, batch=1, ub=65536 {\n"
      "  %x = 16x16x8, input\n"
      "  %a = 16x16x8\n"
      "  %b = 16x16x8\n"
      "  %c = 16x16x8\n"
      "  %d = 8x8x8\n"
      "  %e = 8x8x8, output\n"
      "  conv1: %a = conv2d(%x), kernel=[3, 3], padding=[1, 1]\n"
      "  conv2: %b = conv2d(%a), kernel=[3, 3], padding=[1, 1]\n"
      "  add: %c = add(%a, %b)",
      add,
      "\n"
      "  pool: %d = maxpool(%c), kernel=[2, 2], stride=[2, 2]",
      pool,
      "\n"
      "  conv3: %e = conv2d(%d)\n"
      "}\n");
}

TEST(VectorFusion, MarksWhatFollowsALayerWithWeights) {
  EXPECT_EQ(After<VectorFusion>(Residual("", "")), Residual(", fused", ""))
      << "the pool follows an addition";
  const std::string pool =
      "plan @m on nano, batch=1, ub=65536 {\n"
      "  %x = 8x8x8, input\n  %a = 8x8x8\n  %b = 4x4x8\n  %y = 4x4x8, output\n"
      "  conv: %a = conv2d(%x)\n"
      "  pool: %b = avgpool(%a), kernel=[2, 2], stride=[2, 2]FUSED\n"
      "  last: %y = conv2d(%b)\n}\n";
  EXPECT_EQ(After<VectorFusion>(absl::StrReplaceAll(pool, {{"FUSED", ""}})),
            absl::StrReplaceAll(pool, {{"FUSED", ", fused"}}));
}

TEST(VectorFusion, LeavesAlone) {
  // The addition reads nothing of the layer before it.
  const std::string text = absl::StrReplaceAll(
      Residual("", ""), {{"%c = add(%a, %b)", "%c = add(%a, %a)"}});
  EXPECT_EQ(After<VectorFusion>(text), text);
}

TEST(Tiling, KeepsWhatFitsInTheUnifiedBuffer) {
  const std::string text = After<Tiling>(Residual(", fused", ""));
  EXPECT_THAT(text, HasSubstr("&0 = \"a\", bytes=2048, layers=[0, 2]\n"));
  EXPECT_THAT(text, HasSubstr("\"c\", bytes=2048, layers=[1, 3], over=[&"))
      << "the addition may write where it reads";
  EXPECT_THAT(text, HasSubstr("%e = 8x8x8, output, in_hbm\n"));
  EXPECT_THAT(text, HasSubstr("add: %c = add(%a, %b), fused,\n"
                              "    from resident(&"));
  EXPECT_THAT(text, HasSubstr("pool: %d = maxpool(%c), kernel=[2, 2], "
                              "stride=[2, 2],\n    from resident"));
  EXPECT_THAT(text, Not(HasSubstr("at="))) << "addresses come later";
}

TEST(Tiling, SendsThroughHbmWhatDoesNotFit) {
  const std::string text = After<Tiling>(
      absl::StrReplaceAll(Residual(", fused", ""), {{"ub=65536", "ub=2048"}}));
  EXPECT_THAT(text, HasSubstr("%a = 16x16x8, in_hbm\n"));
  EXPECT_THAT(text, HasSubstr("input slots"));
  EXPECT_THAT(text, HasSubstr("output slots"));
  EXPECT_THAT(text, HasSubstr(", stored"));
  EXPECT_THAT(text, Not(HasSubstr("fused"))) << "it loads";
}

TEST(Tiling, KeepsAndSendsAsItIsTold) {
  const std::string kept = After<Tiling>(absl::StrReplaceAll(
      Residual(", fused", ""), {{"ub=65536", "ub=65536, keep_intermediates"}}));
  EXPECT_THAT(kept, HasSubstr("%c = 16x16x8, in_hbm\n"));
  EXPECT_THAT(kept, HasSubstr("resident"));
  EXPECT_THAT(kept, Not(HasSubstr("over="))) << "a store may be reading";
  const std::string sent = After<Tiling>(absl::StrReplaceAll(
      Residual(", fused", ""), {{"ub=65536", "ub=65536, nothing_resident"}}));
  EXPECT_THAT(sent, Not(HasSubstr("resident(")));
}

TEST(Tiling, ALayerOfOneBlockKeepsItsTilesForQuarters) {
  const auto tiled = [](const char* preset, const char* batch) {
    return After<Tiling>(absl::StrCat(
        "plan @m on ", preset, ", batch=", batch, ", ub=25165824 {\n",
        "  %x = 28x28x128, input\n"
        "  %a = 28x28x128\n"
        "  %b = 28x28x128\n"
        "  %y = 28x28x128, output\n"
        "  conv1: %a = conv2d(%x)\n"
        "  conv2: %b = conv2d(%a), kernel=[3, 3], padding=[1, 1]\n"
        "  conv3: %y = conv2d(%b)\n"
        "}\n"));
  };
  const std::string one = tiled("v1", "1");
  EXPECT_THAT(one, HasSubstr("conv2: %b = conv2d(%a), kernel=[3, 3], "
                             "padding=[1, 1], stationary,"));
  EXPECT_THAT(one, HasSubstr("blocks=[[0, 1, 0, 7, 0, 28], "
                             "[0, 1, 7, 7, 0, 28], [0, 1, 14, 7, 0, 28], "
                             "[0, 1, 21, 7, 0, 28]]"));
  // Where tiles may be loaded for every block, and where blocks are many.
  EXPECT_THAT(tiled("edge", "1"), Not(HasSubstr("stationary")));
  EXPECT_THAT(tiled("v1", "8"), Not(HasSubstr("stationary")));
}

TEST(Tiling, AnAdditionDoesNotOverwriteWhatTheLayerBeforeReads) {
  // conv2 reads lines of a that the addition between its blocks would have
  // overwritten; its own result is another matter.
  const std::string text = After<Tiling>(Residual(", fused", ""));
  const Plan plan = Parsed(text);
  const PlanLayer& add = plan.layers[2];
  ASSERT_TRUE(add.fused);
  EXPECT_THAT(plan.buffers[add.out.buffer].over,
              testing::ElementsAre(plan.layers[1].out.buffer));
  // Behind all of conv2 it may.
  const Plan apart = Parsed(After<Tiling>(Residual("", "")));
  EXPECT_THAT(apart.buffers[apart.layers[2].out.buffer].over,
              testing::ElementsAre(apart.layers[0].out.buffer,
                                   apart.layers[1].out.buffer));
}

TEST(Tiling, AnAdditionDoesNotOverwriteWhatIsReadLater) {
  const Plan plan = Parsed(After<Tiling>(absl::StrReplaceAll(
      Residual("", ""),
      {{"  %d = 8x8x8\n", "  %d = 16x16x8\n"},
       {"%e = 8x8x8", "%e = 16x16x8"},
       {"pool: %d = maxpool(%c), kernel=[2, 2], stride=[2, 2]",
        "again: %d = add(%c, %a)"}})));
  const auto over = [&](int l) {
    return plan.buffers[plan.layers[l].out.buffer].over;
  };
  EXPECT_THAT(over(2), testing::ElementsAre(plan.layers[1].out.buffer));
  EXPECT_THAT(over(3), testing::ElementsAre(plan.layers[2].out.buffer,
                                            plan.layers[0].out.buffer));
}

TEST(Tiling, RefusesWithTheSizes) {
  EXPECT_EQ(ErrorOf<Tiling>(absl::StrReplaceAll(Residual("", ""),
                                                {{"ub=65536", "ub=512"}})),
            "layer conv1 (16x16x8 * 3x3 -> 16x16x8): its smallest tiles need "
            "352 bytes of unified buffer, nano has 512");
}

// Tiled: a chain of three layers that leaves its tensors where there is room.
std::string Chain(const char* ub, const char* a, const char* b, const char* p,
                  const char* q) {
  return absl::StrCat(
      "plan @m on nano, batch=1, ub=", ub,
      " {\n"
      "  %x = 4x4x8, input, in_hbm\n"
      "  %a = 4x4x8\n"
      "  %b = 4x4x8\n"
      "  %y = 4x4x8, output, in_hbm\n"
      "  &0 = \"a\", bytes=128, layers=[0, 2]",
      a,
      "\n"
      "  &1 = \"x\", bytes=128, layers=[0, 0]",
      b,
      "\n"
      "  &2 = \"b\", bytes=128, layers=[1, 2]",
      p,
      "\n"
      "  &3 = \"y\", bytes=256, layers=[2, 2]",
      q,
      "\n"
      "  pool1: %a = maxpool(%x),\n"
      "    from whole(&1, 32, 128), to resident(&0, 32, 128), channels=8,\n"
      "    blocks=[[0, 1, 0, 4, 0, 4]]\n"
      "  pool2: %b = maxpool(%a),\n"
      "    from resident(&0, 32, 128), to resident(&2, 32, 128), channels=8,\n"
      "    blocks=[[0, 1, 0, 4, 0, 4]]\n"
      "  add: %y = add(%a, %b),\n"
      "    from resident(&0, 32, 128), from resident(&2, 32, 128), to "
      "slots(&3, 128), channels=8, stored,\n"
      "    blocks=[[0, 1, 0, 4, 0, 4]]\n"
      "}\n");
}

TEST(MemoryPlanning, ReusesWhatIsDeadBehindWhatTheLayerBeforeUsed) {
  EXPECT_EQ(
      After<MemoryPlanning>(Chain("768", "", "", "", "")),
      absl::StrReplaceAll(
          Chain("768", ", at=0x0", ", at=0x80", ", at=0x100", ", at=0x180"),
          {{"input, in_hbm", "input, in_hbm, hbm=0x0"},
           {"output, in_hbm", "output, in_hbm, hbm=0x100"}}))
      << "b not where the load before it may still be on its way";
  // In less room it must; y does not fit beside it then.
  EXPECT_THAT(ErrorOf<MemoryPlanning>(Chain("512", "", "", "", "")),
              HasSubstr("no room for y: 256 bytes"));
}

TEST(MemoryPlanning, NeverOverTheCapacity) {
  EXPECT_EQ(ErrorOf<MemoryPlanning>(Chain("256", "", "", "", "")),
            "no room for y: 256 bytes beside what is alive between layers 2 "
            "and 2; the unified buffer has 256");
  EXPECT_EQ(ErrorOf<MemoryPlanning>(Residual("", "")), "the plan is not tiled");
}

TEST(MemoryPlanning, AdditionsWriteInPlace) {
  const std::string plan = Print([] {
    Plan tiled = Parsed(Residual("", ""));
    EXPECT_TRUE(Tiling().Run(tiled).ok());
    return tiled;
  }());
  const Plan placed = Parsed(After<MemoryPlanning>(plan));
  EXPECT_EQ(placed.buffers[placed.layers[2].out.buffer].at,
            placed.buffers[placed.layers[0].out.buffer].at);
}

TEST(MemoryPlanning, TensorsThatAreDeadShareHbm) {
  constexpr char kPools[] =
      "plan @net on nano, batch=1, ub=65536, nothing_residentOPTIONS {\n"
      "  %x = 16x16x8, input\n"
      "  %a = 16x16x8\n"
      "  %b = 16x16x8\n"
      "  %c = 16x16x8\n"
      "  %d = 16x16x8\n"
      "  %y = 16x16x8, output\n"
      "  p0: %a = maxpool(%x)\n"
      "  p1: %b = maxpool(%a)\n"
      "  p2: %c = maxpool(%b)\n"
      "  p3: %d = maxpool(%c)\n"
      "  p4: %y = maxpool(%d)\n"
      "}\n";
  const auto addresses = [&](const char* options) {
    Plan plan = Parsed(absl::StrReplaceAll(kPools, {{"OPTIONS", options}}));
    EXPECT_TRUE(Tiling().Run(plan).ok());
    EXPECT_TRUE(MemoryPlanning().Run(plan).ok());
    EXPECT_EQ(Verify(plan), absl::OkStatus());
    std::vector<int64_t> all;
    for (const PlanTensor& tensor : plan.tensors) all.push_back(tensor.hbm);
    return all;
  };
  // Arguments lie in front and are nobody else's; a is dead when c was written,
  // so d lies there.
  EXPECT_THAT(addresses(""),
              testing::ElementsAre(0, 4096, 6144, 8192, 4096, 2048));
  EXPECT_THAT(addresses(", keep_intermediates"),
              testing::ElementsAre(0, 4096, 6144, 8192, 10240, 2048));
}

// A plan with something wrong, and what the verifier says.
struct Broken {
  const char* name;
  const char *from, *to;  // in the sound plan
  const char* message;
};

class PlanVerifier : public testing::TestWithParam<Broken> {
 protected:
  static std::string Sound() {
    Plan plan = Parsed(Residual(", fused", ""));
    EXPECT_TRUE(Tiling().Run(plan).ok());
    EXPECT_TRUE(MemoryPlanning().Run(plan).ok());
    return Print(plan);
  }
};

TEST_F(PlanVerifier, FindsNothingInASoundOne) {
  EXPECT_EQ(Verify(Parsed(Sound())), absl::OkStatus()) << Sound();
}

TEST_P(PlanVerifier, NamesWhatIsWrong) {
  const std::string text =
      absl::StrReplaceAll(Sound(), {{GetParam().from, GetParam().to}});
  ASSERT_NE(text, Sound());
  const auto plan = ParsePlan(text);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(std::string(Verify(*plan).message()),
              HasSubstr(GetParam().message))
      << Sound();
}

INSTANTIATE_TEST_SUITE_P(
    All, PlanVerifier,
    testing::Values(
        Broken{"NotThereYet", "conv1: %a = conv2d(%x)",
               "conv1: %a = conv2d(%d)", "layer conv1: %d is not there yet"},
        Broken{"ThereAlready", "conv2: %b = ", "conv2: %a = ",
               "layer conv2: %a is there already"},
        Broken{"OverlappingBlocks", "[0, 1, 2, 3, 0, 8], [0, 1, 5, 3, 0, 8]]",
               "[0, 1, 2, 3, 0, 8], [0, 1, 5, 3, 0, 8], [0, 1, 0, 1, 0, 1]]",
               "two blocks have position 0 of line 0"},
        Broken{"MissingBlock", "[0, 1, 2, 3, 0, 8], [0, 1, 5, 3, 0, 8]]",
               "[0, 1, 2, 3, 0, 8], [0, 1, 5, 2, 0, 8]]",
               "positions that no block has"},
        Broken{"BlockOutside", "[0, 1, 2, 3, 0, 8], [0, 1, 5, 3, 0, 8]]",
               "[0, 1, 2, 3, 0, 8], [0, 1, 5, 4, 0, 8]]",
               "a block leaves the output"},
        Broken{"ShortLife", "&0 = \"a\", bytes=2048, layers=[0, 2]",
               "&0 = \"a\", bytes=2048, layers=[0, 1]",
               "output is wanted from layer 0 to 2, buffer &0 lives from 0 to "
               "1"},
        Broken{"SmallBuffer", "&0 = \"a\", bytes=2048",
               "&0 = \"a\", bytes=2032", "does not fit its buffer of 2032"},
        Broken{"Lost", "channels=8, stored", "channels=8",
               "its result is not stored"},
        Broken{"Outside", "ub=65536", "ub=2048", "of 2048"},
        Broken{"Overlap", "&0 = \"a\", bytes=2048, layers=[0, 2], at=0x0",
               "&0 = \"a\", bytes=2048, layers=[0, 2], at=0x800", " overlap"},
        Broken{"HbmOverlap", "hbm=0x800", "hbm=0x700",
               "%x and %e overlap in HBM"},
        Broken{"OverwritesWhatIsRead", "over=[&3], at=0x1120",
               "over=[&0], at=0x0", "buffers &0 (a) and &5 (c) overlap"},
        Broken{"StationaryWithoutWeights", "stride=[2, 2],",
               "stride=[2, 2], stationary,", "is stationary with 64 rows"},
        Broken{"StationaryInSlots", "conv3: %e = conv2d(%d),",
               "conv3: %e = conv2d(%d), stationary,",
               "is stationary and its result in slots"},
        Broken{"FusedWithAnAddition", "stride=[2, 2],", "stride=[2, 2], fused,",
               "layer pool: output is wanted from layer 2 to 4"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PlanText, NamesTheLineOfAnError) {
  const auto error = [](const std::string& from, const std::string& to) {
    const std::string text =
        absl::StrReplaceAll(Residual("", ""), {{from, to}});
    return std::string(ParsePlan(text).status().message());
  };
  EXPECT_EQ(error("on nano", "on pluto"), "line 1: no preset 'pluto'");
  EXPECT_EQ(error("%a = 16x16x8", "%a = 16x16"),
            "line 3: a shape wanted: height x width x channels");
  EXPECT_EQ(error("maxpool(%c)", "medianpool(%c)"),
            "line 11: no operation 'medianpool'");
  EXPECT_EQ(error("maxpool(%c)", "maxpool(%q)"), "line 11: no tensor %q");
  EXPECT_EQ(error("kernel=[2, 2]", "colonel=[2, 2]"),
            "line 11: 'colonel' is not known here");
  EXPECT_EQ(error("conv3: %e = conv2d(%d)",
                  "conv3: %e = conv2d(%d), to "
                  "slots(&7, 1)"),
            "line 12: no buffer &7");
}

}  // namespace
}  // namespace systole::compiler
