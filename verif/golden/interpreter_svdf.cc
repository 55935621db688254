// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The steps of an SVDF.
#include <algorithm>

#include "verif/golden/interpreter_nodes.h"

namespace systole::golden {
namespace {

std::vector<int64_t> Wide(const Literal& values) {
  std::vector<int64_t> wide;
  values.VisitQuant([&](const auto& all) {
    for (const auto value : all) wide.push_back(static_cast<int64_t>(value));
  });
  return wide;
}

template <typename T>
Literal Narrow(const std::vector<int64_t>& values) {
  std::vector<T> narrow;
  for (const int64_t value : values) narrow.push_back(static_cast<T>(value));
  return Literal(std::move(narrow));
}

}  // namespace

absl::StatusOr<Literal> SvdfState(const Node& node, const Operands& operands) {
  const absl::StatusOr<Multiplier> m =
      QuantizeMultiplier(node.attr<ir::SvdfAttributes>().factor);
  if (!m.ok()) return m.status();
  const bool bytes = node.type.element == ir::ElementType::kInt8;
  const int64_t limit = bytes ? 128 : 32768;
  const std::vector<int64_t> sums = Wide(*operands[0]);
  const std::vector<int64_t> before = Wide(*operands[1]);
  const size_t memory = before.size() / sums.size();
  std::vector<int64_t> after;
  for (size_t i = 0; i < before.size(); ++i) {
    if (i % memory + 1 < memory) {
      after.push_back(before[i + 1]);
      continue;
    }
    const int64_t newest = Requantize(static_cast<int32_t>(sums[i / memory]),
                                      *m, Rounding::kDouble) +
                           int64_t{ZeroOf(node)};
    after.push_back(std::clamp(newest, -limit, limit - 1));
  }
  return bytes ? Narrow<int8_t>(after) : Narrow<int16_t>(after);
}

absl::StatusOr<Literal> SvdfOutput(const Node& node, const Operands& operands) {
  const auto& a = node.attr<ir::SvdfAttributes>();
  const absl::StatusOr<Multiplier> m = QuantizeMultiplier(a.factor);
  if (!m.ok()) return m.status();
  const std::vector<int64_t> state = Wide(*operands[0]);
  const std::vector<int64_t> weights = Wide(*operands[1]);
  const int64_t units = node.type.shape[1];
  const auto part = static_cast<int64_t>(weights.size()) / units;
  std::vector<int64_t> results;
  for (int64_t b = 0; b < node.type.shape[0]; ++b) {
    for (int64_t u = 0; u < units; ++u) {
      int64_t sum =
          operands.size() == 3 ? operands[2]->values<int32_t>()[u] : 0;
      for (int64_t k = u * part; k < (u + 1) * part; ++k) {
        sum += weights[k] * (state[b * units * part + k] -
                             int64_t{ZeroOf(*node.operands[0])});
      }
      const int64_t scaled = Requantize(static_cast<int32_t>(sum), *m,
                                        Rounding::kDouble);  // modulo 2^32
      results.push_back(std::clamp<int64_t>(scaled + ZeroOf(node), -128, 127));
    }
  }
  return Narrow<int8_t>(results);
}

}  // namespace systole::golden
