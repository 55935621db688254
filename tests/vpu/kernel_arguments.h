// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random arguments of the kernels of firmware/vpu.
#ifndef SYSTOLE_TESTS_VPU_KERNEL_ARGUMENTS_H_
#define SYSTOLE_TESTS_VPU_KERNEL_ARGUMENTS_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "systole/gen/presets.h"

namespace systole {

class ArgumentDraw {
 public:
  explicit ArgumentDraw(uint64_t seed) : random_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_;
};

// Arguments as the compiler gives them: sizes that fit together, places apart.
class KernelArguments {
 public:
  using Args = std::vector<std::pair<std::string, int64_t>>;

  KernelArguments(const Preset& preset, uint64_t seed)
      : draw_(seed), lanes_(preset.cols), row_(4 * preset.cols) {}

  Args Of(const std::string& kernel) {
    slot_ = 0;
    cols_ = draw_(1, lanes_);
    if (kernel.rfind("acc_", 0) == 0)
      return {{"acc", draw_(0, 99)},
              {"dst", Place()},
              {"pitch", 4 * (cols_ + draw_(0, 5))},
              {"rows", Rows()},
              {"cols", cols_}};
    return {{"src", Place()},
            {"dst", Place()},
            {"pitch", row_ + 4 * draw_(0, 3)},
            {"rows", Rows()}};
  }

 private:
  static constexpr int64_t kSlot = 8192;  // bytes that an argument's data have

  int64_t Place() { return kSlot * slot_++ + 4 * draw_(0, 9); }
  int64_t Rows() { return draw_(1, 40); }

  ArgumentDraw draw_;
  const int64_t lanes_, row_;
  int64_t slot_ = 0, cols_ = 1;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_VPU_KERNEL_ARGUMENTS_H_
