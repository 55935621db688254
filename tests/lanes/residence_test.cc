// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What stays in a core from kernel to kernel of a program: code in the
// instruction memory, loaded values in the unified buffer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/compiler/kernels/code_placement.h"
#include "host/compiler/kernels/repeated_loads.h"
#include "host/compiler/sequence.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

KernelProgram KernelOf(int64_t instructions, uint64_t word) {
  KernelBuilder builder(*FindPreset("mini"));
  builder.SetCode(std::vector<uint64_t>(instructions, word));
  builder.Run(0, {}, {}, {}, 1);
  return builder.Finish().value();
}

// How many of the kernels, in their order, find their code, which is then as
// it was loaded.
int64_t Found(const std::vector<const KernelProgram*>& order,
              int64_t end = vpu::kImemWords,
              const std::vector<size_t>& beside = {}) {
  std::vector<LinkedKernel> kernels;
  for (const KernelProgram* kernel : order) kernels.push_back({kernel, {}});
  for (const size_t k : beside) kernels[k].beside = true;
  const std::vector<CodePlace> places = PlaceCode(kernels, end);
  std::vector<const KernelProgram*> memory(vpu::kImemWords);
  int64_t found = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    const CodeSteps code = CodeOf(*order[k]);
    if (code.count == 0) continue;
    const auto vload =
        isa::Vload::Decode(order[k]->steps[code.vload].descriptor);
    const int64_t at = places[k].by + vload.addr;
    EXPECT_LE(at + code.count, end) << k;
    const auto begin = memory.begin() + at;
    if (places[k].is_there) {
      ++found;
      EXPECT_TRUE(std::all_of(begin, begin + code.count,
                              [&](const KernelProgram* of) {
                                return of != nullptr &&
                                       of->words == order[k]->words;
                              }))
          << k;
    } else {
      std::fill_n(begin, code.count, order[k]);
    }
  }
  return found;
}

TEST(ResidenceTest, Code) {
  const KernelProgram a = KernelOf(900, 1), b = KernelOf(900, 2),
                      c = KernelOf(900, 3), d = KernelOf(200, 4),
                      same = KernelOf(900, 1), all = KernelOf(2048, 5);
  EXPECT_EQ(Found({&a, &b, &a, &b, &a, &b}), 4);
  EXPECT_EQ(Found({&a, &same}), 1);
  EXPECT_EQ(Found({&a, &b, &d, &a, &b, &d}), 3);
  // Two of three fit. One stays, while the others take turns.
  EXPECT_EQ(Found({&a, &b, &c, &a, &b, &c, &a, &b, &c}), 3);
  EXPECT_EQ(Found({&a, &all, &a, &all}), 0);
  EXPECT_EQ(Found({&a, &d, &all, &d}), 0);
  EXPECT_EQ(Found({&a, &b, &a, &b}, 1800), 2);
  EXPECT_EQ(Found({&a, &b, &a, &b}, 1700), 0);
  const KernelProgram none =
      KernelBuilder(*FindPreset("mini")).Finish().value();
  EXPECT_EQ(Found({&a, &none, &a}), 1);
}

// Two kernels that run along with each other are loaded together.
TEST(ResidenceTest, CodeOfPairs) {
  const KernelProgram a = KernelOf(600, 1), c = KernelOf(900, 3);
  KernelProgram b = KernelOf(400, 2);
  MoveCode(b, 600);
  EXPECT_EQ(Found({&a, &b, &c, &a, &b, &c}, vpu::kImemWords, {1, 4}), 3);
  EXPECT_EQ(Found({&a, &b, &a}, vpu::kImemWords, {1}), 0);
}

// Data behind the code that look like branches stay as they are.
TEST(ResidenceTest, DataAreNotCode) {
  KernelBuilder builder(*FindPreset("mini"));
  vpu::Instr branch;
  branch.op = vpu::Op::kBeq;
  builder.SetCode({branch.Encode()});
  const auto word = static_cast<uint32_t>(branch.Encode());
  const auto data = builder.Place("data", 8);
  builder.LoadData({word, word}, data.at);
  KernelProgram kernel = builder.Finish().value();
  const std::vector<uint64_t> before = kernel.words;
  MoveCode(kernel, 8);
  EXPECT_NE(kernel.words[0], before[0]);
  EXPECT_TRUE(std::equal(before.begin() + 1, before.end(),
                         kernel.words.begin() + 1, kernel.words.end()));
}

// Steps that are left, and the bytes of those that are not.
std::pair<int, int64_t> Left(const std::string& steps) {
  auto sequence =
      compiler::ParseSequence("sequence on mini {\n" + steps + "}\n");
  EXPECT_TRUE(sequence.ok()) << sequence.status() << steps;
  if (!sequence.ok()) return {-1, -1};
  const int64_t bytes = RemoveRepeatedLoads(*sequence);
  return {sequence->size(), bytes};
}

TEST(ResidenceTest, Loads) {
  const std::string load =
      " = load hbm_addr=0x1000 ub_addr=0x4000 len=100 n1=3 n2=2 "
      "hbm_stride1=256 ub_stride1=128 hbm_stride2=1024 ub_stride2=512 tag=";
  const auto again = [&](const std::string& between) {
    return Left("  %0" + load + "1\n" + between + "  %" +
                (between.empty() ? "1" : "2") + load + "7\n");
  };
  const auto removed = std::pair(2, int64_t{600});
  const auto kept = std::pair(3, int64_t{0});
  EXPECT_EQ(again(""), std::pair(1, int64_t{600}));
  // What does not write there.
  EXPECT_EQ(again("  %1 = store hbm_addr=0x0 ub_addr=0x4000 len=4096 n1=1 "
                  "n2=1\n"),
            removed);
  EXPECT_EQ(again("  %1 = vrun; cycles=8; reads ub[0x4000, 64]; writes "
                  "ub[0x4380, 64]\n"),
            removed);
  // On either side; also between the runs.
  for (const char* at : {"0x1000", "0x1080", "0x1640", "0xf80"}) {
    EXPECT_EQ(again(absl::StrCat("  %1 = store hbm_addr=", at,
                                 " ub_addr=0x8000 len=200 n1=1 n2=1\n")),
              kept)
        << at;
  }
  for (const char* at : {"0x4000", "0x4070", "0x4340"}) {
    EXPECT_EQ(
        again(absl::StrCat("  %1 = vrun; cycles=8; writes ub[", at, ", 8]\n")),
        kept)
        << at;
  }
  EXPECT_EQ(again("  %1 = load hbm_addr=0x8000 ub_addr=0x4100 len=16 n1=1 "
                  "n2=1\n"),
            kept);
}

// Another place, other bytes, or rows whose numbers may have changed.
TEST(ResidenceTest, OtherLoads) {
  const char* const load =
      "  %0 = load hbm_addr=0x1000 ub_addr=0x4000 len=64 n1=1 n2=1\n";
  for (const char* other :
       {"hbm_addr=0x1000 ub_addr=0x5000 len=64 n1=1 n2=1",
        "hbm_addr=0x2000 ub_addr=0x4000 len=64 n1=1 n2=1",
        "hbm_addr=0x1000 ub_addr=0x4000 len=48 n1=1 n2=1"}) {
    EXPECT_EQ(Left(absl::StrCat(load, "  %1 = load ", other, "\n")),
              std::pair(2, int64_t{0}))
        << other;
  }
  const std::string rows =
      " = load hbm_addr=0x1000 ub_addr=0x4000 len=64 n1=1 n2=2 "
      "ub_stride2=64 index_addr=0x8000 indexed\n";
  EXPECT_EQ(Left("  %0" + rows + "  %1" + rows), std::pair(2, int64_t{0}));
}

}  // namespace
}  // namespace systole::lanes
