// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Resize and Upsample, axis by axis. Each result is a weighted sum of
// neighbours whose positions are known at import.
#include <algorithm>
#include <cmath>

#include "host/import/onnx/indices.h"
#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::ElementType;

struct Resizing {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, outside = 0;
  bool exclude_outside = false, antialias = false;
};

struct AxisResize {
  int64_t in = 0, out = 0;
  double scale = 1, start = 0, end = 1;  // start, end: the region of a crop
};

constexpr int64_t kMostPixels = 1 << 24;  // per dimension

// Rounds a size down. Returns 0, which no dimension has, for an invalid size.
int64_t SizeOf(double size) {
  return size >= 1 && size <= double{kMostPixels}
             ? static_cast<int64_t>(std::floor(size))
             : 0;
}

// The position in the operand of the centre of result i.
double PlaceOf(const Resizing& how, const AxisResize& axis, int64_t i) {
  const auto x = static_cast<double>(i), in = static_cast<double>(axis.in),
             out = static_cast<double>(axis.out);
  if (how.coordinates == "asymmetric") return x / axis.scale;
  if (how.coordinates == "align_corners")
    return axis.out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (how.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how.coordinates == "pytorch_half_pixel" && axis.out == 1) return 0;
  if (how.coordinates == "tf_crop_and_resize") {
    if (axis.out == 1) return 0.5 * (axis.start + axis.end) * (in - 1);
    return axis.start * (in - 1) +
           x * (axis.end - axis.start) * (in - 1) / (out - 1);
  }
  double offset = 0;
  if (how.coordinates == "half_pixel_symmetric")
    offset = in / 2 * (1 - out / (axis.scale * in));
  return offset + (x + 0.5) / axis.scale - 0.5;
}

int64_t Nearest(const Resizing& how, double place) {
  const double low = std::floor(place), high = std::ceil(place);
  if (how.nearest == "floor") return static_cast<int64_t>(low);
  if (how.nearest == "ceil") return static_cast<int64_t>(high);
  const bool up = place - low > 0.5 ||
                  (place - low == 0.5 && how.nearest == "round_prefer_ceil");
  return static_cast<int64_t>(up ? high : low);
}

double Cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// The neighbours of each result and their weights: taps[k] has the k-th
// neighbour of all results.
struct Taps {
  std::vector<Ints> places;
  std::vector<std::vector<double>> weights;
  std::vector<bool> outside;  // takes the extrapolation value
};

Taps TapsOf(const Resizing& how, const AxisResize& axis) {
  const double narrow = how.antialias ? std::min(axis.scale, 1.0) : 1;
  const bool cubic = how.mode == "cubic", nearest = how.mode == "nearest";
  const auto reach =
      static_cast<int64_t>(std::floor((cubic ? -2 : -1) / narrow)) + 1;
  const int64_t count = nearest ? 1 : 2 - 2 * reach;
  Taps taps;
  taps.places.resize(count);
  taps.weights.resize(count);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double place = PlaceOf(how, axis, i);
    const auto clamped = [&](int64_t at) {
      return std::clamp<int64_t>(at, 0, axis.in - 1);
    };
    taps.outside.push_back(
        how.coordinates == "tf_crop_and_resize" &&
        (place < 0 || place > static_cast<double>(axis.in - 1)));
    if (nearest) {
      taps.places[0].push_back(clamped(Nearest(how, place)));
      taps.weights[0].push_back(1);
      continue;
    }
    const auto base = static_cast<int64_t>(std::ceil(place)) - 1;
    const double ratio = place - static_cast<double>(base);
    double sum = 0;
    std::vector<double> weights;
    for (int64_t k = 0; k < count; ++k) {
      const double distance = (static_cast<double>(reach + k) - ratio) * narrow;
      double weight = cubic ? Cubic(distance, how.cubic)
                            : std::max(0.0, 1 - std::abs(distance));
      const int64_t at = base + reach + k;
      if (how.exclude_outside && at != clamped(at)) weight = 0;
      weights.push_back(weight);
      sum += weight;
    }
    const bool scaled = how.exclude_outside || how.antialias;
    for (int64_t k = 0; k < count; ++k) {
      taps.places[k].push_back(clamped(base + reach + k));
      taps.weights[k].push_back(scaled ? weights[k] / sum : weights[k]);
    }
  }
  return taps;
}

// Slices of x at positions that are known. If each slice is just repeated, this
// is a broadcast.
Value TakeKnown(HloBuilder& b, const Value& x, const Ints& places,
                int64_t axis) {
  const Ints shape = x.type().shape;
  const auto out = static_cast<int64_t>(places.size());
  if (places == Range(0, shape[axis])) return x;
  const int64_t times = shape[axis] > 0 ? out / shape[axis] : 0;
  bool rows =
      times > 1 && times * shape[axis] == out && x.type().rank() < ir::kMaxRank;
  for (int64_t i = 0; rows && i < out; ++i) rows = places[i] == i / times;
  if (rows) {
    Ints wide = shape, joined = shape, dims = Range(0, x.type().rank());
    wide.insert(wide.begin() + axis + 1, times);
    for (size_t i = axis + 1; i < dims.size(); ++i) ++dims[i];
    joined[axis] = out;
    return b.Reshape(b.BroadcastInDim(x, wide, dims), joined);
  }
  return Take(b, x,
              b.Constant({ElementType::kInt32, {out}, {}},
                         LiteralOf(ElementType::kInt32,
                                   {places.begin(), places.end()})),
              axis);
}

Value ResizeAxis(HloBuilder& b, const Resizing& how, const AxisResize& resize,
                 const Value& x, int64_t axis) {
  const Taps taps = TapsOf(how, resize);
  const ElementType element = x.type().element;
  const auto along = [&](ElementType type, const std::vector<double>& values) {
    Ints shape(x.type().rank(), 1);
    shape[axis] = resize.out;
    return b.Constant({type, shape, {}}, LiteralOf(type, values));
  };
  Value sum;
  for (size_t k = 0; k < taps.places.size() && b.ok(); ++k) {
    const std::vector<double>& weights = taps.weights[k];
    if (std::all_of(weights.begin(), weights.end(),
                    [](double weight) { return weight == 0; }))
      continue;
    Value part = TakeKnown(b, x, taps.places[k], axis);
    if (how.mode != "nearest")
      part = b.Binary(Op::kHloMultiply, part, along(element, weights));
    sum = sum.node == nullptr ? part : b.Binary(Op::kHloAdd, sum, part);
  }
  if (std::count(taps.outside.begin(), taps.outside.end(), true) == 0)
    return sum.node == nullptr ? x : sum;
  const std::vector<double> outside(taps.outside.begin(), taps.outside.end());
  return b.Select(along(ElementType::kBool, outside),
                  b.Scalar(element, how.outside), sum);
}

Values ResizeAll(OnnxNode& n, const Resizing& how,
                 const std::vector<AxisResize>& axes) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  const ElementType element = x.type().element;
  const bool wide = !ir::IsFloat(element) && how.mode != "nearest";
  if (wide) x = b.Convert(x, ElementType::kFloat32);
  for (size_t i = 0; i < axes.size() && b.ok(); ++i) {
    const AxisResize& axis = axes[i];
    const bool same = axis.in == axis.out && axis.scale == 1 &&
                      axis.start == 0 && axis.end == 1;
    if (!same) x = ResizeAxis(b, how, axis, x, static_cast<int64_t>(i));
  }
  if (!wide) return {x};
  return {b.Convert(b.Unary(Op::kHloRoundNearestEven, x), element)};
}

bool CheckSizes(OnnxNode& n, const std::vector<AxisResize>& axes) {
  for (const AxisResize& axis : axes) {
    if (!n.Check(axis.in > 0 && axis.out > 0 && axis.out <= kMostPixels &&
                     axis.scale > 0,
                 "a size of ", axis.in, " times ", axis.scale, " is not 1 to ",
                 kMostPixels) ||
        !n.Check(std::abs(axis.start) <= double{kMostPixels} &&
                     std::abs(axis.end) <= double{kMostPixels},
                 "a roi from ", axis.start, " to ", axis.end))
      return false;
  }
  return n.b.ok();
}

Values Upsample(OnnxNode& n) {
  Resizing how;
  how.mode = n.Text("mode", "nearest");
  how.coordinates = "asymmetric";
  how.nearest = "floor";
  if (how.mode == "bilinear") how.mode = "linear";
  std::vector<double> scales;
  if (n.op == "Resize" || n.opset >= 9) {
    scales = n.Numbers(1, "scales");
  } else {
    const std::vector<float> given = n.Floats("scales");
    scales.assign(given.begin(), given.end());
  }
  const Ints shape = n.Shape(0);
  if (!n.Check(scales.size() == shape.size() &&
                   (how.mode == "linear" || how.mode == "nearest"),
               scales.size(), " scales for ", ir::ShapeText(shape), ", mode '",
               how.mode, "'"))
    return {};
  std::vector<AxisResize> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back({shape[i], SizeOf(static_cast<double>(shape[i]) * scales[i]),
                    scales[i]});
  }
  if (!CheckSizes(n, axes)) return {};
  return ResizeAll(n, how, axes);
}

// Sets the sizes of the axes in `at`, from the input scales or sizes.
bool SetSizes(OnnxNode& n, const Ints& at, std::vector<AxisResize>& axes) {
  const std::string policy = n.Text("keep_aspect_ratio_policy", "stretch");
  const std::vector<double> scales = n.Has(2) && n.In(2).type().elements() > 0
                                         ? n.Numbers(2, "scales")
                                         : std::vector<double>();
  if (!scales.empty()) {
    if (!n.Check(scales.size() == at.size(), scales.size(), " scales"))
      return false;
    for (size_t i = 0; i < at.size(); ++i) {
      AxisResize& axis = axes[at[i]];
      axis.scale = scales[i];
      axis.out = SizeOf(static_cast<double>(axis.in) * axis.scale);
    }
    return n.b.ok();
  }
  const Ints sizes = n.Has(3) ? n.Integers(3, "sizes") : Ints();
  if (!n.Check(sizes.size() == at.size(), sizes.size(), " sizes for ",
               at.size(), " axes"))
    return false;
  double common = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    AxisResize& axis = axes[at[i]];
    if (!n.Check(axis.in > 0 && sizes[i] > 0, "a size of ", sizes[i]))
      return false;
    axis.out = sizes[i];
    axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.in);
    const bool first = i == 0;
    if (policy == "not_larger")
      common = first ? axis.scale : std::min(common, axis.scale);
    if (policy == "not_smaller")
      common = first ? axis.scale : std::max(common, axis.scale);
  }
  if (policy == "stretch") return n.b.ok();
  if (!n.Check(common > 0, "keep_aspect_ratio_policy '", policy, "'"))
    return false;
  for (const int64_t i : at) {
    axes[i].scale = common;
    axes[i].out = SizeOf(static_cast<double>(axes[i].in) * common + 0.5);
  }
  return n.b.ok();
}

Values Resize(OnnxNode& n) {
  if (n.opset < 11) return Upsample(n);
  Resizing how;
  how.mode = n.Text("mode", "nearest");
  how.coordinates = n.Text("coordinate_transformation_mode", "half_pixel");
  how.nearest = n.Text("nearest_mode", "round_prefer_floor");
  how.cubic = n.Float("cubic_coeff_a", -0.75f);
  how.outside = n.Float("extrapolation_value", 0);
  how.exclude_outside = n.Int("exclude_outside", 0) != 0;
  how.antialias = n.Int("antialias", 0) != 0;
  const Ints shape = n.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const Ints at =
      n.HasAttribute("axes") ? n.Axes(n.List("axes"), rank) : Range(0, rank);
  std::vector<AxisResize> axes;
  for (const int64_t size : shape) axes.push_back({size, size});
  if (!n.Check(
          how.mode == "nearest" || how.mode == "linear" || how.mode == "cubic",
          "mode '", how.mode, "'") ||
      !SetSizes(n, at, axes))
    return {};
  if (how.coordinates == "tf_crop_and_resize") {
    const std::vector<double> region =
        n.Has(1) ? n.Numbers(1, "roi") : std::vector<double>();
    if (!n.Check(region.size() == 2 * at.size(), region.size(),
                 " values of roi"))
      return {};
    for (size_t i = 0; i < at.size(); ++i) {
      axes[at[i]].start = region[i];
      axes[at[i]].end = region[i + at.size()];
    }
  }
  if (!CheckSizes(n, axes)) return {};
  if (how.coordinates == "align_corners" ||
      how.coordinates == "tf_crop_and_resize") {
    for (const AxisResize& axis : axes) {
      // Runtimes disagree on whether the exact or the rounded size counts.
      const double size = static_cast<double>(axis.in) * axis.scale;
      if (std::abs(size - static_cast<double>(axis.out)) > 1e-3) {
        return {n.Refuse(how.coordinates, " with a scale of ", axis.scale,
                         " for a size of ", axis.in)};
      }
    }
  }
  return ResizeAll(n, how, axes);
}

}  // namespace

OnnxOperators ResizeOperators() {
  return {{"Resize", 1, 4, Resize}, {"Upsample", 1, 2, Upsample}};
}

}  // namespace systole::import
