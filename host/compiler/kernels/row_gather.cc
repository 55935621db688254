// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/row_gather.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/piece_walk.h"
#include "host/compiler/kernels/row_tables.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;
using vpu::Op;

// Beats of pieces that are moved together.
constexpr int64_t kLongPiece = 16, kShortPiece = 4;
constexpr int64_t kMostShifts = 8;  // so few are selected from, not addressed
constexpr int64_t kMostRows = (int64_t{1} << 16) - 1;  // of a descriptor
// Chunks that make a pipeline, of at least so many beats.
constexpr int64_t kChunks = 8, kChunkBeats = 48;

class RowGather {
 public:
  RowGather(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node),
        preset_(preset),
        builder_(preset, origin),
        copier_(preset),
        tables_(node, preset),
        walk_(tables_, preset, /*into_rows=*/false),
        beat_(preset.beat_bytes()) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (!tables_.whole()) tables_.CutPieces(kLongPiece, kShortPiece);
    if (absl::Status s = tables_.Check(); !s.ok()) return s;
    count_ = tables_.count();
    bytes_ = tables_.bytes();
    span_ = tables_.span();
    whole_ = tables_.whole();
    unit_ = tables_.unit();
    addressed_ = !whole_ && beat_ / tables_.granule() > kMostShifts;
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    LoadData();
    if (absl::Status s = tables_.Run(copier_, builder_); !s.ok()) return s;
    for (int64_t first = 0, part = 0; first < count_; first += chunk_) {
      const int64_t pieces = std::min(chunk_, count_ - first);
      for (int64_t at = 0; at < span_; at += slice_, ++part) {
        Bring(first, pieces, at, std::min(slice_, span_ - at), part % buffers_);
      }
    }
    return builder_.Finish();
  }

 private:
  // Pieces come in chunks, those of whole beats also in slices.
  absl::Status PlaceAll() {
    tables_.Place(builder_);
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    // Chunks begin at whole beats of the tables and of the result.
    const int64_t step = beat_ / std::gcd<int64_t>(4, bytes_);
    const auto offsets = static_cast<int64_t>(tables_.data().size());
    const int64_t room = builder_.Room() - 4 * offsets - 8 * builder_.Align(1);
    const int64_t each =
        RoundUp(span_, beat_) + (whole_ ? 0 : bytes_) + (addressed_ ? 8 : 0);
    const int64_t wanted =
        std::max(RoundUp(CeilDiv(count_, kChunks), step),
                 RoundUp(CeilDiv(kChunkBeats * beat_, span_), step));
    slice_ = span_;
    for (buffers_ = 2; buffers_ > 0; --buffers_) {
      chunk_ = std::min({room / buffers_ / each, kMostRows, wanted});
      chunk_ = chunk_ >= count_ ? count_ : chunk_ / step * step;
      if (chunk_ > 0) break;
      if (!whole_) continue;
      chunk_ = std::min(step, count_);
      slice_ = room / buffers_ / chunk_ / beat_ * beat_;
      if (slice_ > 0) break;
    }
    if (buffers_ == 0) return absl::ResourceExhaustedError("long pieces");
    for (int64_t i = 0; i < buffers_; ++i) {
      rows_[i] = builder_.Place("rows", chunk_ * RoundUp(slice_, beat_));
      if (!whole_) lines_[i] = builder_.Place("pieces", chunk_ * bytes_);
    }
    data_ = builder_.Place("data", 4 * (offsets + (addressed_ ? chunk_ : 0)));
    if (addressed_) walk_.Place(builder_, chunk_);
    return builder_.Fits();
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    if (absl::Status s = tables_.AddCode(words, data_); !s.ok()) return s;
    if (addressed_) {
      if (absl::Status s = walk_.AddCode(words, bases()); !s.ok()) return s;
    } else if (!whole_) {
      LaneGraph graph;
      LanePlaces places;
      const LaneStore store = Selected(graph, places);
      const absl::StatusOr<LaneCode> code = AppendCode(
          graph, {store}, places, preset_, words, Loop::kRows, RunRows::kMany);
      if (!code.ok()) return code.status();
      select_pc_ = code->main;
      row_cycles_ = code->row_cycles;
    }
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    result_ = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  // The part of a row's beats where the piece begins: walk 0 rows, walk 1
  // pieces, walk 2 shifts.
  LaneStore Selected(LaneGraph& graph, LanePlaces& places) const {
    const LaneBuilder g{graph};
    const Storage storage = tables_.storage();
    const Lane shift =
        g(Op::kBcl, graph.Load({0, Storage::kWord, Pattern::kRow}));
    places.operands.push_back({{0, 2}, 0, 0});
    Lane piece = -1;
    for (int64_t at = 0; at + bytes_ <= span_; at += tables_.granule()) {
      const Lane part = graph.Load({static_cast<int>(places.operands.size()),
                                    storage, Pattern::kStream});
      places.operands.push_back({{at, 0}, 0, 0});
      piece = piece < 0 ? part
                        : g(Op::kSel, g(Op::kIeq, shift, g.K(at)), part, piece);
    }
    places.stores = {{0, 1}};
    return {piece, storage, unit_ == 2};
  }

  // Where the rows of a chunk are in their buffer.
  int64_t bases() const {
    return data_.at + 4 * static_cast<int64_t>(tables_.data().size());
  }

  void LoadData() {
    std::vector<uint32_t> data = tables_.data();
    if (addressed_) walk_.AddData(data);
    if (!data.empty()) builder_.LoadData(data, data_.at);
  }

  // A slice of some pieces, from `at` on, through one of the buffers.
  void Bring(int64_t first, int64_t pieces, int64_t at, int64_t bytes,
             int64_t buffer) {
    const Bytes rows = rows_[buffer], lines = lines_[buffer];
    const int64_t pitch = RoundUp(bytes, beat_);
    builder_.LoadRows(0, at, rows.at, bytes,
                      {pieces, tables_.beats().at + 4 * first, pitch});
    const int64_t to = first * bytes_ + at;
    if (whole_ && (pieces == 1 || slice_ == span_))
      return builder_.Store(result_, to, rows.at, pieces * bytes);
    if (whole_) {
      return builder_.StoreRuns(result_, to, rows.at, bytes,
                                {{pieces, bytes_, pitch}});
    }
    if (addressed_) {
      walk_.Run(builder_, first, pieces, rows, lines, data_);
    } else {
      Select(first, pieces, buffer);
    }
    builder_.Store(result_, to, lines.at, pieces * bytes_);
  }

  void Select(int64_t first, int64_t pieces, int64_t buffer) {
    const int64_t units = bytes_ / unit_;
    for (int64_t at = 0; at < units; at += preset_.cols) {
      RowsRun run;
      run.place[0] = rows_[buffer].at + at * unit_;
      run.stride[0] = span_;
      run.place[1] = lines_[buffer].at + at * unit_;
      run.stride[1] = bytes_;
      run.place[2] = tables_.shifts().at + 4 * first;
      run.stride[2] = 4;
      run.rows = pieces;
      run.lanes = std::min(preset_.cols, units - at);
      builder_.Run(select_pc_, ArgumentsOf(run),
                   {rows_[buffer], tables_.shifts()}, {lines_[buffer]},
                   CyclesOf(row_cycles_, pieces));
    }
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  RowTables tables_;
  PieceWalk walk_;  // if pieces are moved one by one
  const int64_t beat_;
  // Of the pieces: tables_ has them.
  int64_t count_ = 0, bytes_ = 0, span_ = 0, unit_ = 1;
  bool whole_ = false;
  bool addressed_ = false;
  int64_t chunk_ = 0, slice_ = 0, buffers_ = 0;
  // data_: the pieces' offsets, and the rows of a chunk.
  Bytes data_ = {}, rows_[2] = {}, lines_[2] = {};
  int result_ = 0;
  int select_pc_ = 0;
  double row_cycles_ = 0;  // of the selection
};

}  // namespace

absl::StatusOr<KernelProgram> CompileRowGather(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin) {
  return RowGather(node, preset, origin).Compile();
}

}  // namespace systole::lanes
