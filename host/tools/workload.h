// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Networks and matrix products with random weights for benchmarks and tests.
// The requantise factors spread the sums over the whole int8 range, so that
// outputs neither all saturate nor all vanish.
#ifndef HOST_TOOLS_WORKLOAD_H_
#define HOST_TOOLS_WORKLOAD_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "systole/compiler.h"
#include "systole/model.h"

namespace systole::tools {

struct ConvSpec {
  std::string name;
  int width = 1, height = 1, channels = 1;  // input
  int kernel_w = 1, kernel_h = 1, filters = 1;
  int stride = 1;
  bool same = true;  // padding so that the output is ceil(input / stride), as
                     // TensorFlow pads; otherwise none
};

// One convolution. Random from the seed: weights, biases, zero points,
// requantise factors.
model::Network ConvNetwork(const ConvSpec& spec, uint64_t seed);

compiler::MatmulSpec RandomMatmul(int64_t m, int64_t k, int64_t n, bool raw,
                                  uint64_t seed);

std::vector<int8_t> RandomInt8(int64_t count, std::mt19937_64& rng);

// A factor for sums of `terms` products of uniform int8: their standard
// deviation becomes about 50.
model::Requant SpreadingRequant(int64_t terms, std::mt19937_64& rng);

}  // namespace systole::tools

#endif  // HOST_TOOLS_WORKLOAD_H_
