// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Networks of a given image size, of random weights, as those are that people
// run: what grows with the image is seen in them.
#ifndef TESTS_COMPILER_SIZED_NETWORKS_H_
#define TESTS_COMPILER_SIZED_NETWORKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "systole/compiler.h"
#include "systole/model.h"

namespace systole {

// "convolutions": a stem at stride 2 and 3x3 layers behind it. "separable":
// depthwise and 1x1 layers in turns (MobileNet). "residual": bottlenecks with
// additions behind a stem and a pool (ResNet). Without their last layers, a
// mean of all positions and a product, which are one block in any image.
inline const std::vector<std::string> kSizedNetworks = {
    "convolutions", "separable", "residual"};

// One of these, or "inverted": an addition of what a wide layer lies between
// (MobileNetV2).
model::Network SizedNetwork(const std::string& kind, int height, int width);

// One to four random layers over images that are higher than wide, so that
// they are cut into many blocks: convolutions of both kinds, pools, additions.
struct TallNetwork {
  TallNetwork(uint64_t seed, const Preset& preset);

  model::Network network;
  compiler::Options options;
  std::vector<int8_t> input;
};

}  // namespace systole

#endif  // TESTS_COMPILER_SIZED_NETWORKS_H_
