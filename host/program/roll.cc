// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A straight program with what repeats itself in it as loops.

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/program/header_bits.h"
#include "host/program/repeats.h"
#include "systole/loops.h"
#include "systole/program.h"

namespace systole {
namespace {

// Descriptors for one that the firmware has to make: it takes about as long for
// that as the core for so many.
constexpr size_t kPieces = 4;

class Roller {
 public:
  explicit Roller(const Program& program)
      : program_(program), segments_(program.descriptors.size(), -1) {
    for (const Relocation& r : program.relocations)
      segments_[r.descriptor] = static_cast<int>(r.segment);
  }

  Program Run(uint32_t stepped, uint32_t depth) {
    RepeatLimits limits;
    limits.stepped = stepped;
    limits.steps = 2 * size_t{stepped};
    limits.loops = stepped / 2;
    limits.depth = depth;
    if (stepped <= kMaxStepped) limits.pieces = kPieces;
    // The halt stands behind all loops.
    const size_t halt = program_.descriptors.size() - 1;
    std::vector<isa::Descriptor> list = program_.descriptors;
    list.pop_back();
    out_ = program_;
    out_.descriptors.clear();
    out_.relocations.clear();
    Put(0, halt, FindRepeats(list, segments_, limits));
    Put(halt);
    std::sort(out_.steps.begin(), out_.steps.end(),
              [](const Step& a, const Step& b) {
                return std::tie(a.descriptor, a.lsb, a.loop) <
                       std::tie(b.descriptor, b.lsb, b.loop);
              });
    for (MemorySegment& part : out_.memory) {
      if (part.use == MemoryUse::kCode && part.hbm_addr == out_.prog_addr)
        part.bytes = std::min<uint64_t>(
            part.bytes, out_.descriptors.size() * isa::kDescriptorBytes);
    }
    return std::move(out_);
  }

 private:
  struct Open {
    uint32_t loop;
    size_t period;
  };

  void Put(size_t begin, size_t end, const std::vector<Repeat>& repeats) {
    for (const Repeat& r : repeats) {
      while (begin < r.at) Put(begin++);
      const auto index = static_cast<uint32_t>(out_.loops.size());
      Loop loop;
      loop.begin = static_cast<uint32_t>(out_.descriptors.size());
      loop.count = static_cast<uint32_t>(r.passes);
      out_.loops.push_back(loop);
      open_.push_back({index, r.period});
      Put(r.at, r.at + r.period, r.inner);
      open_.pop_back();
      out_.loops[index].end = static_cast<uint32_t>(out_.descriptors.size());
      begin = r.end();
    }
    while (begin < end) Put(begin++);
  }

  void Put(size_t i) {
    const auto index = static_cast<uint32_t>(out_.descriptors.size());
    const isa::Descriptor& d = program_.descriptors[i];
    if (segments_[i] >= 0)
      out_.relocations.push_back({index, static_cast<uint32_t>(segments_[i])});
    for (const Open& open : open_) {
      for (const GrowingField& f : GrowingFieldsOf(d)) {
        const int64_t by =
            GrowthOf(d, program_.descriptors[i + open.period], f);
        if (by != 0)
          out_.steps.push_back({index, open.loop, f.lsb, f.bits, by});
      }
    }
    out_.descriptors.push_back(d);
  }

  const Program& program_;
  std::vector<int> segments_;  // of the relocations, or -1
  Program out_;
  std::vector<Open> open_;  // loops around the place at hand
};

}  // namespace

Program RollLoops(const Program& program, uint32_t stepped, uint32_t depth) {
  if (!program.loops.empty() || program.descriptors.size() < 2) return program;
  for (size_t i = 0; i + 1 < program.descriptors.size(); ++i) {
    if (isa::GetBits(program.descriptors[i], 0, kOpcodeBits) ==
        static_cast<uint64_t>(isa::Opcode::kHalt))
      return program;
  }
  return Roller(program).Run(stepped, depth);
}

}  // namespace systole
