// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder on samples made by hand, and its check on seeded faults.
#include "host/profile/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "host/profile/profile.h"

namespace systole::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kMxu = static_cast<int>(isa::Queue::kMxu);
constexpr int kLoad = static_cast<int>(isa::Queue::kLoad);

// Bits of a sample by name, from the header's list.
class Bits {
 public:
  Bits() { sample_.bits = uint64_t{1} << ProbeSample::k_running; }
  Bits& Set(int field, uint64_t value = 1) {
    sample_.bits |= value << field;
    return *this;
  }
  operator ProbeSample() const { return sample_; }

 private:
  ProbeSample sample_;
};

// Two descriptors: a load that posts flag 3, a product that waits for it.
Program TwoDescriptors() {
  Program program;
  program.preset = "nano";
  const auto assembled = Assemble(
      "load len=32 n1=1 n2=1 post=3\nmatmul wait=3 tag=0\nhalt\n", "test");
  EXPECT_TRUE(assembled.ok()) << assembled.status();
  program.descriptors = *assembled;
  program.layers.resize(1);
  program.layers[0].name = "conv";
  return program;
}

// The load starts at 2 and is done at 5, the product waits from 1 on, starts at
// 7 and computes in 8 and 9, done at 10.
std::vector<ProbeSample> Story() {
  const uint64_t load = 1 << kLoad, mxu = 1 << kMxu;
  std::vector<ProbeSample> s(12, Bits());
  s[0] = Bits().Set(ProbeSample::k_desc_valid).Set(ProbeSample::k_dispatch);
  s[1] = Bits()
             .Set(ProbeSample::k_head, load | mxu)
             .Set(ProbeSample::k_want, mxu)
             .Set(ProbeSample::k_dispatch)
             .Set(ProbeSample::k_dispatch_queue, kMxu);
  s[2] = Bits()
             .Set(ProbeSample::k_head, load | mxu)
             .Set(ProbeSample::k_want, mxu)
             .Set(ProbeSample::k_start, load);
  s[3] = Bits().Set(ProbeSample::k_head, mxu).Set(ProbeSample::k_want, mxu);
  s[4] = Bits()
             .Set(ProbeSample::k_head, mxu)
             .Set(ProbeSample::k_want, mxu)
             .Set(ProbeSample::k_load_ub_valid)
             .Set(ProbeSample::k_load_ub_ready);
  s[5] = Bits()
             .Set(ProbeSample::k_head, mxu)
             .Set(ProbeSample::k_want, mxu)
             .Set(ProbeSample::k_done, load);
  s[6] = Bits().Set(ProbeSample::k_head, mxu);
  s[7] = Bits().Set(ProbeSample::k_head, mxu).Set(ProbeSample::k_start, mxu);
  s[8] = Bits().Set(ProbeSample::k_mxu_enter).Set(ProbeSample::k_mxu_step);
  s[9] = Bits()
             .Set(ProbeSample::k_mxu_enter)
             .Set(ProbeSample::k_mxu_step)
             .Set(ProbeSample::k_mxu_last);
  s[10] = Bits().Set(ProbeSample::k_done, mxu);
  return s;
}

Recording Record(const Program& program,
                 const std::vector<ProbeSample>& samples) {
  Recorder recorder({&program});
  for (const ProbeSample s : samples) recorder.Sample(s);
  recorder.Sample({});  // the program is over
  return recorder.recordings()[0];
}

// Counters that agree with the story.
RunStats StatsOf(const Recording& recording) {
  RunStats stats;
  stats.cycles = recording.cycles;
  const auto set = [&stats](csr::Counter c, uint64_t value) {
    stats.counters[static_cast<int>(c)] = value;
  };
  set(csr::Counter::kMxuVectors, 2);
  set(csr::Counter::kLoadBytes, FindPreset("nano")->beat_bytes());
  return stats;
}

absl::Status Check(const Recording& recording) {
  return CheckRecording(recording, *FindPreset("nano"), StatsOf(recording));
}

std::vector<std::string> CausesOf(const Recording& recording, Unit unit) {
  std::vector<std::string> causes;
  for (const Span& span : recording.spans[static_cast<int>(unit)])
    causes.push_back(CauseName(span.why()));
  return causes;
}

TEST(Probe, FieldsAreThoseOfTheModule) {
  std::ifstream file(SYSTOLE_SOURCE_DIR
                     "/verif/profile/systole_profile_probe.sv");
  std::stringstream text;
  text << file.rdbuf();
  const std::string source = text.str();
  const size_t begin = source.find("typedef struct packed {");
  const std::string fields =
      source.substr(begin, source.find("} sample_t;") - begin);
  const std::regex field(R"(logic\s*(?:\[(\w+)(?:-1)?:0\])?\s+(\w+);)");
  std::vector<std::string> module;  // the last is in bit 0
  for (auto at = std::sregex_iterator(fields.begin(), fields.end(), field);
       at != std::sregex_iterator(); ++at) {
    const std::string bits = (*at)[1];
    const std::string width = bits.empty() ? "1"
                              : bits == "Queues"
                                  ? "5"
                                  : std::to_string(std::stoi(bits) + 1);
    module.insert(module.begin(), (*at)[2].str() + " " + width);
  }
  std::vector<std::string> header;
#define SYSTOLE_FIELD(name, width) header.push_back(#name " " #width);
  SYSTOLE_PROBE_FIELDS(SYSTOLE_FIELD)
#undef SYSTOLE_FIELD
  EXPECT_EQ(module, header);
}

TEST(Recorder, StartsEndsAndFlags) {
  const Program program = TwoDescriptors();
  const Recording r = Record(program, Story());
  EXPECT_EQ(r.cycles, 12);
  EXPECT_EQ(r.descriptors[0].head, 1);
  EXPECT_EQ(r.descriptors[0].start, 2);
  EXPECT_EQ(r.descriptors[0].end, 5);
  EXPECT_EQ(r.descriptors[1].head, 1);
  EXPECT_EQ(r.descriptors[1].start, 7);
  EXPECT_EQ(r.descriptors[1].end, 10);
  ASSERT_EQ(r.descriptors[1].waits.size(), 1);
  EXPECT_EQ(r.descriptors[1].waits[0].flag, 3);
  EXPECT_EQ(r.descriptors[1].waits[0].poster, 0);
  EXPECT_EQ(r.descriptors[1].waits[0].posted, 5);
}

TEST(Recorder, EachCycleHasItsCause) {
  const Program program = TwoDescriptors();
  const Recording r = Record(program, Story());
  EXPECT_THAT(CausesOf(r, Unit::kMxu),
              ElementsAre("fetch of descriptors", "flag of load",
                          "starts and ends of descriptors", "working",
                          "starts and ends of descriptors", "no work left"));
  EXPECT_EQ(r.totals[kMxu][static_cast<int>(Cause::kFlagLoad)], 5);
  EXPECT_EQ(r.totals[kMxu][static_cast<int>(Cause::kWork)], 2);
  EXPECT_EQ(Check(r), absl::OkStatus());
}

TEST(Recorder, TheChainEndsAtTheUnitThatIsWaitedFor) {
  const Program program = TwoDescriptors();
  const Recording recording = Record(program, Story());
  const Analysis analysis = Analyse(program, recording);
  uint64_t sum = 0, of_load = 0;
  for (const Finding& f : analysis.findings) {
    sum += f.cycles;
    if (f.unit == Unit::kMxu && f.root_unit == Unit::kLoad) of_load += f.cycles;
  }
  EXPECT_EQ(sum, recording.cycles);
  EXPECT_EQ(of_load, 5);
}

TEST(Recorder, ASecondRunTakesThePlaceOfTheFirst) {
  const Program program = TwoDescriptors();
  Recorder recorder({&program});
  for (int run = 0; run < 2; ++run) {
    for (const ProbeSample s : Story()) recorder.Sample(s);
    recorder.Sample({});
  }
  EXPECT_EQ(recorder.recordings()[0].cycles, 12);
  EXPECT_EQ(Check(recorder.recordings()[0]), absl::OkStatus());
}

TEST(Recorder, ProgramsOneAfterTheOther) {
  const Program program = TwoDescriptors();
  Recorder recorder({&program, &program});
  for (int run = 0; run < 2; ++run) {
    for (const ProbeSample s : Story()) recorder.Sample(s);
    for (int i = 0; i < 3000; ++i) recorder.Sample({});
  }
  for (const Recording& recording : recorder.recordings()) {
    EXPECT_EQ(recording.cycles, 12);
    EXPECT_EQ(Check(recording), absl::OkStatus());
  }
}

// More spans than the page shows: windows, whose lengths still add up.
TEST(Data, ManySpansBecomeWindows) {
  const Program program = TwoDescriptors();
  Recording r = Record(program, Story());
  constexpr uint64_t kSpans = 300001;
  r.cycles = 3 * kSpans;
  for (int u = 0; u < kNumUnits; ++u) {
    r.spans[u].clear();
    for (uint64_t i = 0; i < (u == kMxu ? kSpans : 1); ++i)
      r.spans[u].push_back(
          {3 * i + (i == 0 ? 0 : i % 2),
           static_cast<uint8_t>(i % 3 == 0 ? Cause::kWork : Cause::kSwap), 0});
  }
  Analysis analysis;
  analysis.layers.resize(program.layers.size());
  const nlohmann::ordered_json data =
      DataOf({"test", FindPreset("nano"), "run", {{&program, &r, analysis}}});
  for (int u = 0; u < kNumUnits; ++u) {
    const auto& spans = data["programs"][0]["spans"][u];
    uint64_t sum = 0;
    for (size_t i = 0; i < spans.size(); i += 2)
      sum += spans[i].get<uint64_t>();
    EXPECT_EQ(sum, r.cycles) << u;
    EXPECT_EQ(data["programs"][0]["resolution"][u], u == kMxu ? 8 : 1);
    EXPECT_LT(spans.size(), 2 * 200000);
  }
}

// Seeded faults: what the check is for.
TEST(CheckRecording, SeesALostCycle) {
  const Program program = TwoDescriptors();
  Recording r = Record(program, Story());
  --r.totals[kMxu][static_cast<int>(Cause::kFlagLoad)];
  EXPECT_THAT(Check(r).message(),
              HasSubstr("array's cycles add up to 11 of 12"));
}

TEST(CheckRecording, SeesACycleOfAnotherCause) {
  const Program program = TwoDescriptors();
  Recording r = Record(program, Story());
  --r.totals[kMxu][static_cast<int>(Cause::kFlagLoad)];
  ++r.totals[kMxu][static_cast<int>(Cause::kStart)];
  EXPECT_FALSE(Check(r).ok());
}

TEST(CheckRecording, SeesAFlagThatIsNeverExplained) {
  const Program program = TwoDescriptors();
  std::vector<ProbeSample> story = Story();
  story[5] = story[4];  // the load is never done: nobody posts
  EXPECT_FALSE(Check(Record(program, story)).ok());
}

TEST(CheckRecording, SeesAVectorTooFew) {
  const Program program = TwoDescriptors();
  std::vector<ProbeSample> story = Story();
  story[9] = Bits().Set(ProbeSample::k_mxu_next);
  EXPECT_THAT(Check(Record(program, story)).message(),
              HasSubstr("array, working: 1 cycles, the counter says 2"));
}

}  // namespace
}  // namespace systole::profile
