// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SVDF: docs/numerics.md.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {

// Shifts each filter's history by one value; the newest value comes last.
absl::StatusOr<Literal> EvaluateSvdfState(const Node& node,
                                          const Operands& operands) {
  const std::vector<int32_t>& sums = operands[0]->values<int32_t>();
  const absl::StatusOr<Factor> factor =
      FactorOf(node.attr<SvdfAttributes>().factor);
  if (!factor.ok()) return factor.status();
  return operands[1]->VisitQuant([&](auto values) -> absl::StatusOr<Literal> {
    using T = typename decltype(values)::value_type;
    if constexpr (std::is_integral_v<T>) {
      const auto memory = static_cast<int64_t>(values.size() / sums.size());
      auto past = values.begin();
      for (const int32_t sum : sums) {
        std::copy(past + 1, past + memory, past);
        past += memory;
        const int64_t value = int64_t{Scale(sum, *factor)} + ZeroOf(node);
        *(past - 1) = static_cast<T>(
            std::clamp<int64_t>(value, std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::max()));
      }
      return Literal(std::move(values));
    } else {
      return absl::InvalidArgumentError("a state of floats");
    }
  });
}

absl::StatusOr<Literal> EvaluateSvdfOutput(const Node& node,
                                           const Operands& operands) {
  const auto& a = node.attr<SvdfAttributes>();
  const Ints& shape = node.operands[1]->type.shape;
  const int64_t memory = shape[1], units = shape[0] / a.rank;
  const int32_t zero = ZeroOf(*node.operands[0]);
  const absl::StatusOr<Factor> factor = FactorOf(a.factor);
  if (!factor.ok()) return factor.status();
  return operands[0]->VisitQuant(
      [&](const auto& state) -> absl::StatusOr<Literal> {
        using Values = std::decay_t<decltype(state)>;
        using T = typename Values::value_type;
        const Values& weights = operands[1]->values<T>();
        std::vector<int8_t> values;
        for (int64_t i = 0; i < node.type.elements(); ++i) {
          const int64_t unit = i % units, batch = i / units;
          uint32_t sum = 0;  // modulo 2^32
          if (operands.size() == 3)
            sum = static_cast<uint32_t>(operands[2]->values<int32_t>()[unit]);
          const int64_t first = unit * a.rank * memory;
          for (int64_t k = first; k < first + a.rank * memory; ++k) {
            sum += static_cast<uint32_t>(
                static_cast<int32_t>(weights[k]) *
                (static_cast<int32_t>(state[batch * shape[0] * memory + k]) -
                 zero));
          }
          values.push_back(ToOutput(Scale(static_cast<int32_t>(sum), *factor),
                                    ZeroOf(node), {-128, 127}));
        }
        return Literal(std::move(values));
      });
}

}  // namespace systole::ir
