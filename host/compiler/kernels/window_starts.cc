// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_starts.h"

#include "host/compiler/kernels/lane_functions.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using vpu::Op;

// A mask: the window begins below 0 or ends behind the last element.
Lane Beyond(LaneGraph& graph, const Windows::Start& start, Lane at) {
  const LaneBuilder g{graph};
  // As an unsigned number, a negative start is larger than every size.
  const Lane top = g.K(int64_t{1} << 31);
  const Lane last = g.K(start.size - start.window);
  return g(Op::kIlt, g(Op::kIxor, last, top), g(Op::kIxor, at, top));
}

// The nearest start whose window is inside.
Lane MovedInside(LaneGraph& graph, const Windows::Start& start,
                 ElementType type, Lane at) {
  const LaneBuilder g{graph};
  const Lane last = g.K(start.size - start.window);
  const Lane inside = g(Op::kSel, Beyond(graph, start, at), last, at);
  if (!ir::IsSigned(type)) return inside;
  return g(Op::kSel, g(Op::kIlt, at, g.K(0)), g.K(0), inside);
}

ElementType TypeOf(const ir::Node& node, const Windows::Start& start) {
  return node.operands[start.operand].type().element;
}

}  // namespace

Lane WindowAddress(LaneGraph& graph, LanePlaces& places, const ir::Node& node,
                   const Windows& windows,
                   const std::vector<KernelBuilder::Bytes>& starts,
                   std::optional<int64_t> offsets) {
  const LaneBuilder g{graph};
  const int64_t size = ir::ElementBytes(node.type.element);
  Lane address = -1, inside = -1;
  const auto plus = [&](Lane more) {
    address = address < 0 ? more : g(Op::kIadd, address, more);
  };
  for (size_t i = 0; i < starts.size(); ++i) {
    const Windows::Start& s = windows.starts[i];
    if (s.size == s.window && !windows.left_out) continue;
    const ElementType type = TypeOf(node, s);
    const Lane start =
        FromMemory(graph, type,
                   graph.Load({static_cast<int>(places.operands.size()),
                               StorageOf(type), Pattern::kStream}));
    places.operands.push_back(
        {{starts[i].at, NumberWalk(ir::ElementBytes(type))}, 0, 0});
    Lane at = start;
    if (windows.left_out) {
      const Lane fits = Not(graph, Beyond(graph, s, start));
      inside = inside < 0 ? fits : g(Op::kIand, inside, fits);
    } else {
      at = MovedInside(graph, s, type, start);
    }
    plus(g(Op::kImul, at, g.K(s.stride * size)));
  }
  if (offsets) {
    plus(graph.Load({static_cast<int>(places.operands.size()), Storage::kWord,
                     Pattern::kStream}));
    places.operands.push_back({{*offsets, NumberWalk(4)}, 0, 0});
  }
  if (address < 0) address = g.K(0);
  if (inside >= 0) address = g(Op::kSel, inside, address, g.K(-1));
  return address;
}

absl::Status CopyStarts(const BufferCopier& copier, KernelBuilder& builder,
                        const ir::Node& node, const Windows::Start& start,
                        const KernelBuilder::Bytes& from,
                        const KernelBuilder::Bytes& to, const ir::Ints& sizes,
                        const ir::Ints& strides) {
  const int64_t bytes = ir::ElementBytes(TypeOf(node, start));
  BufferCopy copy{from.at + start.offset * bytes, to.at, bytes, {}, from, to};
  const ir::Ints dense = ir::StridesOf(sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    copy.dimensions.push_back({sizes[d], strides[d], dense[d]});
  return copier.Copy(builder, copy);
}

}  // namespace systole::lanes
