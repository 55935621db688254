// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_memory.h"

#include <cstdlib>

#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {

using ir::ElementType;
using vpu::Op;

Lane FromMemory(LaneGraph& graph, ElementType type, Lane loaded) {
  switch (type) {
    case ElementType::kBool:
      return graph.Make(Op::kIsub, graph.Constant(0), loaded);
    case ElementType::kUint8:
      return graph.Make(Op::kIand, loaded, graph.Constant(255));
    case ElementType::kInt16:
      return graph.Make(Op::kSar, loaded, graph.Constant(16));
    case ElementType::kUint16:
      return graph.Make(Op::kShr, loaded, graph.Constant(16));
    case ElementType::kFloat16:
      return FromFloat16(graph, loaded);
    default:
      return loaded;
  }
}

LaneStore ToMemory(LaneGraph& graph, ElementType type, Lane lane, bool bits) {
  LaneStore store = {lane, StorageOf(type)};
  switch (type) {
    case ElementType::kBool:
      store.lane = graph.Make(Op::kIand, lane, graph.Constant(1));
      break;
    case ElementType::kFloat16:
      store.lane = ToFloat16(graph, lane, bits);
      [[fallthrough]];
    case ElementType::kBfloat16:
      store.bits = bits;
      break;
    case ElementType::kInt16:
    case ElementType::kUint16:
      store.bits = true;
      store.lane = graph.Make(Op::kShl, lane, graph.Constant(16));
      break;
    default:
      break;
  }
  return store;
}

Lane OfLiteral(LaneGraph& graph, const ir::Literal& value) {
  return value.Visit([&](const auto& values) -> Lane {
    using T = typename std::decay_t<decltype(values)>::value_type;
    constexpr ElementType kType = ir::ElementOf<T>::kType;
    if constexpr (kType == ElementType::kBool) {
      return graph.Constant(values[0] ? ~0u : 0);
    } else if constexpr (ir::IsFloat(kType)) {
      return graph.Float(static_cast<float>(values[0]));
    } else if constexpr (sizeof(T) <= 4) {
      return graph.Constant(static_cast<uint32_t>(values[0]));
    } else {
      std::abort();  // excluded by FitsLane
    }
  });
}

}  // namespace systole::lanes
