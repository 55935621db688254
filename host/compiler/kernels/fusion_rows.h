// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How nodes are cut into rows: a row of a node's result needs one row of its
// operands, or all of an operand.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSION_ROWS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSION_ROWS_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/move_pieces.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"

namespace systole::lanes {

using Nodes = std::vector<const ir::Node*>;

// Whether it is a product of matrices.
bool IsArrayWork(const ir::Node& node);

// Whether the node can be in a kernel with others.
bool IsFusable(const ir::Node& node, const NodeKinds& kinds);

// Into how many rows all values of these nodes are cut; 1: they are not.
int64_t RowsOf(const Nodes& nodes, const NodeKinds& kinds);

// Whether a fused node needs all of an operand for each row.
bool NeedsWhole(const ir::Node& node, int operand);

// Lines of a broadcast that has one element for each of them; 0: of others.
int64_t LinesOfBroadcast(const ir::Node& node);

// One of `rows` rows of a broadcast, or of any move; strides within a row of
// the result and, unless that is needed whole, of the operand.
Piece RowOfBroadcast(const ir::Node& node, int64_t rows);
std::vector<Piece> RowOfMove(const ir::Node& node, int64_t rows);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSION_ROWS_H_
