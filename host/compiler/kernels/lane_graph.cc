// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_graph.h"

#include "host/ir/scalar.h"

namespace systole::lanes {

using ir::ElementType;

int StorageBytes(Storage storage) {
  switch (storage) {
    case Storage::kWord:
      return 4;
    case Storage::kHalf:
      return 2;
    case Storage::kByte:
      return 1;
  }
  return 0;
}

bool FitsLane(ElementType type) { return ir::ElementBytes(type) <= 4; }

Storage StorageOf(ElementType type) {
  switch (ir::ElementBytes(type)) {
    case 1:
      return Storage::kByte;
    case 2:
      return Storage::kHalf;
    default:
      return Storage::kWord;
  }
}

bool HasOneNan(ElementType type) {
  return ir::IsFloat(type) && StorageOf(type) == Storage::kHalf;
}

Lane LaneGraph::Add(const Key& key, const LaneNode& node) {
  const auto [place, added] = known_.emplace(key, size());
  if (added) nodes_.push_back(node);
  return place->second;
}

Lane LaneGraph::Load(const LaneLoad& load) {
  LaneNode node;
  node.kind = LaneNode::Kind::kLoad;
  node.load = load;
  return Add({0, load.operand, static_cast<int>(load.storage),
              static_cast<int>(load.pattern), 0, 0},
             node);
}

Lane LaneGraph::Constant(uint32_t bits) {
  LaneNode node;
  node.kind = LaneNode::Kind::kConstant;
  node.bits = bits;
  return Add({1, 0, 0, 0, 0, bits}, node);
}

Lane LaneGraph::Float(float value) { return Constant(ir::BitsOf(value)); }

Lane LaneGraph::Make(vpu::Op op, Lane a, Lane b, Lane c) {
  LaneNode node;
  node.op = op;
  node.a = a;
  node.b = b;
  node.c = c;
  return Add({2, static_cast<int>(op), a, b, c, 0}, node);
}

}  // namespace systole::lanes
