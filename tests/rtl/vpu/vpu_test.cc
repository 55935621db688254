// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Directed tests of the unit: each instruction with each operand mode against
// the reference, the transposer, reuse of registers, the sequence.

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"
#include "tests/rtl/vpu/fixture.h"
#include "tests/rtl/vpu/reference.h"

namespace systole::vpu_test {
namespace {

using absl::StrCat;
using vpu::Class;
using vpu::Op;

TEST_P(VpuTest, EachInstructionOfTheAlus) {
  for (const vpu::OpInfo& op : vpu::kOps) {
    if (op.cls != Class::kFloat && op.cls != Class::kSelect &&
        op.cls != Class::kInteger && op.cls != Class::kConvert) {
      continue;
    }
    const int sources = op.c != vpu::Kind::kNone   ? 3
                        : op.b != vpu::Kind::kNone ? 2
                                                   : 1;
    for (int r = 0; r < 8; ++r) {
      for (int l = 0; l < lanes_; ++l) {
        const Operands o = RelatedOperands(random_);
        In(0, r, l) = o.a, In(1, r, l) = o.b, In(2, r, l) = o.c;
      }
    }
    // Rows; in place on the other ALU; row 0; scalars.
    const uint32_t scalar = RelatedOperands(random_).a;
    const auto operands = [&](const char* a, const char* b, const char* c) {
      return sources == 3   ? StrCat(a, ", ", b, ", ", c)
             : sources == 2 ? StrCat(a, ", ", b)
                            : std::string(a);
    };
    const std::string name(op.name);
    Run(Body(StrCat(name, " v16, ", operands("v0", "v1", "v8"), "\n",
                    "bf16 v31, v1\nior v24, v0, s0\n", name, " v24, ",
                    operands("v24", "v1", "v24"), "\n", name, " v17, ",
                    operands("v0", "v1.0", "v8.0"), "\n", name, " v18, ",
                    operands("s1", "v1", "s1"), "\n", name, " v23, ",
                    operands("v0", "s1", "v8"), "\n"),
             {16, 24, 17, 18, 23}),
        {scalar});
    for (int r = 0; r < 8; ++r) {
      for (int l = 0; l < lanes_; ++l) {
        const uint32_t a = In(0, r, l), b = In(1, r, l), c = In(2, r, l);
        ASSERT_EQ(Out(0, r, l), Lane(op.op, a, b, c))
            << op.name << " row " << r << " lane " << l;
        ASSERT_EQ(Out(1, r, l), Lane(op.op, a, b, a)) << op.name;
        ASSERT_EQ(Out(2, r, l), Lane(op.op, a, In(1, 0, l), In(2, 0, l)))
            << op.name;
        ASSERT_EQ(Out(3, r, l), Lane(op.op, scalar, b, scalar)) << op.name;
        ASSERT_EQ(Out(4, r, l), Lane(op.op, a, scalar, c)) << op.name;
      }
    }
  }
}

TEST_P(VpuTest, RotationsBroadcastsAndRandomBits) {
  for (int k = 0; k<2 * lanes_; k += lanes_> 8 ? 13 : 1) {
    const uint32_t seed = static_cast<uint32_t>(random_()),
                   counter = static_cast<uint32_t>(random_());
    Run(Body(StrCat("rotl v32, v0, s1, ", k, "\nbcl v33, v1, s1, ", k,
                    "\niota v35, s2\nrnd v36, s2, s3\nmov v37, v1.0\n"
                    "mov v38, s3\nmov v39, v8\n"),
             {32, 33, 35, 36, 37, 38, 39}),
        {static_cast<uint32_t>(-5), seed, counter});
    for (int r = 0; r < 8; ++r) {
      for (int l = 0; l < lanes_; ++l) {
        const int from = (l + k - 5 + lanes_) % lanes_;
        ASSERT_EQ(Out(0, r, l), In(0, r, from)) << k;
        ASSERT_EQ(Out(1, r, l), In(1, r, (k - 5 + lanes_) % lanes_)) << k;
        ASSERT_EQ(Out(2, r, l), seed + l);
        ASSERT_EQ(Out(3, r, l), RandomBits(seed, counter + r * lanes_ + l));
        ASSERT_EQ(Out(4, r, l), In(1, 0, l));
        ASSERT_EQ(Out(5, r, l), counter);
        ASSERT_EQ(Out(6, r, l), In(2, r, l));
      }
    }
  }
}

// All rows of a register, as many as there are in eight steps; parts of a step.
TEST_P(VpuTest, WholeRegisters) {
  const int rows = unit_->preset().vector_rows();
  for (const int count : {rows, rows - 1, rows / 2 + 1, 1}) {
    const int k = static_cast<int>(random_() % (2 * rows));
    const auto seed = static_cast<uint32_t>(random_());
    const std::string text =
        StrCat("li s14, 4*L\nli s13, ", kIn, "\nli s12, ", kOut, "\nli s11, ",
               rows, "\nvl s11\nld32 v0, s13, s14\nld32 v8, s13, s14, ", rows,
               "*4*L\n"
               "ior v16, v0, v0\nior v24, v8, v8\nmov v33, v8\nmov v34, v8\n"
               "li s11, 1000\nvl s11, ",
               count,
               "\niadd v16, v0, v8.0\n"
               "isub v24, v16, v8\nrnd v33, s1, s0\nrotrow v34, v0, s0, ",
               k, "\nvl s11\n");
    std::string stores;
    int at = 0;
    for (const int v : {16, 24, 33, 34})
      absl::StrAppend(&stores, "st32 v", v, ", s12, s14, ", at++, "*", rows,
                      "*4*L\n");
    Run(text + stores + "halt\n", {seed});
    const auto in = [&](int source, int r, int l) {
      return Word(kIn + ((source * rows + r) * lanes_ + l) * 4);
    };
    for (int r = 0; r < rows; ++r) {
      for (int l = 0; l < lanes_; ++l) {
        const auto out = [&](int result) {
          return Word(kOut + ((result * rows + r) * lanes_ + l) * 4);
        };
        const uint32_t sum = in(0, r, l) + in(1, 0, l), old = in(1, r, l);
        const bool set = r < count;
        ASSERT_EQ(out(0), set ? sum : in(0, r, l)) << r << " of " << count;
        ASSERT_EQ(out(1), set ? sum - old : old) << r << " of " << count;
        ASSERT_EQ(out(2), set ? RandomBits(seed, r * lanes_ + l) : old);
        ASSERT_EQ(out(3), set ? in(0, (r + k) % rows, l) : old) << k;
      }
    }
  }
}

// Fewer rows than lanes, of which some columns are taken; then another matrix.
TEST_P(VpuTest, TransposerTurnsPartsOfMatrices) {
  struct Part {
    int rows, columns;
  };
  const std::vector<Part> parts = {{1, lanes_}, {lanes_, 1}, {3, 5},
                                   {5, 3},      {8, 2},      {lanes_ - 1, 1}};
  std::string text = "li s14, 4*L\n";
  uint32_t to = kOut;
  for (const Part& part : parts) {
    for (const bool push : {true, false}) {
      const int count = push ? part.rows : part.columns;
      for (int i = 0; i < count; i += 8) {
        absl::StrAppend(
            &text, "li s15, ", std::min(8, count - i), "\nvl s15\nli s13, ",
            push ? kIn + 4u * lanes_ * i : to + 4u * lanes_ * i, "\n");
        text += push ? "ld32 v0, s13, s14\ntpush v0\n"
                     : "tpop v32\nst32 v32, s13, s14\n";
      }
    }
    to += 4u * lanes_ * part.columns;
  }
  Run(text + "halt\n");
  to = kOut;
  for (const Part& part : parts) {
    for (int c = 0; c < part.columns; ++c, to += 4u * lanes_) {
      for (int r = 0; r < lanes_; ++r) {
        ASSERT_EQ(Word(to + 4 * r),
                  r < part.rows ? Word(kIn + (r * lanes_ + c) * 4) : 0u)
            << part.rows << " x " << part.columns << " at " << r << ", " << c;
      }
    }
  }
}

// L rows in, L columns out, in groups of every size, twice.
TEST_P(VpuTest, TransposerTurnsMatrices) {
  for (int rows : {8, 1, 3, 5}) {
    std::string text = "li s14, 4*L\n";
    for (int matrix = 0; matrix < 2; ++matrix) {
      for (const bool push : {true, false}) {
        for (int i = 0; i < lanes_; i += rows) {
          absl::StrAppend(&text, "li s15, ", std::min(rows, lanes_ - i),
                          "\nvl s15\n");
          const uint32_t at =
              (push ? kIn : kOut) + 4u * lanes_ * (matrix * lanes_ + i);
          absl::StrAppend(&text, "li s13, ", at, "\n");
          text += push ? "ld32 v0, s13, s14\ntpush v0\n"
                       : "tpop v32\nst32 v32, s13, s14\n";
        }
      }
    }
    // At 128 lanes sources and results need room: 2 x 64 KiB each.
    if (lanes_ > 8) {
      text = std::string("li s14, 4*L\n");
      for (int i = 0; i < lanes_; i += 8)
        absl::StrAppend(&text, "li s13, ", 0x200000 + i * 512,
                        "\nld32 v0, s13, s14\ntpush v0\n");
      for (int i = 0; i < lanes_; i += 8)
        absl::StrAppend(&text, "li s13, ", 0x300000 + i * 512,
                        "\ntpop v32\nst32 v32, s13, s14\n");
    }
    Run(text + "halt\n");
    for (int m = 0; m < (lanes_ > 8 ? 1 : 2); ++m) {
      const uint32_t in = lanes_ > 8 ? 0x200000 : kIn,
                     out = lanes_ > 8 ? 0x300000 : kOut;
      for (int i = 0; i < lanes_; ++i) {
        for (int j = 0; j < lanes_; ++j) {
          ASSERT_EQ(Word(out + ((m * lanes_ + i) * lanes_ + j) * 4),
                    Word(in + ((m * lanes_ + j) * lanes_ + i) * 4))
              << rows;
        }
      }
    }
  }
}

// Registers are reused at once: a younger write never disturbs an older read,
// nor an older write a younger one, whatever the latencies and refusals.
TEST_P(VpuTest, ReusedRegisters) {
  std::string text = "li s11, 0\n";
  std::vector<uint32_t> want;
  uint32_t x = 1;
  const int rounds = 40;
  text += StrCat("li s12, ", kOut, "\nli s14, 4*L\nli s10, 3\n");
  for (int i = 0; i < rounds; ++i) {
    // exp2 is slow, mov fast: both write v32.
    absl::StrAppend(
        &text, "exp2 v32, s10\nmov v32, s1\n",
        "iadd v16, v32, s10\nst32 v16, s12, s14\n",
        "iadd v16, v32, v16\nst32 v16, s12, s14, 32*L\n",
        "ixor v16, v16, s10\nmov v32, v16\nst32 v32, s12, s14, 64*L\n"
        "mov v32, s0\naddi s1, s1, 7\nadd s10, s10, s1\n");
  }
  Run(text + "halt\n", {x}, {0, 200, 0, 0});
  uint32_t s1 = 1, s10 = 3, a = 0, b = 0, c = 0;
  for (int i = 0; i < rounds; ++i) {
    a = s1 + s10, b = s1 + a, c = b ^ s10;
    s1 += 7, s10 += s1;
  }
  for (int r = 0; r < 8; ++r) {
    for (int l = 0; l < lanes_; ++l) {
      ASSERT_EQ(Out(0, r, l), a);
      ASSERT_EQ(Out(1, r, l), b);
      ASSERT_EQ(Out(2, r, l), c);
    }
  }
}

// Fewer rows: the others keep their values and are there for readers.
TEST_P(VpuTest, RowsBeyondTheLengthKeep) {
  Run(Body("li s15, 3\nvl s15\niadd v16, v0, s1\nli s15, 8\nvl s15\n"
           "ior v17, v1, s0\nli s15, 5\nvl s15\niadd v17, v0, s1\nvl s14\n",
           {17}),
      {1000});
  for (int r = 0; r < 8; ++r) {
    for (int l = 0; l < lanes_; ++l)
      ASSERT_EQ(Out(0, r, l), r < 5 ? In(0, r, l) + 1000 : In(1, r, l));
  }
}

TEST_P(VpuTest, ScalarsAndBranches) {
  // 20 numbers of a linear generator, each by another way; s0 stays 0.
  Run("li s0, 5\nli s4, 0\nli s5, 20\nli s6, 1664525\nli s7, 1013904223\n"
      "loop: mul s1, s1, s6\nadd s1, s1, s7\nsrli s8, s1, 16\nslli s9, s8, 3\n"
      "sub s9, s9, s8\nli s10, 255\nand s9, s9, s10\nadd s4, s4, s9\n"
      "addi s5, s5, -1\nblt s0, s5, loop\nbeq s5, s0, good\nli s4, 0\n"
      "good: bne s0, s0, bad\nmov v32, s4\nst32 v32, s2, s3\nhalt\n"
      "bad: mov v32, s0\nst32 v32, s2, s3\nhalt\n",
      {12345, kOut, static_cast<uint32_t>(4 * lanes_)});
  uint32_t x = 12345, sum = 0;
  for (int i = 0; i < 20; ++i) {
    x = x * 1664525 + 1013904223;
    sum += ((x >> 16) * 7) & 255;
  }
  EXPECT_EQ(Out(0, 7, lanes_ - 1), sum);
}

// Programs stay loaded; arguments, vl and lanes start afresh, registers keep.
TEST_P(VpuTest, ProgramsOneAfterTheOther) {
  const LoadedProgram first =
      PlaceProgram(unit_.get(),
                   "li s15, 2\nvl s15\nlanes s15\nmov v32, s1\nmov v33, "
                   "s12\nli s13, 9\nhalt\n",
                   {77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99}, 2041);
  RunResult r = unit_->Run({first.vload.Encode()}, {});
  const LoadedProgram second = PlaceProgram(
      unit_.get(),
      StrCat("li s15, ", kOut, "\nli s14, 4*L\n",
             "mov v34, s13\nst32 v34, s15, s14\nst32 v32, s15, s14, 32*L\n"
             "st32 v33, s15, s14, 64*L\nhalt\n"),
      {}, 5);
  r = unit_->Run({second.vload.Encode(), first.vrun.Encode(),
                  second.vrun.Encode(), first.vrun.Encode()},
                 {50, 50, 0, 128});
  ASSERT_EQ(r.done.size(), 4u);
  for (int l = 0; l < lanes_; ++l) {
    for (int row = 0; row < 8; ++row) EXPECT_EQ(Out(0, row, l), 0u);
    for (int row = 0; row < 2; ++row) {
      EXPECT_EQ(Out(1, row, l), 77u);
      EXPECT_EQ(Out(2, row, l), 99u);
    }
  }
}

// Each program begins with an empty transposer, whatever was left in it.
TEST_P(VpuTest, TransposerBeginsEmpty) {
  std::string text = "tpush v32\n";
  for (int rows = 8; rows < lanes_; rows += 8) text += "tpush v32\n";
  const LoadedProgram p = PlaceProgram(unit_.get(), text + "halt\n", {});
  const RunResult r =
      unit_->Run({p.vload.Encode(), p.vrun.Encode(), p.vrun.Encode()}, {});
  EXPECT_EQ(r.faults, 0);
  EXPECT_EQ(r.done.size(), 3u);
}

// Code is loaded when the programs before are complete.
TEST_P(VpuTest, CodeOfRunningProgramsStays) {
  const LoadedProgram first = PlaceProgram(
      unit_.get(),
      StrCat("li s15, ", kOut,
             "\nli s14, 4*L\nloop: mov v32, s1\n"
             "st32 v32, s15, s14\naddi s1, s1, -1\nbne s1, s0, loop\n"
             "st32 v32, s15, s14, 32*L\nhalt\n"),
      {20});
  unit_->Run({first.vload.Encode()}, {});
  const LoadedProgram second =
      PlaceProgram(unit_.get(),
                   StrCat("li s15, ", kOut,
                          "\nli s14, 4*L\nmov v33, s1\n"
                          "st32 v33, s15, s14, 64*L\nhalt\nhalt\nhalt\n"),
                   {77});
  const RunResult r = unit_->Run(
      {first.vrun.Encode(), second.vload.Encode(), second.vrun.Encode()},
      {0, 100, 0, 0});
  EXPECT_EQ(r.protocol_errors, std::vector<std::string>{});
  ASSERT_EQ(r.done.size(), 3u);
  EXPECT_EQ(r.writes.size(), 8u * 22);
  EXPECT_EQ(Out(0, 7, 0), 1u);
  EXPECT_EQ(Out(1, 7, lanes_ - 1), 1u);
  EXPECT_EQ(Out(2, 7, lanes_ - 1), 77u);
}

// A program begins while the one before is on its way, but loads what that one
// stores, and overwrites only what it has loaded; each is complete when its
// loads and stores are, a load that nobody uses too.
TEST_P(VpuTest, ProgramsOverlap) {
  const std::string text =
      "li s14, 4*L\nld32 v0, s1, s14\niadd v16, v0, s3\n"
      "st32 v16, s2, s14\nld32 v8, s1, s14\nhalt\n";
  const LoadedProgram p = PlaceProgram(unit_.get(), text, {});
  unit_->Run({p.vload.Encode()}, {});
  constexpr int kRuns = 8;
  for (const Stalls& stalls : {Stalls{}, Stalls{0, 200, 0, 0},
                               Stalls{200, 0, 0, 0}, Stalls{150, 150, 0, 60}}) {
    for (const bool in_place : {false, true}) {
      std::vector<isa::Descriptor> runs;
      uint32_t from = kIn, to = kOut, sum = 0;
      for (int i = 0; i < kRuns; ++i) {
        isa::Vrun run = p.vrun;
        run.args[0] = from, run.args[1] = to, run.args[2] = 1u << i;
        runs.push_back(run.Encode());
        sum += 1u << i;
        from = to;
        if (!in_place) to += 32 * lanes_;
      }
      const RunResult r = unit_->Run(runs, stalls);
      ASSERT_EQ(r.protocol_errors, std::vector<std::string>{});
      ASSERT_EQ(r.done.size(), runs.size());
      ASSERT_EQ(r.writes.size(), 8u * kRuns);
      for (int i = 0; i < kRuns; ++i) {
        EXPECT_LT(r.writes[8 * i + 7], r.done[i]) << i;
        EXPECT_LT(r.reads[1][8 * i + 7], r.done[i]) << i;
        if (i > 0) EXPECT_GT(r.reads[0][8 * i], r.writes[8 * i - 1]) << i;
      }
      const int last = in_place ? 0 : kRuns - 1;
      for (int row = 0; row < 8; ++row) {
        for (int l = 0; l < lanes_; ++l) {
          ASSERT_EQ(Out(last, row, l), In(0, row, l) + sum) << row << " " << l;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuTest, ::testing::ValuesIn(Presets()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::vpu_test
