// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/move_pieces.h"

#include <algorithm>
#include <utility>

#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;

void WalkPiece(Piece& piece, const Ints& sizes, const Ints& from,
               const Ints& to) {
  for (size_t i = 0; i < sizes.size(); ++i)
    piece.dimensions.push_back({sizes[i], from[i], to[i]});
}

// Elements that the operand's lie between in a dimension are padding as well.
bool HasInterior(const ir::HloPadAttributes& a) {
  return std::any_of(a.interior.begin(), a.interior.end(),
                     [](int64_t n) { return n > 0; });
}

std::vector<Piece> PiecesOfPad(const Node& node) {
  const auto& a = node.attr<ir::HloPadAttributes>();
  const Ints& shape = node.type.shape;
  const Ints& operand = node.operands[0].type().shape;
  const Ints strides = ir::StridesOf(shape);
  const Ints from = ir::StridesOf(operand);
  Piece inside;
  Ints first(shape.size()), count(shape.size());  // in the result
  for (size_t i = 0; i < shape.size(); ++i) {
    // The padding at the ends may be negative.
    const int64_t step = a.interior[i] + 1;
    const int64_t skipped = a.low[i] < 0 ? (-a.low[i] + step - 1) / step : 0;
    const int64_t room = shape[i] - 1 - a.low[i];
    const int64_t end = room < 0 ? 0 : std::min(operand[i], room / step + 1);
    first[i] = a.low[i] + skipped * step;
    count[i] = std::max<int64_t>(0, end - skipped);
    inside.from += skipped * from[i];
    inside.to += first[i] * strides[i];
    inside.dimensions.push_back({count[i], from[i], step * strides[i]});
  }
  Piece fill;
  fill.operand = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    fill.dimensions.push_back({shape[i], 0, strides[i]});
  if (HasInterior(a) || inside.empty()) return {fill, inside};
  // What lies below and above the operand, one dimension after the other.
  std::vector<Piece> pieces = {inside};
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto border = [&](int64_t at, int64_t size) {
      if (size == 0) return;
      Piece part = fill;
      part.dimensions[i].size = size;
      part.to += at * strides[i];
      pieces.push_back(part);
    };
    border(0, first[i]);
    border(first[i] + count[i], shape[i] - first[i] - count[i]);
    fill.dimensions[i].size = count[i];
    fill.to += first[i] * strides[i];
  }
  return pieces;
}

}  // namespace

bool Piece::Restrict(size_t dimension, int64_t slab, int64_t begin,
                     int64_t end) {
  CopyDimension& d = dimensions[dimension];
  const int64_t first = to / slab, inner = to % slab;
  const int64_t step = std::max<int64_t>(1, d.to / slab);
  const auto index = [&](int64_t row) {
    const int64_t rows = std::max<int64_t>(0, row - first);
    return std::min(d.size, (rows + step - 1) / step);
  };
  const int64_t i = index(begin);
  d.size = index(end) - i;
  if (d.size <= 0) return false;
  from += i * d.from;
  to = inner + (first + i * step - begin) * slab;
  return true;
}

bool Piece::empty() const {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const CopyDimension& d) { return d.size == 0; });
}

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

}  // namespace systole::lanes
