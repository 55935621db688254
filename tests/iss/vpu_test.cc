// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The programmable vector unit in programs of descriptors: what docs/vpu.md
// says of rows, lanes, memory and order.

#include <algorithm>

#include "tests/iss/vpu_fixture.h"

namespace systole::iss {
namespace {

using ::testing::HasSubstr;

TEST_F(VpuTest, ReluOverManyRows) {
  for (uint32_t i = 0; i < 20 * kL; ++i)
    Put(0x1000 + 4 * i, BitsOf(static_cast<float>(i) - 77.0f));
  Put(0x3000 + 4 * 20 * kL, 0x12345678);
  ASSERT_EQ(Run(R"(
.arg x
.arg y
.arg rows
.reg stride s13
.reg step s14
        li      stride, 4*L
        li      step, 32*L
loop:   vl      rows, 8
        ld32    v0, x, stride
        fmax    v16, v0, s0
        st32    v16, y, stride
        add     x, x, step
        add     y, y, step
        addi    rows, rows, -8
        blt     s0, rows, loop
        halt
)",
                {{"x", 0x1000}, {"y", 0x3000}, {"rows", 20}}),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  for (uint32_t i = 0; i < 20 * kL; ++i) {
    EXPECT_EQ(FloatOf(Get(0x3000 + 4 * i)),
              std::max(static_cast<float>(i) - 77.0f, 0.0f));
  }
  EXPECT_EQ(Get(0x3000 + 4 * 20 * kL), 0x12345678u);
  EXPECT_EQ(Problems(), "");
}

TEST_F(VpuTest, LanesRowsAndElementTypes) {
  for (int i = 0; i < 64; ++i) iss_.state().ub[0x1000 + i] = 0x70 + 3 * i;
  ASSERT_EQ(Run(R"(
    li    s5, 32
    li    s6, 3
    li    s7, 2
    iota  v32, s6
    vl    s7
    lanes s6
    ld32  v0, s0, s5, 0x1001
    ld16  v1, s0, s5, 0x1001
    ld8   v8, s0, s5, 0x1001
    lanes s5            # faults: 32 lanes
)"),
            Iss::Event::kFaulted);
  ExpectFault(isa::Fault::kVectorProgram, kBase + 9);
  ASSERT_EQ(Run(R"(
    li    s5, 32
    li    s6, 3
    li    s7, 2
    li    s8, 8
    iota  v32, s6
    vl    s7
    lanes s6
    ld32  v0, s0, s5, 0x1001
    ld16  v1, s0, s5, 0x1001
    ld8   v8, s0, s5, 0x1001
    lanes s8
    st32  v0, s0, s5, 0x2000
    st32  v1, s0, s5, 0x2100
    st32  v8, s0, s5, 0x2200
    iota  v32, s0       # rows 0 and 1 only
    vl    s5, 8
    st32  v32, s0, s5, 0x2300
    lanes s6
    st16  v32, s0, s5, 0x2401
    st8   v32, s0, s5, 0x2503
    st16h v32, s0, s5, 0x2605
    halt
)"),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  const auto byte = [](int i) { return 0x70u + 3 * i; };
  for (int row = 0; row < 2; ++row) {
    for (int lane = 0; lane < 8; ++lane) {
      const int at = 1 + 32 * row;
      uint32_t word = 0, half = 0, one = 0;
      if (lane < 3) {
        for (int k = 3; k >= 0; --k)
          word = word << 8 | (byte(at + 4 * lane + k) & 255);
        half = (byte(at + 2 * lane) & 255) << 16 |
               (byte(at + 2 * lane + 1) & 255) << 24;
        one = static_cast<uint32_t>(static_cast<int8_t>(byte(at + lane)));
      }
      EXPECT_EQ(Lane(0x2000, row, lane), word) << row << " " << lane;
      EXPECT_EQ(Lane(0x2100, row, lane), half) << row << " " << lane;
      EXPECT_EQ(Lane(0x2200, row, lane), one) << row << " " << lane;
    }
  }
  for (int row = 0; row < 8; ++row) {
    for (int lane = 0; lane < 8; ++lane) {
      EXPECT_EQ(Lane(0x2300, row, lane), lane + (row < 2 ? 0u : 3u));
    }
    // st16 rounds small integers, which are subnormals, to 0.
    EXPECT_EQ(Get(0x2401 + 32 * row), 0u);
    EXPECT_EQ(Get(0x2503 + 32 * row) & 0xFFFFFF,
              row < 2 ? 0x020100u : 0x050403u);
    EXPECT_EQ(Get(0x2605 + 32 * row), 0u);
  }
  EXPECT_EQ(Problems(), "");
}

TEST_F(VpuTest, CrossUnit) {
  ASSERT_EQ(Run(R"(
    li     s1, 32
    li     s2, 5
    li     s3, 1
    iota   v32, s0          # lane numbers
    li     s4, 1000
    vl     s4               # all 16 rows
    rnd    v33, s2, s3      # seed 5, counter 1
    vl     s4, 8
    rotl   v34, v32, s3, 2  # by 3
    bcl    v35, v32, s3, -2 # lane -1 = 7
    vl     s3
    iota   v36, s2
    li     s4, 8
    vl     s4
    rotrow v37, v33, s0, 3
    mov    v38, v32.0
    li     s5, 3
    vl     s5
    rotrow v38, v33, s0, -1 # of 16 rows, three times
    vl     s4
    tpush  v33
    tpop   v39
    st32   v33, s0, s1, 0x1000
    st32   v34, s0, s1, 0x1100
    st32   v35, s0, s1, 0x1200
    st32   v37, s0, s1, 0x1300
    st32   v38, s0, s1, 0x1400
    st32   v39, s0, s1, 0x1500
    halt
)"),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  const auto mix = [](uint64_t x) {
    x ^= x >> 16;
    x = x * 0x7FEB352D % (uint64_t{1} << 32);
    x ^= x >> 15;
    x = x * 0x846CA68B % (uint64_t{1} << 32);
    return x ^ x >> 16;
  };
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t lane = 0; lane < 8; ++lane) {
      const auto random = [&](uint32_t r) {
        return mix(mix(1 + 8 * r + lane) ^ mix(5));
      };
      EXPECT_EQ(Lane(0x1000, row, lane), random(row));
      EXPECT_EQ(Lane(0x1100, row, lane), (lane + 3) % 8);
      EXPECT_EQ(Lane(0x1200, row, lane), 7u);
      EXPECT_EQ(Lane(0x1300, row, lane), random((row + 3) % 16));
      EXPECT_EQ(Lane(0x1400, row, lane),
                row < 3 ? random((row + 15) % 16) : lane);
      EXPECT_EQ(Lane(0x1500, row, lane), Lane(0x1000, lane, row));
    }
  }
  EXPECT_EQ(Problems(), "");
}

// Sums over lanes by rotations are the same in every lane.
TEST_F(VpuTest, ReductionAndAccumulators) {
  for (int r = 0; r < 8; ++r) {
    for (uint32_t c = 0; c < kL; ++c) {
      iss_.state().acc_row(100 + 2 * r)[c] =
          static_cast<int32_t>(BitsOf(0.1f * static_cast<float>(r * 10 + c)));
    }
  }
  ASSERT_EQ(Run(R"(
    li     s1, 100
    li     s2, 2
    li     s3, 32
    ldacc  v8, s1, s2
    rotl   v32, v8, s0, 4
    fadd   v16, v8, v32
    rotl   v33, v16, s0, 2
    fadd   v17, v16, v33
    rotl   v34, v17, s0, 1
    fadd   v18, v17, v34
    st32   v18, s0, s3, 0x1000
    halt
)"),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  for (int r = 0; r < 8; ++r) {
    float sum[8], next[8];
    for (int c = 0; c < 8; ++c)
      sum[c] =
          FloatOf(static_cast<uint32_t>(iss_.state().acc_row(100 + 2 * r)[c]));
    for (int k : {4, 2, 1}) {
      for (int c = 0; c < 8; ++c) next[c] = sum[c] + sum[(c + k) % 8];
      std::copy(next, next + 8, sum);
    }
    for (int c = 0; c < 8; ++c) {
      EXPECT_EQ(FloatOf(Lane(0x1000, r, c)), sum[0]) << r << " " << c;
    }
  }
}

TEST_F(VpuTest, ScalarsAndBranches) {
  ASSERT_EQ(Run(R"(
.arg n
    li    s0, 7           # ignored
    li    s2, 1
    li    s3, 0
loop: mul s2, s2, n
    addi  n, n, -1
    addi  s3, s3, 4
    bne   n, s0, loop
    sub   s4, s3, s2
    slli  s5, s4, 3
    srli  s6, s4, 28
    and   s7, s5, s3
    blt   s4, s0, neg
    li    s2, 0
neg: beq  s0, s0, out
    li    s2, 0
out: mov  v32, s2
    mov   v33, s4
    mov   v34, s5
    mov   v35, s6
    mov   v36, s7
    mov   v37, s13
    li    s8, 1
    vl    s8
    st32  v32, s0, s0, 0x1000
    st32  v33, s0, s0, 0x1020
    st32  v34, s0, s0, 0x1040
    st32  v35, s0, s0, 0x1060
    st32  v36, s0, s0, 0x1080
    st32  v37, s0, s0, 0x10A0
    halt
)",
                {{"n", 6}}),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  EXPECT_EQ(Get(0x1000), 720u);
  EXPECT_EQ(static_cast<int32_t>(Get(0x1020)), 24 - 720);
  EXPECT_EQ(static_cast<int32_t>(Get(0x1040)), (24 - 720) * 8);
  EXPECT_EQ(Get(0x1060), 15u);
  EXPECT_EQ(Get(0x1080), static_cast<uint32_t>((24 - 720) * 8) & 24);
  EXPECT_EQ(Get(0x10A0), 0u) << "s13 starts as 0";
}

TEST_F(VpuTest, RegistersStayFromRunToRun) {
  ASSERT_EQ(Run("iota v32, s0\nhalt\n"), Iss::Event::kHalted);
  // A second vrun in the same program, and one in the next program.
  const vpu::Code code =
      *vpu::Assemble("st32 v32, s0, s1, 0x1000\nhalt\n", "t");
  iss_.state().hbm.Write(kCodeHbm, vpu::Segment("t", 0, code.words).data);
  vpu::CodeLoad first = vpu::LoadCode(kCodeHbm, kCodeUb, 2, 500);
  first.load.header.post_mask = first.vload.header.wait_mask = 1;
  isa::Vrun a, b;
  a.pc = kBase, b.pc = 500, b.args[0] = 32;
  ASSERT_EQ(RunAll({first.load.Encode(), first.vload.Encode(), a.Encode(),
                    b.Encode()}),
            Iss::Event::kHalted)
      << iss_.fault_detail();
  EXPECT_EQ(Problems(), "");
  EXPECT_EQ(Lane(0x1000, 7, 5), 5u);
  ASSERT_EQ(RunAll({b.Encode()}), Iss::Event::kHalted);
  EXPECT_THAT(Problems(), HasSubstr("instruction 500 reads row 0 of v32, which "
                                    "the program has not written"));
  EXPECT_THAT(Problems(), HasSubstr("#0, queue vector: vrun args=32,0"));
}

}  // namespace
}  // namespace systole::iss
