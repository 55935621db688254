// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "systole/gen/isa.h"
#include "systole/program.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  absl::StatusOr<std::vector<isa::Descriptor>> r = Assemble(text, "p.s");
  EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(r.status().message());
}

TEST(Assembler, Example) {
  absl::StatusOr<std::vector<isa::Descriptor>> r = Assemble(
      "# a comment\n"
      "\n"
      "matmul ub_base=0x40 pad=-3 seg_dx=-5,0,7,0 seg_len=8,0,0,0 wait=1,31 "
      "post=2 accumulate tag=9 # end\r\n"
      "\tadd mult=0x7fffffff shift=-32 single_round\n"
      "halt",
      "p.s");
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->size(), 3u);
  const isa::Matmul m = isa::Matmul::Decode((*r)[0]);
  EXPECT_EQ(m.header.opcode, 0x04);
  EXPECT_EQ(m.ub_base, 0x40u);
  EXPECT_EQ(m.pad, -3);
  EXPECT_EQ(m.seg_dx[0], -5);
  EXPECT_EQ(m.seg_dx[2], 7);
  EXPECT_EQ(m.seg_len[0], 8u);
  EXPECT_EQ(m.header.wait_mask, 0x80000002u);
  EXPECT_EQ(m.header.post_mask, 4u);
  EXPECT_EQ(m.header.flags, isa::Matmul::kAccumulate);
  EXPECT_EQ(m.header.tag, 9);
  const isa::Add a = isa::Add::Decode((*r)[1]);
  EXPECT_EQ(a.mult, 0x7FFFFFFFu);
  EXPECT_EQ(a.shift, -32);
  EXPECT_EQ(a.header.flags, isa::Add::kSingleRound);
  EXPECT_EQ((*r)[2], isa::Halt{}.Encode());
}

TEST(Assembler, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorOf("halt\n# x\n  jump a=1\n"),
              HasSubstr("p.s:3: unknown operation 'jump'; there are load,"));
  EXPECT_THAT(ErrorOf("halt\nload lenn=1"),
              HasSubstr("p.s:2: load has no field 'lenn'"));
  EXPECT_THAT(ErrorOf("load raw"), HasSubstr("p.s:1: load has no flag 'raw'"));
  EXPECT_THAT(ErrorOf("load len=1 len=1"),
              HasSubstr("p.s:1: 'len' is given twice"));
  EXPECT_THAT(ErrorOf("matmul accumulate accumulate"),
              HasSubstr("'accumulate' is given twice"));
  EXPECT_THAT(ErrorOf("load len="), HasSubstr("len: '' is not a number"));
  EXPECT_THAT(ErrorOf("load len=12x"), HasSubstr("len: '12x' is not a number"));
  EXPECT_THAT(ErrorOf("load len=--1"), HasSubstr("is not a number"));
  EXPECT_THAT(ErrorOf("load len=99999999999999999999999"),
              HasSubstr("is not a number"));
  EXPECT_THAT(ErrorOf("load n1=65536"),
              HasSubstr("n1: 65536 is outside 0..65535"));
  EXPECT_THAT(ErrorOf("load n1=-1"), HasSubstr("n1: -1 is outside 0..65535"));
  EXPECT_THAT(ErrorOf("matmul pad=128"),
              HasSubstr("pad: 128 is outside -128..127"));
  EXPECT_THAT(ErrorOf("matmul pad=-129"),
              HasSubstr("pad: -129 is outside -128..127"));
  EXPECT_THAT(ErrorOf("matmul seg_len=1,2"),
              HasSubstr("seg_len wants 4 values, not 2"));
  EXPECT_THAT(ErrorOf("load len=1,2"), HasSubstr("len wants 1 value, not 2"));
  EXPECT_THAT(ErrorOf("load wait=32"),
              HasSubstr("wait: '32' is not a sync flag (0 to 31)"));
  EXPECT_THAT(ErrorOf("load post=1,1"),
              HasSubstr("post: flag 1 is given twice"));
  EXPECT_THAT(ErrorOf("load tag=65536"),
              HasSubstr("tag: 65536 is outside 0..65535"));
  EXPECT_THAT(ErrorOf("raw 1 2 3"), HasSubstr("raw wants 8 words"));
  EXPECT_THAT(ErrorOf("raw 1 2 3 4 5 6 7 x"),
              HasSubstr("'x' is not a 64-bit word"));
}

// Any 512 bits: legal descriptors, unknown opcodes, unused bits that are set.
TEST(Assembler, RoundTripOfRandomDescriptors) {
  std::mt19937_64 random(2);
  int raw = 0;
  for (int round = 0; round < 20000; ++round) {
    isa::Descriptor d{};
    for (uint64_t& word : d) word = random() % 4 == 0 ? 0 : random();
    const int kind = random() % 10;
    if (kind < 9) {
      const isa::OpInfo& op = isa::kOps[random() % isa::kOps.size()];
      isa::PutBits(d, 0, 8, static_cast<uint64_t>(op.opcode));
      isa::PutBits(d, 8, 8, random() & ((1u << op.num_flags) - 1));
      // Their flags begin at bit 1.
      if (op.opcode == isa::Opcode::kAdd || op.opcode == isa::Opcode::kMul)
        isa::PutBits(d, 8, 8, random() & 6);
      for (int bit = op.width; kind < 8 && bit < isa::kDescriptorBits; ++bit)
        isa::PutBits(d, bit, 1, 0);
    }
    const std::string text = Disassemble(d);
    raw += text.rfind("raw ", 0) == 0;
    absl::StatusOr<std::vector<isa::Descriptor>> back = Assemble(text, "round");
    ASSERT_TRUE(back.ok()) << text << "\n" << back.status();
    ASSERT_EQ(back->size(), 1u);
    ASSERT_EQ((*back)[0], d) << text;
  }
  EXPECT_GT(raw, 1000);
  EXPECT_LT(raw, 8000);
}

TEST(Disassembler, ShowsTheProgram) {
  Program p;
  p.preset = "nano";
  p.prog_addr = 0x80;
  p.hbm_bytes = 4096;
  p.segments.push_back({"w", 0x400, {1, 2, 3}});
  TensorInfo t;
  t.name = "x", t.is_input = true;
  p.tensors.push_back(t);
  LayerInfo& layer = p.layers.emplace_back();
  layer.name = "conv1", layer.op = "conv2d", layer.shape = "8x8x1";
  layer.output = "x";
  isa::Weights w;
  w.hbm_addr = 0x400, w.tiles = 3, w.header.wait_mask = 5;
  p.descriptors = {w.Encode(), isa::Halt{}.Encode()};
  const std::string text = DisassembleProgram(p);
  EXPECT_THAT(text, HasSubstr("# preset nano, 2 descriptors at 0x80"));
  EXPECT_THAT(text, HasSubstr("conv1"));
  EXPECT_THAT(text,
              HasSubstr("weights hbm_addr=0x400 tiles=3 wait=0,2  # 0\n"));
  EXPECT_THAT(text, HasSubstr("halt  # 1\n"));
  absl::StatusOr<std::vector<isa::Descriptor>> back = Assemble(text, "t");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, p.descriptors);
}

// Names and comments with line ends or '#' in them cannot smuggle text into the
// program.
TEST(Disassembler, NamesAreOneLine) {
  Program p;
  p.preset = "nano";
  LayerInfo& layer = p.layers.emplace_back();
  layer.name = "evil\nhalt", layer.op = "x", layer.shape = "y";
  layer.output = "z";
  p.segments.push_back({"a\nhalt", 0, {}});
  TensorInfo t;
  t.name = "b\rc\nhalt";
  p.tensors.push_back(t);
  p.descriptors = {isa::Halt{}.Encode()};
  absl::StatusOr<std::vector<isa::Descriptor>> back =
      Assemble(DisassembleProgram(p), "t");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->size(), 1u);
}

}  // namespace
}  // namespace systole
