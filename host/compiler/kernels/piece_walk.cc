// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/piece_walk.h"

#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/window_starts.h"

namespace systole::lanes {
namespace {

constexpr int64_t kPieceCycles = 24;  // for rows of lanes at an address

}  // namespace

void PieceWalk::Place(KernelBuilder& builder, int64_t pieces) {
  most_ = pieces;
  places_ = builder.Place("places", 4 * pieces);
}

void PieceWalk::AddData(std::vector<uint32_t>& data) const {
  for (int64_t i = 0; i < most_; ++i)
    data.push_back(static_cast<uint32_t>(i * tables_.span()));
}

absl::Status PieceWalk::AddCode(std::vector<uint64_t>& words, int64_t bases) {
  const int64_t unit = tables_.unit();
  absl::StatusOr<std::vector<WindowPart>> parts =
      PartsOf({{tables_.bytes() / unit, 1, 1}}, unit, unit, preset_.cols);
  if (!parts.ok()) return parts.status();
  parts_ = *std::move(parts);
  LaneGraph sums;
  LanePlaces places;
  const Lane place = sums.Make(
      vpu::Op::kIadd, sums.Load({0, Storage::kWord, Pattern::kStream}),
      sums.Load({1, Storage::kWord, Pattern::kStream}));
  places.operands = {{{tables_.shifts().at, 0}, 0, 0}, {{bases, 1}, 0, 0}};
  places.stores = {{places_.at, 1}};
  absl::StatusOr<LaneCode> code =
      AppendCode(sums, {{place, Storage::kWord}}, places, preset_, words);
  if (!code.ok()) return code.status();
  places_pc_ = code->main;
  LaneGraph moved;
  places.operands = {{{0, into_rows_ ? 1 : 0}, 0, 0}};
  places.stores = {{0, into_rows_ ? 0 : 1}};
  const Lane part = moved.Load({0, tables_.storage(), Pattern::kStream});
  code = AppendCode(moved, {{part, tables_.storage(), unit == 2}}, places,
                    preset_, words, Loop::kPlaces);
  if (!code.ok()) return code.status();
  walk_pc_ = code->main;
  return absl::OkStatus();
}

void PieceWalk::Run(KernelBuilder& builder, int64_t first, int64_t pieces,
                    const KernelBuilder::Bytes& rows,
                    const KernelBuilder::Bytes& line,
                    const KernelBuilder::Bytes& data) const {
  RunOverNumbers(pieces, preset_.cols, [&](RowsRun run) {
    run.place[1] = run.place[0];
    run.stride[1] = run.stride[0];
    run.place[0] += 4 * first;
    builder.Run(places_pc_, ArgumentsOf(run), {tables_.shifts(), data},
                {places_}, 4 * run.rows);
  });
  for (const WindowPart& part : parts_) {
    std::vector<int64_t> arguments(kPlaceOffset + 1);
    arguments[1] = line.at + part.to;
    arguments[kTable] = places_.at;
    arguments[kRowCount] = part.rows;
    arguments[kStrides] = part.from_stride;
    arguments[kStrides + 1] = part.to_stride;
    arguments[kLinearStep] = tables_.bytes();
    arguments[kLaneCount] = part.lanes;
    arguments[kPlaceCount] = pieces;
    arguments[kPlaceOffset] = rows.at + part.from;
    builder.Run(walk_pc_, arguments, {places_, into_rows_ ? line : rows},
                {into_rows_ ? rows : line}, kPieceCycles * pieces);
  }
}

}  // namespace systole::lanes
