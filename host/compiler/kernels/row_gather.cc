// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/row_gather.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/window_starts.h"
#include "host/compiler/kernels/windows.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using compiler::CeilDiv;
using compiler::RoundUp;
using ir::ElementType;
using ir::Ints;
using vpu::Op;

// Beats of pieces that are moved together.
constexpr int64_t kLongPiece = 16, kShortPiece = 4;
constexpr int64_t kMostOffsets = 1 << 16;  // of pieces, data of the program
constexpr int64_t kMostShifts = 8;  // so few are selected from, not addressed
constexpr int64_t kMovePlaceCycles =
    24;  // to move a row of lanes by its address
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
        windows_(WindowsOf(node)),
        pieces_(windows_),
        size_(ir::ElementBytes(node.type.element)),
        beat_(preset.beat_bytes()) {}

  absl::StatusOr<KernelProgram> Compile() {
    const int64_t operand = node_.operands[0].type().bytes();
    if (operand >= int64_t{1} << 31)
      return absl::ResourceExhaustedError("an operand of 2 GB or more");
    granule_ = Granule();
    whole_ = granule_ % beat_ == 0 && (bytes() % beat_ == 0 || count() == 1);
    if (!whole_) CutPieces();
    count_ = count();
    bytes_ = bytes();
    offsets_ = pieces_.Offsets();
    if (static_cast<int64_t>(offsets_.size()) > kMostOffsets)
      return absl::ResourceExhaustedError("a window of too many pieces");
    span_ = whole_ ? bytes_ : RoundUp(bytes_ + beat_ - granule_, beat_);
    if (!whole_ && operand < span_)
      return absl::ResourceExhaustedError("an operand of few beats");
    last_ = CeilDiv(operand, beat_) - span_ / beat_;
    addressed_ = !whole_ && beat_ / granule_ > kMostShifts;
    unit_ = std::gcd<int64_t>(std::gcd(granule_, bytes_), 4);
    if (addressed_) {
      absl::StatusOr<std::vector<WindowPart>> parts =
          PartsOf({{bytes_ / unit_, 1, 1}}, unit_, unit_, preset_.cols);
      if (!parts.ok()) return parts.status();
      parts_ = *std::move(parts);
    }
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    if (absl::Status s = MakeTables(); !s.ok()) return s;
    for (int64_t first = 0, part = 0; first < count_; first += chunk_) {
      const int64_t pieces = std::min(chunk_, count_ - first);
      for (int64_t at = 0; at < span_; at += slice_, ++part)
        Bring(first, pieces, at, std::min(slice_, span_ - at), part % buffers_);
    }
    return builder_.Finish();
  }

 private:
  // All pieces begin at multiples of so many bytes, at most a beat.
  int64_t Granule() const {
    int64_t granule = beat_;
    for (const Windows::Start& s : windows_.starts) {
      if (s.size > s.window) granule = std::gcd(granule, s.stride * size_);
    }
    for (const WindowPieces::Dimension& d : pieces_.dimensions)
      granule = std::gcd(granule, d.from * size_);
    return granule;
  }

  int64_t count() const { return pieces_.count(); }
  int64_t bytes() const { return pieces_.elements * size_; }

  // Long pieces, into the longest that are still short.
  void CutPieces() {
    if (bytes() <= kLongPiece * beat_) return;
    for (int64_t elements = kLongPiece * beat_ / size_;
         elements * size_ >= kShortPiece * beat_; --elements) {
      if (pieces_.elements % elements != 0) continue;
      pieces_.Cut(pieces_.elements / elements);
      granule_ = Granule();
      return;
    }
  }

  // Pieces come in chunks, those of whole beats also in slices.
  absl::Status PlaceAll() {
    for (size_t i = 1; i < node_.operands.size(); ++i)
      numbers_.push_back(builder_.Place(
          "starts", node_.operands[i].type().bytes() + preset_.word_bytes()));
    for (size_t i = 0; i < windows_.starts.size(); ++i)
      starts_.push_back(builder_.Place("starts", 4 * count_));
    beats_ = builder_.Place("table", 4 * count_);
    // Chunks begin at whole beats of the tables and of the result.
    const int64_t step = beat_ / std::gcd<int64_t>(4, bytes_);
    if (!whole_) shifts_ = builder_.Place("shifts", 4 * count_);
    const auto offsets = static_cast<int64_t>(offsets_.size());
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
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
    if (addressed_) places_ = builder_.Place("places", 4 * chunk_);
    return builder_.Fits();
  }

  Storage Unit() const {
    return unit_ == 4   ? Storage::kWord
           : unit_ == 2 ? Storage::kHalf
                        : Storage::kByte;
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    const auto add =
        [&](const LaneGraph& graph, const std::vector<LaneStore>& stores,
            const LanePlaces& places, Loop loop, int& pc) -> absl::Status {
      const absl::StatusOr<LaneCode> code =
          Emit(graph, stores, places, preset_, static_cast<int>(words.size()),
               loop, loop == Loop::kRows);
      if (!code.ok()) return code.status();
      pc = code->main;
      words.insert(words.end(), code->words.begin(), code->words.end());
      return absl::OkStatus();
    };
    LaneGraph tables;
    LanePlaces places;
    const std::vector<LaneStore> made = Tables(tables, places);
    if (absl::Status s = add(tables, made, places, Loop::kRows, table_pc_);
        !s.ok())
      return s;
    LaneGraph moved;
    places = {};
    if (addressed_) {
      const LaneBuilder g{moved};
      const Lane place =
          g(Op::kIadd, moved.Load({0, Storage::kWord, Pattern::kStream}),
            moved.Load({1, Storage::kWord, Pattern::kStream}));
      places.operands = {{{shifts_.at, 0}, 0, 0}, {{bases(), 1}, 0, 0}};
      places.stores = {{places_.at, 1}};
      if (absl::Status s = add(moved, {{place, Storage::kWord}}, places,
                               Loop::kRows, places_pc_);
          !s.ok())
        return s;
      LaneGraph graph;
      places = {};
      places.operands = {{{0, 0}, 0, 0}};
      places.stores = {{0, 1}};
      const LaneStore store = {graph.Load({0, Unit(), Pattern::kStream}),
                               Unit(), unit_ == 2};
      if (absl::Status s = add(graph, {store}, places, Loop::kPlaces, walk_pc_);
          !s.ok())
        return s;
    } else if (!whole_) {
      const LaneStore store = Selected(moved, places);
      if (absl::Status s = add(moved, {store}, places, Loop::kRows, select_pc_);
          !s.ok())
        return s;
    }
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    result_ = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  static int WalkOf(int64_t bytes) {
    return bytes == 4 ? 0 : bytes == 2 ? 1 : 2;
  }
  int64_t StartBytes(size_t i) const {
    return ir::ElementBytes(
        node_.operands[windows_.starts[i].operand].type().element);
  }

  // The first beat of each piece, and where it begins in it.
  std::vector<LaneStore> Tables(LaneGraph& graph, LanePlaces& places) const {
    const LaneBuilder g{graph};
    Lane address = -1;
    const auto plus = [&](Lane more) {
      address = address < 0 ? more : g(Op::kIadd, address, more);
    };
    for (size_t i = 0; i < starts_.size(); ++i) {
      const Windows::Start& s = windows_.starts[i];
      const ElementType type = node_.operands[s.operand].type().element;
      const Lane start = FromMemory(
          graph, type,
          graph.Load({static_cast<int>(i), StorageOf(type), Pattern::kStream}));
      places.operands.push_back({{starts_[i].at, WalkOf(StartBytes(i))}, 0, 0});
      if (s.size == s.window) continue;
      plus(g(Op::kImul, MovedInside(graph, s, type, start),
             g.K(s.stride * size_)));
    }
    if (!offsets_.empty()) {
      plus(graph.Load({static_cast<int>(places.operands.size()), Storage::kWord,
                       Pattern::kStream}));
      places.operands.push_back({{data_.at, 0}, 0, 0});
    }
    if (address < 0) address = g.K(0);
    const Lane shift = g.K(Log2(beat_));
    Lane beat = g(Op::kShr, address, shift);
    // The last beats of the operand.
    if (!whole_) beat = g(Op::kImin, beat, g.K(last_));
    std::vector<LaneStore> stores = {{beat, Storage::kWord}};
    places.stores = {{beats_.at, 0}};
    if (whole_) return stores;
    stores.push_back(
        {g(Op::kIsub, address, g(Op::kShl, beat, shift)), Storage::kWord});
    places.stores.push_back({shifts_.at, 0});
    return stores;
  }

  // The part of a row's beats where the piece begins: walk 0 rows, walk 1
  // pieces, walk 2 shifts.
  LaneStore Selected(LaneGraph& graph, LanePlaces& places) const {
    const LaneBuilder g{graph};
    const Lane shift =
        g(Op::kBcl, graph.Load({0, Storage::kWord, Pattern::kRow}));
    places.operands.push_back({{0, 2}, 0, 0});
    Lane piece = -1;
    for (int64_t at = 0; at + bytes_ <= span_; at += granule_) {
      const Lane part = graph.Load(
          {static_cast<int>(places.operands.size()), Unit(), Pattern::kStream});
      places.operands.push_back({{at, 0}, 0, 0});
      piece = piece < 0 ? part
                        : g(Op::kSel, g(Op::kIeq, shift, g.K(at)), part, piece);
    }
    places.stores = {{0, 1}};
    return {piece, Unit(), unit_ == 2};
  }

  // Where the rows of a chunk are in their buffer.
  int64_t bases() const {
    return data_.at + 4 * static_cast<int64_t>(offsets_.size());
  }

  static int64_t Log2(int64_t n) {
    int64_t bits = 0;
    while (n >> (bits + 1) != 0) ++bits;
    return bits;
  }

  absl::Status MakeTables() {
    for (size_t i = 0; i < numbers_.size(); ++i) {
      builder_.Load(static_cast<int>(i) + 1, 0, numbers_[i].at,
                    node_.operands[i + 1].type().bytes());
    }
    std::vector<uint32_t> data;
    for (const int64_t elements : offsets_)
      data.push_back(static_cast<uint32_t>(elements * size_));
    for (int64_t i = 0; addressed_ && i < chunk_; ++i)
      data.push_back(static_cast<uint32_t>(i * span_));
    if (!data.empty()) builder_.LoadData(data, data_.at);
    std::vector<Bytes> reads = starts_;
    reads.push_back(data_);
    for (size_t i = 0; i < starts_.size(); ++i) {
      const Windows::Start& s = windows_.starts[i];
      if (s.size == s.window) continue;
      const int64_t bytes = StartBytes(i);
      const Bytes& from = numbers_[s.operand - 1];
      BufferCopy copy{from.at + s.offset * bytes,
                      starts_[i].at,
                      bytes,
                      {},
                      from,
                      starts_[i]};
      int64_t dense = count_;
      for (const WindowPieces::Dimension& d : pieces_.dimensions) {
        dense /= d.size;
        copy.dimensions.push_back({d.size, d.starts[i], dense});
      }
      if (absl::Status status = copier_.Copy(builder_, copy); !status.ok())
        return status;
    }
    std::vector<Bytes> writes = {beats_};
    if (!whole_) writes.push_back(shifts_);
    RunOverLanes(count_, [&](const RowsRun& run, int64_t first) {
      RowsRun all = run;
      for (const int64_t bytes : {4, 2, 1}) {
        all.place[WalkOf(bytes)] = bytes * first;
        all.stride[WalkOf(bytes)] = bytes * preset_.cols;
      }
      builder_.Run(table_pc_, ArgumentsOf(all), reads, writes, 8 * run.rows);
    });
    return absl::OkStatus();
  }

  // Rows of lanes that cover `count` numbers, with the first of them.
  template <typename Run>
  void RunOverLanes(int64_t count, const Run& run) const {
    const int64_t rows = count / preset_.cols, rest = count % preset_.cols;
    RowsRun part;
    part.rows = rows;
    part.lanes = preset_.cols;
    if (rows > 0) run(part, 0);
    part.rows = 1;
    part.lanes = rest;
    if (rest > 0) run(part, rows * preset_.cols);
  }

  // A slice of some pieces, from `at` on, through one of the buffers.
  void Bring(int64_t first, int64_t pieces, int64_t at, int64_t bytes,
             int64_t buffer) {
    const Bytes rows = rows_[buffer], lines = lines_[buffer];
    const int64_t pitch = RoundUp(bytes, beat_);
    builder_.LoadRows(0, at, rows.at, bytes,
                      {pieces, beats_.at + 4 * first, pitch});
    const int64_t to = first * bytes_ + at;
    if (whole_ && (pieces == 1 || slice_ == span_))
      return builder_.Store(result_, to, rows.at, pieces * bytes);
    if (whole_) {
      return builder_.StoreRuns(result_, to, rows.at, bytes,
                                {{pieces, bytes_, pitch}});
    }
    if (addressed_) {
      MoveByAddress(first, pieces, buffer);
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
      run.place[2] = shifts_.at + 4 * first;
      run.stride[2] = 4;
      run.rows = pieces;
      run.lanes = std::min(preset_.cols, units - at);
      builder_.Run(select_pc_, ArgumentsOf(run), {rows_[buffer], shifts_},
                   {lines_[buffer]}, pieces * (1 + beat_ / granule_));
    }
  }

  // The rows of lanes of one piece after the other.
  void MoveByAddress(int64_t first, int64_t pieces, int64_t buffer) {
    RunOverLanes(pieces, [&](const RowsRun& run, int64_t at) {
      RowsRun all = run;
      all.place[0] = 4 * (first + at);
      all.place[1] = 4 * at;
      all.stride[0] = all.stride[1] = 4 * preset_.cols;
      builder_.Run(places_pc_, ArgumentsOf(all), {shifts_, data_}, {places_},
                   4 * run.rows);
    });
    for (const WindowPart& part : parts_) {
      std::vector<int64_t> arguments(kPlaceOffset + 1);
      arguments[1] = lines_[buffer].at + part.to;
      arguments[kTable] = places_.at;
      arguments[kRowCount] = part.rows;
      arguments[kStrides] = part.from_stride;
      arguments[kStrides + 1] = part.to_stride;
      arguments[kLinearStep] = bytes_;
      arguments[kLaneCount] = part.lanes;
      arguments[kPlaceCount] = pieces;
      arguments[kPlaceOffset] = rows_[buffer].at + part.from;
      builder_.Run(walk_pc_, arguments, {places_, rows_[buffer]},
                   {lines_[buffer]}, kMovePlaceCycles * pieces);
    }
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const Windows windows_;
  WindowPieces pieces_;
  const int64_t size_, beat_;
  int64_t count_ = 0, bytes_ = 0;  // of pieces, of a piece
  std::vector<int64_t> offsets_;   // of the pieces, in elements
  int64_t granule_ = 0;
  bool whole_ = false;      // pieces are whole beats
  bool addressed_ = false;  // pieces are moved one by one
  int64_t span_ = 0;        // of the beats that a piece may lie in, in bytes
  int64_t last_ = 0;        // the last beat at which these begin
  int64_t unit_ = 1;        // bytes that a lane moves
  int64_t chunk_ = 0, slice_ = 0, buffers_ = 0;
  std::vector<Bytes> numbers_, starts_;
  // data_: the pieces' offsets, and the rows of a chunk.
  Bytes beats_ = {}, shifts_ = {}, data_ = {}, places_ = {};
  std::vector<WindowPart> parts_;  // of a piece that is moved by its address
  Bytes rows_[2] = {}, lines_[2] = {};
  int result_ = 0;
  int table_pc_ = 0, select_pc_ = 0, places_pc_ = 0, walk_pc_ = 0;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileRowGather(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin) {
  return RowGather(node, preset, origin).Compile();
}

}  // namespace systole::lanes
