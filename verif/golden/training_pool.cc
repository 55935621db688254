// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pools of a training step, window by window as docs/training.md describes
// them.
#include "verif/golden/fp32.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

using namespace fp32;

// Calls visit(row, taps) for each window, in the order (n, oy, ox): its row of
// the pooled matrix, and the rows of its taps inside the image in the order
// (ky, kx).
template <class Visit>
void ForEachWindow(const LayerGeometry& g, const TrainingPool& pool,
                   Visit visit) {
  const PoolGeometry p = PoolOf(pool, g.out_height, g.out_width);
  std::vector<int64_t> taps;
  int64_t window = 0;
  for (int n = 0; n < g.images; ++n) {
    for (int oy = 0; oy < p.out_height; ++oy) {
      for (int ox = 0; ox < p.out_width; ++ox, ++window) {
        taps.clear();
        for (int ky = 0; ky < pool.height; ++ky) {
          for (int kx = 0; kx < pool.width; ++kx) {
            const int64_t y = int64_t{oy} * pool.stride_y + ky - p.pad_top;
            const int64_t x = int64_t{ox} * pool.stride_x + kx - p.pad_left;
            if (y < 0 || y >= g.out_height || x < 0 || x >= g.out_width)
              continue;
            taps.push_back((int64_t{n} * g.out_height + y) * g.out_width + x);
          }
        }
        visit(window, taps);
      }
    }
  }
}

float Share(const std::vector<int64_t>& taps) {
  return 1.0f / static_cast<float>(taps.size());
}

}  // namespace

Fp32Matrix PoolForward(const LayerGeometry& g, const TrainingPool& pool,
                       const Fp32Matrix& a) {
  const PoolGeometry p = PoolOf(pool, g.out_height, g.out_width);
  Fp32Matrix pooled(int64_t{g.images} * p.out_height * p.out_width, a.cols());
  ForEachWindow(g, pool, [&](int64_t to, const std::vector<int64_t>& taps) {
    for (int64_t c = 0; c < a.cols(); ++c) {
      if (pool.kind == TrainingPool::Kind::kMax) {
        float m = a(taps[0], c);
        for (int64_t from : taps) m = Max(m, a(from, c));
        pooled(to, c) = m;
      } else {
        float s = 0.0f;
        for (int64_t from : taps) s = Add(s, a(from, c));
        pooled(to, c) = Bf16(Mul(s, Share(taps)));
      }
    }
  });
  return pooled;
}

Fp32Matrix PoolGradient(const LayerGeometry& g, const TrainingPool& pool,
                        const Fp32Matrix& a, const Fp32Matrix& pooled,
                        const Fp32Matrix& dpooled) {
  Fp32Matrix da = Fp32Matrix::Zero(a.rows(), a.cols());
  ForEachWindow(g, pool, [&](int64_t from, const std::vector<int64_t>& taps) {
    for (int64_t c = 0; c < a.cols(); ++c) {
      const float gradient = dpooled(from, c);
      for (int64_t to : taps) {
        if (pool.kind == TrainingPool::Kind::kAverage) {
          da(to, c) = Add(da(to, c), Mul(gradient, Share(taps)));
        } else if (a(to, c) == pooled(from, c)) {
          da(to, c) = Add(da(to, c), gradient);
          break;
        }
      }
    }
  });
  return RoundedToBf16(da);
}

}  // namespace systole::golden
