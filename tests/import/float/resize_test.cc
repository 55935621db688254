// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Resized images: each element between the four that lie around its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

struct Convention {
  bool align_corners, half_pixels;
};

// The place in the input of an index of the result.
double PlaceOf(const Convention& c, int index, int from, int to) {
  if (c.align_corners && to > 1) return index * (from - 1.0) / (to - 1.0);
  const double scale = static_cast<double>(from) / to;
  return c.half_pixels ? (index + 0.5) * scale - 0.5 : index * scale;
}

// Multiples, which need no gather, others, and smaller ones.
const Shape kSizes[] = {{10, 14}, {15, 7}, {9, 4}, {5, 7}, {3, 30}, {1, 1}};
const Convention kConventions[] = {
    {false, false}, {true, false}, {false, true}};

TEST(FloatResize, Bilinear) {
  const Array x = Random({2, 5, 7, 3}, 1);
  for (const Convention& c : kConventions) {
    for (const Shape& size : kSizes) {
      const Shape shape = {2, size[0], size[1], 3};
      FloatNet net;
      const auto options = tflite::CreateResizeBilinearOptions(
          net.b.fbb, 0, 0, c.align_corners, c.half_pixels);
      ExpectNear(
          net.One(tflite::BuiltinOperator_RESIZE_BILINEAR,
                  {net.In(x), net.Ints(size)}, shape,
                  tflite::Options_ResizeBilinearOptions, options.Union()),
          Made(shape, [&](const Shape& i) {
            const double row =
                             std::clamp(PlaceOf(c, i[1], 5, size[0]), 0.0, 4.0),
                         column =
                             std::clamp(PlaceOf(c, i[2], 7, size[1]), 0.0, 6.0);
            double sum = 0;
            for (int a = 0; a < 5; ++a)
              for (int b = 0; b < 7; ++b)
                sum += std::max(0.0, 1 - std::abs(row - a)) *
                       std::max(0.0, 1 - std::abs(column - b)) *
                       x.at({i[0], a, b, i[3]});
            return static_cast<float>(sum);
          }));
    }
  }
}

TEST(FloatResize, NearestNeighbour) {
  const Array x = Random({2, 5, 7, 3}, 1);
  for (const Convention& c : kConventions) {
    for (const Shape& size : kSizes) {
      const Shape shape = {2, size[0], size[1], 3};
      const auto nearest = [&](int index, int from, int to) {
        const double place =
            PlaceOf(c, index, from, to) + (c.half_pixels ? 0.5 : 0);
        const double whole = c.align_corners ? std::floor(place + 0.5)
                                             : std::floor(place + 1e-9);
        return std::clamp(static_cast<int>(whole), 0, from - 1);
      };
      FloatNet net;
      const auto options = tflite::CreateResizeNearestOptions(
          net.b.fbb, c.align_corners, c.half_pixels);
      ExpectNear(net.One(tflite::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR,
                         {net.In(x), net.Ints(size)}, shape,
                         tflite::Options_ResizeNearestOptions, options.Union()),
                 Made(shape,
                      [&](const Shape& i) {
                        return x.at({i[0], nearest(i[1], 5, size[0]),
                                     nearest(i[2], 7, size[1]), i[3]});
                      }),
                 0);
    }
  }
}

}  // namespace
}  // namespace systole::import
