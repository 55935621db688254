// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "host/ir/hlo/functions.h"
#include "host/ir/train/attributes.h"
#include "host/ir/train/numbers.h"

namespace systole::ir::train {
namespace {

constexpr float kEpsilon = 0.001f, kKept = 0.1f;

// Statistics of a channel.
struct Channel {
  float mean, inv;
  float Normal(float z) const { return Times(Plus(z, -mean), inv); }
};

float Rectified(const Channel& c, float z, float beta) {
  return Larger(Plus(c.Normal(z), beta), 0.0f);
}

}  // namespace

absl::StatusOr<Literals> EvaluateNorm(const Node& node,
                                      const Operands& operands, Evaluation&) {
  const Rows rows(node.type);
  const Floats z = Read(node, operands, 0), beta = Read(node, operands, 1);
  Floats run_mean = Read(node, operands, 2), run_var = Read(node, operands, 3);
  const float share = 1.0f / static_cast<float>(rows.count());
  Floats a(z.size()), means, invs;
  for (int64_t c = 0; c < rows.channels; ++c) {
    const auto at = [&](int64_t row) { return z[row * rows.channels + c]; };
    const float first = at(0);
    const float r = Times(SumOf(rows,
                                [&](int64_t row, float sum) {
                                  return Plus(sum, Plus(at(row), -first));
                                }),
                          share);
    const float square = Times(SumOf(rows,
                                     [&](int64_t row, float sum) {
                                       const float d = Plus(at(row), -first);
                                       return Fused(d, d, sum);
                                     }),
                               share);
    const float mean = Plus(first, r);
    const float var = Larger(Less(r, r, square), 0.0f);
    const Channel channel = {mean, Rsqrt(Plus(var, kEpsilon))};
    for (int64_t row = 0; row < rows.count(); ++row)
      a[row * rows.channels + c] = Rectified(channel, at(row), beta[c]);
    means.push_back(mean);
    invs.push_back(channel.inv);
    run_mean[c] = Fused(kKept, Plus(mean, -run_mean[c]), run_mean[c]);
    run_var[c] = Fused(kKept, Plus(var, -run_var[c]), run_var[c]);
  }
  return Literals{Halves(a), Literal(means), Literal(invs), Literal(run_mean),
                  Literal(run_var)};
}

absl::StatusOr<Literals> EvaluateNormInference(const Node& node,
                                               const Operands& operands,
                                               Evaluation&) {
  Floats z = Read(node, operands, 0);
  const Floats beta = Read(node, operands, 1);
  const Floats mean = Read(node, operands, 2), var = Read(node, operands, 3);
  for (size_t i = 0; i < z.size(); ++i) {
    const size_t c = i % beta.size();
    z[i] = Rectified({mean[c], Rsqrt(Plus(var[c], kEpsilon))}, z[i], beta[c]);
  }
  return Literals{Halves(z)};
}

absl::StatusOr<Literals> EvaluateNormGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation&) {
  const Rows rows(node.type);
  const Floats z = Read(node, operands, 0), beta = Read(node, operands, 1);
  const Floats mean = Read(node, operands, 2), inv = Read(node, operands, 3);
  const Floats da = Read(node, operands, 4);
  const float share = 1.0f / static_cast<float>(rows.count());
  Floats dz(z.size()), dbeta;
  for (int64_t c = 0; c < rows.channels; ++c) {
    const Channel channel = {mean[c], inv[c]};
    const auto normal = [&](int64_t row) {
      return channel.Normal(z[row * rows.channels + c]);
    };
    const auto given = [&](int64_t row) {
      return Plus(normal(row), beta[c]) > 0 ? da[row * rows.channels + c]
                                            : 0.0f;
    };
    const float sum = SumOf(
        rows, [&](int64_t row, float sum) { return Plus(sum, given(row)); });
    const float product = SumOf(rows, [&](int64_t row, float sum) {
      return Fused(given(row), normal(row), sum);
    });
    const float mb = Times(sum, share), mx = Times(product, share);
    for (int64_t row = 0; row < rows.count(); ++row) {
      dz[row * rows.channels + c] =
          Times(Less(normal(row), mx, Plus(given(row), -mb)), inv[c]);
    }
    dbeta.push_back(sum);
  }
  return Literals{Halves(dz), Literal(dbeta)};
}

absl::StatusOr<Literals> EvaluateBiasGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation&) {
  const Rows rows(node.operands[0].type());
  const Floats dz = Read(node, operands, 0);
  Floats sums;
  for (int64_t c = 0; c < rows.channels; ++c) {
    sums.push_back(SumOf(rows, [&](int64_t row, float sum) {
      return Plus(sum, dz[row * rows.channels + c]);
    }));
  }
  return Literals{Literal(sums)};
}

namespace {

// Calls visit(first element of the window's result, those of its taps in order)
// for channel 0.
template <typename Visit>
void ForEachWindow(const Type& image, const Type& pooled,
                   const TrainWindowAttributes& w, Visit visit) {
  const int64_t channels = image.shape[3];
  std::vector<int64_t> taps;
  int64_t window = 0;
  for (int64_t n = 0; n < pooled.shape[0]; ++n) {
    for (int64_t oy = 0; oy < pooled.shape[1]; ++oy) {
      for (int64_t ox = 0; ox < pooled.shape[2]; ++ox, window += channels) {
        taps.clear();
        for (int64_t k = 0; k < w.kernel[0] * w.kernel[1]; ++k) {
          const int64_t y = oy * w.stride[0] - w.padding[0] + k / w.kernel[1];
          const int64_t x = ox * w.stride[1] - w.padding[1] + k % w.kernel[1];
          if (y >= 0 && y < image.shape[1] && x >= 0 && x < image.shape[2])
            taps.push_back(((n * image.shape[1] + y) * image.shape[2] + x) *
                           channels);
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

absl::StatusOr<Literals> EvaluatePool(const Node& node,
                                      const Operands& operands, Evaluation&) {
  const Type& image = node.operands[0].type();
  const Floats a = Read(node, operands, 0);
  Floats pooled(node.type.elements());
  ForEachWindow(
      image, node.type, node.attr<TrainWindowAttributes>(),
      [&](int64_t window, const std::vector<int64_t>& taps) {
        for (int64_t c = 0; c < image.shape[3]; ++c) {
          const bool max = node.op == Op::kTrainMaxPool;
          float value = max ? -std::numeric_limits<float>::infinity() : 0.0f;
          for (const int64_t tap : taps)
            value = max ? Larger(value, a[tap + c]) : Plus(value, a[tap + c]);
          pooled[window + c] = max ? value : Times(value, Share(taps));
        }
      });
  return Literals{Halves(pooled)};
}

absl::StatusOr<Literals> EvaluatePoolGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation&) {
  const bool max = node.op == Op::kTrainMaxPoolGradient;
  const int given = max ? 2 : 0;
  const Floats dpooled = Read(node, operands, given);
  const Floats a = max ? Read(node, operands, 0) : Floats();
  const Floats pooled = max ? Read(node, operands, 1) : Floats();
  Floats da(node.type.elements(), 0.0f);
  ForEachWindow(node.type, node.operands[given].type(),
                node.attr<TrainWindowAttributes>(),
                [&](int64_t window, const std::vector<int64_t>& taps) {
                  for (int64_t c = 0; c < node.type.shape[3]; ++c) {
                    const float d = dpooled[window + c];
                    for (const int64_t tap : taps) {
                      if (max && !(a[tap + c] == pooled[window + c])) continue;
                      da[tap + c] =
                          Plus(da[tap + c], max ? d : Times(d, Share(taps)));
                      if (max) break;  // only the first tap
                    }
                  }
                });
  return Literals{Halves(da)};
}

absl::StatusOr<Literals> EvaluateAdd(const Node& node, const Operands& operands,
                                     Evaluation&) {
  Floats sum = Read(node, operands, 0);
  const Floats other = Read(node, operands, 1);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = Plus(sum[i], other[i]);
  return Literals{Halves(sum)};
}

absl::StatusOr<Literals> EvaluateAdamPowers(const Node& node,
                                            const Operands& operands,
                                            Evaluation&) {
  const auto& adam = node.attr<TrainAdamAttributes>();
  const Floats powers = Read(node, operands, 0);
  return Literals{Literal(
      Floats{Times(powers[0], adam.decay1), Times(powers[1], adam.decay2)})};
}

absl::StatusOr<Literals> EvaluateUpdate(const Node& node,
                                        const Operands& operands, Evaluation&) {
  constexpr float kMost = 0x1p63f;
  const bool adam = node.op == Op::kTrainAdam;
  Floats w = Read(node, operands, 0), first = Read(node, operands, 1);
  Floats second = adam ? Read(node, operands, 2) : Floats();
  const Floats gradient = Read(node, operands, adam ? 3 : 2);
  const float rate = Read(node, operands, adam ? 5 : 3)[0];
  float k1 = 0, k2 = 0;
  if (adam) {
    const Floats powers = Read(node, operands, 4);
    k1 = Reciprocal(Plus(1.0f, -powers[0]));
    k2 = Reciprocal(Plus(1.0f, -powers[1]));
  }
  for (size_t i = 0; i < w.size(); ++i) {
    float &m = first[i], g = gradient[i];
    if (!adam) {
      m = Fused(node.attr<TrainSgdAttributes>().momentum, m, g);
      w[i] = Less(rate, m, w[i]);
      continue;
    }
    const auto& a = node.attr<TrainAdamAttributes>();
    float& v = second[i];
    if (!std::isnan(g)) g = std::clamp(g, -kMost, kMost);
    m = Fused(a.share1, Plus(g, -m), m);
    v = Fused(a.share2, Plus(Times(g, g), -v), v);
    const float h = Fused(v, k2, 1e-30f);
    const float den = Fused(h, Rsqrt(h), 1e-7f);
    w[i] = Less(rate, Times(Times(m, k1), Reciprocal(den)), w[i]);
  }
  Literals results = {Literal(w), Literal(first)};
  if (adam) results.emplace_back(second);
  if (node.results() > static_cast<int>(results.size()))
    results.push_back(Halves(w));
  return results;
}

}  // namespace systole::ir::train
