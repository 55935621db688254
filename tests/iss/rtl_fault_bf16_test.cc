// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Simulator and RTL of a bf16 core on changed programs: rtl_fault_fixture.h.

#include "host/compiler/schedule_builder.h"
#include "host/program/vpu_asm.h"
#include "tests/iss/rtl_fault_fixture.h"

namespace systole::iss {
namespace {

constexpr uint64_t kInput = 0x1000, kTiles = 0x4000, kCode = 0x5000,
                   kOutput = 0xA000, kProgram = 0x10000, kHbmBytes = 0x20000;
constexpr uint32_t kIn = 0, kTile = 0x2000, kOut = 0x4000, kCodeUb = 0x8000;
constexpr int kChunks = 4, kVectors = 64, kPitch = 32;

// Accumulator rows and input lines of the chunk, added, to bf16.
constexpr char kText[] = R"(
.arg acc
.arg src
.arg dst
.arg pitch
.arg rows
.arg width
        li    s13, 1
        vl    rows
        lanes width
        ldacc v0, acc, s13
        ld16  v8, src, pitch
        fadd  v16, v0, v8
        st16  v16, dst, pitch
        fence
        ld16  v1, dst, pitch
        tpush v1
        tpop  v32
        st8   v32, dst, pitch, 16
        halt
)";

class Bf16FaultTest : public RtlFaultTest {
 protected:
  Bf16FaultTest() : RtlFaultTest("mini") {}

  // The code fills the instruction memory, with words of 0 behind it, which are
  // illegal.
  std::vector<uint8_t> Memory() override {
    std::vector<uint8_t> memory(kHbmBytes);
    for (uint8_t& b : memory) b = static_cast<uint8_t>(Draw(256));
    const absl::StatusOr<vpu::Code> code = vpu::Assemble(kText, "chunk");
    EXPECT_TRUE(code.ok()) << code.status();
    std::vector<uint64_t> words = code->words;
    words.resize(vpu::kImemWords);
    const DataSegment segment = vpu::Segment("chunk", kCode, words);
    std::copy(segment.data.begin(), segment.data.end(), memory.begin() + kCode);
    return memory;
  }

  std::vector<isa::Descriptor> Descriptors() override {
    compiler::ScheduleBuilder builder(preset_);
    const vpu::CodeLoad code =
        vpu::LoadCode(kCode, kCodeUb, vpu::kImemWords, 0);
    builder.Append(code.load);
    builder.Append(code.vload);
    for (int k = 0; k < kChunks; ++k) Chunk(k, &builder);
    const auto schedule = builder.Finish(/*reorder=*/false);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return schedule->descriptors;
  }

  void Chunk(int k, compiler::ScheduleBuilder* builder) {
    const uint32_t buffer = k % 2 * 0x1000;
    const bool transpose = k == 3;
    isa::Load load;
    load.hbm_addr = kInput + k * kVectors * kPitch, load.ub_addr = kIn + buffer;
    load.len = 16, load.n1 = kVectors, load.n2 = 1;
    load.hbm_stride1 = load.ub_stride1 = kPitch;
    builder->Append(load);
    if (k % 2 == 0) {
      isa::Weights weights;
      weights.hbm_addr = kTiles + k * preset_.tile_bytes(), weights.tiles = 1;
      if (k == 2) weights.header.flags = isa::Weights::kTranspose;
      builder->Append(weights);
    } else {
      isa::Load tile;
      tile.hbm_addr = kTiles + k * preset_.tile_bytes();
      tile.ub_addr = kTile + buffer;
      tile.len = static_cast<uint32_t>(preset_.tile_bytes());
      tile.n1 = tile.n2 = 1;
      builder->Append(tile);
      isa::Tiles tiles;
      tiles.ub_addr = kTile + buffer, tiles.pitch = 16, tiles.rows = 7;
      tiles.cols = 8, tiles.tiles = 1;
      if (k == 1) tiles.header.flags = isa::Tiles::kTranspose;
      builder->Append(tiles);
    }
    isa::Matmul matmul;
    matmul.ub_base = kIn + buffer, matmul.pitch = kPitch;
    matmul.lines = kVectors, matmul.line_bytes = 16;
    matmul.n = matmul.nx = matmul.t0 = matmul.t1 = matmul.sy = 1;
    matmul.ny = transpose ? 8 : kVectors;
    matmul.seg_len = {5, 3, 0, 0}, matmul.seg_dx = {0, 10, 0, 0};
    matmul.acc = k % 2 * 256;
    if (transpose) matmul.header.flags = isa::Matmul::kTranspose;
    builder->Append(matmul);
    isa::Vrun run;
    run.args = {matmul.acc, kIn + buffer, kOut + buffer, kPitch, 8, 8};
    const auto ub = [](int64_t base, int64_t len, bool write) {
      compiler::Access a;
      a.write = write, a.base = base, a.len = len;
      return a;
    };
    compiler::Access rows = ub(matmul.acc, 8, false);
    rows.space = compiler::Space::kAcc;
    builder->Append(run,
                    {rows, ub(kIn + buffer, 8 * kPitch, false),
                     ub(kOut + buffer, 8 * kPitch, true)},
                    100);
    isa::Store store;
    store.hbm_addr = kOutput + k * 0x400, store.ub_addr = kOut + buffer;
    store.len = 24, store.n1 = 8, store.n2 = 1;
    store.hbm_stride1 = store.ub_stride1 = kPitch;
    builder->Append(store);
  }

  uint64_t ProgramAddress() const override { return kProgram; }
  bool HasMeaning(const std::string&) const override { return true; }
};

TEST_F(Bf16FaultTest, RandomChanges) {
  RandomChanges({isa::Fault::kIllegalOpcode, isa::Fault::kIllegalDescriptor,
                 isa::Fault::kMisaligned, isa::Fault::kUbRange,
                 isa::Fault::kAccRange, isa::Fault::kHbmRange,
                 isa::Fault::kVectorProgram});
}

}  // namespace
}  // namespace systole::iss
