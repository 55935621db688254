// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of several cores on one axis, from samples made by hand; the checks
// on seeded faults.
#include "host/profile/cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/profile/profile.h"

namespace systole::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kSequencer = static_cast<int>(Unit::kSequencer);
constexpr int kIdle = static_cast<int>(Cause::kIdle);

const Preset& Minichip() { return *FindPreset("minichip"); }

Program Halt(const std::string& layer) {
  Program program;
  program.preset = "minichip";
  program.descriptors = {isa::Halt().Encode()};
  program.layers.resize(1);
  program.layers[0].name = layer;
  return program;
}

class CoresTest : public testing::Test {
 protected:
  explicit CoresTest(int cores = 4) : recorder_(cores, Minichip()) {
    recorder_.Begin();
  }

  // A program that does nothing runs on a core, from a cycle of the device on.
  void Run(int core, int64_t round, bool exchanges, uint64_t begin,
           uint64_t cycles) {
    Begin(core, round, exchanges);
    ProbeSample running;
    running.bits = uint64_t{1} << ProbeSample::k_running;
    ProbeSink& sink = *recorder_.probes()[core];
    for (uint64_t i = 0; i < cycles; ++i) sink.Sample(running, begin + i);
    sink.Sample({}, begin + cycles);
    RunStats stats;
    stats.cycles = cycles;
    recorder_.listeners()[core]->Ended(stats);
  }
  void Begin(int core, int64_t round, bool exchanges) {
    runtime::CoreListener& listener = *recorder_.listeners()[core];
    listener.Starts(Halt(exchanges ? "sum" : "kernel"));
    listener.Round(round, exchanges);
  }
  // What chips have sent to the right, and received from there, up to a cycle.
  void Links(int chip, uint64_t cycle, uint32_t sent, uint32_t received) {
    ChipLinkCounts counts{};
    counts[0].bytes_sent = sent;
    counts[0].bytes_received = received;
    recorder_.probes()[2 * chip]->Links(counts, cycle);
  }
  // Two rounds; nothing runs on core 2.
  void Story() {
    Run(0, 7, false, 100, 10);
    Run(1, 7, false, 105, 20);
    Run(0, 8, true, 200, 30);
    Run(1, 8, true, 204, 30);
    Run(3, 8, true, 210, 40);
  }

  CoresRecorder recorder_;
};

TEST_F(CoresTest, RoundsAreOneBehindTheOther) {
  Story();
  const auto joined = recorder_.Join();
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_EQ(joined->torus.columns, 2);
  EXPECT_EQ(joined->cycles, 70);
  ASSERT_EQ(joined->rounds.size(), 2);
  EXPECT_EQ(joined->rounds[0].cycles, 20);  // of the longest
  EXPECT_FALSE(joined->rounds[0].exchanges);
  EXPECT_EQ(joined->rounds[1].first, 20);
  EXPECT_EQ(joined->rounds[1].cycles, 50);  // core 3 began 10 cycles later
  EXPECT_TRUE(joined->rounds[1].exchanges);
  const std::vector<Joined>& cores = joined->cores;
  ASSERT_EQ(cores.size(), 4);
  EXPECT_THAT(cores[0].starts, ElementsAre(0, 20));
  EXPECT_THAT(cores[1].starts, ElementsAre(0, 24));
  EXPECT_THAT(cores[2].starts, ElementsAre());
  EXPECT_THAT(cores[3].starts, ElementsAre(30));
  const uint64_t idle[] = {30, 20, 70, 30};
  for (int c = 0; c < 4; ++c) {
    SCOPED_TRACE(c);
    EXPECT_EQ(cores[c].recording.cycles, 70);
    uint64_t found = 0;
    for (const Finding& f : cores[c].analysis.findings) found += f.cycles;
    EXPECT_EQ(found, 70);
    for (int u = 0; u < kNumUnits; ++u) {
      EXPECT_EQ(cores[c].recording.totals[u][kIdle], idle[c]);
      uint64_t all = 0;
      for (const uint64_t cycles : cores[c].recording.totals[u]) all += cycles;
      EXPECT_EQ(all, 70);
    }
  }
  std::vector<uint64_t> begins;
  for (const Span& span : cores[0].recording.spans[kSequencer])
    begins.push_back(span.start);
  EXPECT_THAT(begins, ElementsAre(0, 10, 20, 50));
  EXPECT_EQ(cores[3].analysis.layers[0].first, 30);
  EXPECT_EQ(cores[3].analysis.layers[0].last, 69);
  EXPECT_EQ(recorder_.stats().cycles, 130);
  EXPECT_EQ(recorder_.recorded(), 5);
}

TEST_F(CoresTest, LayersOfOneNameAreOne) {
  Story();
  const auto joined = recorder_.Join();
  ASSERT_TRUE(joined.ok()) << joined.status();
  const MergedCores merged = Merge(*joined);
  ASSERT_EQ(merged.program.layers.size(), 2);
  EXPECT_EQ(merged.program.layers[1].name, "sum");
  EXPECT_THAT(merged.cycles[0], ElementsAre(10, 20, 0, 0));
  EXPECT_THAT(merged.cycles[1], ElementsAre(30, 30, 0, 40));
  EXPECT_EQ(merged.analysis.layers[1].cycles, 100);
  uint64_t found = 0;
  for (const Finding& f : merged.analysis.findings) found += f.cycles;
  EXPECT_EQ(found, 4 * 70);
  Profile profile;
  profile.preset = &Minichip();
  profile.cores = &*joined;
  for (const Joined& core : joined->cores)
    profile.programs.push_back(
        {&core.program, &core.recording, core.analysis, core.starts});
  const nlohmann::ordered_json data = DataOf(profile);
  EXPECT_EQ(data["programs"].size(), 4);
  EXPECT_EQ(data["cores"][3]["chip"], 1);
  EXPECT_THAT(data["rounds"]["first"], ElementsAre(0, 20));
  EXPECT_THAT(data["units"], testing::Contains("send"));
}

// A collective in one program with a kernel: its layer is known by what its
// descriptors do, and so is the round.
TEST_F(CoresTest, CollectivesBesideKernels) {
  Program program = Halt("kernel");
  program.layers.resize(4);
  isa::Load load;
  load.len = 32;
  load.n1 = load.n2 = 1;
  isa::Send send;
  send.header.tag = 1;
  isa::Store post;
  post.header.tag = 2;
  post.header.post_mask = 1u << isa::kFirstPeerFlag;
  isa::Load wait = load;
  wait.header.tag = 3;
  wait.header.wait_mask = 1u << isa::kFirstLinkFlag;
  isa::Halt halt;  // of no layer
  halt.header.wait_mask = 1u << isa::kFirstLinkFlag;
  program.descriptors = {load.Encode(), send.Encode(), post.Encode(),
                         wait.Encode(), halt.Encode()};
  EXPECT_THAT(CollectivesOf(program), ElementsAre(false, true, true, true));
  program.preset = "lite";  // where these are flags like others
  EXPECT_THAT(CollectivesOf(program), ElementsAre(false, true, false, false));
  program.preset = "minichip";

  Run(0, 7, false, 100, 10);
  runtime::CoreListener& listener = *recorder_.listeners()[1];
  listener.Starts(program);
  listener.Round(7, false);
  ProbeSample running;
  running.bits = uint64_t{1} << ProbeSample::k_running;
  for (uint64_t i = 0; i < 10; ++i)
    recorder_.probes()[1]->Sample(running, 104 + i);
  recorder_.probes()[1]->Sample({}, 114);
  RunStats stats;
  stats.cycles = 10;
  listener.Ended(stats);
  const auto joined = recorder_.Join();
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_TRUE(joined->rounds[0].exchanges);
  EXPECT_EQ(joined->rounds[0].cycles, 14);
  EXPECT_THAT(joined->cores[1].starts, ElementsAre(4));
  EXPECT_THAT(joined->collectives[0], ElementsAre(false));
  EXPECT_THAT(joined->collectives[1], ElementsAre(false, true, true, true));
  EXPECT_EQ(ExchangesOf(*joined, 0).all, 0);
}

// Kernels from cycle 10 to 29 and 50 to 54, a collective from 20 to 39 and 45
// to 48; it waits for another core from 36 to 42, and the end of the program,
// too.
TEST(ExchangesTest, HiddenIsWhatRunsAlongWithKernels) {
  JoinedCores joined;
  joined.cycles = 100;
  joined.collectives = {{false, true}};
  Joined& core = joined.cores.emplace_back();
  core.program.layers.resize(2);
  const auto at = [&](int layer, uint64_t start, uint64_t end) {
    isa::Load load;
    load.header.tag = static_cast<uint16_t>(layer);
    core.program.descriptors.push_back(load.Encode());
    core.recording.descriptors.push_back({start, start, end, {}});
  };
  at(0, 10, 29);
  at(0, 15, 20);
  at(1, 20, 39);
  at(1, 45, 48);
  at(0, 50, 54);
  at(1, 60, 0);  // not complete
  core.program.descriptors.push_back(isa::Halt().Encode());
  core.recording.descriptors.push_back({70, 70, 99, {}});
  core.recording.cycles = 100;
  const auto span = [](uint64_t start, Cause cause) {
    return Span{start, static_cast<uint64_t>(cause), 0};
  };
  core.recording.spans[static_cast<int>(Unit::kLoad)] = {
      span(0, Cause::kWork), span(36, Cause::kFlagCore),
      span(43, Cause::kFlagSend)};
  core.recording.spans[kSequencer] = {span(0, Cause::kDone),
                                      span(96, Cause::kFlagCore)};
  EXPECT_EQ(ExchangesOf(joined, 0).all, 20 + 3 + 4 + 4);
  EXPECT_EQ(ExchangesOf(joined, 0).alone, 10 + 3 + 4 + 4);
  joined.collectives.push_back({true, true});  // no kernel
  joined.cores.push_back(core);
  EXPECT_EQ(ExchangesOf(joined, 1).all, 33 + 4 + 5 + 4);
  EXPECT_EQ(ExchangesOf(joined, 1).alone, 33 + 4 + 5 + 4);
  EXPECT_EQ(ExchangesOf(joined).all, 31 + 46);
  EXPECT_EQ(ExchangesOf(joined).alone, 21 + 46);
}

// What a chip sends to the right comes in at the left of its neighbour.
TEST_F(CoresTest, ALinkWithoutItsOtherEnd) {
  Story();
  Links(0, 150, 0, 0);
  Links(0, 220, 64, 0);
  Links(0, 512, 500, 80);
  Links(1, 512, 80, 500);
  auto joined = recorder_.Join();
  EXPECT_THAT(std::string(joined.status().message()),
              HasSubstr("link X+ of chip 0: 500 bytes were sent in its periods,"
                        " 500 in all, chip 1 received 0"));
}

TEST_F(CoresTest, EachLinkIsChecked) {
  Story();
  for (int chip = 0; chip < 2; ++chip) {
    ChipLinkCounts counts{};
    recorder_.probes()[2 * chip]->Links(counts, 150);
    counts[0].bytes_sent = counts[1].bytes_received = 64;
    recorder_.probes()[2 * chip]->Links(counts, 220);
    counts[0].bytes_sent = counts[1].bytes_received = 500;
    recorder_.probes()[2 * chip]->Links(counts, 512);
  }
  Run(2, 9, false, 600, 1000);  // a round in which nothing is sent
  const auto joined = recorder_.Join();
  ASSERT_TRUE(joined.ok()) << joined.status();
  ASSERT_EQ(joined->links.size(), 4);
  const LinkTraffic& right = joined->links[0];
  EXPECT_EQ(right.chip, 0);
  EXPECT_EQ(right.link, 0);
  EXPECT_THAT(right.bytes, ElementsAre(500));  // the first period has all
  EXPECT_EQ(joined->links[3].counts.bytes_received, 500);

  LinkTraffic busy = right;
  busy.bytes = {0, 100, 0, 300, 200, 0, 50, 400};
  EXPECT_EQ(BusiestOf(busy), 650);  // of four periods in a row

  // Seeded faults.
  JoinedCores wrong = *joined;
  wrong.links[0].bytes[0] -= 4;
  EXPECT_THAT(std::string(CheckLinks(wrong).message()),
              HasSubstr("496 bytes were sent in its periods, 500 in all"));
  wrong = *joined;
  wrong.links[3].counts.bytes_received += 4;
  EXPECT_THAT(std::string(CheckLinks(wrong).message()),
              HasSubstr("chip 1 received 504"));
  wrong.links[0].counts.replays = 1;  // sent again, but never received more
  EXPECT_FALSE(CheckLinks(wrong).ok());
  wrong = *joined;
  wrong.links[0].counts.bytes_sent += 64;  // one packet was sent twice
  wrong.links[0].bytes[0] += 64;
  EXPECT_FALSE(CheckLinks(wrong).ok());
  wrong.links[0].counts.replays = 1;
  EXPECT_EQ(CheckLinks(wrong), absl::OkStatus());
}

TEST_F(CoresTest, ARecordingThatDoesNotAgreeNamesItsCore) {
  Story();
  Begin(1, 9, false);
  RunStats stats;
  stats.cycles = 5;  // of which no sample came
  recorder_.listeners()[1]->Ended(stats);
  EXPECT_THAT(std::string(recorder_.Join().status().message()),
              HasSubstr("0 cycles were seen, the counter says 5 (core 1)"));
}

// More programs than a page holds: up to the round of which one is missing.
TEST_F(CoresTest, TheFirstRoundsOfAll) {
  const int64_t most = ModuleRecorder::kMostPrograms / 4;
  for (int64_t round = 0; round < most + 20; ++round) {
    for (int core = 0; core < 4; ++core) {
      if (core != 0 && round % 2 != 0) continue;
      Run(core, round, false, 1000 * round, 3);
    }
  }
  const auto joined = recorder_.Join();
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_EQ(joined->rounds.size(), most);
  EXPECT_EQ(joined->cycles, 3 * most);
  EXPECT_EQ(joined->cores[3].starts.size(), most / 2);
  EXPECT_EQ(recorder_.recorded(), most + 3 * most / 2);
  EXPECT_EQ(recorder_.started(), most + 20 + 3 * (most + 20) / 2);
}

}  // namespace
}  // namespace systole::profile
