// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Handwritten digits in the IDX format of MNIST, gzip-compressed or plain.
#ifndef HOST_TOOLS_DIGITS_H_
#define HOST_TOOLS_DIGITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::tools {

struct Digits {
  int count = 0, height = 0, width = 0;
  std::vector<uint8_t> pixels;  // 0..255, count x height x width
  std::vector<uint8_t> labels;

  // Pixel p is the value p - 128 (scale 1/255, zero point -128).
  std::vector<int8_t> Quantised(int first, int images) const;
};

// Reads PART-images-idx3-ubyte[.gz] and PART-labels-idx1-ubyte[.gz] of a
// folder; the part is test or train. kNotFound, kDataLoss name the file;
// kNotFound says where there are digits.
absl::StatusOr<Digits> ReadDigits(const std::string& folder,
                                  const std::string& part = "test");

}  // namespace systole::tools

#endif  // HOST_TOOLS_DIGITS_H_
