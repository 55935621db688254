// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Faults and broken rules of vector programs.

#include <functional>

#include "tests/iss/vpu_fixture.h"

namespace systole::iss {
namespace {

using ::testing::HasSubstr;

TEST_F(VpuTest, RulesOfVectorPrograms) {
  const std::string store_load = R"(
    iota v32, s0
    li   s1, 32
    st32 v32, s0, s1, 0x1000
    %
    li   s2, 1
    vl   s2
    ld32 v0, s0, s1, 0x10FC
    halt
)";
  const auto with = [&](const std::string& middle) {
    std::string text = store_load;
    return text.replace(text.find('%'), 1, middle);
  };
  ASSERT_EQ(Run(with("")), Iss::Event::kHalted);
  EXPECT_THAT(Problems(),
              HasSubstr("vector race: instruction 105 loads unified buffer "
                        "bytes 0x10fc..0x10ff, stored since the last fence"));
  ASSERT_EQ(Run(with("fence")), Iss::Event::kHalted);
  EXPECT_EQ(Problems(), "");
  // A word for a scalar register is a load as any other.
  const std::string text =
      "iota v32, s0\nst32 v32, s0, s0, 0x1000\n%\n"
      "lds s1, s0, 0x101C\nhalt\n";
  for (const bool fenced : {false, true}) {
    std::string words = text;
    words.replace(words.find('%'), 1, fenced ? "fence" : "");
    ASSERT_EQ(Run(words), Iss::Event::kHalted);
    EXPECT_THAT(Problems(),
                fenced ? testing::IsEmpty()
                       : testing::Matcher<std::string>(HasSubstr(
                             "instruction 102 loads unified buffer bytes "
                             "0x101c..0x101f, stored since the last fence")));
  }
  // Rows that were never written: beyond vl, also by rotrow.
  ASSERT_EQ(Run("li s1, 3\nvl s1\niota v32, s0\nli s1, 4\nvl s1\n"
                "fadd v16, v32, v32\nfadd v17, v32.0, s1\nhalt\n"),
            Iss::Event::kHalted);
  EXPECT_THAT(Problems(), HasSubstr("1 violation of the rules"));
  EXPECT_THAT(Problems(), HasSubstr("instruction 105 reads row 3 of v32"));
  ASSERT_EQ(
      Run("li s1, 3\nvl s1\niota v32, s0\nrotrow v33, v32, s0, 1\nhalt\n"),
      Iss::Event::kHalted);
  EXPECT_THAT(Problems(), HasSubstr("instruction 103 reads row 3 of v32"));
}

// What a vrun touches counts in the race check between queues.
TEST_F(VpuTest, RacesWithOtherQueues) {
  const vpu::Code code = *vpu::Assemble(
      "iota v32, s0\nli s1, 32\nst32 v32, s0, s1, 0x1000\n"
      "ld32 v0, s0, s1, 0x2000\nldacc v1, s0, s1\nhalt\n",
      "t");
  iss_.state().hbm.Write(kCodeHbm, vpu::Segment("t", 0, code.words).data);
  vpu::CodeLoad in = vpu::LoadCode(kCodeHbm, kCodeUb,
                                   static_cast<int64_t>(code.words.size()), 0);
  in.load.header.post_mask = in.vload.header.wait_mask = 1;
  isa::Vrun run;
  run.header.post_mask = 2;
  isa::Store store;
  store.hbm_addr = 0xA000, store.ub_addr = 0x1000, store.len = 256;
  store.n1 = store.n2 = 1, store.header.wait_mask = 2;
  isa::Load load;
  load.hbm_addr = 0x9000, load.ub_addr = 0x20E0, load.len = 32;
  load.n1 = load.n2 = 1;
  isa::Tiles tiles;
  tiles.ub_addr = 0x4000, tiles.rows = tiles.cols = 8, tiles.tiles = 1;
  isa::Matmul matmul;
  matmul.lines = 1, matmul.line_bytes = 16,
  matmul.n = matmul.ny = matmul.nx = 1;
  matmul.t0 = matmul.t1 = 1, matmul.seg_len[0] = 8, matmul.acc = 224;
  const auto program = [&] {
    return RunAll({in.load.Encode(), in.vload.Encode(), run.Encode(),
                   store.Encode(), load.Encode(), tiles.Encode(),
                   matmul.Encode()});
  };
  ASSERT_EQ(program(), Iss::Event::kHalted) << iss_.fault_detail();
  EXPECT_THAT(Problems(), HasSubstr("race on unified buffer bytes "
                                    "0x20e0..0x20ff: a read and a write"));
  EXPECT_THAT(Problems(), HasSubstr("race on accumulator rows 224..224: a read "
                                    "and a write"));
  EXPECT_THAT(Problems(), HasSubstr("2 violations"));
  // Beside the vrun's bytes and rows; but the store no longer waits.
  load.ub_addr = 0x2100, matmul.acc = 225, store.header.wait_mask = 0;
  ASSERT_EQ(program(), Iss::Event::kHalted);
  EXPECT_THAT(Problems(), HasSubstr("1 violation "));
  EXPECT_THAT(Problems(), HasSubstr("race on unified buffer bytes "
                                    "0x1000..0x10ff: a write and a read"));
  store.header.wait_mask = 2;
  ASSERT_EQ(program(), Iss::Event::kHalted);
  EXPECT_EQ(Problems(), "");
}

TEST_F(VpuTest, Faults) {
  const isa::Fault program = isa::Fault::kVectorProgram;
  const auto expect = [&](const std::string& text, isa::Fault cause,
                          uint64_t address, const std::string& detail) {
    SCOPED_TRACE(text);
    ASSERT_EQ(Run(text), Iss::Event::kFaulted);
    ExpectFault(cause, address);
    EXPECT_THAT(iss_.fault_detail(), HasSubstr(detail));
  };
  expect("iota v32, s0\n.word 0xff\n", program, 101,
         "vector instruction 101, 0x00000000000000ff: unknown opcode 0xff");
  expect(".word 0x4000000000000008\n", program, 100, "a bit that is not used");
  expect(".word 0x2040\n", program, 100, "fadd cannot write v32");
  expect("beq s0, s0, 0\n", program, 0, "no vload has written it");
  expect("li s1, -1\nvl s1\n", program, 101, "vl of -1");
  expect("vl s0\n", program, 100, "vl of 0");
  expect("lanes s0\n", program, 100, "lanes of 0 outside 1..8");
  expect("li s1, 9\nlanes s1\n", program, 101, "lanes of 9 outside 1..8");
  expect(".word 0x80000000010\n", program, 100,
         "the next instruction would be 2048");
  expect("tpop v32\n", program, 100, "tpop of 8 columns: 0 rows pushed");
  expect("tpush s0\ntpush s0\n", program, 101,
         "tpush of 8 rows: 8 of 8 are in the transposer");
  expect("li s1, 5\ntpush s0\nvl s1\ntpop v32\ntpop v32\n", program, 104,
         "tpop of 5 columns: 8 rows pushed, 5 of 8 columns popped");
  expect("li s1, 5\ntpush s0\nvl s1\ntpop v32\ntpush s0\ntpush s0\n", program,
         105, "tpush of 5 rows: 5 of 8");
  expect("li s1, 0x20000\nli s2, 2\nld16 v0, s1, s2, -20\n",
         isa::Fault::kUbRange, 0x1FFF2, "row of vector instruction 102");
  expect("li s1, 0x1FFFC\nld32 v0, s1, s0\n", isa::Fault::kUbRange, 0x1FFFC,
         "");
  expect("iota v32, s0\nst8 v32, s0, s0, -1\n", isa::Fault::kUbRange,
         0xFFFFFFFF, "");
  expect("li s1, 0x1FFFD\nlds s2, s1\n", isa::Fault::kUbRange, 0x1FFFD,
         "row of vector instruction 101");
  expect("li s1, 1\nldacc v0, s1, s1, 504\n", isa::Fault::kAccRange, 512,
         "ldacc of vector instruction 101");
  expect("loop: beq s0, s0, loop\n", isa::Fault::kWatchdog, 100,
         "without moving a row");
}

TEST_F(VpuTest, VloadFaults) {
  isa::Vload good;
  good.ub_addr = 0x100, good.addr = 2047, good.count = 1;
  ASSERT_EQ(RunAll({good.Encode()}), Iss::Event::kHalted);
  const auto expect = [&](isa::Fault cause, uint64_t address, auto spoil) {
    isa::Vload d = good;
    spoil(&d);
    SCOPED_TRACE(Disassemble(d.Encode()));
    ASSERT_EQ(RunAll({d.Encode()}), Iss::Event::kFaulted);
    ExpectFault(cause, address);
  };
  using V = isa::Vload;
  expect(isa::Fault::kIllegalDescriptor, 0, [](V* d) { d->count = 0; });
  expect(isa::Fault::kIllegalDescriptor, 0, [](V* d) { d->count = 2; });
  expect(isa::Fault::kIllegalDescriptor, 0,
         [](V* d) { d->addr = 0, d->count = 2049, d->ub_addr = 1; });
  expect(isa::Fault::kMisaligned, 0x110, [](V* d) { d->ub_addr = 0x110; });
  expect(isa::Fault::kUbRange, 0x20000,
         [](V* d) { d->ub_addr = 0x1FFE0, d->addr = 0, d->count = 5; });
  expect(isa::Fault::kUbRange, 0x20020, [](V* d) { d->ub_addr = 0x20020; });
}

}  // namespace
}  // namespace systole::iss
