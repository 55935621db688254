// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The matrix unit's part of a training step.
#include <algorithm>

#include "verif/golden/chains.h"
#include "verif/golden/fp32.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

void MakeCanonical(Fp32Matrix* values) {
  *values = values->unaryExpr(&fp32::Canonical);
}

// The windows of one image, one per row: taps (ky, kx, ci), +0 outside the
// image.
Fp32Matrix Windows(const LayerGeometry& g, const Fp32Matrix& x, int image) {
  Fp32Matrix windows = Fp32Matrix::Zero(g.out_positions(), g.contraction());
  for (int oy = 0; oy < g.out_height; ++oy) {
    for (int ox = 0; ox < g.out_width; ++ox) {
      auto window = windows.row(oy * g.out_width + ox);
      for (int ky = 0; ky < g.kernel; ++ky) {
        const int iy = oy * g.stride + ky - g.pad_top;
        if (iy < 0 || iy >= g.in_height) continue;
        for (int kx = 0; kx < g.kernel; ++kx) {
          const int ix = ox * g.stride + kx - g.pad_left;
          if (ix < 0 || ix >= g.in_width) continue;
          window.segment((ky * g.kernel + kx) * g.in_channels, g.in_channels) =
              x.row((int64_t{image} * g.in_height + iy) * g.in_width + ix);
        }
      }
    }
  }
  return windows;
}

// Input positions along one axis that are equal to `phase` modulo the stride,
// and the taps that reach them: first + stride * j for j < taps.
struct Phase {
  Phase(int phase, int pad, int kernel, int stride, int in)
      : start(phase),
        first((phase + pad) % stride),
        taps(std::max((kernel - first + stride - 1) / stride, 0)),
        positions((in - phase + stride - 1) / stride),
        stride(stride),
        pad(pad) {}

  int In(int i) const { return start + i * stride; }
  int Tap(int j) const { return first + stride * j; }
  // The output position that reads input position i through tap j.
  int Out(int i, int j) const { return (In(i) + pad - Tap(j)) / stride; }

  int start, first, taps, positions, stride, pad;
};

// Calls visit(jy, jx, index) in the order of the contraction.
template <typename Visit>
void ForEachTap(const Phase& y, const Phase& x, Visit visit) {
  int index = 0;
  for (int jy = y.taps - 1; jy >= 0; --jy) {
    for (int jx = x.taps - 1; jx >= 0; --jx) visit(jy, jx, index++);
  }
}

// The weights of a phase as a matrix, (j, i, co) x ci.
Fp32Matrix PhaseWeights(const LayerGeometry& g, const Phase& y, const Phase& x,
                        const Fp32Matrix& weights) {
  Fp32Matrix result(y.taps * x.taps * g.out_channels, g.in_channels);
  ForEachTap(y, x, [&](int jy, int jx, int index) {
    const int tap = y.Tap(jy) * g.kernel + x.Tap(jx);
    result.middleRows(index * g.out_channels, g.out_channels) =
        weights.middleRows(tap * g.in_channels, g.in_channels).transpose();
  });
  return result;
}

// The values of dz for the phase's positions of one image: position x (j, i,
// co).
Fp32Matrix PhaseGradients(const LayerGeometry& g, const Phase& y,
                          const Phase& x, const Fp32Matrix& dz, int image) {
  Fp32Matrix result = Fp32Matrix::Zero(y.positions * x.positions,
                                       y.taps * x.taps * g.out_channels);
  for (int iy = 0; iy < y.positions; ++iy) {
    for (int ix = 0; ix < x.positions; ++ix) {
      ForEachTap(y, x, [&](int jy, int jx, int index) {
        const int oy = y.Out(iy, jy), ox = x.Out(ix, jx);
        if (oy < 0 || oy >= g.out_height || ox < 0 || ox >= g.out_width) return;
        result.row(iy * x.positions + ix)
            .segment(index * g.out_channels, g.out_channels) =
            dz.row((int64_t{image} * g.out_height + oy) * g.out_width + ox);
      });
    }
  }
  return result;
}

// One chain per row of a and column of b.
Fp32Matrix Chains(const Fp32Matrix& a, const Fp32Matrix& b, int rows) {
  Fp32Matrix sums = Fp32Matrix::Zero(a.rows(), b.cols());
  ExtendChains(a.rows(), b.cols(), a.cols(), {a.data(), a.cols(), 1}, b.data(),
               sums.data());
  if (a.cols() % rows != 0) FillUpChains(sums.size(), sums.data());
  return sums;
}

}  // namespace

Fp32Matrix Forward(const LayerGeometry& g, const Fp32Matrix& x,
                   const Fp32Matrix& weights, int rows) {
  Fp32Matrix sums(g.positions(), g.out_channels);
  for (int n = 0; n < g.images; ++n) {
    sums.middleRows(n * g.out_positions(), g.out_positions()) =
        Chains(Windows(g, x, n), weights, rows);
  }
  MakeCanonical(&sums);
  return sums;
}

Fp32Matrix WeightGradient(const LayerGeometry& g, const Fp32Matrix& x,
                          const Fp32Matrix& dz, int rows) {
  const int64_t k = g.contraction();
  const int lines = std::max(rows / g.out_width, 1);
  Fp32Matrix dw = Fp32Matrix::Zero(k, g.out_channels);
  for (int n = 0; n < g.images; ++n) {
    const Fp32Matrix windows = Windows(g, x, n);
    for (int line = 0; line < g.out_height; line += lines) {
      const int64_t first = int64_t{line} * g.out_width;
      const int64_t count =
          int64_t{std::min(lines, g.out_height - line)} * g.out_width;
      ExtendChains(k, g.out_channels, count, {windows.data() + first * k, 1, k},
                   dz.data() + (n * g.out_positions() + first) * dz.cols(),
                   dw.data());
      if (count % rows != 0) FillUpChains(dw.size(), dw.data());
    }
  }
  MakeCanonical(&dw);
  return dw;
}

Fp32Matrix InputGradient(const LayerGeometry& g, const Fp32Matrix& dz,
                         const Fp32Matrix& weights, int rows) {
  Fp32Matrix da(g.images * g.in_positions(), g.in_channels);
  for (int py = 0; py < std::min(g.stride, g.in_height); ++py) {
    for (int px = 0; px < std::min(g.stride, g.in_width); ++px) {
      const Phase y(py, g.pad_top, g.kernel, g.stride, g.in_height);
      const Phase x(px, g.pad_left, g.kernel, g.stride, g.in_width);
      const Fp32Matrix taps = PhaseWeights(g, y, x, weights);
      for (int n = 0; n < g.images; ++n) {
        const Fp32Matrix sums =
            Chains(PhaseGradients(g, y, x, dz, n), taps, rows);
        for (int iy = 0; iy < y.positions; ++iy) {
          for (int ix = 0; ix < x.positions; ++ix) {
            da.row((int64_t{n} * g.in_height + y.In(iy)) * g.in_width +
                   x.In(ix)) = sums.row(iy * x.positions + ix);
          }
        }
      }
    }
  }
  return RoundedToBf16(da);
}

}  // namespace systole::golden
