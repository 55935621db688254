// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/workload.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "systole/gen/isa.h"

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
  w.output = {kOutput, kRounds * kBlock};
  return w;
}

Workload OfMinichip(std::mt19937& rng) {
  constexpr int kRounds = 16;
  constexpr uint64_t kBlock = 448, kOut = 0x20000;
  Workload w;
  Program& p = w.program;
  p.preset = "minichip";
  p.prog_addr = kProgram;
  p.hbm_bytes = 0x40000;
  p.segments.push_back({"input", kInput, RandomBytes(rng, kRounds * kBlock)});
  for (int r = 0; r < kRounds; ++r) {
    const auto slot = static_cast<uint64_t>(r % 2 * 0x800);
    p.descriptors.push_back(MoveOf<isa::Load>(
        kInput + r * kBlock, slot, kBlock, r >= 2 ? kOutputFree : 0, kLoaded));
    p.descriptors.push_back(MoveOf<isa::Store>(kOut + r * kBlock, slot, kBlock,
                                               kLoaded, kOutputFree));
  }
  p.descriptors.push_back(isa::Halt().Encode());
  w.output = {kOut, kRounds * kBlock};
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
  Workload w = preset == "nano" ? OfNano(rng) : OfMinichip(rng);
  for (const DataSegment& s : w.program.segments)
    w.memory.push_back({s.hbm_addr, s.data.size()});
  w.memory.push_back(w.output);
  w.memory.push_back({w.program.prog_addr,
                      w.program.descriptors.size() * isa::kDescriptorBytes});
  return w;
}

}  // namespace systole::faults
