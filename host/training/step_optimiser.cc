// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/training/step_builder.h"

namespace systole::training {

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
    Run(kernel,
        args(row(layers_[i].normed ? kBeta : kBias), row(kOffsetFirst),
             row(kOffsetSecond), row(kOffsetGradient), 0, 1),
        {powers, ParamAccess(params)}, 100);
  }
  // Two slots of w, m, v, g and the working weights.
  const int64_t total = p.slab.tiles * p.slab.padded_rows;
  int64_t rows = std::min(total, work_bytes() / (2 * 5 * row_bytes()));
  rows -= rows % R();
  const int64_t bytes = rows * row_bytes();
  int64_t w[2], m[2], v[2], g[2], wb[2];
  for (int s = 0; s < 2; ++s) {
    for (int64_t* slot : {&w[s], &m[s], &v[s], &g[s], &wb[s]})
      *slot = Allocate(bytes);
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
