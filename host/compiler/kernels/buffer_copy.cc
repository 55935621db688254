// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/buffer_copy.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::lanes {
namespace {

using Dimensions = std::vector<CopyDimension>;

constexpr int64_t kMostRuns = 1 << 16;

// Removes a dimension and returns it.
CopyDimension Take(Dimensions& dimensions, size_t i) {
  const CopyDimension d = dimensions[i];
  dimensions.erase(dimensions.begin() + static_cast<int64_t>(i));
  return d;
}

}  // namespace

std::vector<int64_t> ArgumentsOf(const RowsRun& run) {
  std::vector<int64_t> arguments(kLaneCount + 1);
  for (int walk = 0; walk < kWalks; ++walk) {
    arguments[walk] = run.place[walk];
    arguments[kStrides + walk] = run.stride[walk];
  }
  arguments[kRowCount] = run.rows;
  arguments[kLaneCount] = run.lanes;
  return arguments;
}

absl::Status BufferCopier::AddCode(std::vector<uint64_t>& words) {
  for (const bool bytes : {false, true}) {
    for (const bool spread : {false, true}) {
      const Storage storage = bytes ? Storage::kByte : Storage::kWord;
      LaneGraph graph;
      Lane lane = graph.Load({0, storage, Pattern::kStream});
      if (spread) lane = graph.Make(vpu::Op::kBcl, lane);
      LanePlaces places;
      places.operands.push_back({{0, 0}, 0, 0});
      places.stores.push_back({0, 1});
      const absl::StatusOr<LaneCode> code =
          Emit(graph, {{lane, storage}}, places, preset_,
               static_cast<int>(words.size()));
      if (!code.ok()) return code.status();
      pc_[bytes][spread] = code->main;
      words.insert(words.end(), code->words.begin(), code->words.end());
    }
  }
  return absl::OkStatus();
}

absl::Status BufferCopier::Copy(KernelBuilder& builder,
                                const BufferCopy& copy) const {
  // An element is moved as one or more words or bytes.
  const bool own = copy.pc >= 0;
  const int64_t unit = own                           ? copy.element_bytes
                       : copy.element_bytes % 4 == 0 ? 4
                                                     : 1;
  const int64_t parts = copy.element_bytes / unit;
  Dimensions dimensions = copy.dimensions;
  for (CopyDimension& d : dimensions) {
    if (d.size == 0) return absl::OkStatus();
    d.from *= parts;
    d.to *= parts;
  }
  if (parts > 1) dimensions.push_back({parts, 1, 1});
  dimensions = MergedDimensions(dimensions);
  // The dimension along the lanes: contiguous on both sides, or one element for
  // all lanes.
  CopyDimension lanes{1, 1, 1};
  std::optional<size_t> best;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const CopyDimension& d = dimensions[i];
    if (d.to == 1 && (d.from == 1 || (d.from == 0 && !own)) &&
        (!best || d.size > dimensions[*best].size))
      best = i;
  }
  if (best) lanes = Take(dimensions, *best);
  const bool spread = lanes.from == 0;
  std::vector<KernelBuilder::Bytes> reads = copy.more_reads,
                                    writes = copy.more_writes;
  reads.push_back(copy.reads);
  writes.push_back(copy.writes);
  const int64_t cols = preset_.cols;
  const int64_t full = lanes.size / cols, rest = lanes.size % cols;
  // Whole rows of lanes first, then the rest of each line.
  const auto part = [&](int64_t first, int64_t width,
                        Dimensions others) -> absl::Status {
    std::optional<size_t> longest;
    int64_t runs = 1;
    for (size_t i = 0; i < others.size(); ++i) {
      runs *= others[i].size;
      if (!longest || others[i].size > others[*longest].size) longest = i;
    }
    CopyDimension rows{1, 0, 0};
    if (longest) rows = Take(others, *longest);
    runs /= rows.size;
    if (runs > kMostRuns)
      return absl::ResourceExhaustedError(absl::StrCat(runs, " runs to copy"));
    RowsRun run;
    run.rows = rows.size;
    run.lanes = width;
    run.stride[0] = rows.from * unit;
    run.stride[1] = rows.to * unit;
    run.stride[2] = rows.to * 4;
    std::vector<int64_t> index(others.size(), 0);
    for (int64_t i = 0; i < runs; ++i) {
      run.place[0] = copy.from + first * lanes.from * unit;
      int64_t to = first;
      for (size_t d = 0; d < others.size(); ++d) {
        run.place[0] += index[d] * others[d].from * unit;
        to += index[d] * others[d].to;
      }
      run.place[1] = copy.to + to * unit;
      run.place[2] = copy.beside + to * 4;
      builder.Run(own ? copy.pc : pc_[unit == 1][spread], ArgumentsOf(run),
                  reads, writes, (own ? copy.row_cycles : 2) * rows.size);
      for (size_t d = others.size(); d-- > 0;) {
        if (++index[d] < others[d].size) break;
        index[d] = 0;
      }
    }
    return absl::OkStatus();
  };
  if (full > 0) {
    Dimensions others = dimensions;
    if (full > 1) others.push_back({full, cols * lanes.from, cols});
    if (absl::Status s = part(0, cols, others); !s.ok()) return s;
  }
  return rest > 0 ? part(full * cols, rest, dimensions) : absl::OkStatus();
}

}  // namespace systole::lanes
