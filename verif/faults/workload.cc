// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/workload.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "systole/float_matmul.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::faults {
namespace {

enum Flag : uint32_t {
  kLoaded = 1u << 0,     // load -> first product
  kSummed = 1u << 1,     // first product -> requantisation
  kMiddle = 1u << 2,     // requantisation -> second product
  kSummed2 = 1u << 3,    // second product -> raw results
  kDone = 1u << 4,       // raw results -> store
  kInputFree = 1u << 5,  // first product -> load, two rounds on
  kOutputFree = 1u << 6  // store -> raw results, two rounds on
};

constexpr uint64_t kProgram = 0x8000, kInput = 0x1000, kWeights = 0x4000,
                   kParameters = 0x5000, kOutput = 0x6000;

std::vector<uint8_t> RandomBytes(std::mt19937& rng, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

template <typename Move>  // isa::Load, isa::Store
isa::Descriptor MoveOf(uint64_t hbm, uint64_t ub, uint64_t bytes, uint32_t wait,
                       uint32_t post) {
  Move move;
  move.header.wait_mask = wait;
  move.header.post_mask = post;
  move.hbm_addr = hbm;
  move.ub_addr = ub;
  move.len = bytes;
  move.n1 = move.n2 = 1;
  return move.Encode();
}

// A product of a matrix of lines of 8 bytes with the next tile.
isa::Descriptor Product(uint32_t from, uint32_t pitch, uint32_t lines,
                        uint32_t acc, uint32_t wait, uint32_t post) {
  isa::Matmul m;
  m.header.wait_mask = wait;
  m.header.post_mask = post;
  m.ub_base = from;
  m.pitch = pitch;
  m.lines = m.ny = lines;
  m.line_bytes = m.seg_len[0] = 8;
  m.n = m.nx = m.t0 = m.t1 = m.sy = 1;
  m.acc = acc;
  return m.Encode();
}

Workload OfNano(std::mt19937& rng) {
  constexpr int kRounds = 5, kSize = 8, kLines = 20;
  constexpr uint64_t kPitch = 32, kBlock = kLines * kPitch;
  Workload w;
  Program& p = w.program;
  p.preset = "nano";
  p.prog_addr = kProgram;
  p.hbm_bytes = 0x10000;
  p.segments.push_back({"input", kInput, RandomBytes(rng, kRounds * kBlock)});
  p.segments.push_back(
      {"weights", kWeights, RandomBytes(rng, kRounds * 2 * kSize * kSize)});
  std::vector<uint8_t> parameters(128);
  for (int c = 0; c < kSize; ++c) {
    parameters[4 * c] = static_cast<uint8_t>(rng());
    parameters[4 * kSize + 4 * c + 3] = static_cast<uint8_t>(0x40 + rng() % 63);
    parameters[8 * kSize + c] = static_cast<uint8_t>(-8);
  }
  p.segments.push_back({"parameters", kParameters, parameters});

  constexpr uint32_t kUbParameters = 0x8000, kUbMiddle = 0x4000,
                     kUbOutput = 0x2000;
  const auto add = [&p](const isa::Descriptor& d) {
    p.descriptors.push_back(d);
  };
  add(MoveOf<isa::Load>(kParameters, kUbParameters, 128, 0, 0));
  for (int r = 0; r < kRounds; ++r) {
    const auto slot = static_cast<uint32_t>(r % 2 * 0x800);
    const uint32_t bank = 256;
    add(MoveOf<isa::Load>(kInput + r * kBlock, slot, kBlock,
                          r >= 2 ? kInputFree : 0, kLoaded));
    isa::Weights tiles;
    tiles.hbm_addr = kWeights + r * 2 * kSize * kSize;
    tiles.tiles = 2;
    add(tiles.Encode());
    add(Product(slot, kPitch, kLines, r * 24, kLoaded, kSummed | kInputFree));
    isa::Requant q;
    q.header.wait_mask = kSummed;
    q.header.post_mask = kMiddle;
    q.acc = r * 24;
    q.n = q.nx = 1;
    q.ny = kLines;
    q.dst = kUbMiddle + slot;
    q.dst_pitch = kPitch;
    q.cols = kSize;
    q.params = kUbParameters;
    q.clamp_min = -128;
    q.clamp_max = 127;
    add(q.Encode());
    add(Product(kUbMiddle + slot, kPitch, kLines, bank + r * 24, kMiddle,
                kSummed2));
    isa::Requant raw;
    raw.header.flags = isa::Requant::kRaw;
    raw.header.wait_mask = kSummed2 | (r >= 2 ? kOutputFree : 0);
    raw.header.post_mask = kDone;
    raw.acc = bank + r * 24;
    raw.n = raw.nx = 1;
    raw.ny = kLines;
    raw.dst = kUbOutput + slot;
    raw.dst_pitch = kPitch;
    raw.cols = kSize;
    add(raw.Encode());
    add(MoveOf<isa::Store>(kOutput + r * kBlock, kUbOutput + slot, kBlock,
                           kDone, kOutputFree));
  }
  add(isa::Halt().Encode());
  w.outputs = {{kOutput, kRounds * kBlock}};
  return w;
}

absl::StatusOr<Workload> OfMinichip(const Preset& preset, std::mt19937& rng) {
  constexpr int kRounds = 8;
  constexpr uint64_t kBlock = 448, kStep = 0x400, kIn = 0x20000, kOut = 0x24000,
                     kFar = 0x28000, kAt = 0x30000, kUb = 0x18000;
  enum : uint32_t { kHere = 1u << 24, kThere = 1u << 25, kBack = 1u << 26 };
  compiler::FloatMatmulSpec spec;
  spec.m = 24;
  spec.k = 2 * preset.rows;
  spec.n = 2 * preset.cols;
  spec.float32_result = true;
  const auto number = [&rng] {  // 1/4 .. 4, of both signs
    return static_cast<uint16_t>((rng() & 0x807F) | (0x3E80 + rng() % 0x200));
  };
  for (int64_t i = 0; i < spec.k * spec.n; ++i) spec.b.push_back(number());
  auto product = compiler::CompileFloatMatmul(spec, preset);
  if (!product.ok()) return product.status();
  const TensorInfo& a = *product->FindTensor("a");
  const TensorInfo& c = *product->FindTensor("c");
  if (product->hbm_bytes > kIn || !product->loops.empty())
    return absl::InternalError("the product is not where the blocks are not");

  Workload w;
  Program& p = w.program;
  p.preset = "minichip";
  p.prog_addr = kAt;
  p.hbm_bytes = 2 * preset.memory_bytes();
  p.segments = product->segments;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < spec.m * a.pitch / 2; ++i) {
    const uint16_t value = number();
    values.push_back(static_cast<uint8_t>(value));
    values.push_back(static_cast<uint8_t>(value >> 8));
  }
  p.segments.push_back({"a", a.hbm_addr, values});
  p.segments.push_back({"blocks", kIn, RandomBytes(rng, kRounds * kStep)});
  const uint64_t far = preset.memory_bytes() + kFar;
  for (uint64_t r = 0; r < kRounds; ++r) {
    const uint64_t at = r * kStep;
    p.descriptors.push_back(
        MoveOf<isa::Load>(kIn + at, kUb + at, kBlock, 0, kHere));
    p.descriptors.push_back(
        MoveOf<isa::Store>(far + at, kUb + at, kBlock, kHere, kThere));
  }
  for (size_t i = 0; i + 1 < product->descriptors.size(); ++i)
    p.descriptors.push_back(product->descriptors[i]);
  for (uint64_t r = 0; r < kRounds; ++r) {
    const uint64_t at = r * kStep, ub = kUb + 0x4000 + at;
    p.descriptors.push_back(
        MoveOf<isa::Load>(far + at, ub, kBlock, kThere, kBack));
    p.descriptors.push_back(
        MoveOf<isa::Store>(kOut + at, ub, kBlock, kBack, 0));
  }
  p.descriptors.push_back(product->descriptors.back());
  for (const isa::Descriptor& d : product->descriptors) {
    const isa::Header header = isa::Halt::Decode(d).header;
    if ((header.wait_mask | header.post_mask) & (kHere | kThere | kBack))
      return absl::InternalError("the product has the blocks' flags");
  }
  w.outputs = {{c.hbm_addr, static_cast<uint64_t>(spec.m * c.pitch)}};
  for (uint64_t r = 0; r < kRounds; ++r)
    w.outputs.push_back({kOut + r * kStep, kBlock});
  return w;
}

}  // namespace

absl::StatusOr<Workload> MakeWorkload(const std::string& preset,
                                      uint32_t seed) {
  std::mt19937 rng(seed);
  if (preset != "nano" && preset != "minichip") {
    return absl::InvalidArgumentError(
        absl::StrCat("no programs of the fault campaign for preset '", preset,
                     "'; there are nano, minichip"));
  }
  Workload w;
  if (preset == "nano") {
    w = OfNano(rng);
  } else {
    auto made = OfMinichip(*FindPreset(preset), rng);
    if (!made.ok()) return made.status();
    w = *std::move(made);
  }
  for (const DataSegment& s : w.program.segments)
    w.memory.push_back({s.hbm_addr, s.data.size()});
  for (const Range& r : w.outputs) w.memory.push_back(r);
  w.memory.push_back({w.program.prog_addr,
                      w.program.descriptors.size() * isa::kDescriptorBytes});
  return w;
}

}  // namespace systole::faults
