// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of rows, indices of the largest value, and lookups by index.
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

void Normalize(int8_t* row, int64_t depth, int zero_point, bool uint8) {
  int32_t sum = 0;
  for (int64_t i = 0; i < depth; ++i) {
    const int centred = row[i] - zero_point;
    sum += centred * centred;
  }
  Factor factor = InverseRootOf(sum);
  // Results have steps of 2^-7. The 2^7 goes into the factor, or for uint8 into
  // the number.
  if (!uint8) factor.shift += 7;
  for (int64_t i = 0; i < depth; ++i) {
    const int centred = row[i] - zero_point;
    row[i] = Clamped(Scale(uint8 ? 128 * centred : centred, factor));
  }
}

// Uses single precision and a table of e^(-d scale).
void LogSoftmax(int8_t* row, int64_t depth, float scale) {
  const int highest = *std::max_element(row, row + depth);
  float sum = 0;
  for (int64_t i = 0; i < depth; ++i) {
    sum += std::exp(-scale * static_cast<float>(highest - row[i]));
  }
  const float slope = scale / (1.0f / 16);
  const float offset =
      (scale * static_cast<float>(highest) + std::log(sum)) / (1.0f / 16);
  for (int64_t i = 0; i < depth; ++i) {
    const float steps = slope * static_cast<float>(row[i]) - offset;
    row[i] = Clamped(static_cast<int64_t>(std::rint(steps)) + 127);
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateRows(const Node& node,
                                     const Operands& operands) {
  const Quantization& from = node.operands[0]->quantization();
  std::vector<int8_t> values = operands[0]->values<int8_t>();
  const int64_t depth = node.type.shape.back();
  for (size_t row = 0; row < values.size(); row += depth) {
    if (node.op == Op::kL2Normalize) {
      Normalize(&values[row], depth, from.zero_point,
                node.attr<RowAttributes>().uint8);
    } else {
      LogSoftmax(&values[row], depth, from.scale());
    }
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> EvaluateArgument(const Node& node,
                                         const Operands& operands) {
  const Ints& shape = node.operands[0]->type.shape;
  const int64_t axis = node.attr<AxisAttributes>().axis;
  const int64_t stride = StridesOf(shape)[axis];
  const std::vector<int8_t>& values = operands[0]->values<int8_t>();
  std::vector<int32_t> results;
  for (int64_t i = 0; i < node.type.elements(); ++i) {
    const int64_t first = i / stride * stride * shape[axis] + i % stride;
    int32_t best = 0;
    for (int32_t k = 1; k < shape[axis]; ++k) {
      const int8_t value = values[first + k * stride];
      const int8_t so_far = values[first + best * stride];
      if (node.op == Op::kArgMax ? value > so_far : value < so_far) best = k;
    }
    results.push_back(best);
  }
  return Literal(std::move(results));
}

absl::StatusOr<Literal> EvaluateGather(const Node& node,
                                       const Operands& operands) {
  const Ints& shape = node.operands[0]->type.shape;
  const auto& [axis, batch] = node.attr<GatherAttributes>();
  const int64_t size = shape[axis], inner = StridesOf(shape)[axis];
  const auto product = [](Ints::const_iterator begin,
                          Ints::const_iterator end) {
    return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
  };
  const int64_t outer = product(shape.begin() + batch, shape.begin() + axis);
  const Ints& picked = node.operands[1]->type.shape;
  const int64_t count = product(picked.begin() + batch, picked.end());
  const std::vector<int32_t>& indices = operands[1]->values<int32_t>();
  for (int32_t index : indices) {
    if (index < 0 || index >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("index ", index, " of ", size));
    }
  }
  return operands[0]->VisitQuant([&](const auto& values) {
    std::decay_t<decltype(values)> results;
    auto slices = values.begin();  // of the axis
    for (auto first = indices.begin(); first != indices.end(); first += count) {
      for (int64_t i = 0; i < outer; ++i, slices += size * inner) {
        for (auto index = first; index != first + count; ++index) {
          const auto begin = slices + *index * inner;
          results.insert(results.end(), begin, begin + inner);
        }
      }
    }
    return Literal(std::move(results));
  });
}

}  // namespace systole::ir
