// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/training/step_builder.h"

namespace systole::training {
namespace {

// Sync flags between the cores: the gradients are in memory; they were read.
constexpr uint32_t kReady = 1u << isa::kFirstPeerFlag;
constexpr uint32_t kTaken = 2u << isa::kFirstPeerFlag;
constexpr int kWaitMask = 32, kPostMask = 64;  // first bits, of 32

void SetFlags(isa::Descriptor& d, int mask, uint32_t flags) {
  isa::PutBits(d, mask, 32, isa::GetBits(d, mask, 32) | flags);
}

}  // namespace

// The first one puts the offsets' gradients where the other core reads them;
// the sums themselves are the updates'.
void StepBuilder::EmitSumCores(const ir::Node&) {
  if (shared_) return;
  shared_ = true;
  StoreBytes(layout_.shared, params_ub_,
             layout_.param_blocks * kParamRows * row_bytes());
}

void StepBuilder::LoadOther(uint64_t hbm, int64_t ub, int64_t bytes) {
  isa::Load load;
  load.hbm_addr = preset_.memory_bytes() + hbm;
  load.ub_addr = ub;
  load.len = bytes;
  load.n1 = load.n2 = 1;
  compiler::Access gradients;
  gradients.space = compiler::Space::kHbm;
  gradients.base = gradients_begin_;
  gradients.len = static_cast<int64_t>(layout_.shared) +
                  layout_.param_blocks * kParamRows * row_bytes() -
                  gradients.base;
  builder_.Append(load, gradients);
}

void StepBuilder::AddRows(int64_t sum, int64_t other, int64_t rows) {
  Run("sum_rows", {{"w", sum}, {"g", other}, {"rows", rows}});
}

// All gradients are stored before the first load from the other core, and a
// queue keeps its order: so one post and one wait are enough, and one more of
// each at the end, so that no core's next step writes what the other one reads.
void StepBuilder::JoinCores(std::vector<isa::Descriptor>& descriptors) const {
  const auto is_store = [](const isa::Descriptor& d) {
    return compiler::OpcodeOf(d) == isa::Opcode::kStore;
  };
  const auto of_other = [this](const isa::Descriptor& d) {
    return compiler::OpcodeOf(d) == isa::Opcode::kLoad &&
           isa::Load::Decode(d).hbm_addr >= preset_.memory_bytes();
  };
  const auto first =
      std::find_if(descriptors.begin(), descriptors.end(), of_other);
  const auto last =
      std::find_if(descriptors.rbegin(), descriptors.rend(), of_other);
  const auto stored = std::find_if(std::make_reverse_iterator(first),
                                   descriptors.rend(), is_store);
  SetFlags(*stored, kPostMask, kReady);
  SetFlags(*first, kWaitMask, kReady);
  SetFlags(*last, kPostMask, kTaken);
  SetFlags(descriptors.back(), kWaitMask, kTaken);
}

void StepBuilder::EmitPowers(const ir::Node& node) {
  const auto& a = node.attr<ir::TrainAdamAttributes>();
  Run("adam_begin", {{"powers", powers_ub_},
                     {"c1", FloatBits(a.decay1)},
                     {"c2", FloatBits(a.decay2)}});
}

StepBuilder::Update StepBuilder::UpdateOf(const ir::Node& node) const {
  const bool adam = node.op == ir::Op::kTrainAdam;
  const bool shared = node.operands[adam ? 3 : 2]->op == ir::Op::kTrainSumCores;
  if (!adam) {
    const auto& a = node.attr<ir::TrainSgdAttributes>();
    return {"sgd", adam, shared, FloatBits(a.momentum), 0};
  }
  const auto& a = node.attr<ir::TrainAdamAttributes>();
  return {"adam", adam, shared, FloatBits(a.share1), FloatBits(a.share2)};
}

void StepBuilder::EmitUpdate(const ir::Node& node) {
  const Update update = UpdateOf(node);
  if (node.type.rank() == 1) return UpdateOffset(node, update);
  UpdateMatrix(node, update);
}

void StepBuilder::UpdateOffset(const ir::Node& node, const Update& update) {
  const int64_t block = BlockOf(node.operands[0]);
  SetTag(node);
  if (update.shared) BeginOp(node);
  for (int64_t t = 0; t < Tiles(node.type.shape[0]); ++t) {
    const int64_t params = ParamBlock(block, t);
    const auto row = [&](int r) { return params + r * row_bytes(); };
    if (update.shared) {
      const int64_t other = Allocate(row_bytes());
      LoadOther(layout_.shared + row(kOffsetGradient) - params_ub_, other,
                row_bytes());
      AddRows(row(kOffsetGradient), other, 1);
    }
    const bool bias = node.operands[0]->name == bias_;
    Run(update.kernel, {{"w", row(bias ? kBias : kBeta)},
                        {"m", row(kOffsetFirst)},
                        {"v", row(kOffsetSecond)},
                        {"g", row(kOffsetGradient)},
                        {"wb", 0},
                        {"rows", 1},
                        {"c1", update.c1},
                        {"c2", update.c2},
                        {"powers", powers_ub_}});
  }
}

// Two slots of w, m, v, g, the working weights and the other core's g.
void StepBuilder::UpdateMatrix(const ir::Node& node, const Update& update) {
  const bool adam = update.adam, shared = update.shared;
  const Place &master = PlaceOf(node.operands[0]),
              &first = PlaceOf(node.operands[1]),
              &second = PlaceOf(node.operands[adam ? 2 : 1]),
              &gradient = PlaceOf(node.operands[adam ? 3 : 2]),
              &working = places_.at({node.name, adam ? 3 : 2});
  BeginOp(node);
  const int64_t total = master.slab.tiles * master.slab.padded_rows;
  int64_t rows =
      std::min(total, work_left_ / (2 * (shared ? 6 : 5) * row_bytes()));
  rows -= rows % R();
  const int64_t bytes = rows * row_bytes();
  int64_t w[2], m[2], v[2], g[2], wb[2], other[2];
  for (int s = 0; s < 2; ++s) {
    for (int64_t* slot : {&w[s], &m[s], &v[s], &g[s], &wb[s]})
      *slot = Allocate(bytes);
    if (shared) other[s] = Allocate(bytes);
  }
  if (rows == 0)
    return Fail(absl::ResourceExhaustedError("no room for the optimiser"));
  int turn = 0;
  for (int64_t r = 0; r < total; r += rows, turn ^= 1) {
    const int64_t count = std::min(rows, total - r);
    const int64_t at = r * row_bytes(), len = count * row_bytes();
    LoadBytes(master.hbm + at, w[turn], len);
    LoadBytes(first.hbm + at, m[turn], len);
    if (adam) LoadBytes(second.hbm + at, v[turn], len);
    LoadBytes(gradient.hbm + at, g[turn], len);
    if (shared) {
      LoadOther(gradient.hbm + at, other[turn], len);
      AddRows(g[turn], other[turn], count);
    }
    Run(update.kernel, {{"w", w[turn]},
                        {"m", m[turn]},
                        {"v", v[turn]},
                        {"g", g[turn]},
                        {"wb", wb[turn]},
                        {"rows", count},
                        {"c1", update.c1},
                        {"c2", update.c2},
                        {"powers", powers_ub_}});
    StoreBytes(master.hbm + at, w[turn], len);
    StoreBytes(first.hbm + at, m[turn], len);
    if (adam) StoreBytes(second.hbm + at, v[turn], len);
    StoreBytes(working.hbm + at / 2, wb[turn], len / 2);
  }
}

}  // namespace systole::training
