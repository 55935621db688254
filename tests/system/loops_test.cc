// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs with loops and branches on a chip with a scalar unit: the same, to
// the bit, as when they are unrolled (docs/program_file.md, "Loops").
//   --backend=iss|rtl --preset=minichip

#include "systole/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "systole/device.h"
#include "systole/float_matmul.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

std::string g_backend = "iss";
std::string g_preset = "minichip";

std::vector<uint8_t> RandomBytes(uint32_t seed, size_t size) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

class Loops : public ::testing::Test {
 protected:
  void SetUp() override { Open(20000); }
  void Open(uint32_t watchdog) {
    DeviceOptions options;
    options.preset = g_preset;
    options.simulation.check_races = true;
    options.simulation.alone = true;
    options.watchdog = watchdog;
    auto device = Device::Open(g_backend, options);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  // A program at 1 MiB that may touch all below and 64 KiB of its own.
  static Program Made(const std::string& text) {
    auto code = AssembleCode(text, "test");
    EXPECT_TRUE(code.ok()) << code.status();
    Program p;
    if (!code.ok()) return p;
    p.preset = g_preset;
    p.prog_addr = 1 << 20;
    p.hbm_bytes = p.prog_addr + (1 << 16);
    p.descriptors = code->descriptors;
    p.loops = code->loops;
    p.steps = code->steps;
    const absl::Status s = CheckLoops(*code, *FindPreset(g_preset));
    EXPECT_TRUE(s.ok()) << s;
    return p;
  }
  std::vector<uint8_t> Read(uint64_t at, size_t size) {
    std::vector<uint8_t> bytes(size);
    EXPECT_TRUE(device_->Read(at, absl::MakeSpan(bytes)).ok());
    return bytes;
  }
  void Put(uint64_t at, const std::vector<uint32_t>& words) {
    ASSERT_TRUE(device_
                    ->Write(at, {reinterpret_cast<const uint8_t*>(words.data()),
                                 4 * words.size()})
                    .ok());
  }

  std::unique_ptr<Device> device_;
};

// Rows times B, in `batch` blocks of 128 rows and two short ones.
Program Product(int64_t batch) {
  compiler::FloatMatmulSpec spec;
  spec.m = 34 + 128 * batch;
  spec.k = 24;
  spec.n = 40;
  for (const uint8_t b : RandomBytes(1, spec.k * spec.n))
    spec.b.push_back(static_cast<uint16_t>(0x3F80 + (b - 128)));
  auto program = compiler::CompileFloatMatmul(spec, *FindPreset(g_preset));
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

std::vector<uint8_t> SmallValues(size_t count) {
  std::vector<uint8_t> bytes(2 * count);
  const std::vector<uint8_t> random = RandomBytes(7, count);
  for (size_t i = 0; i < count; ++i) {
    bytes[2 * i] = random[i];
    bytes[2 * i + 1] = random[i] & 1 ? 0x3F : 0xBF;
  }
  return bytes;
}

TEST_F(Loops, AProductDoesNotGrowWithItsBatch) {
  const std::vector<int64_t> batches = {16, 160};
  std::vector<size_t> sizes;
  for (const int64_t batch : batches) {
    const Program straight = Product(batch);
    const Program rolled = RollLoops(straight);
    sizes.push_back(rolled.descriptors.size());
    std::printf("[ figure   ] batch %d: %d descriptors, %d with %d loops\n",
                static_cast<int>(batch),
                static_cast<int>(straight.descriptors.size()),
                static_cast<int>(rolled.descriptors.size()),
                static_cast<int>(rolled.loops.size()));
    auto again = UnrollLoops(rolled);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->descriptors, straight.descriptors);
    auto runs = ForChip(rolled);
    ASSERT_TRUE(runs.ok());
    EXPECT_EQ(runs->loops.size(), rolled.loops.size());
    // The larger one takes minutes on the RTL.
    if (g_backend == "rtl" && batch != batches[0]) continue;
    const TensorInfo& a = *straight.FindTensor("a");
    const TensorInfo& c = *straight.FindTensor("c");
    std::vector<std::vector<uint8_t>> results;
    uint64_t cycles[2] = {};
    for (const Program* p : {&straight, &rolled}) {
      ASSERT_TRUE(device_->Load(*p).ok());
      const size_t values = static_cast<size_t>(a.elements());
      ASSERT_TRUE(device_->WriteTensor(a, SmallValues(values)).ok());
      ASSERT_TRUE(
          device_->Write(c.hbm_addr, std::vector<uint8_t>(c.img_pitch)).ok());
      auto stats = device_->Run(*p);
      ASSERT_TRUE(stats.ok()) << stats.status();
      cycles[results.size()] = stats->cycles;
      results.push_back(Read(c.hbm_addr, c.img_pitch));
      EXPECT_EQ(stats->retires.size(), straight.descriptors.size() - 1);
    }
    EXPECT_EQ(results[0], results[1]);
    std::printf("[ figure   ] cycles: straight %d, with loops %d\n",
                static_cast<int>(cycles[0]), static_cast<int>(cycles[1]));
  }
  // Its file is the same but for addresses and counts.
  EXPECT_EQ(sizes[0], sizes[1]);
}

// A list in memory: word 0 of each node of 64 bytes says whether there is a
// next one; nodes are copied until then.
constexpr char kList[] =
    "load hbm_addr=0x1000 ub_addr=0x400 len=64 n1=1 n2=1 post=0\n"
    "store hbm_addr=0x8000 ub_addr=0x400 len=64 n1=1 n2=1 wait=0 post=2,3\n"
    "while word=0x8000 flag=2 %s\n"
    "  load hbm_addr=0x1000+64 len=64 n1=1 n2=1 wait=3 post=1\n"
    "  store hbm_addr=0x4000+64 len=64 n1=1 n2=1 wait=1\n"
    "  load hbm_addr=0x1040+64 ub_addr=0x400 len=64 n1=1 n2=1 post=0\n"
    "  store hbm_addr=0x8000 ub_addr=0x400 len=64 n1=1 n2=1 wait=0 post=2,3\n"
    "end\n"
    "load hbm_addr=0x1000 len=64 n1=1 n2=1 wait=3\n"
    "halt\n";

TEST_F(Loops, AWhileEndsByWhatItReads) {
  for (const int most : {0, 5}) {
    const Program p = Made(absl::StrFormat(
        kList, most == 0 ? "" : absl::StrFormat("most=%d", most)));
    for (const int nodes : {0, 1, 13}) {
      ASSERT_TRUE(device_->Write(0x1000, RandomBytes(nodes, 64 * 16)).ok());
      for (int i = 0; i < 16; ++i)
        Put(0x1000 + 64 * i, {i < nodes ? 1u << i : 0});
      ASSERT_TRUE(device_->Write(0x4000, std::vector<uint8_t>(64 * 16)).ok());
      auto stats = device_->Run(p);
      ASSERT_TRUE(stats.ok()) << stats.status();
      const int passes = most == 0 ? nodes : std::min(nodes, most);
      EXPECT_EQ(stats->retires.size(), 3u + 4 * passes);
      std::vector<uint8_t> want = Read(0x1000, 64 * 16);
      std::fill(want.begin() + 64 * passes, want.end(), 0);
      EXPECT_EQ(Read(0x4000, 64 * 16), want) << nodes;
    }
  }
}

// The condition's read is ordered by its flag, and what follows by it.
TEST_F(Loops, RacesOfConditionsAreFound) {
  if (g_backend != "iss") GTEST_SKIP() << "the simulator looks for races";
  const char* const programs[] = {
      // Written by another store than the one that posts.
      "store hbm_addr=0x8040 len=64 n1=1 n2=1 post=2\n"
      "store hbm_addr=0x8000 len=64 n1=1 n2=1\n"
      "if word=0x8000 flag=2\n"
      "  load hbm_addr=0x1000 ub_addr=0x40 len=64 n1=1 n2=1\n"
      "end\n"
      "halt\n",
      // The buffer is filled again while the pass before still stores it.
      "store hbm_addr=0x8000 ub_addr=0x400 len=64 n1=1 n2=1 post=2\n"
      "loop 2\n"
      "  load hbm_addr=0x1000+64 len=64 n1=1 n2=1 post=1\n"
      "  store hbm_addr=0x4000+64 len=64 n1=1 n2=1 wait=1\n"
      "end\n"
      "halt\n",
      // A flag that a queue waits for, too.
      "store hbm_addr=0x8000 len=64 n1=1 n2=1 post=2\n"
      "store hbm_addr=0x8000 len=64 n1=1 n2=1 post=2\n"
      "load hbm_addr=0x1000 ub_addr=0x40 len=64 n1=1 n2=1 wait=2\n"
      "if word=0x8000 flag=2\n"
      "  load hbm_addr=0x1000 ub_addr=0x40 len=64 n1=1 n2=1\n"
      "end\n"
      "halt\n"};
  for (const char* text : programs) {
    auto stats = device_->Run(Made(text));
    EXPECT_EQ(stats.status().code(), absl::StatusCode::kFailedPrecondition)
        << text << stats.status();
  }
}

TEST_F(Loops, ABranchIsTakenOrNot) {
  const Program p = Made(
      "load hbm_addr=0x1000 len=64 n1=1 n2=1 post=0\n"
      "store hbm_addr=0x8000 len=64 n1=1 n2=1 wait=0 post=2\n"
      "if word=0x8004 flag=2\n"
      "  store hbm_addr=0x4000 len=64 n1=1 n2=1\n"
      "end\n"
      "halt\n");
  for (const uint32_t word : {0u, 0x100u}) {
    Put(0x1000, {7, word});
    Put(0x4000, {0, 0});
    auto stats = device_->Run(p);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(Read(0x4000, 1)[0], word == 0 ? 0 : 7);
  }
}

TEST_F(Loops, NestedLoopsAreWhatTheyUnrollTo) {
  const Program p = Made(
      "loop 3\n"
      "  loop 2\n"
      "    load hbm_addr=0x1000+64+0x400 ub_addr=0x40+64 len=64 n1=1 n2=1 "
      "post=0\n"
      "    store hbm_addr=0x6000-64+0x200 ub_addr=0x40+64 len=64 n1=1 n2=1 "
      "wait=0 post=1\n"
      "    loop 2\n"
      "      load hbm_addr=0x3000+64+128+256 ub_addr=0x200+64 len=64 n1=1 n2=1 "
      "wait=1 post=0\n"
      "      store hbm_addr=0x9000+64+128+256 ub_addr=0x200+64 len=64 n1=1 "
      "n2=1 wait=0 post=1\n"
      "    end\n"
      "    load hbm_addr=0x1000 len=64 n1=1 n2=1 wait=1\n"
      "  end\n"
      "end\n"
      "halt\n");
  auto flat = UnrollLoops(p);
  ASSERT_TRUE(flat.ok()) << flat.status();
  EXPECT_EQ(flat->descriptors.size(), 3u * 2 * 7 + 1);
  std::vector<std::vector<uint8_t>> results;
  for (const Program* program : {&p, std::as_const(flat).operator->()}) {
    ASSERT_TRUE(device_->Write(0x1000, RandomBytes(3, 0x3000)).ok());
    ASSERT_TRUE(device_->Write(0x4000, std::vector<uint8_t>(0x8000)).ok());
    auto stats = device_->Run(*program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->retires.size(), flat->descriptors.size() - 1);
    results.push_back(Read(0x4000, 0x8000));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(Loops, AFaultNamesDescriptorAndPass) {
  const Program p = Made(
      "load hbm_addr=0x1000 len=64 n1=1 n2=1\n"
      "loop 40\n"
      "  load hbm_addr=0x1000 len=64 n1=1 n2=1 post=0\n"
      "  store hbm_addr=0x10e000+0x100 len=64 n1=1 n2=1 wait=0\n"
      "end\n"
      "halt\n");
  auto stats = device_->Run(p);  // 0x110000 is its end: pass 32
  ASSERT_EQ(stats.status().code(), absl::StatusCode::kAborted);
  ASSERT_TRUE(device_->fault());
  EXPECT_EQ(device_->fault()->cause, isa::Fault::kHbmRange);
  EXPECT_EQ(device_->fault()->index, 2u);
  EXPECT_EQ(device_->fault()->instance, 1u + 2 * 32 + 1);
  EXPECT_EQ(device_->fault()->address, 0x110000u);
  EXPECT_THAT(std::string(stats.status().message()),
              HasSubstr("descriptor 2 of 4"));
  ASSERT_TRUE(device_->Reset(ResetScope::kCore).ok());
}

// More loops and steps than the firmware holds at a time: each third loop has
// two in it. Loop `outside` stores beyond the program's memory.
struct Many {
  std::string text;
  uint32_t index = 0, instance = 0;  // of that store, in its second pass
};

Many ManyLoops(int count, int outside = -1) {
  Many many;
  many.text =
      "load hbm_addr=0x1000 len=64 n1=1 n2=1 post=0\n"
      "store hbm_addr=0x1f000 len=64 n1=1 n2=1 wait=0 post=1\n";
  uint32_t index = 2, instance = 2;
  for (int i = 0; i < count; ++i) {
    const int from = 0x1000 + 64 * i;
    if (i % 3 == 0) {
      many.text += absl::StrFormat(
          "loop 2\n"
          "  loop 3\n"
          "    load hbm_addr=0x%x+64+128 ub_addr=0x40+64+128 len=64 n1=1 n2=1 "
          "wait=1 post=0\n"
          "    store hbm_addr=0x%x+64+192 ub_addr=0x40+64+128 len=64 n1=1 n2=1 "
          "wait=0 post=1\n"
          "  end\n"
          "end\n",
          from, 0x20000 + 0x200 * i);
      index += 2;
      instance += 12;
    } else {
      if (i == outside) {
        many.index = index + 1;
        many.instance = instance + 3;
      }
      many.text += absl::StrFormat(
          "loop 3\n"
          "  load hbm_addr=0x%x+64 ub_addr=0x80+64 len=64 n1=1 n2=1 wait=1 "
          "post=0\n"
          "  store hbm_addr=0x%x+64 ub_addr=0x80+64 len=64 n1=1 n2=1 wait=0 "
          "post=1\n"
          "end\n",
          from, i == outside ? 0x10ffc0 : 0x20000 + 0x200 * i);
      index += 2;
      instance += 6;
    }
  }
  many.text += "load hbm_addr=0x1000 len=64 n1=1 n2=1 wait=1\nhalt\n";
  return many;
}

TEST_F(Loops, ProgramsInChaptersAreWhatTheyUnrollTo) {
  Open(200000);  // tables are read meanwhile
  const Program p = Made(ManyLoops(135).text);
  EXPECT_GT(p.steps.size(), 2 * kMaxSteps);
  EXPECT_GT(p.loops.size(), 2 * kMaxLoops);
  auto runs = ForChip(p);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->descriptors, p.descriptors);
  auto flat = UnrollLoops(p);
  ASSERT_TRUE(flat.ok()) << flat.status();
  std::vector<std::vector<uint8_t>> results;
  for (const Program* program : {&p, std::as_const(flat).operator->()}) {
    ASSERT_TRUE(device_->Write(0x1000, RandomBytes(3, 0x4000)).ok());
    ASSERT_TRUE(device_->Write(0x1f000, std::vector<uint8_t>(0x18000)).ok());
    auto stats = device_->Run(*program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->retires.size(), flat->descriptors.size() - 1);
    results.push_back(Read(0x1f000, 0x18000));
    std::printf("[ figure   ] %d descriptors: %d cycles\n",
                static_cast<int>(program->descriptors.size()),
                static_cast<int>(stats->cycles));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], std::vector<uint8_t>(0x18000));
}

TEST_F(Loops, AFaultInALaterChapterNamesItsDescriptor) {
  Open(200000);
  const Many many = ManyLoops(180, 170);
  const Program p = Made(many.text);
  EXPECT_GT(
      std::count_if(p.steps.begin(), p.steps.end(),
                    [&](const Step& s) { return s.descriptor < many.index; }),
      2 * int{kMaxSteps});
  auto stats = device_->Run(p);
  ASSERT_EQ(stats.status().code(), absl::StatusCode::kAborted);
  ASSERT_TRUE(device_->fault());
  EXPECT_EQ(device_->fault()->cause, isa::Fault::kHbmRange);
  EXPECT_EQ(device_->fault()->index, many.index);
  EXPECT_EQ(device_->fault()->instance, many.instance);
  EXPECT_EQ(device_->fault()->address, 0x110000u);
  ASSERT_TRUE(device_->Reset(ResetScope::kCore).ok());
}

TEST_F(Loops, AConditionThatNobodyPostsIsAWatchdogFault) {
  const Program p = Made(
      "load hbm_addr=0x1000 len=64 n1=1 n2=1\n"
      "if word=0x1000 flag=4\n"
      "  load hbm_addr=0x1000 len=64 n1=1 n2=1\n"
      "end\n"
      "halt\n");
  auto stats = device_->Run(p);
  ASSERT_EQ(stats.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(device_->fault()->cause, isa::Fault::kWatchdog);
  ASSERT_TRUE(device_->Reset(ResetScope::kCore).ok());
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
