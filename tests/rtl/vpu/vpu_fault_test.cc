// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Faults with their addresses: what is before them happens, what is behind
// them does not, and after a reset the unit works again. Freezing.

#include <cstring>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"
#include "tests/rtl/vpu/bench.h"
#include "tests/rtl/vpu/programs.h"

namespace systole::vpu_test {
namespace {

using absl::StrCat;
using isa::Fault;

constexpr uint32_t kOut = 0x8000;

// A branch that the assembler refuses.
std::string Branch(vpu::Op op, uint8_t a, uint8_t b, int32_t target) {
  vpu::Instr x;
  x.op = op, x.a = a, x.b = b, x.imm = target;
  return StrCat(".word 0x", absl::Hex(x.Encode()), "\n");
}

class VpuFaultTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Around the faulty text: stores of two rows before it, and of two after it.
  static std::string Around(const std::string& text) {
    return StrCat("li s14, 4*L\nli s13, ", kOut, "\nli s12, 2\nvl s12\n",
                  "mov v32, s1\nst32 v32, s13, s14\nli s12, 8\nvl s12\n", text,
                  "\nst32 v32, s13, s14, 64*L\nhalt\n");
  }
  static constexpr int kFirst = 8;  // index of the text

  uint32_t Word(uint32_t address) {
    uint32_t word;
    std::memcpy(&word, &unit_->memories().ub[address], 4);
    return word;
  }

  void Expect(const std::string& text, Fault fault, int64_t address,
              int64_t writes = 2) {
    for (const Stalls& stalls : {Stalls{}, Stalls{128, 200, 100, 50}}) {
      const uint32_t mark = static_cast<uint32_t>(random_());
      const RunResult r = RunProgram(unit_.get(), Around(text), {mark}, stalls);
      EXPECT_EQ(r.protocol_errors, std::vector<std::string>{}) << text;
      EXPECT_EQ(r.faults, 1) << text;
      EXPECT_TRUE(r.done.empty()) << text;
      EXPECT_EQ(r.fault, fault) << text;
      EXPECT_EQ(r.fault_addr, address) << text;
      EXPECT_FALSE(r.fault_newest) << text;
      EXPECT_EQ(static_cast<int64_t>(r.writes.size()), writes) << text;
      EXPECT_EQ(Word(kOut), mark) << text;
      unit_->Reset();
      Works();
    }
  }
  void ExpectProgramFault(const std::string& text, int at = 0) {
    Expect(text, Fault::kVectorProgram, kFirst + at);
  }

  // A small program that uses most of the unit.
  void Works() {
    const uint32_t mark = static_cast<uint32_t>(random_());
    const RunResult r =
        RunProgram(unit_.get(),
                   StrCat("li s14, 4*L\nli s13, ", kOut,
                          "\nmov v32, s1\niadd v16, v32, s1\n"
                          "st32 v16, s13, s14\nfence\nld32 v0, s13, s14\n"
                          "iadd v24, v0, s1\nst32 v24, s13, s14\nhalt\n"),
                   {mark});
    EXPECT_EQ(r.done.size(), 1u);
    EXPECT_EQ(r.faults, 0);
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(Word(kOut + i * 4 * static_cast<uint32_t>(lanes_)), 3 * mark);
  }

  std::unique_ptr<Unit> unit_ = MakeUnit(GetParam(), 11);
  const int64_t lanes_ = unit_->preset().cols;
  const int64_t end_ = unit_->preset().ub_bytes;
  std::mt19937 random_{9};
};

TEST_P(VpuFaultTest, ValuesOutOfRange) {
  ExpectProgramFault("vl s0");
  ExpectProgramFault("li s2, -1\nvl s2", 1);
  ExpectProgramFault("li s2, 0x80000000\nvl s2", 1);
  ExpectProgramFault("lanes s0");
  ExpectProgramFault("li s2, L+1\nlanes s2", 1);
  ExpectProgramFault("li s2, -1\nlanes s2", 1);
  ExpectProgramFault("li s2, 0x10000001\nlanes s2", 1);
}

TEST_P(VpuFaultTest, Branches) {
  ExpectProgramFault(Branch(vpu::Op::kBeq, 0, 0, 2048));
  ExpectProgramFault("li s2, 1\n" + Branch(vpu::Op::kBne, 0, 2, -1), 1);
  ExpectProgramFault("li s2, -1\n" + Branch(vpu::Op::kBlt, 2, 0, 0x40000000),
                     1);
  // Not taken it may go anywhere; what follows faults.
  ExpectProgramFault(Branch(vpu::Op::kBne, 0, 0, 2048) + "vl s0", 1);
  // Taken it passes over what would fault.
  ExpectProgramFault("beq s0, s0, 11\nvl s0\nlanes s0\nvl s0", 3);
}

TEST_P(VpuFaultTest, EndOfTheInstructionMemory) {
  // Index 0, where a counter that wraps would go on, has a legal instruction.
  EXPECT_EQ(RunProgram(unit_.get(), "halt\n", {}).done.size(), 1u);
  const LoadedProgram p = PlaceProgram(
      unit_.get(),
      StrCat("li s13, ", kOut, "\nmov v32, s1\nst32 v32, s13, s0\n"), {4321},
      2045);
  const RunResult r =
      unit_->Run({p.vload.Encode(), p.vrun.Encode()}, {0, 99, 0, 0});
  EXPECT_EQ(r.done.size(), 1u);
  EXPECT_EQ(r.fault, Fault::kVectorProgram);
  EXPECT_EQ(r.fault_addr, 2047);
  EXPECT_EQ(r.writes.size(), 8u);
  unit_->Reset();
  // A branch at the end goes back; a halt ends.
  const RunResult back =
      RunProgram(unit_.get(), "halt\nbeq s0, s0, 2046\n", {}, {}, 2046);
  EXPECT_EQ(back.done.size(), 1u);
  LoadedProgram q =
      PlaceProgram(unit_.get(), "halt\nbeq s0, s0, 2046\n", {}, 2046);
  q.vrun.pc = 2047;
  EXPECT_EQ(unit_->Run({q.vload.Encode(), q.vrun.Encode()}, {}).done.size(),
            2u);
}

// Each field of an instruction at values that it may not have.
TEST_P(VpuFaultTest, IllegalInstructions) {
  const std::vector<std::string> words = {"fma v16, v0, v1, v2",
                                          "mov v32, v0",
                                          "li s2, 5",
                                          "add s2, s3, s4",
                                          "beq s2, s3, 5",
                                          "vl s2",
                                          "fence",
                                          "ld32 v3, s2, s3",
                                          "lds s3, s2, 5",
                                          "st16 v3, s2, s3",
                                          "rotl v33, v1, s2, 4",
                                          "rotrow v33, v1, s2",
                                          "iota v33, s2",
                                          "rnd v33, s2, s3",
                                          "tpush v3",
                                          "tpop v33",
                                          "f2i v17, v3",
                                          "sel v30, v1, s2, v3.0"};
  int illegal = 0;
  for (const std::string& text : words) {
    const auto code = vpu::Assemble(text + "\n", "one");
    ASSERT_TRUE(code.ok()) << code.status();
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t word = code->words[0] ^ uint64_t { 1 } << bit;
      if (vpu::WhyIllegal(word).empty()) continue;
      ++illegal;
      if (lanes_ > 8 && random_() % 8 != 0) continue;
      const LoadedProgram p = PlaceProgram(
          unit_.get(), StrCat(".word 0x", absl::Hex(word), "\nhalt\n"), {},
          100);
      const RunResult r = unit_->Run({p.vload.Encode(), p.vrun.Encode()}, {});
      ASSERT_EQ(r.faults, 1) << text << " bit " << bit;
      ASSERT_EQ(r.fault, Fault::kVectorProgram) << text << " bit " << bit;
      ASSERT_EQ(r.fault_addr, 100) << text << " bit " << bit;
      unit_->Reset();
    }
  }
  EXPECT_GT(illegal, 400);
  ExpectProgramFault(".word 0x0");
  ExpectProgramFault(".word 0xFFFFFFFFFFFFFFFF");
}

TEST_P(VpuFaultTest, Loads) {
  const std::string row = StrCat(4 * lanes_);
  // One byte too many; the first row; a later one; before the first byte.
  Expect(StrCat("li s2, ", end_ - 4 * lanes_ + 1, "\nld32 v0, s2, s0"),
         Fault::kUbRange, end_ - 4 * lanes_ + 1);
  Expect(StrCat("li s2, ", end_ - 2 * lanes_ + 1, "\nld16 v9, s2, s0"),
         Fault::kUbRange, end_ - 2 * lanes_ + 1);
  Expect(StrCat("li s2, ", end_ - lanes_ + 1, "\nld8 v9, s2, s0"),
         Fault::kUbRange, end_ - lanes_ + 1);
  Expect(StrCat("li s2, ", end_ - 3, "\nlds s3, s2\nst32 v32, s13, s14"),
         Fault::kUbRange, end_ - 3);
  Expect("lds s3, s0, -4", Fault::kUbRange, 0xFFFFFFFC);
  Expect(StrCat("li s2, ", end_ - 24 * lanes_, "\nld32 v0, s2, s14"),
         Fault::kUbRange, end_);
  Expect("li s2, 10\nli s3, -4\nld8 v0, s2, s3", Fault::kUbRange, 0xFFFFFFFE);
  Expect("ld8 v0, s0, s0, -1", Fault::kUbRange, 0xFFFFFFFF);
  // A stride that leaps over what is outside.
  Expect("li s2, 0x40000000\nld8 v0, s0, s2", Fault::kUbRange, 0x40000000);
  Expect("li s2, 0x80000000\nld8 v0, s0, s2, 5", Fault::kUbRange, 0x80000005);
  Expect("li s2, 0x24924925\nld8 v0, s0, s2, 64", Fault::kUbRange, 0x24924965);
  Expect(StrCat("li s2, ", 1 << 25, "\nld8 v0, s0, s2"), Fault::kUbRange,
         1 << 25);
  // Fewer lanes or rows fit.
  Expect(StrCat("li s2, ", end_ - 4,
                "\nli s3, 1\nlanes s3\nld32 v0, s2, s0\nld32 v0, s2, s3"),
         Fault::kUbRange, end_ - 3);
  Expect(StrCat("li s2, ", end_ - 16 * lanes_,
                "\nli s3, 4\nvl s3\nld32 v0, s2, s14\n"
                "li s3, 5\nvl s3\nld32 v1, s2, s14"),
         Fault::kUbRange, end_);
}

TEST_P(VpuFaultTest, AccumulatorRows) {
  const int64_t rows = unit_->preset().acc_rows;
  Expect(StrCat("li s2, ", rows, "\nldacc v0, s2, s0"), Fault::kAccRange, rows);
  Expect(StrCat("li s2, ", rows - 3, "\nli s3, 1\nldacc v8, s2, s3"),
         Fault::kAccRange, rows);
  Expect("li s3, -1\nldacc v8, s0, s3, 2", Fault::kAccRange, 0xFFFFFFFF);
  Expect(StrCat("li s3, ", rows, "\nldacc v8, s0, s3"), Fault::kAccRange, rows);
}

// Rows before the wrong one are written, others are not.
TEST_P(VpuFaultTest, Stores) {
  Expect(StrCat("li s2, ", end_ - 12 * lanes_, "\nst32 v32, s2, s14"),
         Fault::kUbRange, end_, 2 + 3);
  EXPECT_EQ(Word(static_cast<uint32_t>(end_ - 8 * lanes_)),
            Word(static_cast<uint32_t>(end_ - 12 * lanes_)));
  Expect(StrCat("li s2, ", end_, "\nst8 v32, s2, s14"), Fault::kUbRange, end_,
         2);
  Expect(StrCat("li s2, ", end_ - 2 * lanes_, "\nli s3, 1\nst16 v32, s2, s3"),
         Fault::kUbRange, end_ - 2 * lanes_ + 1, 3);
  Expect("li s3, -1\nst8 v32, s0, s3, 6", Fault::kUbRange, 0xFFFFFFFF, 2 + 7);
  Expect("st8 v32, s0, s0, -1", Fault::kUbRange, 0xFFFFFFFF, 2);
}

TEST_P(VpuFaultTest, Transposer) {
  std::string fill;
  for (int i = 0; i < lanes_; i += 8) fill += "tpush v32\n";
  const int n = static_cast<int>(lanes_) / 8;
  ExpectProgramFault("tpop v32");
  ExpectProgramFault(fill + "tpush v32", n);
  ExpectProgramFault("li s2, 1\nvl s2\ntpush v32\nli s2, 8\nvl s2\n" + fill,
                     5 + n - 1);
  ExpectProgramFault(fill + "tpop v33\n" + fill + "tpush v32", 2 * n + 1);
  std::string take;
  for (int i = 0; i < lanes_ - 8; i += 8) take += "tpop v33\n";
  ExpectProgramFault(fill + take + "li s2, 5\nvl s2\ntpop v33\ntpop v33",
                     2 * n - 1 + 3);
  ExpectProgramFault(fill + take + "tpop v33\ntpop v33", 2 * n);
  ExpectProgramFault("tpush v32\n" + take + "tpop v33\ntpop v33", n + 1);
}

// Of two wrong instructions the older one is told, though it waits for others.
TEST_P(VpuFaultTest, TheOldestFaultIsTold) {
  ExpectProgramFault(
      "exp2 v33, v32\nrotl v33, v33, s0\nfadd v16, v33, v33\nvl s0\nld8 v0, "
      "s0, s0, -1",
      3);
  Expect("fadd v16, v32, v32\nld8 v0, s0, s0, -1\nvl s0\nst8 v32, s0, s0, -1",
         Fault::kUbRange, 0xFFFFFFFF);
  Expect("fence\nst8 v32, s0, s0, -2\nld8 v0, s0, s0, -1\n.word 0x0",
         Fault::kUbRange, 0xFFFFFFFE);
}

// A fault is told when the programs before it are complete.
TEST_P(VpuFaultTest, OlderProgramsEndFirst) {
  const LoadedProgram good =
      PlaceProgram(unit_.get(),
                   StrCat("li s14, 4*L\nli s13, ", kOut,
                          "\nrcp v32, s1\nst32 v32, s13, s14\n"
                          "st32 v32, s13, s14, 32*L\nhalt\n"),
                   {5});
  unit_->Run({good.vload.Encode()}, {});
  isa::Vload wrong_load;
  const LoadedProgram bad =
      PlaceProgram(unit_.get(), "vl s0\nhalt\n", {}, /*at=*/100);
  for (const Stalls& stalls : {Stalls{}, Stalls{0, 200, 0, 50}}) {
    for (const bool program : {false, true}) {
      const RunResult r =
          unit_->Run({good.vrun.Encode(), good.vrun.Encode(),
                      program ? bad.vrun.Encode() : wrong_load.Encode()},
                     stalls);
      EXPECT_EQ(r.protocol_errors, std::vector<std::string>{});
      EXPECT_EQ(r.done.size(), 2u);
      EXPECT_EQ(r.writes.size(), 32u);
      EXPECT_EQ(r.faults, 1);
      EXPECT_EQ(r.fault,
                program ? Fault::kVectorProgram : Fault::kIllegalDescriptor);
      EXPECT_EQ(r.fault_addr, program ? 100 : 0);
      unit_->Reset();
    }
  }
  Works();
}

TEST_P(VpuFaultTest, InstructionLoads) {
  const uint32_t end = static_cast<uint32_t>(end_),
                 word = static_cast<uint32_t>(4 * lanes_);
  const auto expect = [&](uint32_t ub_addr, uint32_t addr, uint32_t count,
                          Fault fault, int64_t address) {
    isa::Vload load;
    load.ub_addr = ub_addr, load.addr = addr, load.count = count;
    const RunResult r = unit_->Run({load.Encode()}, {60, 0, 0, 0});
    EXPECT_EQ(r.fault, fault) << ub_addr << " " << addr << " " << count;
    if (fault == Fault::kNone) {
      EXPECT_EQ(r.done.size(), 1u);
      EXPECT_EQ(r.reads[0].size(), count);
      return;
    }
    EXPECT_EQ(r.fault_addr, address) << ub_addr << " " << addr << " " << count;
    EXPECT_TRUE(r.reads[0].empty());
    unit_->Reset();
    Works();
  };
  expect(0, 0, 0, Fault::kIllegalDescriptor, 0);
  expect(0, 0, 2049, Fault::kIllegalDescriptor, 0);
  expect(0, 2047, 2, Fault::kIllegalDescriptor, 0);
  expect(8, 2047, 2, Fault::kIllegalDescriptor, 0);
  expect(8, 0, 1, Fault::kMisaligned, 8);
  expect(word / 2, 0, 1, Fault::kMisaligned, word / 2);
  expect(end + 8, 0, 1, Fault::kMisaligned, end + 8);
  expect(end - word, 0, word / 8 + 1, Fault::kUbRange, end);
  if (end < 1 << 25) expect(end, 0, 1, Fault::kUbRange, end);
  if (2 * end <= 1 << 24) expect(2 * end, 0, 1, Fault::kUbRange, 2 * end);
  expect(end - word, 2048 - word / 8, word / 8, Fault::kNone, 0);
  expect(0, 0, 2048, Fault::kNone, 0);
}

// What is none of the unit's descriptors.
TEST_P(VpuFaultTest, OtherOpcodes) {
  for (const isa::Descriptor& d :
       {isa::Load().Encode(), isa::Pool().Encode(), isa::Descriptor{}}) {
    const RunResult r = unit_->Run({d}, {60, 0, 0, 0});
    EXPECT_EQ(r.fault, Fault::kIllegalDescriptor);
    EXPECT_TRUE(r.done.empty());
    unit_->Reset();
    Works();
  }
}

// Frozen at any cycle: no access, no completion, no fault; then reset and go.
TEST_P(VpuFaultTest, FrozenAtAnyTime) {
  const LoadedProgram p = PlaceProgram(
      unit_.get(),
      StrCat("li s14, 4*L\nli s13, ", kOut,
             "\nloop: ld32 v0, s13, s14\nldacc v8, s0, s0\n"
             "fma v16, v0, v8, s1\nrcp v32, v16\nst16 v32, s13, s14, 64*L\n"
             "addi s2, s2, -1\nbne s2, s0, loop\nst8 v32, s0, s0, -1\nhalt\n"),
      {1, 4});
  const int64_t cycles =
      unit_->Run({p.vload.Encode(), p.vrun.Encode()}, {}).cycles;
  unit_->Reset();
  for (int64_t at = 0; at<cycles; at += lanes_> 8 ? 7 : 1) {
    const RunResult r = unit_->Run({p.vload.Encode(), p.vrun.Encode()},
                                   {30, 30, 30, 0}, at + 100, at);
    EXPECT_EQ(r.protocol_errors, std::vector<std::string>{}) << at;
    EXPECT_EQ(r.faults, 0) << at;
    unit_->Reset();
    if (at % 5 == 0) Works();
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuFaultTest, ::testing::ValuesIn(Presets()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::vpu_test
