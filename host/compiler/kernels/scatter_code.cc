// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/scatter_code.h"

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/window_starts.h"
#include "host/ir/hlo/fold.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Node;
using vpu::Op;

// Whether a scatter's region returns its second parameter.
bool Replaces(const ir::Module& region) {
  const std::vector<Node*> parameters = region.inputs();
  return parameters.size() == 2 && region.outputs.size() == 1 &&
         region.outputs[0].node == parameters[1];
}

// The operation that combines elements, if they are not replaced.
std::optional<ir::Op> CombinerOf(const Node& node) {
  if (node.op != ir::Op::kHloScatter || Replaces(*node.regions[0]))
    return std::nullopt;
  return ir::CombinerOf(*node.regions[0]);
}

// A window's address in a band, from its first byte on.
Lane PlaceInBand(LaneGraph& graph, const ScatterBuffers& buffers, int64_t band,
                 LanePlaces& places) {
  const LaneBuilder g{graph};
  places.operands = {{{buffers.addresses, 0}, 0, 0}, {{0, 2}, 0, 0}};
  places.stores = {{buffers.places, 0}};
  const Lane address = graph.Load({0, Storage::kWord, Pattern::kStream});
  const Lane first =
      g(Op::kBcl, graph.Load({1, Storage::kWord, Pattern::kRow}));
  const Lane place = g(Op::kIsub, address, first);
  const Lane out = g(Op::kIor, g(Op::kIlt, address, first),
                     g(Op::kIlt, g.K(band - 1), place));
  return g(Op::kSel, out, g.K(-1), place);
}

// An element of the band, combined with its update or replaced by it.
LaneStore Updated(LaneGraph& graph, const Node& node, LanePlaces& places) {
  const Storage storage = ScatterStorage(node);
  const ElementType element = node.type.element;
  const std::optional<ir::Op> combiner = CombinerOf(node);
  places.stores = {{0, 0}};
  if (!combiner) {
    places.operands = {{{0, 1}, 0, 0}};
    return {graph.Load({0, storage, Pattern::kStream}), storage};
  }
  const auto load = [&](int operand) {
    return FromMemory(graph, element,
                      graph.Load({operand, storage, Pattern::kStream}));
  };
  places.operands = {{{0, 0}, 0, 0}, {{0, 1}, 0, 0}};
  const Lane kept = load(0), update = load(1);
  return ToMemory(graph, element,
                  Combine(graph, *combiner, element, kept, update));
}

}  // namespace

bool HasScatterCode(const Node& node) {
  const ir::Module& region = *node.regions[0];
  return Replaces(region) ||
         (ir::CombinerOf(region) && FitsLane(node.type.element));
}

Storage ScatterStorage(const Node& node) {
  if (CombinerOf(node)) return StorageOf(node.type.element);
  return ir::ElementBytes(node.type.element) % 4 == 0 ? Storage::kWord
                                                      : Storage::kByte;
}

absl::StatusOr<ScatterCode> AddScatterCode(const Node& node,
                                           const Windows& windows,
                                           const ScatterBuffers& buffers,
                                           int64_t band, const Preset& preset,
                                           std::vector<uint64_t>& words) {
  ScatterCode code;
  absl::Status status;
  const auto add = [&](const LaneGraph& graph, const LaneStore& store,
                       const LanePlaces& places, Loop loop) {
    const absl::StatusOr<LaneCode> made =
        AppendCode(graph, {store}, places, preset, words, loop);
    status.Update(made.status());
    return made.ok() ? made->main : 0;
  };
  LaneGraph addresses, found, updated;
  LanePlaces places;
  const Lane address = WindowAddress(addresses, places, node, windows,
                                     buffers.starts, buffers.offsets);
  places.stores = {{buffers.addresses, 0}};
  code.address = add(addresses, {address, Storage::kWord}, places, Loop::kRows);
  if (band > 0) {
    const Lane place = PlaceInBand(found, buffers, band, places);
    code.place = add(found, {place, Storage::kWord}, places, Loop::kRows);
  }
  const LaneStore store = Updated(updated, node, places);
  code.combines = CombinerOf(node).has_value();
  code.walk = add(updated, store, places,
                  code.combines ? Loop::kFencedPlaces : Loop::kPlaces);
  if (!status.ok()) return status;
  return code;
}

}  // namespace systole::lanes
