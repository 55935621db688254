// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_spread.h"

#include "host/compiler/kernels/lane_instructions.h"

namespace systole::lanes {

using vpu::Op;

int AppendSpread(const LaneGraph& graph, const LanePlaces& places, int32_t cols,
                 int base, std::vector<uint64_t>& words) {
  std::vector<const LaneLoad*> splats;
  for (Lane lane = 0; lane < graph.size(); ++lane) {
    const LaneNode& node = graph.node(lane);
    if (node.kind == LaneNode::Kind::kLoad &&
        node.load.pattern == Pattern::kSplat)
      splats.push_back(&node.load);
  }
  if (splats.empty()) return -1;
  const int start = base + static_cast<int>(words.size());
  const auto put = [&](const vpu::Instr& x) { words.push_back(x.Encode()); };
  constexpr int kOne = 1, kAll = 2, kCross = 32;
  put(Make(Op::kLi, kOne, 0, 0, 1));
  put(Make(Op::kLi, kAll, 0, 0, cols));
  put(Make(Op::kVl, 0, kOne));
  int turn = 0;
  for (const LaneLoad* load : splats) {
    const LanePlaces::Operand& place = places.operands[load->operand];
    const int loaded = turn % 16, all = kCross + turn % 8;
    ++turn;
    put(Make(Op::kLanes, 0, kOne));
    put(Make(kLoadOps[static_cast<int>(load->storage)], loaded, 0, 0,
             static_cast<int32_t>(place.element)));
    put(Make(Op::kBcl, all, loaded));
    put(Make(Op::kLanes, 0, kAll));
    put(Make(Op::kSt32, all, 0, 0, static_cast<int32_t>(place.row)));
  }
  put(Make(Op::kHalt, 0));
  return start;
}

}  // namespace systole::lanes
