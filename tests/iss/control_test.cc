// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Faults of the sequencer and of flags; stepping; what start and reset clear;
// memory.

#include "tests/iss/fault_fixture.h"

namespace systole::iss {
namespace {

TEST_F(FaultTest, Sequencer) {
  isa::Descriptor unknown{};
  unknown[0] = 0x55;
  ExpectFault(unknown, isa::Fault::kIllegalOpcode, kSequencer, 0x55);
  ExpectFault({}, isa::Fault::kIllegalOpcode, kSequencer, 0);
  // Every bit that an operation does not use.
  int bits = 0;
  for (const isa::OpInfo& op : isa::kOps) {
    isa::Descriptor d{};
    isa::PutBits(d, 0, 8, static_cast<uint64_t>(op.opcode));
    if (!op.Has(Cell::kInt8, /*with_links=*/false)) {
      ExpectFault(d, isa::Fault::kIllegalOpcode, kSequencer,
                  static_cast<uint64_t>(op.opcode));
      continue;
    }
    for (int bit = 8; bit < isa::kDescriptorBits; ++bit) {
      bool used = bit >= 16 && bit < op.width;
      for (int i = 0; i < op.num_flags; ++i)
        used = used ||
               (bit == 8 + op.flags[i].bit && op.flags[i].Has(Cell::kInt8));
      if (used) continue;
      isa::Descriptor bad = d;
      isa::PutBits(bad, bit, 1, 1);
      ExpectFault(bad, kIllegal, kSequencer, 0);
      if (HasFailure()) return;
      ++bits;
    }
  }
  EXPECT_GT(bits, 1000);
}

TEST_F(FaultTest, Flags) {
  isa::Load load;
  load.len = load.n1 = load.n2 = 1;
  load.header.wait_mask = 1u << 30;
  ExpectFault(load.Encode(), isa::Fault::kWatchdog, 0, 30);
  // The fault names the descriptor even if it is otherwise illegal: it never
  // started.
  load.len = 0;
  ExpectFault(load.Encode(), isa::Fault::kWatchdog, 0, 30);
  load.len = 1;
  // 65535 posts are good, one more is not.
  load.header.wait_mask = 0, load.header.post_mask = 1u << 5;
  isa::Halt halt;
  std::vector<isa::Descriptor> many(isa::kFlagMax, load.Encode());
  many.push_back(halt.Encode());
  const uint64_t address = 0x100000, limit = 0x1000000;
  EXPECT_EQ(Run(many, address, limit), Iss::Event::kHalted);
  EXPECT_EQ(iss_.state().flags[5], isa::kFlagMax);
  many.insert(many.begin(), load.Encode());
  EXPECT_EQ(Run(many, address, limit), Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, isa::Fault::kFlagOverflow);
  EXPECT_EQ(iss_.fault()->index, isa::kFlagMax);
  EXPECT_EQ(iss_.fault()->address, 5u);
  EXPECT_EQ(iss_.fault()->queue, 0u);
}

TEST_F(FaultTest, WaitTakesAllOrNothing) {
  isa::Load post, wait;
  post.len = post.n1 = post.n2 = wait.len = wait.n1 = wait.n2 = 1;
  post.header.post_mask = 0x3, wait.header.wait_mask = 0x7;
  EXPECT_EQ(Run({post.Encode(), wait.Encode(), isa::Halt{}.Encode()}),
            Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->address, 2u);
  EXPECT_EQ(iss_.state().flags[0], 1u);
  wait.header.wait_mask = 0x3;
  EXPECT_EQ(Run({post.Encode(), wait.Encode(), isa::Halt{}.Encode()}),
            Iss::Event::kHalted);
  EXPECT_EQ(iss_.state().flags[0], 0u);
}

TEST_F(FaultTest, Fetch) {
  isa::Load load;
  load.len = load.n1 = load.n2 = 1;
  EXPECT_EQ(Run({load.Encode(), load.Encode()}), Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, isa::Fault::kProgramEnd);
  EXPECT_EQ(iss_.fault()->queue, kSequencer);
  EXPECT_EQ(iss_.fault()->index, 1u);
  EXPECT_EQ(Run({}), Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, isa::Fault::kProgramEnd);
  EXPECT_EQ(Run({isa::Halt{}.Encode()}, Pipeline::kProgram + 64),
            Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, isa::Fault::kMisaligned);
  EXPECT_EQ(iss_.fault()->queue, kSequencer);
  // Two descriptors below the limit, a third above.
  EXPECT_EQ(Run({load.Encode(), isa::Halt{}.Encode()}, kLimit - 128),
            Iss::Event::kHalted);
  EXPECT_EQ(
      Run({load.Encode(), load.Encode(), isa::Halt{}.Encode()}, kLimit - 128),
      Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, isa::Fault::kHbmRange);
  EXPECT_EQ(iss_.fault()->index, 2u);
  EXPECT_EQ(iss_.fault()->address, kLimit);
}

TEST_F(FaultTest, StepStateAndReset) {
  isa::Load load;
  load.hbm_addr = 0x100, load.ub_addr = 0x40, load.len = 4,
  load.n1 = load.n2 = 1, load.header.post_mask = 1;
  isa::Weights weights;
  weights.tiles = 2;
  iss_.state().hbm.Write(0x100, std::vector<uint8_t>{1, 2, 3, 4, 5});
  WriteDescriptors({load.Encode(), weights.Encode(), isa::Halt{}.Encode()},
                   Pipeline::kProgram, &iss_.state());
  iss_.state().acc_saturated = true;
  iss_.Start({Pipeline::kProgram, 3, kLimit});
  EXPECT_FALSE(iss_.state().acc_saturated);
  const uint32_t ub_before = iss_.state().UbCrc32(),
                 acc_before = iss_.state().AccCrc32();
  const uint8_t behind = iss_.state().ub[0x44];
  EXPECT_EQ(iss_.index(), 0u);
  EXPECT_EQ(iss_.Step(), Iss::Event::kRetired);
  EXPECT_EQ(iss_.index(), 1u);
  EXPECT_EQ(iss_.state().ub[0x43], 4);
  EXPECT_EQ(iss_.state().ub[0x44], behind);
  EXPECT_NE(iss_.state().UbCrc32(), ub_before);
  EXPECT_EQ(iss_.state().AccCrc32(), acc_before);
  EXPECT_EQ(iss_.state().flags[0], 1u);
  EXPECT_EQ(iss_.Step(), Iss::Event::kRetired);
  EXPECT_EQ(iss_.state().weight_fifo.size(), 2u);
  EXPECT_EQ(iss_.Step(), Iss::Event::kHalted);
  EXPECT_EQ(iss_.Step(), Iss::Event::kHalted);
  const uint32_t ub_after = iss_.state().UbCrc32();
  iss_.Reset();
  EXPECT_EQ(iss_.state().flags[0], 0u);
  EXPECT_TRUE(iss_.state().weight_fifo.empty());
  EXPECT_EQ(iss_.state().UbCrc32(), ub_after) << "memories keep their data";
}

// Tiles outlive the matmul that took them, but not the start.
TEST_F(FaultTest, KeepWeights) {
  isa::Weights weights;
  weights.tiles = 1;
  isa::Matmul take;
  take.lines = take.line_bytes = take.n = take.ny = take.nx = take.t0 =
      take.t1 = 1,
  take.seg_len[0] = 1;
  isa::Matmul keep = take;
  keep.header.flags = isa::Matmul::kKeepWeights, keep.acc = 1;
  iss_.state().ub[0] = 3;
  EXPECT_EQ(Run({weights.Encode(), take.Encode(), keep.Encode(), keep.Encode(),
                 isa::Halt{}.Encode()}),
            Iss::Event::kHalted);
  for (int c = 0; c < 8; ++c)
    EXPECT_EQ(iss_.state().acc_row(0)[c], iss_.state().acc_row(1)[c]);
  EXPECT_EQ(Run({keep.Encode(), isa::Halt{}.Encode()}), Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, kIllegal);
}

TEST(SparseMemory, PatternAndPages) {
  SparseMemory a(1 << 20, 1), b(1 << 20, 2);
  std::vector<uint8_t> x(70000), y(70000), z(70000);
  a.Read(60000, absl::MakeSpan(x));
  a.Read(60000, absl::MakeSpan(y));
  b.Read(60000, absl::MakeSpan(z));
  EXPECT_EQ(x, y) << "unwritten memory is stable";
  EXPECT_NE(x, z) << "and depends on the seed";
  const uint32_t crc = a.Crc32(60000, x.size());
  a.Write(65530, std::vector<uint8_t>(20, 0xAB));
  a.Read(60000, absl::MakeSpan(y));
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = 60000 + i;
    ASSERT_EQ(y[i], at >= 65530 && at < 65550 ? 0xAB : x[i]) << at;
  }
  EXPECT_NE(a.Crc32(60000, x.size()), crc);
  a.Write(65530, absl::MakeConstSpan(x).subspan(5530, 20));
  EXPECT_EQ(a.Crc32(60000, x.size()), crc);
}

}  // namespace
}  // namespace systole::iss
