// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_split.h"

#include <algorithm>
#include <cmath>

#include "host/compiler/kernels/buffer_copy.h"

namespace systole::lanes {
namespace {

// Part `part` of an f32: what the earlier parts leave. A number that rounds to
// an infinity has one part.
Lane PartOf(LaneGraph& graph, Lane value, int part) {
  Lane rest = value;
  for (int i = 0; i < part; ++i) {
    const Lane rounded = graph.Make(vpu::Op::kBf16, rest);
    const Lane difference = graph.Make(vpu::Op::kFsub, rest, rounded);
    const Lane nothing = graph.Make(vpu::Op::kFsub, rounded, rounded);
    const Lane finite = graph.Make(vpu::Op::kFeq, nothing, graph.Constant(0));
    rest = graph.Make(vpu::Op::kIand, difference, finite);
  }
  return rest;
}

}  // namespace

void DepthwiseSplit::Run(KernelBuilder& builder, const RowsRun& run,
                         const Bytes& numbers, const Bytes& parts) const {
  builder.Run(pc, ArgumentsOf(run), {numbers}, {parts}, run.rows * row_cycles);
}

void DepthwiseSplit::Run(KernelBuilder& builder, const Preset& preset,
                         int64_t from, int64_t to, int64_t count,
                         const Bytes& numbers, const Bytes& parts) const {
  RowsRun run;
  run.place[0] = from;
  run.place[1] = to;
  run.stride[0] = preset.cols * StorageBytes(storage);
  run.stride[1] = preset.cols * StorageBytes(Storage::kHalf);
  run.rows = count / preset.cols;
  run.lanes = preset.cols;
  if (run.rows > 0) Run(builder, run, numbers, parts);
  run.place[0] += run.rows * run.stride[0];
  run.place[1] += run.rows * run.stride[1];
  run.rows = 1;
  run.lanes = count % preset.cols;
  if (run.lanes > 0) Run(builder, run, numbers, parts);
}

absl::StatusOr<DepthwiseSplit> AddSplit(std::vector<uint64_t>& words,
                                        Storage storage, int64_t parts,
                                        int64_t distance, bool many,
                                        const Preset& preset) {
  LaneGraph graph;
  LanePlaces places;
  places.operands.push_back({{0, 0}, 0, 0});
  const Lane lane = graph.Load({0, storage, Pattern::kStream});
  std::vector<LaneStore> stores;
  for (int part = 0; part < parts; ++part) {
    // The store rounds to bf16.
    stores.push_back({PartOf(graph, lane, part), Storage::kHalf});
    places.stores.push_back({part * distance, 1});
  }
  const absl::StatusOr<LaneCode> code =
      Emit(graph, stores, places, preset, static_cast<int>(words.size()),
           Loop::kRows, many ? RunRows::kMany : RunRows::kFew);
  if (!code.ok()) return code.status();
  words.insert(words.end(), code->words.begin(), code->words.end());
  return DepthwiseSplit{code->main,
                        std::max<int64_t>(1, std::llround(code->row_cycles)),
                        storage};
}

}  // namespace systole::lanes
