// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/row_tables.h"

#include <algorithm>
#include <numeric>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/window_starts.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;
using ir::ElementType;
using vpu::Op;

constexpr int64_t kMostPieces = 1 << 16;  // that have data of the program

int64_t LogOf(int64_t n) {
  int64_t bits = 0;
  while (n >> (bits + 1) != 0) ++bits;
  return bits;
}

}  // namespace

RowTables::RowTables(const ir::Node& node, const Preset& preset)
    : node_(node),
      preset_(preset),
      first_(node.op == ir::Op::kHloDynamicUpdateSlice ? 2 : 1),
      windows_(WindowsOf(node)),
      pieces_(windows_),
      size_(ir::ElementBytes(node.type.element)),
      beat_(preset.beat_bytes()) {
  Measure();
}

void RowTables::Measure() {
  granule_ = std::gcd(beat_, windows_.first * size_);
  for (const Windows::Start& s : windows_.starts) {
    if (s.size > s.window) granule_ = std::gcd(granule_, s.stride * size_);
  }
  for (const WindowPieces::Dimension& d : pieces_.dimensions)
    granule_ = std::gcd(granule_, d.from * size_);
  data_.clear();
  if (count() > kMostPieces) return;
  std::vector<int64_t> offsets = pieces_.Offsets();
  if (windows_.starts.empty() && offsets.empty()) offsets.assign(count(), 0);
  for (const int64_t elements : offsets)
    data_.push_back(static_cast<uint32_t>((windows_.first + elements) * size_));
}

void RowTables::CutPieces(int64_t most, int64_t least) {
  if (bytes() <= most * beat_) return;
  for (int64_t elements = most * beat_ / size_;
       elements * size_ >= least * beat_; --elements) {
    if (pieces_.elements % elements != 0) continue;
    pieces_.Cut(pieces_.elements / elements);
    return Measure();
  }
}

absl::Status RowTables::Check() const {
  const int64_t operand = node_.operands[0].type().bytes();
  if (operand >= int64_t{1} << 31)
    return absl::ResourceExhaustedError("an operand of 2 GB or more");
  const bool linear =
      !windows_.starts.empty() &&
      std::all_of(pieces_.dimensions.begin(), pieces_.dimensions.end(),
                  [](const auto& d) { return d.from == 0; });
  if (!linear && count() > kMostPieces)
    return absl::ResourceExhaustedError("windows of too many pieces");
  if (!whole() && operand < span())
    return absl::ResourceExhaustedError("an operand of few beats");
  return absl::OkStatus();
}

int64_t RowTables::span() const {
  return whole() ? bytes() : RoundUp(bytes() + beat_ - granule_, beat_);
}

int64_t RowTables::unit() const {
  return std::gcd(std::gcd(granule_, bytes()), int64_t{4});
}

Storage RowTables::storage() const {
  return unit() == 4   ? Storage::kWord
         : unit() == 2 ? Storage::kHalf
                       : Storage::kByte;
}

int64_t RowTables::distance() const {
  int64_t least = node_.operands[0].type().bytes();
  for (const WindowPieces::Dimension& d : pieces_.dimensions)
    least = std::min(least, d.from * size_);
  return least;
}

void RowTables::Place(KernelBuilder& builder) {
  // Copies may read a word behind.
  for (size_t i = first_; i < node_.operands.size(); ++i) {
    numbers_.push_back(builder.Place(
        "starts", node_.operands[i].type().bytes() + preset_.word_bytes()));
  }
  for (size_t i = 0; i < windows_.starts.size(); ++i)
    starts_.push_back(builder.Place("starts", 4 * count()));
  beats_ = builder.Place("beats", 4 * count());
  if (!whole()) shifts_ = builder.Place("shifts", 4 * count());
}

absl::Status RowTables::AddCode(std::vector<uint64_t>& words,
                                const Bytes& data) {
  data_at_ = data;
  LaneGraph graph;
  LanePlaces places;
  const LaneBuilder g{graph};
  std::optional<int64_t> offsets;
  if (!data_.empty()) offsets = data_at_.at;
  const Lane address =
      WindowAddress(graph, places, node_, windows_, starts_, offsets);
  const Lane shift = g.K(LogOf(beat_));
  Lane beat = g(Op::kShr, address, shift);
  if (!whole()) {  // the beats do not end behind the operand
    const int64_t operand = node_.operands[0].type().bytes();
    beat = g(Op::kImin, beat, g.K(CeilDiv(operand, beat_) - span() / beat_));
  }
  std::vector<LaneStore> stores = {{beat, Storage::kWord}};
  places.stores = {{beats_.at, 0}};
  if (!whole()) {
    stores.push_back(
        {g(Op::kIsub, address, g(Op::kShl, beat, shift)), Storage::kWord});
    places.stores.push_back({shifts_.at, 0});
  }
  const absl::StatusOr<LaneCode> code =
      AppendCode(graph, stores, places, preset_, words);
  if (!code.ok()) return code.status();
  pc_ = code->main;
  return absl::OkStatus();
}

absl::Status RowTables::Run(const BufferCopier& copier,
                            KernelBuilder& builder) {
  for (size_t i = 0; i < numbers_.size(); ++i) {
    const size_t operand = first_ + i;
    builder.Load(static_cast<int>(operand), 0, numbers_[i].at,
                 node_.operands[operand].type().bytes());
  }
  std::vector<Bytes> reads = starts_;
  reads.push_back(data_at_);
  for (size_t i = 0; i < starts_.size(); ++i) {
    const Windows::Start& s = windows_.starts[i];
    if (s.size == s.window) continue;
    ir::Ints sizes, strides;
    for (const WindowPieces::Dimension& d : pieces_.dimensions) {
      sizes.push_back(d.size);
      strides.push_back(d.starts[i]);
    }
    if (absl::Status status =
            CopyStarts(copier, builder, node_, s, numbers_[s.operand - first_],
                       starts_[i], sizes, strides);
        !status.ok())
      return status;
  }
  std::vector<Bytes> writes = {beats_};
  if (!whole()) writes.push_back(shifts_);
  RunOverNumbers(count(), preset_.cols, [&](const RowsRun& run) {
    builder.Run(pc_, ArgumentsOf(run), reads, writes, 8 * run.rows);
  });
  return absl::OkStatus();
}

}  // namespace systole::lanes
