// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The products of a training step, summed in the order of the array, and the
// loss.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/ir/evaluate.h"
#include "host/ir/hlo/functions.h"
#include "host/ir/train/attributes.h"
#include "host/ir/train/evaluate.h"
#include "host/ir/train/numbers.h"

namespace systole::ir::train {
namespace {

// A convolution. Samples count as images of one position.
struct Convolution {
  int64_t images, h, w, in, oh, ow, out;
  int64_t kernel[2], stride[2], pad[2];
  int64_t rows;
  bool dense;

  Convolution(const Type& x, const Type& z, const TrainWindowAttributes& a,
              int64_t array)
      : images(x.shape[0]),
        h(x.rank() == 2 ? 1 : x.shape[1]),
        w(x.rank() == 2 ? 1 : x.shape[2]),
        in(x.shape.back()),
        oh(z.rank() == 2 ? 1 : z.shape[1]),
        ow(z.rank() == 2 ? 1 : z.shape[2]),
        out(z.shape.back()),
        kernel{a.kernel[0], a.kernel[1]},
        stride{a.stride[0], a.stride[1]},
        pad{a.padding[0], a.padding[1]},
        rows(array),
        dense(x.rank() == 2) {}
  Convolution(const Type& x, const Type& z, const TrainProductAttributes& a)
      : Convolution(x, z, a, a.rows) {}

  int64_t taps() const { return kernel[0] * kernel[1] * in; }

  // Inputs of the window of an output position, in the order (ky, kx, ci); +0
  // outside the image.
  void Window(const Floats& x, int64_t n, int64_t oy, int64_t ox,
              Floats* window) const {
    window->assign(taps(), 0.0f);
    float* to = window->data();
    for (int64_t ky = 0; ky < kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < kernel[1]; ++kx, to += in) {
        const int64_t y = oy * stride[0] - pad[0] + ky;
        const int64_t col = ox * stride[1] - pad[1] + kx;
        if (y < 0 || y >= h || col < 0 || col >= w) continue;
        std::copy_n(x.begin() + ((n * h + y) * w + col) * in, in, to);
      }
    }
  }
};

// sums[c] = fma(x, w[c], sums[c]).
void Add(float x, const float* w, Floats* sums) {
  float* to = sums->data();
  for (size_t c = 0; c < sums->size(); ++c) to[c] = std::fma(x, w[c], to[c]);
}

// Pads a step of `count` elements to whole rows: adds products of +0.
void FillUp(int64_t count, int64_t rows, Floats* sums) {
  if (count % rows == 0) return;
  for (float& sum : *sums) sum += 0.0f;
}

// The fp32 rows of a product.
Floats ProductRows(const Convolution& g, const Floats& x, const Floats& w) {
  Floats rows, window, sums;
  rows.reserve(g.images * g.oh * g.ow * g.out);
  for (int64_t n = 0; n < g.images; ++n) {
    for (int64_t oy = 0; oy < g.oh; ++oy) {
      for (int64_t ox = 0; ox < g.ow; ++ox) {
        g.Window(x, n, oy, ox, &window);
        sums.assign(g.out, 0.0f);
        for (int64_t k = 0; k < g.taps(); ++k)
          Add(window[k], w.data() + k * g.out, &sums);
        FillUp(g.taps(), g.rows, &sums);
        for (const float sum : sums) rows.push_back(Number(sum));
      }
    }
  }
  return rows;
}

}  // namespace

absl::StatusOr<Literals> EvaluateProduct(const Node& node,
                                         const Operands& operands,
                                         Evaluation&) {
  const Convolution g(node.operands[0].type(), node.type,
                      node.attr<TrainProductAttributes>());
  return Literals{
      Halves(ProductRows(g, Read(node, operands, 0), Read(node, operands, 1)))};
}

absl::StatusOr<Literals> EvaluateWeightGradient(const Node& node,
                                                const Operands& operands,
                                                Evaluation&) {
  const Type& z = node.operands[1].type();
  const Convolution g(node.operands[0].type(), z,
                      node.attr<TrainProductAttributes>());
  const Floats x = Read(node, operands, 0), dz = Read(node, operands, 1);
  Floats dw(g.taps() * g.out, 0.0f), window, row;
  // Lines of one image, or samples, of one block.
  const int64_t block = g.dense ? g.rows : std::max<int64_t>(1, g.rows / g.ow);
  const int64_t lines = g.images * g.oh;
  const int64_t image = g.dense ? lines : g.oh;
  int64_t count = 0;  // positions of the block
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t ox = 0; ox < g.ow; ++ox, ++count) {
      g.Window(x, line / g.oh, line % g.oh, ox, &window);
      const float* given = dz.data() + (line * g.ow + ox) * g.out;
      for (int64_t k = 0; k < g.taps(); ++k) {
        for (int64_t c = 0; c < g.out; ++c) {
          float& sum = dw[k * g.out + c];
          sum = std::fma(window[k], given[c], sum);
        }
      }
    }
    const int64_t next = line % image + 1;
    if (next % block != 0 && next != image) continue;
    FillUp(count, g.rows, &dw);
    count = 0;
  }
  for (float& sum : dw) sum = Number(sum);
  return Literals{Literal(std::move(dw))};
}

namespace {

// The taps that reach an input position, the last one first, and the output
// position of each.
struct Taps {
  std::vector<int64_t> tap, from;

  Taps(int64_t position, int64_t kernel, int64_t stride, int64_t pad) {
    for (int64_t k = kernel - 1; k >= 0; --k) {
      const int64_t at = position + pad - k;
      if (at % stride != 0) continue;
      tap.push_back(k);
      from.push_back(at / stride);
    }
  }
};

}  // namespace

absl::StatusOr<Literals> EvaluateInputGradient(const Node& node,
                                               const Operands& operands,
                                               Evaluation&) {
  const Convolution g(node.type, node.operands[0].type(),
                      node.attr<TrainProductAttributes>());
  const Floats dz = Read(node, operands, 0), w = Read(node, operands, 1);
  // Weights as [tap][out][in].
  Floats turned(w.size());
  for (int64_t k = 0; k < g.kernel[0] * g.kernel[1]; ++k) {
    for (int64_t i = 0; i < g.in; ++i) {
      for (int64_t o = 0; o < g.out; ++o)
        turned[(k * g.out + o) * g.in + i] = w[(k * g.in + i) * g.out + o];
    }
  }
  const Floats outside(g.out, 0.0f);
  Floats da, sums;
  da.reserve(node.type.elements());
  for (int64_t n = 0; n < g.images; ++n) {
    for (int64_t iy = 0; iy < g.h; ++iy) {
      const Taps ys(iy, g.kernel[0], g.stride[0], g.pad[0]);
      for (int64_t ix = 0; ix < g.w; ++ix) {
        const Taps xs(ix, g.kernel[1], g.stride[1], g.pad[1]);
        sums.assign(g.in, 0.0f);
        for (size_t j = 0; j < ys.tap.size(); ++j) {
          for (size_t i = 0; i < xs.tap.size(); ++i) {
            const int64_t oy = ys.from[j], ox = xs.from[i];
            const bool inside = oy >= 0 && oy < g.oh && ox >= 0 && ox < g.ow;
            const float* given =
                inside ? dz.data() + ((n * g.oh + oy) * g.ow + ox) * g.out
                       : outside.data();
            const float* tap =
                turned.data() +
                (ys.tap[j] * g.kernel[1] + xs.tap[i]) * g.out * g.in;
            for (int64_t o = 0; o < g.out; ++o)
              Add(given[o], tap + o * g.in, &sums);
          }
        }
        FillUp(static_cast<int64_t>(ys.tap.size() * xs.tap.size()) * g.out,
               g.rows, &sums);
        for (const float sum : sums) da.push_back(Number(sum));
      }
    }
  }
  return Literals{Halves(da)};
}

namespace {

// Sum over `lanes` lanes, with +0 after the values.
float SumOverLanes(Floats values, int64_t lanes) {
  values.resize(lanes, 0.0f);
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l)
      values[l] = Plus(values[l], values[l + half]);
  }
  return values[0];
}

}  // namespace

absl::StatusOr<Literals> EvaluateClassify(const Node& node,
                                          const Operands& operands,
                                          Evaluation&) {
  constexpr float kLog2OfE = 1.44269502f, kLogOf2 = 0.693147182f;
  const int64_t lanes = node.attr<TrainArrayAttributes>().rows;
  const Convolution g(node.operands[0].type(), node.type, {}, lanes);
  const Floats z =
      ProductRows(g, Read(node, operands, 0), Read(node, operands, 1));
  const Floats bias = Read(node, operands, 2), hot = Read(node, operands, 3);
  const float share = 1.0f / static_cast<float>(g.images);
  Floats dz(z.size()), losses, rights, d(g.out), e(g.out), chosen(g.out);
  for (int64_t n = 0; n < g.images; ++n) {
    const float* label = hot.data() + n * g.out;
    for (int64_t c = 0; c < g.out; ++c) d[c] = Plus(z[n * g.out + c], bias[c]);
    float most = d[0];
    for (const float logit : d) most = Larger(most, logit);
    for (int64_t c = 0; c < g.out; ++c) {
      d[c] = Plus(d[c], -most);
      e[c] = Exp2(Times(d[c], kLog2OfE));
      chosen[c] = Times(label[c], d[c]);
    }
    const float t = SumOverLanes(e, lanes), u = SumOverLanes(chosen, lanes);
    const float scale = Reciprocal(t);
    for (int64_t c = 0; c < g.out; ++c) {
      const float p = Times(e[c], scale);
      dz[n * g.out + c] = Times(Plus(p, -label[c]), share);
    }
    losses.push_back(Plus(Times(Log2(t), kLogOf2), -u));
    rights.push_back(u == 0 ? 1.0f : 0.0f);
  }
  const Rows samples(Type{ElementType::kFloat32, {g.images, 1}, {}});
  const auto sum_of = [&](const Floats& values) {
    return SumOf(samples, [&](int64_t row, float sum) {
      return Plus(sum, values[row]);
    });
  };
  return Literals{Halves(dz), Literal(Floats{sum_of(losses)}),
                  Literal(Floats{sum_of(rights)})};
}

absl::StatusOr<Literals> EvaluateSumCores(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation) {
  if (!evaluation.other_core()) {
    return absl::FailedPreconditionError(
        "a sum over two cores, and there is one");
  }
  const absl::StatusOr<Literal> other =
      evaluation.other_core()(node, *operands[0]);
  if (!other.ok()) return other.status();
  if (other->element() != node.type.element ||
      other->size() != node.type.elements()) {
    return absl::InvalidArgumentError(
        "the other core's gradient has another type");
  }
  Floats sum = Read(node, operands, 0);
  const Floats& added = other->values<float>();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = Plus(sum[i], added[i]);
  return Literals{Literal(std::move(sum))};
}

}  // namespace systole::ir::train
