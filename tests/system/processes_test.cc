// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips in threads of one process, and in processes over MPI: every sample of
// every core's probe, every completion, counter and byte is the same
// (docs/link.md). Without Open MPI the test is skipped.

#include "tests/system/processes_test.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/testing/options.h"
#include "tests/waves/changes.h"

namespace systole {

using ::testing::HasSubstr;

constexpr uint64_t kBytes = 6 << 10, kUb = 0x8000;

std::vector<std::string> ProcessesTest::Run(const How& how) {
  std::vector<SampleTrace> traces(8);
  DeviceOptions options;
  options.simulation.threads = how.threads;
  options.simulation.processes = how.processes;
  options.simulation.stall_rate = 30;
  options.simulation.wire_errors = 30;
  for (SampleTrace& trace : traces) options.simulation.probes.push_back(&trace);
  Open(2, 2, options);
  if (cores_.empty()) return {};
  std::vector<std::string> trace;
  // All cores send to the far corner and three cores on; the last one begins
  // while the others run and are written to.
  std::vector<Program> programs;
  for (int c = 0; c < all(); ++c) {
    programs.push_back(
        Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
              SendTo(all() - 1 - c, kTo, kBytes, kLocal, 0).Encode(),
              SendTo((c + 3) % all(), 2 * kTo, kBytes, 0, 1).Encode(),
              LoadOf(kTo, kBytes, LinkFlag(0), 2 * kLocal, kUb).Encode(),
              StoreOf(3 * kTo, kBytes, 2 * kLocal, 0, kUb).Encode(),
              HaltOn(LinkFlag(1)).Encode()}));
    EXPECT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c, kBytes)).ok());
    EXPECT_TRUE(cores_[c]->Load(programs[c]).ok());
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int c = 0; c < all(); ++c) {
    // Another input, at the last moment.
    EXPECT_TRUE(cores_[c]->Write(kFrom, RandomBytes(100 + c, kBytes)).ok());
    EXPECT_TRUE(cores_[c]->Start(programs[c]).ok());
    // It counts for nobody; it takes cycles of the memory.
    EXPECT_TRUE(cores_[(c + 5) % all()]
                    ->Write(0x140000 + 64 * c, RandomBytes(c, 3000))
                    .ok());
  }
  uint64_t cycles = 0;
  double cpu_seconds = 0;
  for (int c = all() - 1; c >= 0; --c) {
    const auto stats = cores_[c]->Wait();
    if (!stats.ok()) {
      ADD_FAILURE() << how.Name() << ", core " << c << ": " << stats.status();
      return {};
    }
    cycles = std::max(cycles, stats->cycles);
    cpu_seconds = std::max(cpu_seconds, stats->host_cpu_seconds);
    Describe(c, *stats, trace);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  for (int c = 0; c < all(); ++c) {
    for (const uint64_t at : {kTo, 2 * kTo, 3 * kTo}) {
      const auto bytes = ReadBack(c, at, kBytes);
      trace.push_back(absl::StrFormat("core %d, bytes at 0x%x: %s", c, at,
                                      DigestOf(bytes)));
    }
    // From the far corner, and once more as its program stored it.
    EXPECT_EQ(ReadBack(c, kTo, kBytes), RandomBytes(107 - c, kBytes));
    EXPECT_EQ(ReadBack(c, 3 * kTo, kBytes), RandomBytes(107 - c, kBytes));
  }
  cores_.clear();  // the sinks have got all
  for (int c = 0; c < 8; ++c) traces[c].Describe(c, trace);
  std::printf(
      "[ figure   ] %s: %d cycles of four chips, %.0f cycles a CPU second, "
      "%.0f a second\n",
      how.Name().c_str(), static_cast<int>(cycles), cycles / cpu_seconds,
      cycles / seconds);
  return trace;
}

namespace {

TEST_F(ProcessesTest, ProcessesAndThreadsChangeNoCycle) {
  const std::vector<std::string> first = Run({1, 0});
  // Completions, counters and links of eight cores, memory, samples.
  ASSERT_GT(first.size(), 8u * (6 + 2 + 4 + 3 + 1));
  for (const How& how : {How{1, 2}, How{1, 4}, How{1, 1}, How{2, 0}, How{4, 0},
                         How{2, 2}, How{1, 3}}) {
    const std::vector<std::string> other = Run(how);
    for (size_t i = 0; i < std::min(first.size(), other.size()); ++i)
      ASSERT_EQ(other[i], first[i]) << how.Name();
    ASSERT_EQ(other.size(), first.size()) << how.Name();
  }
}

// A fault: two bits turned that a program loads. It stops in the same cycle.
TEST_F(ProcessesTest, AFaultIsTheSame) {
  std::vector<std::string> faults;
  for (const int processes : {0, 4}) {
    DeviceOptions options;
    options.simulation.processes = processes;
    options.simulation.flips = {{kFrom, 3}, {kFrom, 40}};
    Open(2, 2, options);
    ASSERT_FALSE(cores_.empty());
    const auto stats = cores_[5]->Run(Made(
        {LoadOf(kFrom, 256, 0, kLocal).Encode(), HaltOn(kLocal).Encode()}));
    ASSERT_TRUE(absl::IsAborted(stats.status())) << stats.status();
    faults.emplace_back(stats.status().message());
  }
  EXPECT_THAT(faults[0], HasSubstr("cycle"));
  EXPECT_EQ(faults[1], faults[0]);
}

// Chips in another order, 0 2 1: the same cycles, and the same bytes.
TEST_F(ProcessesTest, OtherCablesAreTheSame) {
  std::vector<uint64_t> cycles;
  for (const int processes : {0, 3}) {
    DeviceOptions options;
    options.simulation.processes = processes;
    options.simulation.cables = {
        {{{0, 0}, {2, 1}}}, {{{2, 0}, {1, 1}}}, {{{1, 0}, {0, 1}}}};
    Open(3, 1, options);
    ASSERT_FALSE(cores_.empty());
    EXPECT_EQ(cores_[2]->chip(), 2);
    EXPECT_EQ(cores_[4]->chip(), 1);
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c, kBytes)).ok());
      programs.push_back(
          Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
                SendTo((c + 2) % all(), kTo, kBytes, kLocal, 0).Encode(),
                HaltOn(LinkFlag(0)).Encode()}));
    }
    for (const auto& stats : RunAll(programs)) {
      ASSERT_TRUE(stats.ok()) << stats.status();
      cycles.push_back(stats->cycles);
    }
    for (int c = 0; c < all(); ++c)
      EXPECT_EQ(ReadBack((c + 2) % all(), kTo, kBytes), RandomBytes(c, kBytes));
  }
  for (int c = 0; c < all(); ++c) EXPECT_EQ(cycles[c], cycles[all() + c]);
}

// A chip's process writes its waveform.
TEST_F(ProcessesTest, AWaveformIsRecorded) {
  const std::string file =
      absl::StrCat(::testing::TempDir(), "processes_", getpid(), ".fst");
  std::remove(file.c_str());
  DeviceOptions options;
  options.simulation.processes = 2;
  options.simulation.trace.file = file;
  options.simulation.trace.core = 6;
  options.simulation.trace.to = 100;
  Open(2, 2, options);
  ASSERT_FALSE(cores_.empty());
  const Program program =
      Made({LoadOf(kFrom, 64, 0, 0).Encode(), isa::Halt().Encode()});
  const auto stats = cores_[6]->Run(program);
  EXPECT_TRUE(stats.ok()) << stats.status();
  std::FILE* const written = std::fopen(file.c_str(), "rb");
  ASSERT_NE(written, nullptr);
  std::fseek(written, 0, SEEK_END);
  EXPECT_GT(std::ftell(written), 1000);
  std::fclose(written);
  std::remove(file.c_str());
}

// A layer in the middle of a program: the same cycles of all signals, and none
// of the program that runs behind it.
TEST_F(ProcessesTest, AWaveformOfALayerIsTheSame) {
  std::vector<waves::Changes> changes;
  for (const int processes : {0, 2}) {
    const std::string file =
        absl::StrCat(::testing::TempDir(), "layer_", processes, ".fst");
    DeviceOptions options;
    options.simulation.processes = processes;
    options.simulation.trace.file = file;
    options.simulation.trace.core = 5;
    options.simulation.trace.layer = "1";
    Open(2, 2, options);
    ASSERT_FALSE(cores_.empty());
    // Eight loads and stores, one after the other, of three layers.
    std::vector<isa::Descriptor> list;
    for (int i = 0; i < 8; ++i) {
      const uint32_t layer = i < 5 ? 0 : i < 7 ? 1 : 2;
      isa::Load load = LoadOf(kFrom, kBytes, i == 0 ? 0 : kLocal << 1, kLocal);
      isa::Store store = StoreOf(kTo, kBytes, kLocal, kLocal << 1);
      load.header.tag = store.header.tag = static_cast<uint16_t>(layer);
      list.push_back(load.Encode());
      list.push_back(store.Encode());
    }
    list.push_back(HaltOn(kLocal << 1).Encode());
    const Program program = Made(std::move(list));
    // The other core of its chip completes descriptors of the same numbers.
    std::vector<isa::Descriptor> short_ones(15,
                                            LoadOf(kFrom, 64, 0, 0).Encode());
    short_ones.push_back(isa::Halt().Encode());
    const Program beside = Made(std::move(short_ones));
    ASSERT_TRUE(cores_[4]->Load(beside).ok());
    ASSERT_TRUE(cores_[5]->Load(program).ok());
    ASSERT_TRUE(cores_[5]->Start(program).ok());
    ASSERT_TRUE(cores_[4]->Start(beside).ok());
    const auto stats = cores_[5]->Wait();
    ASSERT_TRUE(stats.ok()) << stats.status();
    ASSERT_TRUE(cores_[4]->Wait().ok());
    ASSERT_TRUE(cores_[5]->Run(program).ok());
    auto fst = waves::FstFile::Open(file);
    ASSERT_TRUE(fst.ok()) << fst.status();
    // From the fourth store in front of it on, until behind its last one.
    EXPECT_NEAR((*fst)->begin(), stats->retires[3].cycle, 2);
    EXPECT_NEAR((*fst)->end(), stats->retires[13].cycle + 64, 2);
    changes.push_back(waves::AllChanges(file));
    std::remove(file.c_str());
    // Without a gap: the cycle counter changes in each.
    std::set<uint64_t> cycles;
    for (const auto& [at, value] : changes.back()) cycles.insert(at.first);
    EXPECT_EQ(cycles.size(), (*fst)->end() - (*fst)->begin() + 1);
  }
  EXPECT_GT(changes[0].size(), 1000u);
  EXPECT_TRUE(changes[1] == changes[0]);
}

TEST_F(ProcessesTest, WhatDoesNotFitIsSaid) {
  DeviceOptions options;
  options.preset = g_preset;
  options.torus = {2, 2};
  options.simulation.processes = 5;
  EXPECT_THAT(OpenError(options),
              HasSubstr("5 processes: 4 chips are simulated by 1 to 4, one a "
                        "chip"));
  options.simulation.processes = 4;
  options.simulation.threads = 2;
  EXPECT_THAT(OpenError(options), HasSubstr("2 threads: a chip is simulated"));
  options.simulation.threads = 1;
  options.torus = {1, 1};
  EXPECT_THAT(OpenError(options),
              HasSubstr("a single chip is simulated by this"));
}

// Each is one line, and nothing waits for ever.
TEST_F(ProcessesTest, JobsThatDoNotStartAreSaid) {
  DeviceOptions options;
  options.preset = g_preset;
  options.torus = {2, 1};
  options.simulation.processes = 2;
  EXPECT_THAT(With("/nowhere/mpirun", options),
              HasSubstr("cannot run /nowhere/mpirun (No such file or "
                        "directory): install Open MPI"));
  EXPECT_THAT(With("false", options), HasSubstr("false ended with status 1"));
  EXPECT_THAT(With(Script("shift 2; exec $MPIRUN -n 3 \"$@\""), options),
              HasSubstr("2 processes: MPI started 3"));
  // One of two processes has another stamp.
  const std::string other = WithOtherStamp();
  ASSERT_FALSE(other.empty());
  EXPECT_THAT(
      With(Script("exec $MPIRUN -n 1 $3 $4 : -n 1 " + other + " $4"), options),
      HasSubstr("was built from other sources than this program"));
  std::remove(other.c_str());
  options.preset = "litechip";
  setenv("SYSTOLE_MODELS", ::testing::TempDir().c_str(), 1);
  EXPECT_THAT(OpenError(options), HasSubstr("no RTL model of litechip in"));
  unsetenv("SYSTOLE_MODELS");
}

// A process is killed while programs run: all calls end, with that as the
// reason.
TEST_F(ProcessesTest, ADeadProcessEndsTheRun) {
  for (const int rank : {0, 2}) {
    DeviceOptions options;
    options.simulation.processes = 4;
    int asked = -1000000;
    options.stop = [&] {
      if (++asked == 1) KillRank(rank);
      return false;
    };
    Open(2, 2, options);
    ASSERT_FALSE(cores_.empty());
    // It waits for what never comes.
    const Program program = Made({HaltOn(LinkFlag(0)).Encode()});
    ASSERT_TRUE(cores_[0]->Load(program).ok());
    asked = 0;
    ASSERT_TRUE(cores_[0]->Start(program).ok());
    const auto stats = cores_[0]->Wait();
    EXPECT_TRUE(absl::IsUnavailable(stats.status())) << stats.status();
    EXPECT_THAT(std::string(stats.status().message()),
                HasSubstr("the processes of the chips have ended: "));
    EXPECT_THAT(std::string(stats.status().message()),
                HasSubstr("exited on signal 9"));
    EXPECT_EQ(stats.status().message().find('\n'), std::string::npos);
    std::vector<uint8_t> bytes(16);
    EXPECT_EQ(cores_[7]->Read(0, absl::MakeSpan(bytes)), stats.status());
    cores_.clear();
    EXPECT_EQ(Ranks(), 0);
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  if (!systole::HasProcesses()) {
    std::printf("skipped: Open MPI is not there (scripts/setup.sh mpi)\n");
    return systole::kSkipped;
  }
  return systole::testing_options::RunTests(argc, argv,
                                            {{"preset", &systole::g_preset}});
}
