// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/elementwise_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/lane_guard.h"

namespace systole::lanes {
namespace {

constexpr int64_t kLeastUnits = 16;  // per block, if there are enough
constexpr int64_t kBlocks = 16;      // blocks that a large tensor is cut into
constexpr int64_t kManyRows = 64;    // for which longer code pays

class Elementwise {
 public:
  Elementwise(const ElementwiseSpec& spec, const Preset& preset)
      : spec_(spec),
        preset_(preset),
        builder_(preset),
        unit_(vpu::kVectorRows * preset.cols) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = Plan(); !s.ok()) return s;
    absl::StatusOr<LaneCode> code = Code();
    if (!code.ok()) return code.status();
    code_ = *std::move(code);
    for (const ElementwiseSpec::Operand& operand : spec_.operands) {
      const int64_t count =
          operand.pattern == Pattern::kSplat ? 1 : spec_.elements;
      builder_.AddOperand(count * StorageBytes(operand.storage));
    }
    for (const LaneStore& store : spec_.stores)
      builder_.AddOperand(spec_.elements * StorageBytes(store.storage));
    builder_.SetCode(code_.words);
    SpreadSplats();
    for (int64_t at = 0, i = 0; at < spec_.elements; at += block_, ++i)
      Block(at, std::min(block_, spec_.elements - at), i % slots_);
    return builder_.Finish();
  }

 private:
  using Bytes = KernelBuilder::Bytes;

  absl::StatusOr<LaneCode> Code() const {
    const bool many = spec_.elements >= kManyRows * preset_.cols;
    if (many && guards_.count > 0) {
      absl::StatusOr<LaneCode> code =
          EmitGuarded(spec_.guarded, spec_.guarded_stores, spec_.graph,
                      spec_.stores, places_, preset_, guards_.at);
      if (!absl::IsResourceExhausted(code.status())) return code;
    }
    return Emit(spec_.graph, spec_.stores, places_, preset_, 0, Loop::kRows,
                many);
  }

  // Assigns the buffers in the unified buffer.
  absl::Status Plan() {
    int64_t width = 0;  // bytes per element over all streams
    for (const ElementwiseSpec::Operand& operand : spec_.operands) {
      LanePlaces::Operand place;
      if (operand.pattern == Pattern::kSplat) {
        place.element = builder_.Place("element", 1).at;
        place.row = builder_.Place("row of an element", 1).at;
      } else {
        width += StorageBytes(operand.storage);
      }
      places_.operands.push_back(place);
    }
    for (const LaneStore& store : spec_.stores)
      width += StorageBytes(store.storage);
    if (!spec_.guarded_stores.empty())
      guards_ = builder_.Place("guards", kGuardBytes);
    const int64_t units = (spec_.elements + unit_ - 1) / unit_;
    const int64_t room =
        std::max<int64_t>(1, builder_.Room() / (width * unit_));
    int64_t block = units;
    if (units > room || units > kLeastUnits) {
      block = std::min({std::max(kLeastUnits, (units + kBlocks - 1) / kBlocks),
                        units, std::max<int64_t>(room / 2, 1)});
    }
    block_ = block * unit_;
    slots_ = block < units && room >= 2 * block ? 2 : 1;
    slot_bytes_ = width * block_;
    int64_t next = builder_.Place("blocks", slots_ * slot_bytes_).at;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      const Storage storage = spec_.operands[i].storage;
      if (spec_.operands[i].pattern == Pattern::kSplat) continue;
      places_.operands[i].stream = {next, static_cast<int>(storage)};
      next += StorageBytes(spec_.operands[i].storage) * block_;
    }
    for (const LaneStore& store : spec_.stores) {
      places_.stores.push_back({next, static_cast<int>(store.storage)});
      next += StorageBytes(store.storage) * block_;
    }
    return builder_.Fits();
  }

  void SpreadSplats() {
    std::vector<Bytes> reads, writes;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      if (spec_.operands[i].pattern != Pattern::kSplat) continue;
      const int64_t bytes = StorageBytes(spec_.operands[i].storage);
      const LanePlaces::Operand& place = places_.operands[i];
      builder_.Load(static_cast<int>(i), 0, place.element, bytes);
      reads.push_back({place.element, bytes});
      writes.push_back({place.row, 4 * preset_.cols});
    }
    if (code_.spread < 0) return;
    builder_.Run(code_.spread, {}, reads, writes,
                 20 * static_cast<int64_t>(reads.size()));
  }

  void Block(int64_t first, int64_t count, int64_t slot) {
    const int64_t shift = slot * slot_bytes_;
    std::vector<Bytes> reads, writes;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      const LanePlaces::Operand& place = places_.operands[i];
      const int64_t size = StorageBytes(spec_.operands[i].storage);
      if (spec_.operands[i].pattern == Pattern::kSplat) {
        reads.push_back({place.row, 4 * preset_.cols});
        continue;
      }
      const int64_t at = place.stream.at + shift;
      builder_.Load(static_cast<int>(i), first * size, at, count * size);
      reads.push_back({at, count * size});
    }
    for (size_t i = 0; i < spec_.stores.size(); ++i) {
      const int64_t size = StorageBytes(spec_.stores[i].storage);
      writes.push_back({places_.stores[i].at + shift, count * size});
    }
    const int64_t lanes = preset_.cols;
    const int64_t rows = count / lanes, rest = count % lanes;
    const int64_t cycles = static_cast<int64_t>(code_.words.size()) / 2;
    if (rows > 0) Rows(shift, 0, rows, lanes, reads, writes, cycles * rows);
    if (rest > 0) Rows(shift, rows * lanes, 1, rest, reads, writes, cycles);
    for (size_t i = 0; i < spec_.stores.size(); ++i) {
      const int64_t size = StorageBytes(spec_.stores[i].storage);
      builder_.Store(static_cast<int>(spec_.operands.size() + i), first * size,
                     writes[i].at, count * size);
    }
  }

  void Rows(int64_t shift, int64_t first, int64_t rows, int64_t lanes,
            const std::vector<Bytes>& reads, const std::vector<Bytes>& writes,
            int64_t cycles) {
    // One walk for each size of elements.
    std::vector<int64_t> arguments(kLaneCount + 1);
    for (const Storage storage :
         {Storage::kWord, Storage::kHalf, Storage::kByte}) {
      const int walk = static_cast<int>(storage);
      arguments[walk] = shift + StorageBytes(storage) * first;
      arguments[kStrides + walk] = StorageBytes(storage) * preset_.cols;
    }
    arguments[kRowCount] = rows;
    arguments[kLaneCount] = lanes;
    // Lanes without elements would tell of extreme ones.
    if (code_.exact < 0 || lanes < preset_.cols) {
      const int pc = code_.exact >= 0 ? code_.exact : code_.main;
      return builder_.Run(pc, arguments, reads, writes, cycles);
    }
    std::vector<Bytes> more = writes;
    more.push_back(guards_);
    builder_.Run(code_.main, arguments, reads, more, cycles);
  }

  const ElementwiseSpec& spec_;
  const Preset& preset_;
  KernelBuilder builder_;
  const int64_t unit_;  // elements of eight rows
  LanePlaces places_;
  LaneCode code_;
  Bytes guards_ = {0, 0};
  int64_t block_ = 0, slots_ = 1, slot_bytes_ = 0;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileElementwise(const ElementwiseSpec& spec,
                                                 const Preset& preset) {
  return Elementwise(spec, preset).Compile();
}

}  // namespace systole::lanes
