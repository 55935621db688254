// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/row_update.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/piece_walk.h"
#include "host/compiler/kernels/row_tables.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;

constexpr int64_t kCopies = 3;      // buffers of a copy
constexpr int64_t kCopyParts = 16;  // of the unified buffer, a buffer
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
        walk_(tables_, preset, /*into_rows=*/true),
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
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    std::vector<uint32_t> data = tables_.data();
    if (!whole_) walk_.AddData(data);
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
    if (!whole_) walk_.Place(builder_, chunk_);
    return builder_.Fits();
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    if (absl::Status s = tables_.AddCode(words, data_); !s.ok()) return s;
    if (!whole_) {
      const int64_t bases =
          data_.at + 4 * static_cast<int64_t>(tables_.data().size());
      if (absl::Status s = walk_.AddCode(words, bases); !s.ok()) return s;
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
    walk_.Run(builder_, first, pieces, rows, update, data_);
    builder_.StoreRows(result_, 0, rows.at, span_, {pieces, table, span_});
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  RowTables tables_;
  PieceWalk walk_;  // unless they are whole
  const int64_t beat_;
  const bool in_place_;
  // Of the pieces: tables_ has them.
  int64_t count_ = 0, bytes_ = 0, span_ = 0;
  bool whole_ = false;
  int64_t chunk_ = 0, slice_ = 0;
  std::vector<Bytes> copies_;
  // data_: the pieces' offsets, and the rows of a chunk.
  Bytes data_ = {}, updates_[2] = {}, rows_[2] = {};
  int result_ = 0;
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
