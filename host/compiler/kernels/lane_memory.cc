// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_memory.h"

#include <cstdlib>

#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {

using ir::ElementType;
using vpu::Op;

namespace {

// Packs neighbouring halves into words, in the first half of the lanes: the
// word of lanes 2 j and 2 j + 1 moves down by j, one bit of j at a time.
Lane Pairs(LaneGraph& graph, Lane lane, int64_t lanes) {
  const LaneBuilder g{graph};
  const Lane next = g(Op::kShl, g(Op::kRotl, lane, g.K(1)), g.K(16));
  Lane words = g(Op::kIor, g(Op::kIand, lane, g.K(0xFFFF)), next);
  const Lane number = g(Op::kIota, g.K(0));
  for (int64_t by = 1; by < lanes / 2; by *= 2) {
    words = g(Op::kSel, g(Op::kIand, number, g.K(by)),
              g(Op::kRotl, words, g.K(by)), words);
  }
  return words;
}

}  // namespace

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

LaneStore ToMemory(LaneGraph& graph, ElementType type, Lane lane,
                   const Preset& preset, bool bits) {
  LaneStore store = {lane, StorageOf(type)};
  const Lane half = graph.Constant(16);
  switch (type) {
    case ElementType::kBool:
      store.lane = graph.Make(Op::kIand, lane, graph.Constant(1));
      break;
    case ElementType::kFloat16:
      store.lane = ToFloat16(graph, lane, bits);
      [[fallthrough]];
    case ElementType::kBfloat16:
      store.pairs = bits;
      if (bits) store.lane = graph.Make(Op::kShr, store.lane, half);
      break;
    case ElementType::kInt16:
    case ElementType::kUint16:
      store.pairs = true;
      break;
    default:
      break;
  }
  if (store.pairs) store.lane = Pairs(graph, store.lane, preset.cols);
  return store;
}

bool StoresAlone(ElementType type) {
  return type != ElementType::kInt16 && type != ElementType::kUint16;
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
