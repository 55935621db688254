// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>
#include <cmath>

#include "verif/golden/quantized_ops.h"

namespace systole::golden {
namespace {

// Single precision, as specified.
int NearestPosition(int output, int input_size, int output_size,
                    const ResizeOptions& options) {
  const bool corners = options.align_corners && output_size > 1;
  const float scale =
      corners ? (input_size - 1) / static_cast<float>(output_size - 1)
              : input_size / static_cast<float>(output_size);
  const float offset = options.half_pixel_centers ? 0.5f : 0.0f;
  const float position = (output + offset) * scale;
  const int nearest = static_cast<int>(
      options.align_corners ? std::round(position) : std::floor(position));
  return std::clamp(nearest, 0, input_size - 1);
}

constexpr int kFractionBits = 10;
constexpr int kOne = 1 << kFractionBits;

// The position of an output between two input positions.
struct Between {
  int lower = 0;
  int upper = 0;
  int64_t to_upper = 0;  // weight of upper, of kOne
};

Between Interpolate(int output, int input_size, int output_size,
                    const ResizeOptions& options) {
  const bool corners = options.align_corners && output_size > 1;
  const int from = corners ? input_size - 1 : input_size;
  const int to = corners ? output_size - 1 : output_size;
  const int64_t scale = (int64_t{kOne} * from + to / 2) / to;
  int64_t position = output * scale;
  if (options.half_pixel_centers) position += scale / 2 - kOne / 2;
  Between between;
  between.lower = static_cast<int>(std::max<int64_t>(position / kOne, 0));
  between.upper = static_cast<int>(
      std::min<int64_t>((position + kOne - 1) / kOne, input_size - 1));
  between.to_upper = position - int64_t{kOne} * between.lower;
  return between;
}

// The same in single precision.
struct RealBetween {
  int lower = 0, upper = 0;
  float part = 0;  // the weight of `upper`
};

RealBetween InterpolateReal(int output, int input_size, int output_size,
                            const ResizeOptions& options) {
  const bool corners = options.align_corners && output_size > 1;
  const float ratio =
      corners ? (input_size - 1) / static_cast<float>(output_size - 1)
              : input_size / static_cast<float>(output_size);
  const float position = options.half_pixel_centers
                             ? (output + 0.5f) * ratio - 0.5f
                             : output * ratio;
  RealBetween between;
  between.lower = std::max(0, static_cast<int>(std::floor(position)));
  between.upper =
      std::min(input_size - 1, static_cast<int>(std::ceil(position)));
  between.part = position - between.lower;
  return between;
}

}  // namespace

TensorI8 ResizeNearest(const TensorI8& input, int height, int width,
                       const ResizeOptions& options) {
  TensorI8 output(input.n(), height, width, input.c());
  for (int n = 0; n < input.n(); ++n) {
    for (int y = 0; y < height; ++y) {
      const int from_y = NearestPosition(y, input.h(), height, options);
      for (int x = 0; x < width; ++x) {
        const int from_x = NearestPosition(x, input.w(), width, options);
        for (int c = 0; c < input.c(); ++c) {
          output.at(n, y, x, c) = input.at(n, from_y, from_x, c);
        }
      }
    }
  }
  return output;
}

TensorI8 ResizeBilinear(const TensorI8& input, int height, int width,
                        const ResizeOptions& options) {
  TensorI8 output(input.n(), height, width, input.c());
  for (int n = 0; n < input.n(); ++n) {
    for (int y = 0; y < height; ++y) {
      const Between v = Interpolate(y, input.h(), height, options);
      for (int x = 0; x < width; ++x) {
        const Between u = Interpolate(x, input.w(), width, options);
        for (int c = 0; c < input.c(); ++c) {
          const int64_t sum =
              input.at(n, v.lower, u.lower, c) * (kOne - v.to_upper) *
                  (kOne - u.to_upper) +
              input.at(n, v.upper, u.lower, c) * v.to_upper *
                  (kOne - u.to_upper) +
              input.at(n, v.lower, u.upper, c) * (kOne - v.to_upper) *
                  u.to_upper +
              input.at(n, v.upper, u.upper, c) * v.to_upper * u.to_upper;
          const int64_t half = int64_t{1} << (2 * kFractionBits - 1);
          output.at(n, y, x, c) = static_cast<int8_t>(
              (sum + (sum > 0 ? half : -half)) / (2 * half));
        }
      }
    }
  }
  return output;
}

TensorI8 ResizeBilinearUint8(const TensorI8& input, int height, int width,
                             const ResizeOptions& options) {
  TensorI8 output(input.n(), height, width, input.c());
  for (int n = 0; n < input.n(); ++n) {
    for (int y = 0; y < height; ++y) {
      const RealBetween v = InterpolateReal(y, input.h(), height, options);
      for (int x = 0; x < width; ++x) {
        const RealBetween u = InterpolateReal(x, input.w(), width, options);
        for (int c = 0; c < input.c(); ++c) {
          const auto term = [&](int row, float by_row, int column,
                                float by_column) {
            const float value = 128.0f + input.at(n, row, column, c);
            return value * by_row * by_column;
          };
          const float sum = term(v.lower, 1 - v.part, u.lower, 1 - u.part) +
                            term(v.upper, v.part, u.lower, 1 - u.part) +
                            term(v.lower, 1 - v.part, u.upper, u.part) +
                            term(v.upper, v.part, u.upper, u.part);
          output.at(n, y, x, c) =
              static_cast<int8_t>(static_cast<int>(sum + 0.5f) - 128);
        }
      }
    }
  }
  return output;
}

}  // namespace systole::golden
