// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations that move elements. Each element of the result determines its
// source; for pad, each element of the operand determines its destination.
#include <cstdlib>

#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;

// Reinterprets the bits in sequence, the first element in the lowest bits.
Tensor Bitcast(const Node& node, const Tensor& from) {
  Tensor result(node.type.element, node.type.shape);
  const int narrow = std::min(Width(from.element), Width(result.element));
  const int in = Width(from.element) / narrow,
            out = Width(result.element) / narrow;
  for (int64_t i = 0; i < result.size() * out; ++i) {
    const uint64_t part = from.bits[i / in] >> narrow * (i % in);
    const uint64_t mask = ~uint64_t{0} >> (64 - narrow);
    result.bits[i / out] |= (part & mask) << narrow * (i % out);
  }
  return result;
}

Tensor Concatenate(const Node& node, const Tensors& operands) {
  Tensor result(node.type.element, node.type.shape);
  const int64_t d = node.attr<ir::HloDimensionAttributes>().dimension;
  int64_t first = 0;
  for (const Tensor& operand : operands) {
    ForEach(operand.shape, [&](const Index& index) {
      Index place = index;
      place[d] += first;
      result[place] = operand[index];
    });
    first += operand.shape[d];
  }
  return result;
}

Tensor Pad(const Node& node, const Tensors& operands) {
  Tensor result(node.type.element, node.type.shape);
  const auto& a = node.attr<ir::HloPadAttributes>();
  for (uint64_t& bits : result.bits) bits = operands[1].bits[0];
  ForEach(operands[0].shape, [&](const Index& index) {
    Index place;
    for (size_t i = 0; i < index.size(); ++i) {
      place.push_back(a.low[i] + index[i] * (a.interior[i] + 1));
      if (place[i] < 0 || place[i] >= result.shape[i]) return;
    }
    result[place] = operands[0][index];
  });
  return result;
}

// A number equal to its position along a dimension.
uint64_t Number(Element element, int64_t number) {
  return IsReal(element) ? FromReal(element, static_cast<float>(number))
                         : Wrapped(element, static_cast<uint64_t>(number));
}

}  // namespace

Tensor Moved(const Node& node, const Tensors& operands) {
  if (node.op == Op::kHloBitcastConvert) return Bitcast(node, operands[0]);
  if (node.op == Op::kHloConcatenate) return Concatenate(node, operands);
  if (node.op == Op::kHloPad) return Pad(node, operands);
  Tensor result(node.type.element, node.type.shape);
  if (node.op == Op::kHloReshape) {
    result.bits = operands[0].bits;
    return result;
  }
  ForEach(result.shape, [&](const Index& index) {
    Index from;
    switch (node.op) {
      case Op::kHloIota:
        result[index] =
            Number(result.element,
                   index[node.attr<ir::HloDimensionAttributes>().dimension]);
        return;
      case Op::kHloBroadcastInDim: {
        const Index& to = node.attr<ir::HloDimensionsAttributes>().dimensions;
        for (size_t i = 0; i < to.size(); ++i)
          from.push_back(operands[0].shape[i] == 1 ? 0 : index[to[i]]);
        break;
      }
      case Op::kHloTranspose: {
        const Index& order = node.attr<ir::TransposeAttributes>().permutation;
        from.resize(index.size());
        for (size_t i = 0; i < order.size(); ++i) from[order[i]] = index[i];
        break;
      }
      case Op::kHloSlice: {
        const auto& a = node.attr<ir::HloSliceAttributes>();
        for (size_t i = 0; i < index.size(); ++i)
          from.push_back(a.start[i] + index[i] * a.strides[i]);
        break;
      }
      case Op::kHloReverse: {
        const Index& turned =
            node.attr<ir::HloDimensionsAttributes>().dimensions;
        for (size_t i = 0; i < index.size(); ++i) {
          const bool turns = Contains(turned, static_cast<int64_t>(i));
          from.push_back(turns ? result.shape[i] - 1 - index[i] : index[i]);
        }
        break;
      }
      default:
        std::abort();
    }
    result[index] = operands[0][from];
  });
  return result;
}

}  // namespace systole::golden::hlo
