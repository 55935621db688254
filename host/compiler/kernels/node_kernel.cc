// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/node_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/elimination_kernel.h"
#include "host/compiler/kernels/indexed_kernel.h"
#include "host/compiler/kernels/product_kernel.h"
#include "host/compiler/kernels/reduction_kernel.h"
#include "host/compiler/kernels/region_kernel.h"
#include "host/compiler/kernels/sort_kernel.h"
#include "host/compiler/kernels/window_kernel.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;

// One copy from an operand to the result, in elements.
struct Piece {
  int operand = 0;
  int64_t from = 0, to = 0;
  std::vector<CopyDimension> dimensions;
};

void WalkPiece(Piece& piece, const Ints& sizes, const Ints& from,
               const Ints& to) {
  for (size_t i = 0; i < sizes.size(); ++i)
    piece.dimensions.push_back({sizes[i], from[i], to[i]});
}

std::vector<Piece> PiecesOfPad(const Node& node) {
  const auto& a = node.attr<ir::HloPadAttributes>();
  Piece fill;
  fill.operand = 1;
  fill.dimensions = {{node.type.elements(), 0, 1}};
  Piece inside;
  const Ints& shape = node.operands[0].type().shape;
  const Ints strides = ir::StridesOf(node.type.shape);
  const Ints from = ir::StridesOf(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    // The padding at the ends may be negative.
    const int64_t step = a.interior[i] + 1;
    const int64_t first = a.low[i] < 0 ? (-a.low[i] + step - 1) / step : 0;
    const int64_t room = node.type.shape[i] - 1 - a.low[i];
    const int64_t end = room < 0 ? 0 : std::min(shape[i], room / step + 1);
    inside.from += first * from[i];
    inside.to += (a.low[i] + first * step) * strides[i];
    inside.dimensions.push_back(
        {std::max<int64_t>(0, end - first), from[i], step * strides[i]});
  }
  return {fill, inside};
}

// The pieces of a move in which every element has one position.
std::vector<Piece> PiecesOf(const Node& node) {
  const Ints& shape = node.type.shape;
  const Ints to = ir::StridesOf(shape);
  const Ints& from_shape = node.operands[0].type().shape;
  Ints from = ir::StridesOf(from_shape);
  Piece piece;
  switch (node.op) {
    case Op::kHloBroadcastInDim: {
      const Ints& dimensions =
          node.attr<ir::HloDimensionsAttributes>().dimensions;
      Ints stretched(shape.size(), 0);
      for (size_t i = 0; i < from_shape.size(); ++i) {
        if (from_shape[i] != 1) stretched[dimensions[i]] = from[i];
      }
      WalkPiece(piece, shape, stretched, to);
      return {piece};
    }
    case Op::kHloTranspose: {
      Ints permuted;
      for (const int64_t d : node.attr<ir::TransposeAttributes>().permutation)
        permuted.push_back(from[d]);
      WalkPiece(piece, shape, permuted, to);
      return {piece};
    }
    case Op::kHloStrided: {
      const auto& a = node.attr<ir::HloStridedAttributes>();
      piece.from = a.offset;
      WalkPiece(piece, shape, a.strides, to);
      return {piece};
    }
    case Op::kHloSlice: {
      const auto& a = node.attr<ir::HloSliceAttributes>();
      for (size_t i = 0; i < from.size(); ++i) {
        piece.from += a.start[i] * from[i];
        from[i] *= a.strides[i];
      }
      WalkPiece(piece, shape, from, to);
      return {piece};
    }
    case Op::kHloReverse: {
      for (const int64_t d :
           node.attr<ir::HloDimensionsAttributes>().dimensions) {
        piece.from += (shape[d] - 1) * from[d];
        from[d] = -from[d];
      }
      WalkPiece(piece, shape, from, to);
      return {piece};
    }
    case Op::kHloConcatenate: {
      const int64_t d = node.attr<ir::HloDimensionAttributes>().dimension;
      std::vector<Piece> pieces;
      int64_t at = 0;
      for (size_t i = 0; i < node.operands.size(); ++i) {
        const Ints& sizes = node.operands[i].type().shape;
        Piece part;
        part.operand = static_cast<int>(i);
        part.to = at * to[d];
        WalkPiece(part, sizes, ir::StridesOf(sizes), to);
        at += sizes[d];
        pieces.push_back(part);
      }
      return pieces;
    }
    default:  // kHloPad
      return PiecesOfPad(node);
  }
}

bool IsMove(const Node& node) {
  switch (node.op) {
    case Op::kHloBroadcastInDim:
    case Op::kHloTranspose:
    case Op::kHloSlice:
    case Op::kHloReverse:
    case Op::kHloStrided:
    case Op::kHloConcatenate:
    case Op::kHloPad:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<KernelProgram> CompileMove(const Node& node,
                                          const Preset& preset) {
  KernelBuilder builder(preset);
  BufferCopier copier(preset);
  std::vector<uint64_t> words;
  if (absl::Status s = copier.AddCode(words); !s.ok()) return s;
  std::vector<KernelBuilder::Bytes> places;
  // The load of an element that is spread reads a whole row.
  const auto add = [&](const char* name, int64_t bytes, int64_t more) {
    builder.AddOperand(bytes);
    places.push_back(builder.Place(name, bytes + more));
  };
  for (const ir::Value& operand : node.operands)
    add("operand", operand.type().bytes(), preset.word_bytes());
  add("result", node.type.bytes(), 0);
  if (absl::Status s = builder.Fits(); !s.ok()) return s;
  builder.SetCode(std::move(words));
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const int64_t bytes = node.operands[i].type().bytes();
    if (bytes > 0) builder.Load(static_cast<int>(i), 0, places[i].at, bytes);
  }
  const KernelBuilder::Bytes result = places.back();
  const int64_t size = ir::ElementBytes(node.type.element);
  for (const Piece& piece : PiecesOf(node)) {
    const KernelBuilder::Bytes from = places[piece.operand];
    const BufferCopy copy{from.at + piece.from * size,
                          result.at + piece.to * size,
                          size,
                          piece.dimensions,
                          from,
                          result};
    if (absl::Status s = copier.Copy(builder, copy); !s.ok()) return s;
  }
  builder.Store(static_cast<int>(node.operands.size()), 0, result.at,
                node.type.bytes());
  return builder.Finish();
}

// A move whose tensors do not fit: it processes some indices of the result's
// first dimension at a time, with the parts of the operands that they need.
class MoveInParts {
 public:
  MoveInParts(const Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        size_(ir::ElementBytes(node.type.element)),
        unit_(builder_.Align(1)),
        pieces_(PiecesOf(node)) {
    const Ints& shape = node.type.shape;
    while (d_ < shape.size() && shape[d_] == 1) ++d_;
    count_ = d_ < shape.size() ? shape[d_] : 1;
    slab_ = node.type.elements() / count_;
  }

  absl::StatusOr<KernelProgram> Compile() {
    // Stores begin and end at multiples of the beat.
    int64_t least = 1;
    while (least < count_ && least * slab_ * size_ % unit_ != 0) ++least;
    int64_t rows = count_;
    for (;;) {
      if (rows <= least) {
        return builder_.Fits().ok() ? absl::ResourceExhaustedError(
                                          "the unified buffer is too small")
                                    : builder_.Fits();
      }
      rows = (rows / 2 + least - 1) / least * least;
      PlaceParts(rows);
      if (builder_.Fits().ok()) break;
    }
    std::vector<uint64_t> words;
    BufferCopier copier(preset_);
    if (absl::Status s = copier.AddCode(words); !s.ok()) return s;
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    const int result = static_cast<int>(node_.operands.size());
    for (int64_t at = 0; at < count_; at += rows) {
      const int64_t end = std::min(count_, at + rows);
      for (size_t i = 0; i < pieces_.size(); ++i) {
        const Part part = PartOf(pieces_[i], at, end);
        if (part.end == part.begin) continue;
        builder_.Load(part.piece.operand, part.begin, places_[i].at,
                      part.end - part.begin);
        const BufferCopy copy{
            places_[i].at + part.piece.from * size_ - part.begin,
            places_.back().at + part.piece.to * size_,
            size_,
            part.piece.dimensions,
            places_[i],
            places_.back()};
        if (absl::Status s = copier.Copy(builder_, copy); !s.ok()) return s;
      }
      builder_.Store(result, at * slab_ * size_, places_.back().at,
                     (end - at) * slab_ * size_);
    }
    return builder_.Finish();
  }

 private:
  // A part of a piece: positions in the result's part; range of the operand in
  // bytes.
  struct Part {
    Piece piece;
    int64_t begin = 0, end = 0;
  };

  Part PartOf(Piece piece, int64_t begin, int64_t end) const {
    if (node_.op == Op::kHloPad && piece.operand == 1) {
      piece.dimensions[0].size = (end - begin) * slab_;
    } else if (d_ < piece.dimensions.size()) {
      CopyDimension& d = piece.dimensions[d_];
      const int64_t first = piece.to / slab_, inner = piece.to % slab_;
      const int64_t step = std::max<int64_t>(1, d.to / slab_);
      const auto index = [&](int64_t row) {
        const int64_t rows = std::max<int64_t>(0, row - first);
        return std::min(d.size, (rows + step - 1) / step);
      };
      const int64_t i = index(begin);
      d.size = index(end) - i;
      if (d.size <= 0) return {};
      piece.from += i * d.from;
      piece.to = inner + (first + i * step - begin) * slab_;
    }
    int64_t low = piece.from, high = piece.from + 1;
    for (const CopyDimension& d : piece.dimensions) {
      if (d.size == 0) return {};
      low += std::min<int64_t>(0, (d.size - 1) * d.from);
      high += std::max<int64_t>(0, (d.size - 1) * d.from);
    }
    return {piece, low * size_ / unit_ * unit_, high * size_};
  }

  // Places the pieces and, last, the result.
  void PlaceParts(int64_t rows) {
    places_.clear();
    builder_.ReleaseAll();
    for (const Piece& piece : pieces_) {
      int64_t most = 0;
      for (int64_t at = 0; at < count_; at += rows) {
        const Part part = PartOf(piece, at, std::min(count_, at + rows));
        most = std::max(most, part.end - part.begin);
      }
      places_.push_back(builder_.Place("piece", most + preset_.word_bytes()));
    }
    places_.push_back(builder_.Place("part", rows * slab_ * size_));
  }

  const Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  const int64_t size_, unit_;
  const std::vector<Piece> pieces_;
  size_t d_ = 0;                  // the dimension that is cut
  int64_t count_ = 1, slab_ = 1;  // its size; elements per index
  std::vector<KernelBuilder::Bytes> places_;
};

}  // namespace

bool HasKernel(const Node& node) {
  if (IsRegionReduction(node) || IsSort(node)) return true;
  if (node.results() != 1 || node.type.elements() == 0) return false;
  return IsMove(node) || node.op == Op::kHloMatrixProduct || IsIndexed(node) ||
         IsReduction(node) || IsWindowed(node) || IsElimination(node);
}

absl::StatusOr<KernelProgram> CompileNode(const Node& node,
                                          const Preset& preset) {
  if (IsMove(node)) {
    absl::StatusOr<KernelProgram> whole = CompileMove(node, preset);
    return absl::IsResourceExhausted(whole.status())
               ? MoveInParts(node, preset).Compile()
               : whole;
  }
  if (node.op == Op::kHloMatrixProduct) return CompileProduct(node, preset);
  if (IsIndexed(node)) return CompileIndexed(node, preset);
  if (IsWindowed(node)) return CompileWindowed(node, preset);
  if (IsSort(node)) return CompileSort(node, preset);
  if (IsElimination(node)) return CompileElimination(node, preset);
  return IsReduction(node) ? CompileReduction(node, preset)
                           : CompileRegionReduction(node, preset);
}

}  // namespace systole::lanes
