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
  Bits& Set(ProbeSample::Field field, uint64_t value = 1) {
    sample_.bits |= value << field;
    return *this;
  }
  Bits& Set(ProbeSample::SendField field) {
    sample_.send |= 1u << field;
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
  uint64_t cycle = 0;
  for (const ProbeSample s : samples) recorder.Sample(s, cycle++);
  recorder.Sample({}, cycle);  // the program is over
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

// Name and width of each field of a structure of the module, the one in bit 0
// first.
std::vector<std::string> FieldsOf(const std::string& type) {
  std::ifstream file(SYSTOLE_SOURCE_DIR
                     "/verif/profile/systole_profile_probe.sv");
  std::stringstream text;
  text << file.rdbuf();
  const std::string source = text.str();
  const size_t end = source.find("} " + type + ";");
  const size_t begin = source.rfind("typedef struct packed {", end);
  const std::string fields = source.substr(begin, end - begin);
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
  return module;
}

TEST(Probe, FieldsAreThoseOfTheModule) {
#define SYSTOLE_FIELD(name, width) #name " " #width,
  EXPECT_THAT(FieldsOf("sample_t"),
              testing::ElementsAreArray({SYSTOLE_PROBE_FIELDS(SYSTOLE_FIELD)}));
  EXPECT_THAT(
      FieldsOf("send_t"),
      testing::ElementsAreArray({SYSTOLE_PROBE_SEND_FIELDS(SYSTOLE_FIELD)}));
#undef SYSTOLE_FIELD
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

// A send that waits for the flag of another core from 1 to 4, is refused a flit
// by the network, gives two, and posts; the halt waits for another such flag.
Program OneSend() {
  Program program;
  program.preset = "minichip";
  isa::Send send;
  send.header.wait_mask = 1u << isa::kFirstLinkFlag;
  send.header.flags = isa::Send::kLinkPost;
  send.len = 32;
  send.n1 = send.n2 = 1;
  isa::Halt halt;
  halt.header.wait_mask = 2u << isa::kFirstLinkFlag;
  program.descriptors = {send.Encode(), halt.Encode()};
  return program;
}

std::vector<ProbeSample> SendStory() {
  const uint64_t send = static_cast<uint64_t>(isa::Queue::kSend);
  const Bits waits =
      Bits().Set(ProbeSample::k_send_head).Set(ProbeSample::k_send_want);
  const Bits flit = Bits().Set(ProbeSample::k_send_net_valid);
  std::vector<ProbeSample> s(13, Bits());
  s[0] = Bits()
             .Set(ProbeSample::k_dispatch)
             .Set(ProbeSample::k_dispatch_queue, send);
  s[1] = s[2] = s[3] = s[4] = waits;
  s[5] = Bits().Set(ProbeSample::k_send_head).Set(ProbeSample::k_send_start);
  s[6] = Bits().Set(ProbeSample::k_send_ub_valid);
  s[7] = flit;
  s[8] = s[9] = Bits(flit).Set(ProbeSample::k_send_net_ready);
  s[10] = Bits(flit)
              .Set(ProbeSample::k_send_net_ready)
              .Set(ProbeSample::k_send_post)
              .Set(ProbeSample::k_send_done);
  s[11] = s[12] = Bits().Set(ProbeSample::k_halt_want);
  return s;
}

TEST(Recorder, ASendAndFlagsOfAnotherCore) {
  const Program program = OneSend();
  const Recording r = Record(program, SendStory());
  EXPECT_THAT(CausesOf(r, Unit::kSend),
              ElementsAre("fetch of descriptors", "flag of another core",
                          "starts and ends of descriptors",
                          "unified buffer port", "network busy", "working",
                          "starts and ends of descriptors", "no work left"));
  EXPECT_EQ(r.descriptors[0].start, 5);
  EXPECT_EQ(r.descriptors[0].end, 10);
  EXPECT_TRUE(r.descriptors[0].waits.empty());  // no descriptor of this core's
  EXPECT_THAT(CausesOf(r, Unit::kSequencer),
              ElementsAre("working", "no work left", "flag of another core"));
  RunStats stats;
  stats.cycles = r.cycles;
  const Preset& preset = *FindPreset("minichip");
  stats.counters[static_cast<int>(csr::Counter::kSendBytes)] =
      2 * preset.flit_bytes();
  EXPECT_EQ(CheckRecording(r, preset, stats), absl::OkStatus());
  // Seeded fault: a flit that the probe did not see.
  stats.counters[static_cast<int>(csr::Counter::kSendBytes)] +=
      preset.flit_bytes();
  EXPECT_THAT(CheckRecording(r, preset, stats).message(),
              HasSubstr("send, working: 2 cycles, the counter says 3"));
}

// A post of a flag between the cores of a chip goes to the other core; who
// waits for that flag waits for the other core's.
TEST(Recorder, APostToTheOtherCoreIsNoneOfThisCore) {
  Program program;
  program.preset = "minichip";
  isa::Store store;
  store.header.post_mask = 1u << isa::kFirstPeerFlag;
  isa::Load load;
  load.header.wait_mask = 1u << isa::kFirstPeerFlag;
  program.descriptors = {store.Encode(), load.Encode(), isa::Halt().Encode()};
  const uint64_t stores = 1 << static_cast<int>(isa::Queue::kStore),
                 loads = 1 << kLoad;
  const Bits waits =
      Bits().Set(ProbeSample::k_head, loads).Set(ProbeSample::k_want, loads);
  std::vector<ProbeSample> s(8, Bits());
  s[0] = Bits()
             .Set(ProbeSample::k_head, stores | loads)
             .Set(ProbeSample::k_want, loads)
             .Set(ProbeSample::k_start, stores);
  s[1] = s[2] = Bits(waits);
  s[3] = Bits(waits).Set(ProbeSample::k_done, stores);
  s[4] =
      Bits().Set(ProbeSample::k_head, loads).Set(ProbeSample::k_start, loads);
  s[6] = Bits().Set(ProbeSample::k_done, loads);
  const Recording r = Record(program, s);
  EXPECT_EQ(r.totals[kLoad][static_cast<int>(Cause::kFlagCore)], 4);
  EXPECT_EQ(r.totals[kLoad][static_cast<int>(Cause::kFlagStore)], 0);
  EXPECT_TRUE(r.descriptors[1].waits.empty());
}

TEST(Recorder, KnowsWhenAProgramBegan) {
  const Program program = TwoDescriptors();
  Recorder recorder({&program, &program});
  for (const uint64_t begin : {100, 5000}) {
    recorder.Sample({}, begin - 1);
    uint64_t cycle = begin;
    for (const ProbeSample s : Story()) recorder.Sample(s, cycle++);
    recorder.Sample({}, cycle);
  }
  EXPECT_EQ(recorder.recordings()[0].begin, 100);
  EXPECT_EQ(recorder.recordings()[1].begin, 5000);
}

TEST(Recorder, ASecondRunTakesThePlaceOfTheFirst) {
  const Program program = TwoDescriptors();
  Recorder recorder({&program});
  for (int run = 0; run < 2; ++run) {
    for (const ProbeSample s : Story()) recorder.Sample(s, 0);
    recorder.Sample({}, 0);
  }
  EXPECT_EQ(recorder.recordings()[0].cycles, 12);
  EXPECT_EQ(Check(recorder.recordings()[0]), absl::OkStatus());
}

TEST(Recorder, ProgramsOneAfterTheOther) {
  const Program program = TwoDescriptors();
  Recorder recorder({&program, &program});
  for (int run = 0; run < 2; ++run) {
    for (const ProbeSample s : Story()) recorder.Sample(s, 0);
    for (int i = 0; i < 3000; ++i) recorder.Sample({}, 0);
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
  ASSERT_EQ(data["units"].size(), kNumUnits - 1);  // none sends
  for (int u = 0; u < kNumUnits - 1; ++u) {
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
