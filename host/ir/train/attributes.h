// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Attributes of the operations of train/ (docs/training.md).
#ifndef SYSTOLE_HOST_IR_TRAIN_ATTRIBUTES_H_
#define SYSTOLE_HOST_IR_TRAIN_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

namespace systole::ir {

using Ints = std::vector<int64_t>;

// Windows of a convolution or of a pool: pairs are [height, width], paddings
// [top, left, bottom, right]. Dense layers use these defaults.
struct TrainWindowAttributes {
  Ints kernel = {1, 1};
  Ints stride = {1, 1};
  Ints padding = {0, 0, 0, 0};

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("padding", self.padding);
  }
};

// Rows of the array that multiplies; it has as many columns. The steps of a
// contraction are padded to this number.
struct TrainArrayAttributes {
  int64_t rows = 128;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("rows", self.rows);
  }
};

struct TrainProductAttributes : TrainWindowAttributes, TrainArrayAttributes {
  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    TrainWindowAttributes::Fields(self, visit);
    TrainArrayAttributes::Fields(self, visit);
  }
};

// b1 and b2, and 1 - b1 and 1 - b2 rounded from double.
struct TrainAdamAttributes {
  float decay1 = 0.9f, decay2 = 0.999f;
  float share1 = 0.1f, share2 = 0.001f;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("decay1", self.decay1);
    visit("decay2", self.decay2);
    visit("share1", self.share1);
    visit("share2", self.share2);
  }
};

struct TrainSgdAttributes {
  float momentum = 0.9f;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("momentum", self.momentum);
  }
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TRAIN_ATTRIBUTES_H_
