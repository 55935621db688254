// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PARTITION_OP_RULES_PARTS_H_
#define SYSTOLE_HOST_PARTITION_OP_RULES_PARTS_H_

#include "host/partition/op_rules.h"

namespace systole::partition {

// Makes a rule, dimension by dimension; those not named are whole.
class RuleMaker {
 public:
  explicit RuleMaker(const ir::Node& node) {
    for (const ir::Value& operand : node.operands)
      rule_.operands.emplace_back(operand.type().rank(), kWhole);
    for (int r = 0; r < node.results(); ++r)
      rule_.results.emplace_back(node.result_type(r).rank(), kWhole);
  }

  int New() { return rule_.factors++; }
  void Operand(size_t operand, int64_t dimension, int factor) {
    rule_.operands[operand][dimension] = factor;
  }
  void Result(int result, int64_t dimension, int factor) {
    rule_.results[result][dimension] = factor;
  }
  OpRule& rule() { return rule_; }

 private:
  OpRule rule_;
};

// Of iota, bitcast_convert to reverse, gather and scatter (op_rules_moves.cc);
// nothing is added for other operations.
void MoveRule(const ir::Node& node, RuleMaker& make);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_OP_RULES_PARTS_H_
