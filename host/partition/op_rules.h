// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Along which dimensions an operation may be divided. Each dimension of an
// operand or a result belongs to a factor or to none; one without a factor must
// be whole on every device. Tiles of a factor are computed from the same tiles
// of the operands' dimensions of that factor.
#ifndef SYSTOLE_HOST_PARTITION_OP_RULES_H_
#define SYSTOLE_HOST_PARTITION_OP_RULES_H_

#include <optional>
#include <vector>

#include "host/ir/module.h"

namespace systole::partition {

constexpr int kWhole = -1;

struct OpRule {
  std::vector<std::vector<int>> operands, results;  // a factor a dimension
  int factors = 0;
  // Factors of operands that no result has: the results of the devices are
  // parts of a sum, or of what this operation combines.
  ir::Op combines = ir::Op::kHloAdd;
  // Of gather and scatter, the components of an index that count places of a
  // dimension with a factor (lookup.h).
  std::vector<int64_t> lookups;
  bool Combines(int factor) const;
};

// The rule of a node outside of control flow, collectives and marks; for an
// operation that is not divided, without factors.
OpRule RuleOf(const ir::Node& node);

// The attributes for operands and a result of other sizes, those of the tiles.
void SetTileSizes(const OpRule& rule, const std::vector<ir::Type>& operands,
                  const ir::Type& result, ir::Node& node);

// The scalar that a node broadcasts or is, if it is a constant.
std::optional<ir::Literal> UniformValue(ir::Value value);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_OP_RULES_H_
