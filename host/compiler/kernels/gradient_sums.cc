// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/gradient_sums.h"

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"

namespace systole::lanes {

void GradientSums::Place(KernelBuilder& builder) {
  const int64_t bytes = count_ * StorageBytes(Storage::kWord);
  chains_ = builder.Place("chains", bytes);
  sums_ = builder.Place("sums", bytes);
  result_ = builder.Place("result", result_bytes());
}

absl::Status GradientSums::AddCode(std::vector<uint64_t>& words) {
  const auto add = [&](int& pc, const LaneGraph& graph,
                       const std::vector<LaneStore>& stores,
                       const LanePlaces& places) -> absl::Status {
    const absl::StatusOr<LaneCode> code =
        Emit(graph, stores, places, preset_, static_cast<int>(words.size()));
    if (!code.ok()) return code.status();
    pc = code->main;
    words.insert(words.end(), code->words.begin(), code->words.end());
    return absl::OkStatus();
  };
  const auto from = [](LaneGraph& graph, LanePlaces& places, int walk) {
    places.operands.push_back({{0, walk}, 0, 0});
    return graph.Load({static_cast<int>(places.operands.size()) - 1,
                       Storage::kWord, Pattern::kStream});
  };
  LaneGraph clear, section, result;
  LanePlaces to_clear, to_section, to_result;
  const Lane zero = clear.Constant(0);
  to_clear.stores = {{0, 0}, {0, 1}};
  absl::Status s =
      add(clear_pc_, clear, {{zero, Storage::kWord}, {zero, Storage::kWord}},
          to_clear);
  if (!s.ok()) return s;
  const Lane chain = from(section, to_section, 0),
             sum = from(section, to_section, 1);
  to_section.stores = {{0, 1}, {0, 0}};
  s = add(section_pc_, section,
          {{section.Make(vpu::Op::kFadd, sum, chain), Storage::kWord},
           {section.Constant(0), Storage::kWord}},
          to_section);
  if (!s.ok()) return s;
  const Lane made = from(result, to_result, 0);
  to_result.stores = {{0, 1}};
  return add(result_pc_, result, {{made, of_result_}}, to_result);
}

// Over all sums; the second walk has elements of its own size.
void GradientSums::Run(KernelBuilder& builder, int pc, const Bytes& a,
                       const Bytes& b, int64_t bytes,
                       const std::vector<Bytes>& reads,
                       const std::vector<Bytes>& writes) const {
  constexpr int64_t kRowCycles = 3;
  RowsRun run;
  run.place[0] = a.at;
  run.place[1] = b.at;
  run.stride[0] = preset_.cols * StorageBytes(Storage::kWord);
  run.stride[1] = preset_.cols * bytes;
  run.rows = count_ / preset_.cols;
  run.lanes = preset_.cols;
  if (run.rows > 0)
    builder.Run(pc, ArgumentsOf(run), reads, writes, kRowCycles * run.rows);
  run.place[0] += run.rows * run.stride[0];
  run.place[1] += run.rows * run.stride[1];
  run.rows = 1;
  run.lanes = count_ % preset_.cols;
  if (run.lanes > 0)
    builder.Run(pc, ArgumentsOf(run), reads, writes, kRowCycles);
}

void GradientSums::Clear(KernelBuilder& builder) const {
  Run(builder, clear_pc_, chains_, sums_, StorageBytes(Storage::kWord), {},
      {chains_, sums_});
}

void GradientSums::EndSection(KernelBuilder& builder) const {
  Run(builder, section_pc_, chains_, sums_, StorageBytes(Storage::kWord),
      {chains_, sums_}, {chains_, sums_});
}

void GradientSums::Store(KernelBuilder& builder, int operand) const {
  Run(builder, result_pc_, sums_, result_, StorageBytes(of_result_), {sums_},
      {result_});
  builder.Store(operand, 0, result_.at, result_bytes());
}

}  // namespace systole::lanes
