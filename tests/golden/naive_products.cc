// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/golden/naive_training.h"
#include "verif/golden/fp32.h"

namespace systole::golden {
namespace {

using Products = std::vector<std::pair<float, float>>;

// Goes on from `row`; steps of `rows`, the last one filled up.
float Chain(const Products& products, int rows, Slip slip, float row = 0.0f) {
  size_t count = 0;
  for (const auto& [a, b] : products) {
    row = std::fma(a, b, row);
    ++count;
  }
  if (slip == Slip::kNoFill) return row;
  for (; count % rows != 0; ++count) row = std::fma(0.0f, 0.0f, row);
  return row;
}

int PadBefore(int in, int out, int kernel, int stride) {
  return std::max((out - 1) * stride + kernel - in, 0) / 2;
}

int PadTop(const NaiveLayer& l) {
  return PadBefore(l.height, l.OutHeight(), l.kernel, l.stride);
}
int PadLeft(const NaiveLayer& l) {
  return PadBefore(l.width, l.OutWidth(), l.kernel, l.stride);
}

// +0 outside of a map of height x width.
float At(const Fp32Matrix& map, int height, int width, int n, int y, int x,
         int c) {
  if (y < 0 || y >= height || x < 0 || x >= width) return 0.0f;
  return map((n * height + y) * width + x, c);
}

// The input under tap k = (ky, kx, ci).
float Input(const NaiveLayer& l, const Fp32Matrix& x, int n, int oy, int ox,
            int k) {
  if (l.kernel == 0) return x(n, k);
  const int ci = k % l.channels;
  const int kx = k / l.channels % l.kernel;
  const int ky = k / l.channels / l.kernel;
  return At(x, l.height, l.width, n, oy * l.stride + ky - PadTop(l),
            ox * l.stride + kx - PadLeft(l), ci);
}

int Contraction(const NaiveLayer& l) {
  return std::max(l.kernel * l.kernel, 1) * l.channels;
}

}  // namespace

std::vector<NaiveLayer> NaiveLayers(const TrainingNetwork& network, int batch) {
  std::vector<NaiveLayer> layers;
  int height = network.height, width = network.width,
      channels = network.channels;
  for (const TrainingLayer& t : network.layers) {
    if (t.kernel == 0) {
      channels *= height * width;
      height = width = 1;
    }
    layers.push_back(
        {batch, height, width, channels, t.kernel, t.stride, t.filters});
    height = layers.back().OutHeight();
    width = layers.back().OutWidth();
    channels = t.filters;
  }
  return layers;
}

Fp32Matrix NaiveForward(const NaiveLayer& l, const Fp32Matrix& x,
                        const Fp32Matrix& weights, int rows, Slip slip) {
  Fp32Matrix z(l.batch * l.OutHeight() * l.OutWidth(), l.filters);
  int64_t i = 0;
  for (int n = 0; n < l.batch; ++n) {
    for (int oy = 0; oy < l.OutHeight(); ++oy) {
      for (int ox = 0; ox < l.OutWidth(); ++ox, ++i) {
        for (int co = 0; co < l.filters; ++co) {
          Products products;
          for (int k = 0; k < Contraction(l); ++k) {
            products.push_back({Input(l, x, n, oy, ox, k), weights(k, co)});
          }
          if (slip == Slip::kForwardOrder) {
            std::reverse(products.begin(), products.end());
          }
          z(i, co) = Chain(products, rows, slip);
        }
      }
    }
  }
  return z;
}

Fp32Matrix NaiveWeightGradient(const NaiveLayer& l, const Fp32Matrix& x,
                               const Fp32Matrix& dz, int rows, Slip slip) {
  const int height = l.OutHeight(), width = l.OutWidth();
  Fp32Matrix dw(Contraction(l), l.filters);
  for (int k = 0; k < dw.rows(); ++k) {
    for (int co = 0; co < dw.cols(); ++co) {
      float row = 0.0f;
      Products products;
      const auto end_block = [&] {
        if (slip == Slip::kGradientOrder) {
          std::reverse(products.begin(), products.end());
        }
        row = Chain(products, rows, slip, row);
        products.clear();
      };
      int lines = std::max(1, rows / width);
      if (slip == Slip::kWholeImageBlocks) lines = height;
      for (int n = 0; n < l.batch; ++n) {
        for (int oy = 0; oy < height; ++oy) {
          for (int ox = 0; ox < width; ++ox) {
            products.push_back({Input(l, x, n, oy, ox, k),
                                dz((n * height + oy) * width + ox, co)});
          }
          if (l.kernel == 0 || slip == Slip::kBlocksAcrossImages) {
            if (static_cast<int>(products.size()) == rows) end_block();
          } else if ((oy + 1) % lines == 0 || oy + 1 == height) {
            end_block();
          }
        }
      }
      end_block();
      dw(k, co) = row;
    }
  }
  return dw;
}

Fp32Matrix NaiveInputGradient(const NaiveLayer& l, const Fp32Matrix& dz,
                              const Fp32Matrix& weights, int rows, Slip slip) {
  Fp32Matrix da(l.batch * l.height * l.width, l.channels);
  const auto finish = [&](Products products) {
    if (slip == Slip::kAscendingTaps) {
      // Taps ascend, channels too.
      for (size_t first = 0; first + l.filters <= products.size();
           first += l.filters) {
        std::reverse(products.begin() + first,
                     products.begin() + first + l.filters);
      }
      std::reverse(products.begin(), products.end());
    }
    return fp32::Bf16(Chain(products, rows, slip));
  };
  if (l.kernel == 0) {
    for (int n = 0; n < l.batch; ++n) {
      for (int k = 0; k < l.channels; ++k) {
        Products products;
        for (int co = 0; co < l.filters; ++co) {
          products.push_back({dz(n, co), weights(k, co)});
        }
        da(n, k) = fp32::Bf16(Chain(products, rows, slip));
      }
    }
    return da;
  }
  const int s = l.stride;
  int64_t i = 0;
  for (int n = 0; n < l.batch; ++n) {
    for (int iy = 0; iy < l.height; ++iy) {
      for (int ix = 0; ix < l.width; ++ix, ++i) {
        for (int ci = 0; ci < l.channels; ++ci) {
          Products products;
          // Descending ky and kx of the residue that reaches this position.
          for (int ky = l.kernel - 1; ky >= 0; --ky) {
            if (ky % s != (iy % s + PadTop(l)) % s) continue;
            for (int kx = l.kernel - 1; kx >= 0; --kx) {
              if (kx % s != (ix % s + PadLeft(l)) % s) continue;
              const int oy = (iy + PadTop(l) - ky) / s;
              const int ox = (ix + PadLeft(l) - kx) / s;
              for (int co = 0; co < l.filters; ++co) {
                products.push_back(
                    {At(dz, l.OutHeight(), l.OutWidth(), n, oy, ox, co),
                     weights((ky * l.kernel + kx) * l.channels + ci, co)});
              }
            }
          }
          da(i, ci) = finish(products);
        }
      }
    }
  }
  return da;
}

}  // namespace systole::golden
