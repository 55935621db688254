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

void StepBuilder::ShareOffsets() {
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
  gradients.base = static_cast<int64_t>(layout_.layers[0].gradient);
  gradients.len = static_cast<int64_t>(layout_.shared) +
                  layout_.param_blocks * kParamRows * row_bytes() -
                  gradients.base;
  builder_.Append(load, gradients);
}

void StepBuilder::AddRows(int64_t sum, int64_t other, int64_t rows) {
  const int64_t len = rows * row_bytes();
  Run("sum_rows", {{"w", sum}, {"g", other}, {"rows", rows}},
      {UbRows(sum, len, 1, 0, true), UbRows(other, len, 1, 0, false)},
      30 + 2 * rows);
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

void StepBuilder::Learn() {
  OptimiseBegin();
  for (int i = static_cast<int>(layers_.size()) - 1; i >= 0; --i) {
    if (layers_[i].pooled()) PoolGradient(i);
    if (layers_[i].normed) {
      NormBackward(i);
    } else {
      BiasGradient(i);
    }
    WeightGradient(i);
    if (i > 0 && layers_[i].dense) DenseInputGradient(i);
    if (i > 0 && !layers_[i].dense) ConvInputGradient(i);
    if (options_.replicas == 1) Optimise(i);
  }
  if (options_.replicas > 1) {
    ShareOffsets();
    for (int i = static_cast<int>(layers_.size()) - 1; i >= 0; --i) Optimise(i);
  }
  StoreBytes(layout_.params, params_ub_,
             layout_.param_blocks * kParamRows * row_bytes());
  StoreBytes(layout_.powers, powers_ub_, kPowerRows * row_bytes());
}

void StepBuilder::OptimiseBegin() {
  if (options_.optimiser != OptimiserKind::kAdam) return;
  Run("adam_begin",
      {{"powers", powers_ub_},
       {"c1", FloatBits(options_.beta1)},
       {"c2", FloatBits(options_.beta2)}},
      {UbRows(powers_ub_, kPowerRows * row_bytes(), 1, 0, true)}, 80);
}

void StepBuilder::Optimise(int i) {
  const LayerLayout& p = layout_.layers[i];
  BeginOp(i, Phase::kOptimiser);
  const bool shared = options_.replicas > 1;
  const bool adam = options_.optimiser == OptimiserKind::kAdam;
  const char* kernel = adam ? "adam" : "sgd";
  const int64_t c1 = FloatBits(adam ? 1 - options_.beta1 : options_.momentum);
  const int64_t c2 = FloatBits(1 - options_.beta2);
  const auto args = [&](int64_t w, int64_t m, int64_t v, int64_t g, int64_t wb,
                        int64_t rows) {
    return Args{{"w", w},   {"m", m},   {"v", v},
                {"g", g},   {"wb", wb}, {"rows", rows},
                {"c1", c1}, {"c2", c2}, {"powers", powers_ub_}};
  };
  const compiler::Access powers =
      UbRows(powers_ub_, kPowerRows * row_bytes(), 1, 0, false);
  for (int64_t t = 0; t < p.slab.tiles; ++t) {
    const int64_t params = ParamBlock(i, t);
    const auto row = [&](int r) { return params + r * row_bytes(); };
    if (shared) {
      const int64_t other = Allocate(row_bytes());
      LoadOther(layout_.shared + row(kOffsetGradient) - params_ub_, other,
                row_bytes());
      AddRows(row(kOffsetGradient), other, 1);
    }
    Run(kernel,
        args(row(layers_[i].normed ? kBeta : kBias), row(kOffsetFirst),
             row(kOffsetSecond), row(kOffsetGradient), 0, 1),
        {powers, ParamAccess(params)}, 100);
  }
  // Two slots of w, m, v, g, the working weights and the other core's g.
  const int64_t total = p.slab.tiles * p.slab.padded_rows;
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
    LoadBytes(p.master + at, w[turn], len);
    LoadBytes(p.first + at, m[turn], len);
    if (adam) LoadBytes(p.second + at, v[turn], len);
    LoadBytes(p.gradient + at, g[turn], len);
    if (shared) {
      LoadOther(p.gradient + at, other[turn], len);
      AddRows(g[turn], other[turn], count);
    }
    const auto whole = [&](int64_t base, bool write) {
      return UbRows(base, len, 1, 0, write);
    };
    Run(kernel, args(w[turn], m[turn], v[turn], g[turn], wb[turn], count),
        {powers, whole(w[turn], true), whole(m[turn], true),
         whole(v[turn], adam), whole(g[turn], false),
         UbRows(wb[turn], len / 2, 1, 0, true)},
        60 + count * (adam ? 6 : 3));
    StoreBytes(p.master + at, w[turn], len);
    StoreBytes(p.first + at, m[turn], len);
    if (adam) StoreBytes(p.second + at, v[turn], len);
    StoreBytes(p.working + at / 2, wb[turn], len / 2);
  }
}

}  // namespace systole::training
