// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/row_update.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/row_tables.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;
using vpu::Op;

constexpr int64_t kCopies = 3;      // buffers of a copy
constexpr int64_t kCopyParts = 16;  // of the unified buffer, a buffer
constexpr int64_t kPutCycles = 24;  // for rows of lanes at an address
constexpr int64_t kMostRuns = (int64_t{1} << 16) - 1;  // of a descriptor

// From one operand to another one, through the unified buffer.
void CopyOperand(KernelBuilder& builder, int from, int to, int64_t bytes,
                 const std::vector<Bytes>& buffers) {
  size_t next = 0;
  for (int64_t at = 0; at < bytes;) {
    const Bytes& buffer = buffers[next++ % buffers.size()];
    const int64_t part = std::min(buffer.count, bytes - at);
    builder.Load(from, at, buffer.at, part);
    builder.Store(to, at, buffer.at, part);
    at += part;
  }
}

std::vector<Bytes> CopyBuffers(KernelBuilder& builder, int64_t bytes,
                               const Preset& preset) {
  std::vector<Bytes> buffers;
  const int64_t part = std::min(preset.ub_bytes / kCopyParts,
                                builder.Align(CeilDiv(bytes, kCopies)));
  for (int64_t i = 0; i < kCopies; ++i)
    buffers.push_back(builder.Place("copy", part));
  return buffers;
}

class RowUpdate {
 public:
  RowUpdate(const ir::Node& node, const Preset& preset, int64_t origin,
            bool in_place)
      : node_(node),
        preset_(preset),
        builder_(preset, origin),
        copier_(preset),
        tables_(node, preset),
        beat_(preset.beat_bytes()),
        in_place_(in_place) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = tables_.Check(); !s.ok()) return s;
    count_ = tables_.count();
    bytes_ = tables_.bytes();
    span_ = tables_.span();
    whole_ = tables_.whole();
    // The last piece's beats may begin before the one that it lies in.
    if (!whole_ && count_ > 1 && tables_.distance() < span_ + beat_)
      return absl::ResourceExhaustedError("pieces in the same beats");
    const int64_t unit = tables_.unit();
    absl::StatusOr<std::vector<WindowPart>> parts =
        PartsOf({{bytes_ / unit, 1, 1}}, unit, unit, preset_.cols);
    if (!parts.ok()) return parts.status();
    parts_ = *std::move(parts);
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    std::vector<uint32_t> data = tables_.data();
    for (int64_t i = 0; !whole_ && i < chunk_; ++i)
      data.push_back(static_cast<uint32_t>(i * span_));
    if (!data.empty()) builder_.LoadData(data, data_.at);
    if (absl::Status s = tables_.Run(copier_, builder_); !s.ok()) return s;
    if (!in_place_)
      CopyOperand(builder_, 0, result_, node_.type.bytes(), copies_);
    for (int64_t first = 0, part = 0; first < count_; first += chunk_) {
      const int64_t pieces = std::min(chunk_, count_ - first);
      for (int64_t at = 0; at < bytes_; at += slice_, ++part)
        Put(first, pieces, at, std::min(slice_, bytes_ - at), part % 2);
    }
    return builder_.Finish();
  }

 private:
  absl::Status PlaceAll() {
    tables_.Place(builder_);
    if (!in_place_)
      copies_ = CopyBuffers(builder_, node_.type.bytes(), preset_);
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    const auto offsets = static_cast<int64_t>(tables_.data().size());
    const int64_t step = beat_ / std::gcd<int64_t>(4, bytes_);
    const int64_t room =
        (builder_.Room() - 4 * offsets - 8 * builder_.Align(1)) / 2;
    const int64_t each = RoundUp(bytes_, beat_) + (whole_ ? 0 : span_ + 8);
    chunk_ = std::min(room / each, kMostRuns);
    chunk_ = chunk_ >= count_ ? count_ : chunk_ / step * step;
    slice_ = bytes_;
    if (chunk_ == 0 && whole_ && count_ == 1) {
      chunk_ = 1;
      slice_ = room / beat_ * beat_;
    }
    if (chunk_ == 0 || slice_ == 0)
      return absl::ResourceExhaustedError("long pieces");
    for (int i = 0; i < 2; ++i) {
      updates_[i] = builder_.Place("update", chunk_ * slice_ + beat_);
      if (!whole_) rows_[i] = builder_.Place("rows", chunk_ * span_);
    }
    data_ = builder_.Place("data", 4 * (offsets + (whole_ ? 0 : chunk_)));
    if (!whole_) places_ = builder_.Place("places", 4 * chunk_);
    return builder_.Fits();
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    if (absl::Status s = tables_.AddCode(words, data_); !s.ok()) return s;
    const auto add = [&](const LaneGraph& graph, const LaneStore& store,
                         const LanePlaces& places, Loop loop,
                         int& pc) -> absl::Status {
      const absl::StatusOr<LaneCode> code =
          Emit(graph, {store}, places, preset_, static_cast<int>(words.size()),
               loop);
      if (!code.ok()) return code.status();
      pc = code->main;
      words.insert(words.end(), code->words.begin(), code->words.end());
      return absl::OkStatus();
    };
    if (!whole_) {
      LaneGraph graph;
      const LaneBuilder g{graph};
      LanePlaces places;
      const Lane place =
          g(Op::kIadd, graph.Load({0, Storage::kWord, Pattern::kStream}),
            graph.Load({1, Storage::kWord, Pattern::kStream}));
      const int64_t bases =
          data_.at + 4 * static_cast<int64_t>(tables_.data().size());
      places.operands = {{{tables_.shifts().at, 0}, 0, 0}, {{bases, 1}, 0, 0}};
      places.stores = {{places_.at, 1}};
      absl::Status s =
          add(graph, {place, Storage::kWord}, places, Loop::kRows, places_pc_);
      LaneGraph moved;
      places.operands = {{{0, 1}, 0, 0}};
      places.stores = {{0, 0}};
      const Lane part = moved.Load({0, tables_.storage(), Pattern::kStream});
      s.Update(add(moved, {part, tables_.storage(), tables_.unit() == 2},
                   places, Loop::kPlaces, walk_pc_));
      if (!s.ok()) return s;
    }
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    result_ = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  // A slice of some pieces, from `at` on.
  void Put(int64_t first, int64_t pieces, int64_t at, int64_t bytes,
           int64_t buffer) {
    const Bytes update = updates_[buffer], rows = rows_[buffer];
    const int64_t table = tables_.beats().at + 4 * first;
    builder_.Load(1, first * bytes_ + at, update.at, pieces * bytes);
    if (whole_) {
      return builder_.StoreRows(result_, at, update.at, bytes,
                                {pieces, table, RoundUp(bytes, beat_)});
    }
    builder_.LoadRows(result_, 0, rows.at, span_, {pieces, table, span_});
    RunOverWords(pieces, preset_.cols, [&](RowsRun run, int64_t word) {
      run.place[0] = 4 * (first + word);
      run.place[1] = 4 * word;
      run.stride[0] = run.stride[1] = 4 * preset_.cols;
      builder_.Run(places_pc_, ArgumentsOf(run), {tables_.shifts(), data_},
                   {places_}, 4 * run.rows);
    });
    for (const WindowPart& part : parts_) {
      std::vector<int64_t> arguments(kPlaceOffset + 1);
      arguments[1] = update.at + part.to;
      arguments[kTable] = places_.at;
      arguments[kRowCount] = part.rows;
      arguments[kStrides] = part.from_stride;
      arguments[kStrides + 1] = part.to_stride;
      arguments[kLinearStep] = bytes_;
      arguments[kLaneCount] = part.lanes;
      arguments[kPlaceCount] = pieces;
      arguments[kPlaceOffset] = rows.at + part.from;
      builder_.Run(walk_pc_, arguments, {places_, update}, {rows},
                   kPutCycles * pieces);
    }
    builder_.StoreRows(result_, 0, rows.at, span_, {pieces, table, span_});
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  RowTables tables_;
  const int64_t beat_;
  const bool in_place_;
  // Of the pieces: tables_ has them.
  int64_t count_ = 0, bytes_ = 0, span_ = 0;
  bool whole_ = false;
  std::vector<WindowPart> parts_;  // of a piece
  int64_t chunk_ = 0, slice_ = 0;
  std::vector<Bytes> copies_;
  // data_: the pieces' offsets, and the rows of a chunk.
  Bytes data_ = {}, places_ = {}, updates_[2] = {}, rows_[2] = {};
  int result_ = 0;
  int places_pc_ = 0, walk_pc_ = 0;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileRowUpdate(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin, bool in_place) {
  return RowUpdate(node, preset, origin, in_place).Compile();
}

absl::StatusOr<KernelProgram> CompileCopy(int64_t bytes, const Preset& preset) {
  KernelBuilder builder(preset);
  const std::vector<Bytes> buffers = CopyBuffers(builder, bytes, preset);
  const int from = builder.AddOperand(bytes), to = builder.AddOperand(bytes);
  CopyOperand(builder, from, to, bytes, buffers);
  return builder.Finish();
}

}  // namespace systole::lanes
