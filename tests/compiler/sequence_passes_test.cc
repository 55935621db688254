// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The passes over sequences, each on its text; their verifier; the builder that
// runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/passes/dependence_analysis.h"
#include "host/compiler/passes/scheduling.h"
#include "host/compiler/passes/sync_flags.h"
#include "host/compiler/schedule_builder.h"

namespace systole::compiler {
namespace {

using isa::Queue;
using testing::HasSubstr;

std::string Text(const std::string& steps, const char* header = "") {
  return absl::StrCat("sequence on nano", header, " {\n", steps, "}\n");
}

Sequence Parsed(const std::string& text) {
  const auto sequence = ParseSequence(text);
  EXPECT_TRUE(sequence.ok()) << sequence.status() << text;
  return sequence.ok() ? *sequence : Sequence(*FindPreset("nano"));
}

// What a pass makes of steps.
template <class P>
std::string After(const std::string& steps) {
  Sequence sequence = Parsed(Text(steps));
  EXPECT_EQ(Verify(sequence), absl::OkStatus()) << steps;
  const auto changed = P().Run(sequence);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, Print(sequence) != Text(steps));
  EXPECT_EQ(Verify(sequence), absl::OkStatus()) << Print(sequence);
  return Print(sequence);
}

// 4 lines of 8 bytes at 0, one tile, into accumulator rows 0..3, to 1024.
constexpr char kLoad[] = "load hbm_addr=0x0 len=128 n1=1 n2=1";
constexpr char kTile[] = "weights hbm_addr=0x100000 tiles=1";
constexpr char kMatmul[] =
    "matmul pitch=32 lines=4 line_bytes=8 n=1 ny=4 nx=1 sy=1 t0=1 t1=1 "
    "seg_len=8,0,0,0";
constexpr char kRequant[] =
    "requant n=1 ny=4 nx=1 dst=0x400 dst_pitch=32 cols=8 raw";
constexpr char kStore[] =
    "store hbm_addr=0x1000 ub_addr=0x400 len=128 n1=1 n2=1";

// As the printer writes them.
std::string Steps(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    absl::StrAppend(&text, "  %", i, " = ", lines[i], "\n");
  const Sequence sequence = Parsed(Text(text));
  const std::string printed = Print(sequence);
  return printed.substr(printed.find('\n') + 1,
                        printed.size() - printed.find('\n') - 3);
}

TEST(DependenceAnalysis, ReadsComeAfterWritesThroughAllUnits) {
  EXPECT_EQ(After<DependenceAnalysis>(
                Steps({kLoad, kTile, kMatmul, kRequant, kStore})),
            Text(Steps({kLoad, kTile, absl::StrCat(kMatmul, "; after %0"),
                        absl::StrCat(kRequant, "; after %2"),
                        absl::StrCat(kStore, "; after %3")})));
}

TEST(DependenceAnalysis, WritesComeAfterReadsAndHbmCounts) {
  const char* overwrites = "load ub_addr=0x420 len=64 n1=1 n2=1";
  const char* reads_back =
      "load hbm_addr=0x1020 ub_addr=0x800 len=32 n1=1 n2=1";
  EXPECT_EQ(After<DependenceAnalysis>(Steps({kStore, overwrites, reads_back})),
            Text(Steps({kStore, absl::StrCat(overwrites, "; after %0"),
                        absl::StrCat(reads_back, "; after %0")})));
}

TEST(DependenceAnalysis, LeavesIndependentRangesAlone) {
  const std::string steps =
      Steps({"store ub_addr=0x0 len=64 n1=1 n2=1 hbm_addr=0x1000",
             "load ub_addr=0x40 len=64 n1=1 n2=1 hbm_addr=0x2000"});
  EXPECT_EQ(After<DependenceAnalysis>(steps), Text(steps));
}

TEST(DependenceAnalysis, CountsWhatAVectorProgramTouches) {
  const char* run =
      "vrun pc=0; cycles=9; reads ub[0x0, 8, 4 * 32]; writes "
      "ub[0x400, 32]";
  EXPECT_EQ(After<DependenceAnalysis>(Steps({kLoad, run, kStore})),
            Text(Steps({kLoad, absl::StrCat(run, "; after %0"),
                        absl::StrCat(kStore, "; after %1")})));
}

// Of random accesses: every pair in conflict is ordered by queues and
// dependences, and every dependence has a reason.
TEST(DependenceAnalysis, OrdersEveryConflictAndNothingElse) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Sequence sequence(*FindPreset("nano"));
    for (int i = 0; i < 24; ++i) {
      const int64_t at = static_cast<int64_t>(random() % 12) * 32;
      isa::Load load;
      isa::Store store;
      isa::Vrun run;
      load.hbm_addr = 0x10000 + i * 512, store.hbm_addr = 0x20000 + i * 512;
      load.ub_addr = store.ub_addr = static_cast<uint32_t>(at);
      load.len = store.len = 32 * (1 + random() % 3);
      load.n1 = load.n2 = store.n1 = store.n2 = 1;
      Access touch;
      touch.base = at, touch.len = 32, touch.write = random() % 2 == 0;
      switch (random() % 3) {
        case 0:
          sequence.steps.push_back({load.Encode(), {}, 0, kNoDependences});
          break;
        case 1:
          sequence.steps.push_back({store.Encode(), {}, 0, kNoDependences});
          break;
        default:
          sequence.steps.push_back({run.Encode(), {touch}, 0, kNoDependences});
      }
    }
    FindDependences(sequence);
    ASSERT_EQ(Verify(sequence), absl::OkStatus());
    const auto accesses = [&](int i) {
      std::vector<Access> all =
          AccessesOf(sequence.steps[i].descriptor, *sequence.preset);
      const auto& more = sequence.steps[i].touches;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const auto conflict = [&](int i, int j) {
      for (const Access& a : accesses(i)) {
        for (const Access& b : accesses(j)) {
          if (a.space == b.space && (a.write || b.write) &&
              a.base < b.base + b.len && b.base < a.base + a.len)
            return true;
        }
      }
      return false;
    };
    std::vector<std::vector<bool>> before(sequence.size(),
                                          std::vector<bool>(sequence.size()));
    for (int i = 0; i < sequence.size(); ++i) {
      for (int j = 0; j < i; ++j) {
        const Queue q = sequence.steps[j].queue();
        const int latest = sequence.steps[i].after[static_cast<int>(q)];
        const bool direct = q == sequence.steps[i].queue() || latest >= j;
        if (!direct) continue;
        before[i][j] = true;
        for (int k = 0; k < j; ++k)
          if (before[j][k]) before[i][k] = true;
      }
      for (int j = 0; j < i; ++j)
        EXPECT_TRUE(before[i][j] || !conflict(i, j)) << Print(sequence);
      for (const int d : sequence.steps[i].after)
        EXPECT_TRUE(d < 0 || conflict(i, d)) << Print(sequence);
    }
  }
}

// Two layers, each with a long contraction; the second one's input is not the
// first one's output.
std::string TwoLayers() {
  const auto load = [](int hbm, int ub) {
    return absl::StrCat("load hbm_addr=", hbm, " ub_addr=", ub,
                        " len=4096 n1=1 n2=1");
  };
  const auto matmul = [](int base, int acc) {
    return absl::StrCat("matmul ub_base=", base,
                        " pitch=32 lines=128 "
                        "line_bytes=8 n=1 ny=128 nx=1 sy=1 t0=16 t1=1 acc=",
                        acc, " seg_len=8,0,0,0");
  };
  const auto requant = [](int acc, int to) {
    return absl::StrCat("requant acc=", acc, " n=1 ny=128 nx=1 dst=", to,
                        " dst_pitch=32 cols=8 raw");
  };
  return Steps({load(0, 0), "weights hbm_addr=0x100000 tiles=16",
                absl::StrCat(matmul(0, 0), "; after %0"),
                absl::StrCat(requant(0, 16384), "; after %2"),
                absl::StrCat(load(4096, 4096), " tag=1"),
                "weights hbm_addr=0x200000 tiles=16 tag=1",
                absl::StrCat(matmul(4096, 256), " tag=1; after %4"),
                absl::StrCat(requant(256, 32768), " tag=1; after %6")});
}

std::string Order(const Sequence& sequence) {
  std::string order;
  for (const Step& step : sequence.steps) {
    const auto* op =
        isa::FindOp(static_cast<uint8_t>(OpcodeOf(step.descriptor)));
    absl::StrAppend(&order, order.empty() ? "" : " ", std::string(op->name),
                    TagOf(step.descriptor));
  }
  return order;
}

TEST(Scheduling, LoadsAndTilesOfTheNextLayerRunAhead) {
  Sequence sequence = Parsed(Text(TwoLayers()));
  ASSERT_EQ(Verify(sequence), absl::OkStatus());
  const int64_t total = Simulate(sequence).total;
  ASSERT_TRUE(Scheduling().Run(sequence).ok());
  EXPECT_EQ(Verify(sequence), absl::OkStatus());
  EXPECT_EQ(Order(sequence),
            "load0 load1 weights0 matmul0 weights1 matmul1 requant0 requant1");
  EXPECT_EQ(Simulate(sequence).total, total) << "queues keep their order";
  EXPECT_LT(total, 2 * 16 * 128 + 1000) << "the second layer does not wait";
}

TEST(Scheduling, KeepsDependences) {
  // The second layer reads what the first one wrote: nothing can run ahead but
  // its tiles, which stay with their matmul.
  std::string steps = TwoLayers();
  steps = absl::StrReplaceAll(
      steps, {{"load hbm_addr=0x1000 ub_addr=0x1000 len=4096 n1=1 n2=1 tag=1",
               "load hbm_addr=0x1000 ub_addr=0x1000 len=4096 n1=1 n2=1 tag=1; "
               "after %3"}});
  Sequence sequence = Parsed(Text(steps));
  ASSERT_TRUE(Scheduling().Run(sequence).ok());
  EXPECT_EQ(Verify(sequence), absl::OkStatus());
  EXPECT_EQ(Order(sequence),
            "load0 weights0 matmul0 requant0 load1 weights1 matmul1 requant1");
}

TEST(Scheduling, HoldsLoadsBackThatNobodyNeedsYet) {
  // Work for 30 x 16 x 128 cycles, then what needs a load that was appended
  // first.
  std::vector<std::string> lines = {
      "load hbm_addr=0x0 ub_addr=0x8000 len=128 n1=1 n2=1", kTile, kMatmul};
  for (int i = 0; i < 30; ++i) {
    lines.push_back("weights hbm_addr=0x100000 tiles=16");
    lines.push_back(
        "matmul pitch=32 lines=128 line_bytes=8 n=1 ny=128 nx=1 sy=1 t0=16 "
        "t1=1 seg_len=8,0,0,0");
  }
  lines.push_back(kTile);
  lines.push_back(
      "matmul ub_base=0x8000 pitch=32 lines=4 line_bytes=8 n=1 ny=4 nx=1 sy=1 "
      "t0=1 t1=1 seg_len=8,0,0,0; after %0");
  Sequence sequence = Parsed(Text(Steps(lines)));
  ASSERT_TRUE(Scheduling().Run(sequence).ok());
  EXPECT_EQ(Verify(sequence), absl::OkStatus());
  int at = 0;
  while (sequence.steps[at].queue() != Queue::kLoad) ++at;
  EXPECT_GT(at, 40) << Order(sequence);
  EXPECT_LT(at, 62) << Order(sequence);
}

TEST(SyncFlags, OneForEachPairOfQueuesThatMayDepend) {
  std::vector<int> flags;
  for (int a = 0; a < isa::kNumQueues; ++a) {
    for (int b = 0; b < isa::kNumQueues; ++b) {
      const int flag = ChannelFlag(Queue(a), Queue(b));
      if (flag >= 0) flags.push_back(flag);
    }
  }
  std::sort(flags.begin(), flags.end());
  EXPECT_EQ(std::unique(flags.begin(), flags.end()), flags.end());
  EXPECT_EQ(flags.size(), 20u);
  EXPECT_LT(flags.back(), isa::kFirstLinkFlag);
}

TEST(SyncFlags, OrderReadersAndWriters) {
  const int loaded = ChannelFlag(Queue::kLoad, Queue::kMxu),
            summed = ChannelFlag(Queue::kMxu, Queue::kVector);
  EXPECT_EQ(
      After<SyncFlags>(Steps({kLoad, kTile, absl::StrCat(kMatmul, "; after %0"),
                              absl::StrCat(kRequant, "; after %2")})),
      Text(Steps({absl::StrCat(kLoad, " post=", loaded), kTile,
                  absl::StrCat(kMatmul, " wait=", loaded, " post=", summed,
                               "; after %0"),
                  absl::StrCat(kRequant, " wait=", summed, "; after %2")}),
           ", flagged"))
      << "the FIFO orders tiles";
}

TEST(SyncFlags, LeaveOutWhatOthersImply) {
  // The requantise also reads what the load wrote: the matmul waited for it.
  const std::string text =
      After<SyncFlags>(Steps({kLoad, kTile, absl::StrCat(kMatmul, "; after %0"),
                              absl::StrCat(kRequant, "; after %0, %2")}));
  EXPECT_THAT(text, HasSubstr(absl::StrCat(
                        "wait=", ChannelFlag(Queue::kMxu, Queue::kVector))));
  EXPECT_THAT(text, testing::Not(HasSubstr(absl::StrCat(
                        "wait=", ChannelFlag(Queue::kLoad, Queue::kVector)))));
}

TEST(SyncFlags, OneWaitCoversEarlierStepsOfItsQueue) {
  const std::string load1 = "load ub_addr=0x100 len=128 n1=1 n2=1";
  const std::string text = After<SyncFlags>(
      Steps({kLoad, load1, kTile, absl::StrCat(kMatmul, "; after %1"), kTile,
             absl::StrCat(kMatmul, "; after %0")}));
  const Sequence sequence = Parsed(text);
  const auto masks = [&](int i) {
    return isa::GetBits(sequence.steps[i].descriptor, 32, 64);
  };
  EXPECT_EQ(masks(0), 0u);
  EXPECT_EQ(masks(5), 0u);
}

// What the verifier finds.
struct Broken {
  const char* name;
  std::vector<std::string> lines;
  const char* header;
  const char* message;
};

class SequenceVerifier : public testing::TestWithParam<Broken> {};

TEST_P(SequenceVerifier, NamesTheStep) {
  std::string steps;
  for (size_t i = 0; i < GetParam().lines.size(); ++i)
    absl::StrAppend(&steps, "%", i, " = ", GetParam().lines[i], "\n");
  const auto sequence = ParseSequence(Text(steps, GetParam().header));
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  EXPECT_THAT(std::string(Verify(*sequence).message()),
              HasSubstr(GetParam().message));
}

const std::string kFlag = absl::StrCat(ChannelFlag(Queue::kLoad, Queue::kMxu));

INSTANTIATE_TEST_SUITE_P(
    All, SequenceVerifier,
    testing::Values(
        Broken{"TileNotThere",
               {kMatmul},
               "",
               "step %0 (matmul): takes 1 tiles, 0 are there"},
        Broken{"TilesPushedEarly",
               {kTile, kTile, kMatmul, kMatmul},
               "",
               "step %1 (weights): pushes tiles while 1 are not taken"},
        Broken{"TilesLeft", {kTile}, "", "1 tiles are left"},
        Broken{"OwnQueue",
               {kLoad, absl::StrCat(kLoad, "; after %0")},
               "",
               "step %1 (load): comes after %0 of its own queue"},
        Broken{"NoFlag",
               {kLoad, kTile, absl::StrCat(kMatmul, "; after %0")},
               ", flagged",
               "step %2 (matmul): no flag makes it wait for %0"},
        Broken{"NothingPosts",
               {kTile, absl::StrCat(kMatmul, " wait=", kFlag)},
               ", flagged",
               "which nothing before it posts"},
        Broken{"NobodyWaits",
               {absl::StrCat(kLoad, " post=", kFlag)},
               ", flagged",
               "is posted 1 times, and waited for 0 times"},
        // The wait meets the post of the first load, not of the second.
        Broken{"TooEarlyAPost",
               {absl::StrCat(kLoad, " post=", kFlag),
                absl::StrCat(kLoad, " post=", kFlag), kTile,
                absl::StrCat(kMatmul, " wait=", kFlag, "; after %1"), kTile,
                absl::StrCat(kMatmul, " wait=", kFlag)},
               ", flagged",
               "step %3 (matmul): no flag makes it wait for %1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(SequenceText, NamesTheLineOfAnError) {
  const auto error = [](const std::string& text) {
    return std::string(ParseSequence(text).status().message());
  };
  EXPECT_THAT(error("sequence on pluto {}"), HasSubstr("no preset 'pluto'"));
  EXPECT_THAT(error("sequence on nano {\n  %0 = lod len=3\n}"),
              HasSubstr("unknown operation 'lod'"));
  EXPECT_THAT(error("sequence on nano {\n  %0 = halt\n}"),
              HasSubstr("line 2: a descriptor of a queue wanted"));
  EXPECT_THAT(error("sequence on nano {\n  %0 = vrun; after %0\n}"),
              HasSubstr("line 2: %0 is not before this step"));
  EXPECT_THAT(error("sequence on nano {\n  %1 = vrun\n}"),
              HasSubstr("line 2: step %1 where %0 is next"));
  EXPECT_THAT(error("sequence on nano {\n  %0 = vrun; reads nb[0, 1]\n}"),
              HasSubstr("line 2: no memory nb"));
}

TEST(ScheduleBuilder, RefusesFieldsThatDoNotFit) {
  ScheduleBuilder builder(*FindPreset("nano"));
  builder.set_tag(3);
  isa::Matmul m;
  m.sx = 1 << 18;
  builder.Append(m);
  const auto schedule = builder.Finish();
  EXPECT_EQ(schedule.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(schedule.status().message()),
              HasSubstr("layer 3: a field of descriptor 0 (matmul)"));
}

}  // namespace
}  // namespace systole::compiler
