// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fusion_rows.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "host/compiler/kernels/reduction_kernel.h"
#include "host/ir/hlo/tree.h"

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

int64_t RowsOfNode(const Node& node, const NodeKinds& kinds) {
  if (kinds.Of(node) == NodeKind::kElementwise) return node.type.elements();
  if (IsReduction(node)) return RowsOfReduction(node);
  if (IsArrayWork(node)) return node.type.elements() / node.type.shape.back();
  return node.op == Op::kHloBroadcastInDim ? RowsOfBroadcast(node).rows : 1;
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
