// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/geometry.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/strings/str_format.h"

namespace systole::compiler {
namespace {

// Along one axis: first and last input that outputs o0 to o0 + n - 1 touch,
// clipped to the image; at least one input.
std::pair<int64_t, int64_t> Span(int64_t o0, int64_t n, int64_t stride,
                                 int64_t pad, int64_t kernel, int64_t dilation,
                                 int64_t size) {
  const int64_t first = std::clamp<int64_t>(o0 * stride - pad, 0, size - 1);
  const int64_t last = std::clamp<int64_t>(
      (o0 + n - 1) * stride - pad + (kernel - 1) * dilation, 0, size - 1);
  return {first, last + 1};
}

// First and last tap k that is inside the image, 0 <= o*stride - pad +
// k*dilation < size, for some output o in o0 to o0 + n - 1.
std::pair<int64_t, int64_t> TapRange(int64_t o0, int64_t n, int64_t stride,
                                     int64_t pad, int64_t kernel,
                                     int64_t dilation, int64_t size) {
  int64_t first = kernel, last = -1;
  for (int64_t k = 0; k < kernel; ++k) {
    // The smallest output >= o0 whose tap is not before the image.
    const int64_t before = pad - k * dilation;
    const int64_t o = std::max(o0, before > 0 ? CeilDiv(before, stride) : 0);
    if (o < o0 + n && o * stride - pad + k * dilation < size) {
      first = std::min(first, k);
      last = k;
    }
  }
  return last < 0 ? std::make_pair(int64_t{0}, int64_t{1})
                  : std::make_pair(first, last + 1);
}

}  // namespace

std::string Geometry::ToString() const {
  std::string text = absl::StrFormat("%dx%dx%d", h, w, c);
  if (n > 1) text = absl::StrFormat("%d x ", n) + text;
  if (kh > 1 || kw > 1 || sh > 1 || sw > 1)
    absl::StrAppendFormat(&text, " * %dx%d", kh, kw);
  if (sh > 1 && sh == sw) absl::StrAppendFormat(&text, " s%d", sh);
  if (sh != sw) absl::StrAppendFormat(&text, " s%dx%d", sh, sw);
  if (multiplier > 0) text += " depthwise";
  if (dh > 1 || dw > 1) absl::StrAppendFormat(&text, " d%dx%d", dh, dw);
  return text + absl::StrFormat(" -> %dx%dx%d", oh, ow, oc);
}

int64_t TileChannels(const Geometry& g, int64_t cols) {
  if (g.multiplier == 0 && (g.groups == 1 || g.in_group > 0)) return g.c;
  if (g.multiplier == 0) {
    const int64_t own = g.oc / g.groups;
    int64_t most = CeilDiv(cols, own);
    if (own % cols != 0 && cols % own != 0) ++most;  // cut at both ends
    return std::min(g.groups, most) * (g.c / g.groups);
  }
  if (g.group > 0) return g.group;
  // A tile may start within the outputs of one channel and end within those of
  // another.
  const int64_t split = cols % g.multiplier == 0 ? 0 : 1;
  return std::min(g.c, CeilDiv(cols, g.multiplier) + split);
}

int64_t FirstChannel(const Geometry& g, int64_t cols, int64_t tile) {
  if (g.group > 0) return tile * g.group;
  if (g.multiplier > 0) return tile * cols / g.multiplier;
  if (TileChannels(g, cols) == g.c) return 0;
  return tile * cols / (g.oc / g.groups) * (g.c / g.groups);
}

void JoinInputs(Geometry& g) {
  if (g.w != g.ow) {
    g.oc *= g.ow;
    g.ow = 1;
  }
  g.h = g.oh;
  g.w = g.ow;
  g.c = g.oc;
}

namespace {

bool HasGroups(const model::Layer& layer, const Geometry& g, int64_t groups) {
  const int64_t depth = g.c / groups, own = g.oc / groups;
  for (int64_t o = 0; o < g.oc; ++o) {
    const int64_t first = o / own * depth;
    for (int64_t i = 0; i < g.taps() * g.c; ++i) {
      const int64_t c = i % g.c;
      if ((c < first || c >= first + depth) &&
          layer.weights[o * g.taps() * g.c + i] != layer.weight_zero_point)
        return false;
    }
  }
  return true;
}

}  // namespace

int64_t GroupsOf(const model::Layer& layer, Geometry g, int64_t rows,
                 int64_t cols) {
  if (layer.op != model::Op::kConv2D) return 1;
  for (int64_t groups = std::gcd(g.c, g.oc); groups > 1; --groups) {
    g.groups = groups;
    // Taps of some channels only are read one by one.
    if (g.c % groups != 0 || g.oc % groups != 0 ||
        4 * CeilDiv(TileChannels(g, cols) * g.taps(), rows) >
            3 * CeilDiv(g.c * g.taps(), rows))
      continue;
    if (HasGroups(layer, g, groups)) return groups;
  }
  return 1;
}

Geometry GeometryOf(const model::Network& network, const model::Layer& layer,
                    int64_t batch) {
  const model::Tensor& in = network.in(layer);
  const model::Tensor& out = network.out(layer);
  Geometry g;
  g.n = batch;
  g.h = in.height;
  g.w = in.width;
  g.c = in.channels;
  g.oh = out.height;
  g.ow = out.width;
  g.oc = out.channels;
  if (layer.op == model::Op::kSlice) {
    g.sh = layer.window.stride_h;
    g.sw = layer.window.stride_w;
    g.pad_top = -layer.begin[0];
    g.pad_left = -layer.begin[1];
    return g;
  }
  if (layer.op == model::Op::kSums) {
    g.element_bytes = 4;
    g.oc /= g.element_bytes;
  }
  if (layer.op == model::Op::kDepthwise) g.multiplier = g.oc / g.c;
  if (layer.op == model::Op::kConcat) {
    JoinInputs(g);
  } else if (layer.op == model::Op::kDense) {
    g.kh = g.h;
    g.kw = g.w;
  } else if (!model::IsElementwise(layer.op) && layer.op != model::Op::kSums) {
    g.kh = layer.window.kernel_h;
    g.kw = layer.window.kernel_w;
    g.sh = layer.window.stride_h;
    g.sw = layer.window.stride_w;
    g.dh = layer.window.dilation_h;
    g.dw = layer.window.dilation_w;
    g.pad_top = layer.window.pad_top;
    g.pad_left = layer.window.pad_left;
  }
  return g;
}

Region InputRegion(const Geometry& g, const Block& b, int64_t beat) {
  Region r;
  r.i0 = b.i0;
  r.ni = b.ni;
  const auto [l0, l1] = Span(b.y0, b.ny, g.sh, g.pad_top, g.kh, g.dh, g.h);
  r.l0 = l0;
  r.nl = l1 - l0;
  if (b.nx == g.ow) {
    r.nb = g.line_bytes();
    return r;
  }
  const auto [x0, x1] = Span(b.x0, b.nx, g.sw, g.pad_left, g.kw, g.dw, g.w);
  r.b0 = x0 * g.c / beat * beat;
  r.nb = x1 * g.c - r.b0;
  return r;
}

bool Taps::operator<(const Taps& o) const {
  return std::tie(ky0, ky1, kx0, kx1) < std::tie(o.ky0, o.ky1, o.kx0, o.kx1);
}

Taps ValidTaps(const Geometry& g, const Block& b) {
  Taps t;
  std::tie(t.ky0, t.ky1) =
      TapRange(b.y0, b.ny, g.sh, g.pad_top, g.kh, g.dh, g.h);
  std::tie(t.kx0, t.kx1) =
      TapRange(b.x0, b.nx, g.sw, g.pad_left, g.kw, g.dw, g.w);
  return t;
}

}  // namespace systole::compiler
