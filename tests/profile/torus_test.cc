// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The probes of all cores of a torus: recordings against the RTL's counters,
// and the links' counters as the probe and the host read them.
#include "tests/system/torus_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "host/profile/analysis.h"
#include "host/profile/recorder.h"

namespace systole::profile {
namespace {

using testing::HasSubstr;

// A core's samples. `lost`: those of packets that are not handed on.
struct Seen : ProbeSink {
  explicit Seen(const Program* program) : recorder({program}) {}
  void Sample(ProbeSample sample, uint64_t cycle) override {
    if (lost > 0 && sample.send_net_valid() != 0 &&
        sample.send_net_ready() != 0 && sample.send_post() == 0) {
      --lost;
      sample.send = 0;
    }
    recorder.Sample(sample, cycle);
  }
  void Links(const ChipLinkCounts& counts, uint64_t) override {
    links = counts;
    ++link_samples;
  }
  Recorder recorder;
  ChipLinkCounts links{};
  int link_samples = 0, lost = 0;
};

class TorusProbeTest : public TorusTest {
 protected:
  // Each core of two chips sends to all four, and ends when all have come.
  // lost: samples that the first core's sink loses.
  void Run(int lost) {
    g_backend = "rtl";
    programs_.resize(4);
    DeviceOptions options;
    for (const Program& program : programs_) {
      seen_.push_back(std::make_unique<Seen>(&program));
      options.simulation.probes.push_back(seen_.back().get());
    }
    seen_[0]->lost = lost;
    Open(2, 1, options);
    for (int c = 0; c < 4; ++c) {
      std::vector<isa::Descriptor> list = {
          LoadOf(kFrom, kBytes, 0, kLocal).Encode()};
      for (int to = 0; to < 4; ++to)
        list.push_back(SendTo(to, kTo + c * kPlace, kBytes - 64 * c,
                              to == 0 ? kLocal : 0, c)
                           .Encode());
      list.push_back(HaltOn(0xfu << isa::kFirstLinkFlag).Encode());
      programs_[c] = Made(std::move(list));
    }
    stats_ = RunAll(programs_);
    for (const auto& stats : stats_) ASSERT_TRUE(stats.ok()) << stats.status();
  }
  absl::Status Check(int core) {
    return CheckRecording(seen_[core]->recorder.recordings()[0],
                          cores_[0]->preset(), *stats_[core]);
  }

  static constexpr uint64_t kBytes = 5000, kPlace = 8192;
  std::vector<Program> programs_;
  std::vector<std::unique_ptr<Seen>> seen_;
  std::vector<absl::StatusOr<RunStats>> stats_;
};

TEST_F(TorusProbeTest, EveryCoreIsRecorded) {
  Run(0);
  for (int c = 0; c < 4; ++c) {
    SCOPED_TRACE(c);
    EXPECT_EQ(Check(c), absl::OkStatus());
    const Recording& r = seen_[c]->recorder.recordings()[0];
    const auto total = [&](Unit unit, Cause cause) {
      return r.totals[static_cast<int>(unit)][static_cast<int>(cause)];
    };
    EXPECT_GT(total(Unit::kSend, Cause::kWork), 4 * (kBytes - 192) / 16);
    EXPECT_GT(total(Unit::kSend, Cause::kNetworkBusy), 0u);
    EXPECT_GT(total(Unit::kSequencer, Cause::kFlagCore), 0u);
    for (size_t d = 1; d < 5; ++d) {
      EXPECT_LE(r.descriptors[d].head, r.descriptors[d].start);
      EXPECT_LT(r.descriptors[d].start, r.descriptors[d].end);
    }
  }
  // What a link carries: the chip's own core and the other one are reached
  // without it.
  for (int chip = 0; chip < 2; ++chip) {
    const Seen& seen = *seen_[2 * chip];
    EXPECT_GT(seen.link_samples, 10);
    EXPECT_EQ(seen_[2 * chip + 1]->link_samples, 0);
    uint64_t sent = 0;
    for (size_t l = 0; l < seen.links.size(); ++l) {
      sent += seen.links[l].bytes_sent;
      // The host reads later, and nothing is sent any more.
      EXPECT_EQ(seen.links[l].bytes_sent,
                stats_[2 * chip + 1]->links[l].bytes_sent);
      EXPECT_EQ(seen.links[l].bytes_received,
                seen_[2 - 2 * chip]->links[l ^ 1].bytes_sent);
    }
    EXPECT_EQ(sent, 2 * (2 * kBytes - 64 * (4 * chip + 1)));
  }
}

TEST_F(TorusProbeTest, AFlitThatIsNotSeenIsAnError) {
  Run(1);
  EXPECT_THAT(std::string(Check(0).message()), HasSubstr("send, working: "));
  for (int c = 1; c < 4; ++c) EXPECT_EQ(Check(c), absl::OkStatus());
}

}  // namespace
}  // namespace systole::profile
