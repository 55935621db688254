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
    if (kernel.rfind("bn_", 0) == 0) {
      const bool pass = kernel.find("collect") != kernel.npos ||
                        kernel == "bn_relu" || kernel == "bn_back_apply";
      return pass ? NormPass() : NormTile();
    }
    if (kernel.find("pool_gradient") != kernel.npos) return Gather(kernel);
    if (kernel == "average_share") return Share();
    if (kernel.find("pool") != kernel.npos) return Pool(kernel);
    return Other(kernel);
  }

 private:
  static constexpr int64_t kSlot = 8192;  // bytes that an argument's data have

  int64_t Place() { return kSlot * slot_++ + 4 * draw_(0, 9); }
  int64_t Rows() { return draw_(1, 40); }
  int64_t Pitch16() { return 2 * (cols_ + draw_(0, 5)); }
  int64_t Packed(int64_t high, int64_t low) { return high << 16 | low; }

  Args NormPass() {
    const int64_t pitch = Pitch16(), rows = draw_(1, 20);
    return {{"wide", Place()},        {"wide_row", 4 * (cols_ + draw_(0, 5))},
            {"src", Place()},         {"dst", Place()},
            {"da", Place()},          {"pitch", pitch},
            {"rows", rows},           {"images", draw_(1, 3)},
            {"gap", 2 * draw_(0, 9)}, {"cols", cols_}};
  }

  Args NormTile() {
    const int64_t copies = int64_t{1} << draw_(0, 3);
    const int64_t pitch = 4 * (cols_ + draw_(0, 3));
    return {{"params", Place()},
            {"wide", Place()},
            {"wide_row", copies * pitch + 4 * draw_(0, 3)},
            {"src", Place()},
            {"pitch", pitch},
            {"copies", copies},
            {"cols", cols_},
            {"sums", Place()},
            {"other", 8 * copies * pitch + 4 * draw_(0, 3)},
            {"count", 8 * copies},
            {"inv_n", 0x3D000000}};
  }

  Args Pool(const std::string& kernel) {
    const int64_t pitch = Pitch16(), lines = draw_(1, 3), width = draw_(1, 11);
    const int64_t ty = draw_(1, 3), tx = draw_(1, 3);
    const int64_t sx = draw_(1, 2), sy = draw_(1, 2);
    const int64_t line = ((width - 1) * sx + tx + draw_(0, 2)) * pitch;
    const int64_t pooled_line = (width + draw_(0, 2)) * pitch;
    const int64_t groups = (width + 7) / 8 * 8;
    const bool choice = kernel == "max_pool_choice";
    int64_t full = Place();
    if (choice) full += (ty - 1) * line + (tx - 1) * pitch;
    const int64_t pooled = Place(), choices = Place();
    return {{"full", full},
            {"pooled", pooled},
            {"pitch", pitch},
            {"row_skip", line - tx * pitch},
            {"step", sx * pitch},
            {"line_skip", sy * line - groups * sx * pitch},
            {"pooled_skip", pooled_line - groups * pitch},
            {"size", Packed(lines, width)},
            {"taps", Packed(ty, tx)},
            {"cols", cols_},
            {"more", choice ? choices - 2 * pooled : 0x3E800000},
            {"index", 0}};
  }

  Args Share() {
    const int64_t pitch = Pitch16(), width = draw_(1, 11);
    return {{"to", Place()},
            {"grad", Place()},
            {"pitch", pitch},
            {"pooled_line", (width + draw_(0, 2)) * pitch},
            {"size", Packed(draw_(1, 3), width)},
            {"index", 0x3E800000},
            {"cols", cols_}};
  }

  Args Gather(const std::string& kernel) {
    const bool max = kernel[0] == 'm';
    const int64_t pitch = (max ? 1 : 2) * Pitch16();
    const int64_t lines = draw_(1, 3), width = draw_(1, 11);
    const int64_t wy = draw_(1, 2), wx = draw_(1, 2);
    const int64_t step = 2 * (cols_ + draw_(0, 2)) * draw_(1, 2);
    const int64_t to = Place(), grad = Place(), choices = Place();
    const bool none = draw_(0, 4) == 0;
    return {{"to", to},
            {"grad", grad},
            {"more", choices - 2 * grad},
            {"pitch", pitch},
            {"pooled_line", (width + wx + draw_(0, 2)) * pitch},
            {"step", step},
            {"step_y", step * (width + draw_(0, 2))},
            {"size", Packed(lines, width)},
            {"windows", none ? 0 : Packed(wy, wx)},
            {"index", 0},
            {"cols", cols_}};
  }

  Args Other(const std::string& kernel) {
    const int64_t rows = Rows(), pitch = Pitch16();
    if (kernel == "acc_bf16" || kernel == "acc_fp32" || kernel == "acc_sums" ||
        kernel == "acc_more_sums")
      return {{"acc", draw_(0, 99)},
              {"dst", Place()},
              {"pitch", 2 * pitch},
              {"rows", rows},
              {"cols", cols_}};
    if (kernel == "exp" || kernel == "log")
      return {{"src", Place()},
              {"dst", Place()},
              {"pitch", row_ + 4 * draw_(0, 3)},
              {"rows", rows}};
    if (kernel == "acc_image")
      return {{"src", draw_(0, 99)},   {"dst", Place()},
              {"pitch", pitch},        {"line_pitch", 20 * pitch},
              {"width", draw_(1, 20)}, {"lines", draw_(1, 9)},
              {"cols", cols_}};
    if (kernel == "transpose")
      return {{"src", Place()},           {"dst", Place()},
              {"src_pitch", pitch},       {"src_cols", cols_},
              {"cols", draw_(1, lanes_)}, {"pitch", 2 * lanes_}};
    if (kernel == "clear") return {{"dst", Place()}, {"lines", rows}};
    if (kernel == "spread") {
      const int64_t width = draw_(1, 5), copies = draw_(1, 4);
      return {{"src", Place()},
              {"src_pitch", pitch},
              {"dst", Place()},
              {"pitch", pitch * copies},
              {"line_pitch", pitch * copies * width},
              {"width", width},
              {"lines", draw_(1, 4)},
              {"cols", cols_},
              {"copies", copies},
              {"copy_pitch", pitch}};
    }
    if (kernel == "sum_images")
      return {{"src", Place()}, {"other", Place()}, {"dst", Place()},
              {"pitch", pitch}, {"rows", rows},     {"cols", cols_}};
    if (kernel == "softmax" || kernel == "softmax_finish" ||
        kernel.rfind("bias_", 0) == 0)
      return {{"params", Place()},  {"acc", draw_(0, 99)},
              {"hot", Place()},     {"hot_pitch", 2 * lanes_ + 2 * draw_(0, 3)},
              {"dst", Place()},     {"pitch", pitch},
              {"rows", rows},       {"cols", cols_},
              {"inv_b", 0x3D000000}};
    Args args = {{"w", Place()},     {"m", Place()},     {"v", Place()},
                 {"g", Place()},     {"wb", Place()},    {"rows", rows},
                 {"c1", 0x3DCCCCCD}, {"c2", 0x3A83126F}, {"powers", Place()}};
    if (kernel == "adam_begin") return {args[6], args[7], args[8]};
    if (kernel == "sum_rows") return {args[0], args[3], args[5]};
    if (draw_(0, 3) == 0) args[4].second = 0;
    return args;
  }

  ArgumentDraw draw_;
  const int64_t lanes_, row_;
  int64_t slot_ = 0, cols_ = 1;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_VPU_KERNEL_ARGUMENTS_H_
