// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Moving programs in HBM: the parts of their memory, and the addresses in
// descriptors that follow them.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole {
namespace {

struct Range {
  uint64_t begin = 0, end = 0;
};

bool Within(const Range& inner, const MemorySegment& part) {
  return part.hbm_addr <= inner.begin &&
         inner.end <= part.hbm_addr + part.bytes;
}

isa::Opcode OpcodeOf(const isa::Descriptor& descriptor) {
  return static_cast<isa::Opcode>(isa::GetBits(descriptor, 0, 8));
}

// Calls `use` with the decoded descriptor if it has an HBM address.
template <typename Use>
void WithAddress(const isa::Descriptor& descriptor, Use use) {
  switch (OpcodeOf(descriptor)) {
    case isa::Opcode::kLoad:
      return use(isa::Load::Decode(descriptor));
    case isa::Opcode::kStore:
      return use(isa::Store::Decode(descriptor));
    case isa::Opcode::kWeights:
      return use(isa::Weights::Decode(descriptor));
    default:
      return;
  }
}

// Whole beats; what is not transferred counts as its first byte.
template <typename Dma>
Range ExtentOf(const Dma& d, const Preset& preset) {
  const auto beat = static_cast<uint64_t>(preset.beat_bytes());
  const uint64_t inner = std::max<uint64_t>(d.n1, 1) - 1;
  const uint64_t outer = std::max<uint64_t>(d.n2, 1) - 1;
  const uint64_t length =
      std::max<uint64_t>((uint64_t{d.len} + beat - 1) / beat * beat, 1);
  return {d.hbm_addr,
          d.hbm_addr + outer * d.hbm_stride2 + inner * d.hbm_stride1 + length};
}

Range ExtentOf(const isa::Weights& d, const Preset& preset) {
  const auto tile = static_cast<uint64_t>(preset.tile_bytes());
  return {d.hbm_addr, d.hbm_addr + std::max<uint64_t>(d.tiles * tile, 1)};
}

// The part of HBM that a descriptor touches in all passes of its loops, if it
// touches any.
std::optional<Range> MemoryOf(const Program& program, uint32_t index,
                              const Preset& preset) {
  std::optional<Range> range;
  WithAddress(program.descriptors[index],
              [&](const auto& d) { range = ExtentOf(d, preset); });
  if (!range) return range;
  const Reach reach = ReachOf(program.loops, program.steps, index);
  // What begins below 0 is in no part.
  if (static_cast<int64_t>(range->begin) + reach.least < 0)
    return Range{~uint64_t{0}, ~uint64_t{0}};
  return Range{range->begin + reach.least, range->end + reach.most};
}

// Whether a transfer is of another size, or has other strides, in some pass.
bool Grows(const Program& program, uint32_t index) {
  for (const Step& s : program.steps) {
    if (s.descriptor != index) continue;
    const int lsb = static_cast<int>(s.lsb);
    if (lsb != isa::kLoadFields[0].lsb && lsb != isa::kLoadFields[1].lsb)
      return true;
  }
  return false;
}

std::optional<uint32_t> PartOf(const Program& program, const Range& range) {
  for (uint32_t i = 0; i < program.memory.size(); ++i) {
    if (Within(range, program.memory[i])) return i;
  }
  return std::nullopt;
}

Range BytesOf(const TensorInfo& t) {
  const int64_t bytes =
      (t.n - 1) * t.img_pitch + (t.h - 1) * t.pitch + t.line_bytes();
  return {t.hbm_addr, t.hbm_addr + static_cast<uint64_t>(bytes)};
}

Range CodeOf(const Program& program) {
  return {program.prog_addr, program.prog_addr + program.descriptors.size() *
                                                     isa::kDescriptorBytes};
}

// That parts are where they may be.
absl::Status CheckParts(const std::vector<MemorySegment>& memory,
                        const Preset& preset) {
  const uint64_t align = std::max<uint64_t>(kMemoryAlignment, preset.beat);
  const uint64_t capacity = preset.memory_bytes();
  std::vector<Range> ranges;
  for (const MemorySegment& part : memory) {
    const std::string what =
        absl::StrFormat("memory for %s, %d bytes at 0x%x,",
                        MemoryUseName(part.use), part.bytes, part.hbm_addr);
    if (part.hbm_addr % align != 0)
      return absl::InvalidArgumentError(
          absl::StrCat(what, " is not at a multiple of ", align));
    if (part.hbm_addr > capacity || part.bytes > capacity - part.hbm_addr)
      return absl::OutOfRangeError(absl::StrCat(
          what, " ends beyond the ", capacity, " bytes of the memory"));
    if (part.bytes > 0)
      ranges.push_back({part.hbm_addr, part.hbm_addr + part.bytes});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end)
      return absl::InvalidArgumentError(absl::StrFormat(
          "parts of the memory overlap at 0x%x", ranges[i].begin));
  }
  return absl::OkStatus();
}

}  // namespace

const char* MemoryUseName(MemoryUse use) {
  constexpr const char* kNames[kNumMemoryUses] = {"arguments", "temporaries",
                                                  "constants", "code"};
  return kNames[static_cast<int>(use)];
}

absl::Status AddRelocations(Program& program) {
  const Preset& preset = *FindPreset(program.preset);
  program.relocations.clear();
  for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
    const auto range = MemoryOf(program, i, preset);
    if (!range) continue;
    const std::optional<uint32_t> part = PartOf(program, *range);
    if (!part) {
      return absl::InternalError(
          absl::StrFormat("descriptor %d is in no part of the memory: %s", i,
                          Disassemble(program.descriptors[i])));
    }
    program.relocations.push_back({i, *part});
  }
  return absl::OkStatus();
}

absl::Status CheckRelocations(const Program& program) {
  const auto bad = [](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  };
  if (program.memory.empty()) {
    if (program.relocations.empty()) return absl::OkStatus();
    return bad("relocations of a memory without parts");
  }
  const Preset& preset = *FindPreset(program.preset);
  if (absl::Status s = CheckParts(program.memory, preset); !s.ok())
    return bad(s.message());
  if (!PartOf(program, CodeOf(program)))
    return bad("the descriptors are in no part of the memory");
  for (const DataSegment& s : program.segments) {
    if (!PartOf(program, {s.hbm_addr, s.hbm_addr + s.data.size()}))
      return bad("data segment '", s.name, "' is in no part of the memory");
  }
  for (const TensorInfo& t : program.tensors) {
    if (!PartOf(program, BytesOf(t)))
      return bad("tensor '", t.name, "' is in no part of the memory");
  }
  for (const Loop& loop : program.loops) {
    if (loop.conditional() && !PartOf(program, {loop.word, loop.word + 4}))
      return bad("the condition of the loop at descriptor ", loop.begin,
                 " is in no part of the memory");
  }
  size_t next = 0;
  for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
    const auto range = MemoryOf(program, i, preset);
    const bool listed = next < program.relocations.size() &&
                        program.relocations[next].descriptor == i;
    if (!range && !listed) continue;
    if (!range)
      return bad("a relocation of descriptor ", i,
                 ", which has no HBM address");
    if (!listed) return bad("descriptor ", i, " has no relocation");
    const uint32_t part = program.relocations[next++].segment;
    if (part >= program.memory.size())
      return bad("descriptor ", i, " moves with part ", part,
                 " of the memory, of ", program.memory.size());
    if (Grows(program, i))
      return bad("descriptor ", i,
                 " is of another size in each pass of a loop");
    if (!Within(*range, program.memory[part]))
      return bad("descriptor ", i, " leaves the memory for ",
                 MemoryUseName(program.memory[part].use));
  }
  if (next < program.relocations.size())
    return bad("a relocation of descriptor ",
               program.relocations[next].descriptor, " of ",
               program.descriptors.size(), ", out of order");
  return absl::OkStatus();
}

absl::StatusOr<Program> PlaceProgram(const Program& program,
                                     absl::Span<const uint64_t> addresses) {
  if (program.memory.empty())
    return absl::FailedPreconditionError(
        "the program has fixed addresses: it cannot be moved");
  if (addresses.size() != program.memory.size())
    return absl::InvalidArgumentError(
        absl::StrCat(addresses.size(), " addresses for ", program.memory.size(),
                     " parts of the memory"));
  if (absl::Status s = CheckRelocations(program); !s.ok()) return s;
  Program placed;
  placed.preset = program.preset;
  placed.memory = program.memory;
  for (size_t i = 0; i < addresses.size(); ++i) {
    placed.memory[i].hbm_addr = addresses[i];
    placed.hbm_bytes =
        std::max(placed.hbm_bytes, addresses[i] + placed.memory[i].bytes);
  }
  if (absl::Status s = CheckParts(placed.memory, *FindPreset(program.preset));
      !s.ok())
    return s;
  const auto moved = [&](uint64_t address, uint32_t part) {
    return address - program.memory[part].hbm_addr + addresses[part];
  };
  placed.prog_addr =
      moved(program.prog_addr, *PartOf(program, CodeOf(program)));
  placed.relocations = program.relocations;
  placed.descriptors = program.descriptors;
  placed.loops = program.loops;
  placed.steps = program.steps;
  for (Loop& loop : placed.loops) {
    if (loop.conditional())
      loop.word =
          moved(loop.word, *PartOf(program, {loop.word, loop.word + 4}));
  }
  for (const Relocation& r : program.relocations) {
    isa::Descriptor& descriptor = placed.descriptors[r.descriptor];
    WithAddress(program.descriptors[r.descriptor], [&](auto d) {
      d.hbm_addr = moved(d.hbm_addr, r.segment);
      descriptor = d.Encode();
    });
  }
  for (const DataSegment& s : program.segments) {
    const uint64_t end = s.hbm_addr + s.data.size();
    placed.segments.push_back(
        {s.name, moved(s.hbm_addr, *PartOf(program, {s.hbm_addr, end})), {}});
  }
  placed.tensors = program.tensors;
  for (TensorInfo& t : placed.tensors)
    t.hbm_addr = moved(t.hbm_addr, *PartOf(program, BytesOf(t)));
  placed.layers = program.layers;
  placed.buffers = program.buffers;
  return placed;
}

}  // namespace systole
