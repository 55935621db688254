// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_memory.h"

#include <cstdlib>

namespace systole::lanes {

using ir::ElementType;
using vpu::Op;

Lane FromMemory(LaneGraph& graph, ElementType type, Lane loaded) {
  switch (type) {
    case ElementType::kBool:
      return graph.Make(Op::kIsub, graph.Constant(0), loaded);
    case ElementType::kUint8:
      return graph.Make(Op::kIand, loaded, graph.Constant(255));
    default:
      return loaded;
  }
}

Lane ToMemory(LaneGraph& graph, ElementType type, Lane lane) {
  if (type != ElementType::kBool) return lane;
  return graph.Make(Op::kIand, lane, graph.Constant(1));
}

Lane OfLiteral(LaneGraph& graph, const ir::Literal& value) {
  switch (value.element()) {
    case ElementType::kBool:
      return graph.Constant(value.values<ir::Bool>()[0] ? ~0u : 0);
    case ElementType::kInt8:
      return graph.Constant(static_cast<uint32_t>(value.values<int8_t>()[0]));
    case ElementType::kUint8:
      return graph.Constant(value.values<uint8_t>()[0]);
    case ElementType::kInt32:
      return graph.Constant(static_cast<uint32_t>(value.values<int32_t>()[0]));
    case ElementType::kUint32:
      return graph.Constant(value.values<uint32_t>()[0]);
    case ElementType::kBfloat16:
      return graph.Constant(uint32_t{value.values<ir::Bfloat16>()[0].bits}
                            << 16);
    case ElementType::kFloat32:
      return graph.Float(value.values<float>()[0]);
    default:
      std::abort();  // FitsLane
  }
}

}  // namespace systole::lanes
