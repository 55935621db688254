// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fusion_rows.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "host/compiler/kernels/reduction_kernel.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;

// Rows of a broadcast: those to which all of the operand belongs, or else the
// dimensions that it shares with the operand.
struct BroadcastRows {
  int64_t rows = 1;
  bool whole = true;
  size_t dimensions = 0;  // how many these are
};

BroadcastRows RowsOfBroadcast(const Node& node) {
  const Ints& dimensions = node.attr<ir::HloDimensionsAttributes>().dimensions;
  const Ints& from = node.operands[0].type().shape;
  const auto repeated = [&](size_t d) {
    const auto at = std::find(dimensions.begin(), dimensions.end(),
                              static_cast<int64_t>(d));
    return at == dimensions.end() || from[at - dimensions.begin()] == 1;
  };
  BroadcastRows all;
  size_t& d = all.dimensions;
  const Ints& shape = node.type.shape;
  for (; d < shape.size() && repeated(d); ++d) all.rows *= shape[d];
  if (all.rows > 1) return all;
  // Dimensions of the operand that were transposed are not rows.
  if (!std::is_sorted(dimensions.begin(), dimensions.end())) return all;
  all.whole = false;
  for (; d < shape.size() && (shape[d] == 1 || !repeated(d)); ++d)
    all.rows *= shape[d];
  return all;
}

int64_t RowsOfReduction(const Node& node) {
  const Ints& shape = node.operands[0].type().shape;
  const Ints& reduced = node.attr<ir::HloDimensionsAttributes>().dimensions;
  int64_t rows = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto at = static_cast<int64_t>(d);
    if (std::count(reduced.begin(), reduced.end(), at) > 0) break;
    rows *= shape[d];
  }
  return rows;
}

// Dimensions of a move's result, the first ones, whose indices go through the
// operands in the same way: a row of the result is made of a row of each.
size_t RowDimensions(const Node& node, const std::vector<Piece>& pieces) {
  const Ints& shape = node.type.shape;
  const Ints strides = ir::StridesOf(shape);
  const auto has = [&](size_t count, int64_t rows) {
    return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      const int64_t all = node.operands[piece.operand].type().elements();
      if (piece.empty() || all == 1) return true;
      if (all % rows != 0) return false;
      int64_t from = all;
      for (size_t d = 0; d < count; ++d) {
        const CopyDimension& dimension = piece.dimensions[d];
        from /= shape[d];
        if (shape[d] != 1 &&
            (dimension.size != shape[d] || dimension.from != from ||
             dimension.to != strides[d]))
          return false;
      }
      int64_t first = piece.from, last = piece.from;
      for (size_t d = count; d < shape.size(); ++d) {
        const CopyDimension& dimension = piece.dimensions[d];
        const int64_t end = (dimension.size - 1) * dimension.from;
        (end < 0 ? first : last) += end;
      }
      return first >= 0 && last < all / rows;
    });
  };
  size_t count = 0;
  int64_t rows = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    rows *= shape[d];
    if (has(d + 1, rows)) count = d + 1;
  }
  return count;
}

// Rows that these dimensions have.
int64_t Rows(const Node& node, size_t dimensions) {
  int64_t rows = 1;
  for (size_t d = 0; d < dimensions; ++d) rows *= node.type.shape[d];
  return rows;
}

int64_t RowsOfNode(const Node& node, const NodeKinds& kinds) {
  if (kinds.Of(node) == NodeKind::kElementwise) return node.type.elements();
  if (IsReduction(node)) return RowsOfReduction(node);
  if (IsArrayWork(node)) return node.type.elements() / node.type.shape.back();
  return node.op == Op::kHloBroadcastInDim
             ? RowsOfBroadcast(node).rows
             : Rows(node, RowDimensions(node, PiecesOf(node)));
}

}  // namespace

bool IsArrayWork(const Node& node) { return node.op == Op::kHloMatrixProduct; }

bool IsFusable(const Node& node, const NodeKinds& kinds) {
  if (kinds.Of(node) == NodeKind::kElementwise) return true;
  if (kinds.Of(node) != NodeKind::kMoved) return false;
  if (IsReduction(node)) {
    return ir::TreeShapeOf(node.operands[0].type().shape,
                           node.attr<ir::HloDimensionsAttributes>().dimensions)
        .adjacent;
  }
  return IsMove(node) || IsArrayWork(node);
}

bool NeedsWhole(const Node& node, int operand) {
  if (node.op == Op::kHloReduce) return operand > 0;
  if (node.op == Op::kHloBroadcastInDim &&
      !node.operands[0].type().shape.empty())
    return RowsOfBroadcast(node).whole;
  return node.operands[operand].type().elements() == 1 &&
         node.type.elements() > 1;
}

int64_t LinesOfBroadcast(const Node& node) {
  const BroadcastRows all = RowsOfBroadcast(node);
  const int64_t elements = node.operands[0].type().elements();
  return !all.whole && all.rows > 1 && elements == all.rows ? all.rows : 0;
}

std::vector<Piece> RowOfMove(const Node& node, int64_t rows) {
  if (node.op == Op::kHloBroadcastInDim) return {RowOfBroadcast(node, rows)};
  std::vector<Piece> pieces = PiecesOf(node);
  const size_t count = RowDimensions(node, pieces);
  const int64_t all = Rows(node, count);
  for (Piece& piece : pieces) {
    if (piece.empty()) continue;
    const int64_t from = node.operands[piece.operand].type().elements();
    std::vector<CopyDimension> dimensions = {
        {all / rows, from == 1 ? 0 : from / all, node.type.elements() / all}};
    dimensions.insert(dimensions.end(),
                      piece.dimensions.begin() + static_cast<int64_t>(count),
                      piece.dimensions.end());
    piece.dimensions = std::move(dimensions);
  }
  return pieces;
}

Piece RowOfBroadcast(const Node& node, int64_t rows) {
  const BroadcastRows all = RowsOfBroadcast(node);
  Piece piece = PiecesOf(node)[0];
  const int64_t from = all.whole ? 0 : node.operands[0].type().elements();
  std::vector<CopyDimension> dimensions = {
      {all.rows / rows, from / all.rows, node.type.elements() / all.rows}};
  dimensions.insert(dimensions.end(), piece.dimensions.begin() + all.dimensions,
                    piece.dimensions.end());
  piece.dimensions = std::move(dimensions);
  return piece;
}

int64_t RowsOf(const Nodes& nodes, const NodeKinds& kinds) {
  int64_t rows = 0;
  std::set<const Node*> inside(nodes.begin(), nodes.end());
  for (const Node* node : nodes) {
    rows = std::gcd(rows, RowsOfNode(*node, kinds));
    for (size_t i = 0; i < node->operands.size(); ++i) {
      if (inside.count(kinds.Root(node->operands[i]).node) > 0 &&
          NeedsWhole(*node, static_cast<int>(i)))
        rows = 1;
    }
  }
  return rows;
}

}  // namespace systole::lanes
