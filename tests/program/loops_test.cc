// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops of programs: text, file, unrolling, finding them.

#include "systole/loops.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "systole/program.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

Program Made(const std::string& text, const char* preset = "minichip") {
  auto code = AssembleCode(text, "p.s");
  EXPECT_TRUE(code.ok()) << code.status();
  Program p;
  if (!code.ok()) return p;
  p.preset = preset;
  p.prog_addr = 0x10000;
  p.hbm_bytes = 0x20000;
  p.descriptors = code->descriptors;
  p.loops = code->loops;
  p.steps = code->steps;
  return p;
}

std::string ErrorOf(const std::string& text) {
  auto code = AssembleCode(text, "p.s");
  if (code.ok())
    return std::string(CheckLoops(*code, *FindPreset("minichip")).message());
  return std::string(code.status().message());
}

constexpr char kNested[] =
    "load hbm_addr=0x40 len=64 n1=1 n2=1\n"
    "loop 3\n"
    "  load hbm_addr=0x1000+64 ub_addr=0x40 len=64 n1=1 n2=1 post=1\n"
    "  loop 2\n"
    "    store hbm_addr=0x2000+0x40-0x100 len=64 n1=1 n2=1 wait=1\n"
    "    matmul acc=3+1 seg_dx=-5+2,0,7-1+4,0 seg_len=8,0,0,0 post=1\n"
    "  end\n"
    "end\n"
    "while word=0x100 flag=3 most=9\n"
    "  load len=1 n1=1 n2=1\n"
    "end\n"
    "if word=0x104 flag=4\n"
    "  load len=1 n1=1 n2=1\n"
    "end\n"
    "while word=0x108 flag=5\n"
    "  load len=1 n1=1 n2=1\n"
    "end\n"
    "halt\n";

TEST(Loops, TextAndFileKeepThem) {
  const Program p = Made(kNested);
  ASSERT_EQ(p.loops.size(), 5u);
  EXPECT_EQ(p.loops[0], (Loop{1, 4, 3}));
  EXPECT_EQ(p.loops[1], (Loop{2, 4, 2}));
  EXPECT_EQ(p.loops[2], (Loop{4, 5, 9, 3, 0x100}));
  EXPECT_EQ(p.loops[3], (Loop{5, 6, 1, 4, 0x104}));
  EXPECT_EQ(p.loops[4], (Loop{6, 7, Loop::kForever, 5, 0x108}));
  ASSERT_EQ(p.steps.size(), 7u);
  EXPECT_EQ(p.steps[0], (Step{1, 0, 96, 36, 64}));
  EXPECT_EQ(p.steps[1], (Step{2, 0, 96, 36, -0x100}));
  EXPECT_EQ(p.steps[2], (Step{2, 1, 96, 36, 0x40}));
  const Program again = Made(DisassembleProgram(p));
  EXPECT_EQ(again.descriptors, p.descriptors);
  EXPECT_EQ(again.loops, p.loops);
  EXPECT_EQ(again.steps, p.steps);
  auto parsed = ParseProgram(SerializeProgram(p), "p.tpu");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->loops, p.loops);
  EXPECT_EQ(parsed->steps, p.steps);
}

TEST(Loops, UnrolledTheyAreWhatTheySay) {
  const Program p = Made(
      "loop 3\n"
      "  load hbm_addr=0x1000+64 len=64 n1=1 n2=1\n"
      "  loop 2\n"
      "    store hbm_addr=0x2000+0x40-0x100 ub_addr=0+0+32 len=64 n1=1 n2=1\n"
      "  end\n"
      "end\n"
      "halt\n");
  auto flat = UnrollLoops(p);
  ASSERT_TRUE(flat.ok()) << flat.status();
  ASSERT_EQ(flat->descriptors.size(), 10u);
  size_t at = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(isa::Load::Decode(flat->descriptors[at++]).hbm_addr,
              0x1000 + 64 * i);
    for (uint64_t j = 0; j < 2; ++j) {
      const auto store = isa::Store::Decode(flat->descriptors[at++]);
      EXPECT_EQ(store.hbm_addr, 0x2000 + 0x40 * j - 0x100 * i);
      EXPECT_EQ(store.ub_addr, 32 * i);
    }
  }
  EXPECT_TRUE(flat->loops.empty() && flat->steps.empty());
  EXPECT_GE(flat->prog_addr, p.hbm_bytes);
}

TEST(Loops, WhatIsWrongIsNamed) {
  const std::string body = "load len=1 n1=1 n2=1\n";
  EXPECT_THAT(ErrorOf("loop 2\n" + body + "halt\n"), HasSubstr("no end"));
  EXPECT_THAT(ErrorOf("end\nhalt\n"), HasSubstr("p.s:1: end of what?"));
  EXPECT_THAT(ErrorOf("loop 2\nend\nhalt\n"), HasSubstr("nothing is in"));
  EXPECT_THAT(ErrorOf("loop 0\n" + body + "end\nhalt\n"),
              HasSubstr("at least"));
  EXPECT_THAT(ErrorOf("loop\n" + body + "end\nhalt\n"), HasSubstr("how often"));
  EXPECT_THAT(ErrorOf("while word=4\n" + body + "end\nhalt\n"),
              HasSubstr("wants word= and flag="));
  EXPECT_THAT(ErrorOf("if word=4 flag=1 most=2\n" + body + "end\nhalt\n"),
              HasSubstr("'most=2' is nothing that if has"));
  EXPECT_THAT(ErrorOf("if word=4 flag=32\n" + body + "end\nhalt\n"),
              HasSubstr("flag=32"));
  EXPECT_THAT(ErrorOf("if word=4 flag=28\n" + body + "end\nhalt\n"),
              HasSubstr("0 to 27"));
  EXPECT_THAT(ErrorOf("if word=6 flag=2\n" + body + "end\nhalt\n"),
              HasSubstr("no word"));
  EXPECT_THAT(ErrorOf("load hbm_addr=8+8 len=1 n1=1 n2=1\nhalt\n"),
              HasSubstr("1 steps; 0 loops are around it"));
  EXPECT_THAT(ErrorOf("loop 2\nload tag=8+8 len=1 n1=1 n2=1\nend\nhalt\n"),
              HasSubstr("a tag is the same"));
  EXPECT_THAT(ErrorOf("loop 2\nload hbm_addr=8+x len=1\nend\nhalt\n"),
              HasSubstr("'x' is not a step"));
  EXPECT_THAT(ErrorOf("loop 2\n" + body + "halt\nend\nhalt\n"),
              HasSubstr("one halt"));
  std::string deep;
  for (int i = 0; i < 5; ++i) deep += "loop 2\n" + body;
  EXPECT_THAT(ErrorOf(deep), HasSubstr("more than 4 loops"));
  EXPECT_THAT(
      std::string(
          Assemble("loop 2\n" + body + "end\n", "p.s").status().message()),
      HasSubstr("descriptors alone"));
}

TEST(Loops, AFileIsNotBelieved) {
  const auto error = [](void (*change)(Program*)) {
    Program p = Made(kNested);
    change(&p);
    return std::string(
        ParseProgram(SerializeProgram(p), "p.tpu").status().message());
  };
  EXPECT_THAT(error([](Program* p) { p->loops[1].end = 5; }),
              HasSubstr("ends outside of loop 0"));
  EXPECT_THAT(error([](Program* p) { p->loops[0].begin = 3; }),
              HasSubstr("begins after"));
  EXPECT_THAT(error([](Program* p) { p->loops[4].end = 9; }),
              HasSubstr("halt"));
  EXPECT_THAT(error([](Program* p) { p->loops[0].count = 0; }),
              HasSubstr("no passes"));
  EXPECT_THAT(error([](Program* p) { p->loops[0].count = ~0u; }),
              HasSubstr("never ends"));
  EXPECT_THAT(error([](Program* p) { p->steps[0].loop = 1; }),
              HasSubstr("not in loop 1"));
  EXPECT_THAT(error([](Program* p) { p->steps[0].loop = 7; }),
              HasSubstr("no loop 7"));
  EXPECT_THAT(error([](Program* p) { p->steps[0].lsb = 97; }),
              HasSubstr("no field"));
  EXPECT_THAT(error([](Program* p) { std::swap(p->steps[1], p->steps[2]); }),
              HasSubstr("out of order"));
  EXPECT_THAT(error([](Program* p) { p->loops[2].word = 0x20000; }),
              HasSubstr("above the program's"));
}

// Random repetitions of random things, in each other.
std::string RandomBody(std::mt19937* rng, int depth) {
  std::string text;
  const int parts = 1 + (*rng)() % 3;
  for (int i = 0; i < parts; ++i) {
    const bool loop = depth < 3 && (*rng)() % 2 == 0;
    if (loop) {
      text += "loop " + std::to_string(2 + (*rng)() % 9) + "\n" +
              RandomBody(rng, depth + 1) + "end\n";
      continue;
    }
    text += (*rng)() % 2 ? "load hbm_addr=" : "store hbm_addr=";
    text += std::to_string(0x8000 + 32 * ((*rng)() % 64));
    for (int d = 0; d < depth; ++d)
      text += "+" + std::to_string(32 * ((*rng)() % 8));
    text += " len=" + std::to_string(1 + (*rng)() % 3) + " n1=1 n2=1\n";
  }
  return text;
}

TEST(Loops, RolledProgramsUnrollToThemselves) {
  std::mt19937 rng(5);
  size_t straight = 0, rolled = 0;
  for (int i = 0; i < 300; ++i) {
    auto flat = UnrollLoops(Made(RandomBody(&rng, 0) + "halt\n"));
    ASSERT_TRUE(flat.ok());
    const Program small = RollLoops(*flat, i % 8 == 0 ? kMaxStepped : 1u << 20);
    const absl::Status legal = CheckLoops(
        {small.descriptors, small.loops, small.steps}, *FindPreset("minichip"));
    ASSERT_TRUE(legal.ok()) << legal;
    auto again = UnrollLoops(small);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(again->descriptors, flat->descriptors);
    straight += flat->descriptors.size();
    rolled += small.descriptors.size();
    // What the disassembler writes is the same again.
    const Program text = Made(DisassembleProgram(small));
    ASSERT_EQ(text.descriptors, small.descriptors);
    ASSERT_EQ(text.steps, small.steps);
  }
  EXPECT_LT(rolled * 3, straight);
}

TEST(Loops, ChipsWithoutAScalarUnitGetThemUnrolled) {
  const std::string counted =
      "loop 3\nload hbm_addr=0+64 len=1 n1=1 n2=1\nend\nhalt\n";
  auto flat = ForChip(Made(counted, "mini"));
  ASSERT_TRUE(flat.ok()) << flat.status();
  EXPECT_EQ(flat->descriptors.size(), 4u);
  auto kept = ForChip(Made(counted));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->descriptors.size(), 2u);
  auto refused = ForChip(Made(kNested, "mini"));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("preset 'mini' has no scalar unit"));
  auto large = ForChip(
      Made("loop 100000000\nload len=1 n1=1 n2=1\nend\nhalt\n", "mini"));
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
}

// Any number of loops, of which each fits into a chapter.
TEST(Loops, ChaptersHoldThemAll) {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "loop " + std::to_string(2 + i * 37 % 80) +
            "\nload hbm_addr=0x1000+64 len=64 n1=1 n2=1\nend\n";
  const Program many = Made(text + "halt\n");
  auto kept = ForChip(many);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->loops, many.loops);
  EXPECT_EQ(kept->steps, many.steps);
  EXPECT_EQ(kept->descriptors, many.descriptors);
  // Beyond the tables' room: as many as one chapter holds.
  text.clear();
  for (int i = 0; i < 4000; ++i)
    text += i % 100 == 7
                ? "loop 100\nload hbm_addr=0x1000+64 len=64 n1=1 n2=1\nend\n"
                : "loop 2\nload hbm_addr=0x1000+64 len=64 n1=1 n2=1\nend\n";
  const Program more = Made(text + "halt\n");
  kept = ForChip(more);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->loops.size(), kMaxLoops);
  EXPECT_EQ(kept->descriptors.size(), 2 * (4000u - kMaxLoops) + kMaxLoops + 1);
}

// Of more than a chapter holds in one loop.
TEST(Loops, ThoseStayThatSaveMost) {
  // The outer one saves more than those in it, of which each has a step.
  std::string text = "loop 1000\n";
  for (int i = 0; i < 150; ++i)
    text += "loop 3\nload hbm_addr=0x1000+64 len=64 n1=1 n2=1\nend\n";
  const Program nested = Made(text + "end\nhalt\n");
  auto kept = ForChip(nested);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->loops.size(), kMaxLoops);
  EXPECT_EQ(kept->loops[0].count, 1000u);
  EXPECT_EQ(kept->steps.size(), kMaxLoops - 1);
  EXPECT_EQ(UnrollLoops(*kept)->descriptors, UnrollLoops(nested)->descriptors);
  const absl::Status legal = CheckLoops(
      {kept->descriptors, kept->loops, kept->steps}, *FindPreset("minichip"));
  EXPECT_TRUE(legal.ok()) << legal;
  // Those in it save more: it goes alone, and they are in several chapters.
  text = "loop 3\n";
  for (int i = 0; i < 150; ++i)
    text += "loop " + std::to_string(20 + i) +
            "\nload hbm_addr=0x1000+64+0x100 len=64 n1=1 n2=1\nend\n";
  const Program batch = Made(text + "end\nhalt\n");
  kept = ForChip(batch);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->loops.size(), 450u);
  EXPECT_EQ(kept->steps.size(), 450u);
  EXPECT_EQ(kept->descriptors.size(), 451u);
  EXPECT_EQ(UnrollLoops(*kept)->descriptors, UnrollLoops(batch)->descriptors);
  // Conditions cannot be given up, but what is around them.
  std::string ifs;
  for (int i = 0; i < 70; ++i)
    ifs += "if word=0x100 flag=1\nload len=1 n1=1 n2=1\nend\n";
  kept = ForChip(Made("loop 2\n" + ifs + "end\nhalt\n"));
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->loops.size(), 140u);
  EXPECT_EQ(ForChip(Made("if word=0x100 flag=1\n" + ifs + "end\nhalt\n"))
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Loops, MovedProgramsMoveTheirLoops) {
  Program p = Made(
      "loop 4\nload hbm_addr=0x1000+0x100 len=64 n1=1 n2=1 post=1\nend\n"
      "if word=0x1000 flag=1\nload hbm_addr=0x1000 len=64 n1=1 n2=1\nend\n"
      "halt\n");
  p.memory = {{MemoryUse::kArguments, 0x1000, 0x400},
              {MemoryUse::kCode, 0x10000, 0x100}};
  ASSERT_TRUE(AddRelocations(p).ok());
  auto moved = PlaceProgram(p, {0x5000, 0x20000});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(isa::Load::Decode(moved->descriptors[0]).hbm_addr, 0x5000u);
  EXPECT_EQ(moved->loops[1].word, 0x5000u);
  EXPECT_EQ(moved->steps, p.steps);
  p.loops[0].count = 5;  // its last pass leaves the part
  EXPECT_FALSE(PlaceProgram(p, {0x5000, 0x20000}).ok());
}

}  // namespace
}  // namespace systole
