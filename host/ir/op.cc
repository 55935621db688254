// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/op.h"

#include <vector>

#include "host/ir/hlo/ops.h"
#include "host/ir/module.h"
#include "host/ir/quant/ops.h"
#include "host/ir/rules.h"

namespace systole::ir {
namespace {

absl::StatusOr<Literals> EvaluateConstant(const Node& node, const Operands&,
                                          Evaluation&) {
  return Literals{node.literal()};
}

// In the order of the enumeration.
const std::vector<OpInfo>& Table() {
  static const auto& table = *[] {
    auto* ops = new std::vector<OpInfo>{
        {Op::kParameter, "parameter", 0, 1, 0, ParameterAttributes{},
         CheckParameter, nullptr},
        {Op::kConstant, "constant", 0, 0, 0, ConstantAttributes{},
         CheckConstant, EvaluateConstant}};
    for (const std::vector<OpInfo>& set : {QuantOps(), HloOps()}) {
      ops->insert(ops->end(), set.begin(), set.end());
    }
    return ops;
  }();
  return table;
}

template <typename T>
bool SameValue(const T& a, const T& b) {
  return a == b;
}

bool SameValue(const std::shared_ptr<const Literal>& a,
               const std::shared_ptr<const Literal>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

const OpInfo& InfoOf(Op op) { return Table()[static_cast<int>(op)]; }

OpSet SetOf(Op op) {
  if (op <= Op::kConstant) return OpSet::kCore;
  if (op < Op::kHloAdd) return OpSet::kQuant;
  return OpSet::kHlo;
}

const char* OpName(Op op) { return InfoOf(op).name; }

std::optional<Op> OpFromName(std::string_view name) {
  for (const OpInfo& info : Table()) {
    if (name == info.name) return info.op;
  }
  return std::nullopt;
}

absl::Span<const OpInfo> AllOps() { return Table(); }

bool Equal(const Attributes& a, const Attributes& b) {
  if (a.index() != b.index()) return false;
  bool equal = true;
  a.Visit([&](const auto& left) {
    using Kind = std::decay_t<decltype(left)>;
    const Kind& right = b.Get<Kind>();
    Kind::Fields(left, [&](const char* name, const auto& value) {
      Kind::Fields(right, [&](const char* other, const auto& expected) {
        if constexpr (std::is_same_v<decltype(value), decltype(expected)>) {
          if (std::string_view(name) == other) {
            equal = equal && SameValue(value, expected);
          }
        }
      });
    });
  });
  return equal;
}

}  // namespace systole::ir
