// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cycles: passes over many rows take about a cycle a row, whatever units they
// use; latencies from row to row; branches; instruction loading.

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/program/vpu_asm.h"
#include "tests/rtl/vpu/bench.h"
#include "tests/rtl/vpu/programs.h"

namespace systole::vpu_test {
namespace {

class VpuSpeedTest : public ::testing::TestWithParam<const char*> {
 protected:
  RunResult Run(const std::string& text, const std::vector<uint32_t>& args,
                const Stalls& stalls = {}) {
    const RunResult r = RunProgram(unit_.get(), text, args, stalls);
    EXPECT_EQ(r.protocol_errors, std::vector<std::string>{});
    EXPECT_EQ(r.faults, 0);
    EXPECT_EQ(r.done.size(), 1u);
    return r;
  }
  // Cycles of a vrun, from its start.
  int64_t Cycles(const std::string& text) { return Run(text, {}).cycles; }
  // Cycles that an instruction adds to a chain of its kind, at one row.
  double Latency(const std::string& a, const std::string& b) {
    std::string few =
        "li s1, 1\nvl s1\nmov v32, s0\nmov v33, s0\n"
        "bf16 v16, s0\nbf16 v17, s0\n";
    for (int i = 0; i < 4; ++i) few += a + b;
    std::string many = few;
    for (int i = 0; i < 8; ++i) many += a + b;
    return static_cast<double>(Cycles(many + "halt\n") -
                               Cycles(few + "halt\n")) /
           16;
  }

  std::unique_ptr<Unit> unit_ = MakeUnit(GetParam(), 1);
  const uint32_t row_ = static_cast<uint32_t>(4 * unit_->preset().cols);
};

// 64 rows a round: eight times load(s), operation(s), store. The registers
// alternate, so that a round's instructions overlap the ones before.
std::string Pass(const std::string& body) {
  std::string text =
      ".arg src\n.arg other\n.arg dst\n.arg step\n"
      ".arg rounds\n.arg half\nloop:\n";
  for (int k = 0; k < 8; ++k) {
    for (char c : body) {
      if (c >= 'A' && c <= 'H') {  // A..H: registers of the banks and offsets
        const int bank = c - 'A';
        text += bank < 5 ? "v" + std::to_string(8 * bank + k)
                         : "(" + std::to_string(8 * k) + "*" +
                               (c == 'F'   ? "4*L"
                                : c == 'G' ? "2*L"
                                           : "1") +
                               ")";
      } else {
        text += c;
      }
    }
  }
  return text +
         "addi rounds, rounds, -1\n"
         "add src, src, step\n"
         "add other, other, step\n"
         "add dst, dst, half\n"
         "bne rounds, s0, loop\n"
         "halt\n";
}

TEST_P(VpuSpeedTest, ElementwisePasses) {
  const int rounds = 8, rows = 64 * rounds;
  struct Case {
    const char* name;
    std::string body;
    bool acc;
  };
  const Case cases[] = {
      {"load, operation, store",
       "ld32 A, src, s9, F\nfadd C, A, s10\nst32 C, dst, s9, F\n", false},
      {"load, load, operation, store",
       "ld32 A, src, s9, F\nld32 B, other, s9, F\nfadd C, A, B\n"
       "st32 C, dst, s9, F\n",
       false},
      {"load, load, operation, operation, function, store",
       "ld32 A, src, s9, F\nld32 B, other, s9, F\nfma C, A, B, s10\n"
       "fmul D, C, A\nexp2 E, D\nst32 E, dst, s9, F\n",
       false},
      {"accumulators to bf16 with relu",
       "ldacc A, src, s8, H\nfmax C, A, s0\nst16 C, dst, s11, G\n", true},
      {"convert bf16 to fp32", "ld16 A, src, s11, G\nst32 A, dst, s9, F\n",
       false},
  };
  for (const Case& c : cases) {
    const uint32_t step = c.acc ? 64 : 64 * row_;
    const uint32_t dst = static_cast<uint32_t>(unit_->preset().ub_bytes) / 2;
    // args: src, other, dst, step, rounds, half (of dst), -, 1, row, 2.0, row /
    // 2
    const bool small = c.body.find("st16") != std::string::npos;
    const uint32_t src_step =
        c.body.find("ld16") != std::string::npos ? 32 * row_ : step;
    // At 8 lanes the unified buffer holds all; at the end addresses stay
    // inside.
    const RunResult r = Run(Pass(c.body), {0, 32, dst, src_step, rounds,
                                           small ? 32 * row_ : 64 * row_, 0, 1,
                                           row_, 0x40000000, row_ / 2});
    std::printf("%-52s %5.3f cycles a row (%lld for %d)\n", c.name,
                static_cast<double>(r.cycles) / rows,
                static_cast<long long>(r.cycles), rows);
    EXPECT_LE(r.cycles, rows * 1.02 + 45) << c.name;
    EXPECT_EQ(r.busy[5], rows);
  }
}

// The same while ports refuse a quarter of the cycles: no more than that lost
// again.
TEST_P(VpuSpeedTest, RefusalsCostThemselves) {
  const int rounds = 8, rows = 64 * rounds;
  const uint32_t dst = static_cast<uint32_t>(unit_->preset().ub_bytes) / 2;
  const RunResult r =
      Run(Pass("ld32 A, src, s9, F\nfadd C, A, s10\nst32 C, dst, s9, F\n"),
          {0, 32, dst, 64 * row_, rounds, 64 * row_, 0, 1, row_, 0x40000000},
          {64, 64, 0, 0});
  std::printf("%5.3f cycles a row\n", static_cast<double>(r.cycles) / rows);
  EXPECT_LE(r.cycles, rows * 1.5);
}

TEST_P(VpuSpeedTest, Latencies) {
  struct Case {
    const char *a, *b;
    double most;
  };
  for (const Case& c :
       {Case{"fma v16, v17, v17, v17\n", "fma v17, v16, v16, v16\n", 8},
        Case{"iadd v16, v17, v17\n", "iadd v17, v16, v16\n", 8},
        Case{"mov v32, v33\n", "mov v33, v32\n", 4},
        Case{"rotl v32, v33, s0, 1\n", "rotl v33, v32, s0, 1\n", 4},
        Case{"exp2 v32, v33\n", "exp2 v33, v32\n", 15},
        Case{"addi s2, s2, 1\n", "addi s3, s2, 1\n", 1},
        Case{"mul s2, s2, s3\n", "mul s3, s2, s2\n", 3}}) {
    const double latency = Latency(c.a, c.b);
    std::printf("%-28.*s %4.1f cycles\n",
                static_cast<int>(std::strlen(c.a)) - 1, c.a, latency);
    EXPECT_LE(latency, c.most) << c.a;
  }
}

// A taken branch costs two cycles, one that is not taken none.
TEST_P(VpuSpeedTest, Branches) {
  const std::string loop =
      "li s1, N\nloop: addi s1, s1, -1\nbne s1, s0, loop\nhalt\n";
  const auto with = [&](const char* n) {
    std::string text = loop;
    text.replace(text.find('N'), 1, n);
    return Cycles(text);
  };
  EXPECT_EQ(with("110") - with("10"), 100 * 4);
  std::string passed;
  for (int i = 0; i < 50; ++i) passed += "beq s1, s0, end\n";
  EXPECT_EQ(Cycles("li s1, 1\n" + passed + passed + "end: halt\n") -
                Cycles("li s1, 1\n" + passed + "end: halt\n"),
            50);
}

TEST_P(VpuSpeedTest, InstructionsLoadOneACycle) {
  isa::Vload load;
  load.count = 2048;
  const RunResult r = unit_->Run({load.Encode()}, {});
  EXPECT_EQ(r.done.size(), 1u);
  std::printf("vload of 2048: %lld cycles\n", static_cast<long long>(r.cycles));
  EXPECT_LE(r.cycles, 2048 + 10);
}

// Programs follow each other without a gap, each 32 rows of accumulators.
TEST_P(VpuSpeedTest, ProgramsOverlap) {
  const std::string text =
      ".arg acc\n.arg dst\nli s14, 2*L\nli s13, 1\n"
      "ldacc v0, acc, s13\nst16 v0, dst, s14\n"
      "ldacc v1, acc, s13, 8\nst16 v1, dst, s14, 16*L\n"
      "ldacc v2, acc, s13, 16\nst16 v2, dst, s14, 32*L\n"
      "ldacc v3, acc, s13, 24\nst16 v3, dst, s14, 48*L\nhalt\n";
  const LoadedProgram p = PlaceProgram(unit_.get(), text, {0, 0x4000});
  unit_->Run({p.vload.Encode()}, {});
  constexpr int kRuns = 16;
  const RunResult r =
      unit_->Run(std::vector<isa::Descriptor>(kRuns, p.vrun.Encode()), {});
  EXPECT_EQ(r.done.size(), static_cast<size_t>(kRuns));
  std::printf("%d programs of 32 rows: %lld cycles\n", kRuns,
              static_cast<long long>(r.cycles));
  EXPECT_LE(r.cycles, kRuns * 32 + 25);
}

// Code of many operations a row: the ALUs take a step of rows a cycle.
TEST_P(VpuSpeedTest, AlusTakeSteps) {
  const int rows = unit_->preset().vector_rows(), rounds = 20;
  const auto cycles = [&](int operations) {
    std::string text = absl::StrCat("li s1, ", rows, "\nvl s1\n");
    // Independent of each other, and in turns on both ALUs.
    for (int i = 0; i < operations; ++i) {
      absl::StrAppend(&text, "fma v", 16 + i % 2 * 8 + i / 2 % 4,
                      ", s2, s3, s4\n");
    }
    return Cycles(text + "halt\n");
  };
  const int few = 2 * rounds, many = 6 * rounds;
  EXPECT_EQ(cycles(many) - cycles(few),
            (many - few) / 2 * rows / unit_->preset().sublanes);
}

// What the compiler expects of loops: a chain of operations, with registers
// that the next iteration needs at once; and one with registers to spare.
TEST_P(VpuSpeedTest, LoopsTakeWhatTheCompilerExpects) {
  const int rows = unit_->preset().vector_rows();
  for (const char* body :
       {"ld32 v0, s1, s9\nfsub v16, v0, s10\nfmul v17, v16, s10\n"
        "fnma v18, v17, s10, v16\nexp2 v32, v18\nfma v16, v32, v17, v32\n"
        "st32 v16, s2, s9\n",
        "ld32 v0, s1, s9\nld32 v8, s1, s9, 4*L\nfadd v16, v0, v8\n"
        "fmul v24, v16, v16\nst32 v24, s2, s9\n"
        "ld32 v1, s1, s9\nld32 v9, s1, s9, 4*L\nfadd v17, v1, v9\n"
        "fmul v25, v17, v17\nst32 v25, s2, s9\n",
        "ld32 v0, s1, s9\nrotl v32, v0, s0, 4\nfmax v16, v0, v32\n"
        "rotl v33, v16, s0, 2\nfmax v16, v16, v33\nst32 v16, s2, s9\n"}) {
    const std::string text =
        absl::StrCat("li s4, ", rows, "\nvl s4\nloop: ", body,
                     "addi s3, s3, -1\nblt s0, s3, loop\nhalt\n");
    const auto cycles = [&](uint32_t rounds) {
      return Run(text, {0, 0x8000, rounds, 0, 0, 0, 0, 0, row_, 0x3F800000})
          .cycles;
    };
    const auto code =
        vpu::Assemble(text, "loop", {{"L", unit_->preset().cols}}, 0);
    ASSERT_TRUE(code.ok());
    std::vector<uint64_t> words(code->words.begin(), code->words.end() - 1);
    const double expected =
        rows * lanes::RowCycles(words, 2, 1, unit_->preset());
    const double measured = static_cast<double>(cycles(40) - cycles(20)) / 20;
    std::printf("%6.1f cycles, %6.1f expected\n", measured, expected);
    EXPECT_NEAR(expected / measured, 1, 0.1) << body;
  }
}

// An empty program: what a vrun costs.
TEST_P(VpuSpeedTest, EmptyProgram) {
  const int64_t cycles = Cycles("halt\n");
  std::printf("vrun of `halt`: %lld cycles\n", static_cast<long long>(cycles));
  EXPECT_LE(cycles, 13);
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuSpeedTest, ::testing::ValuesIn(Presets()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::vpu_test
