// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Texts of modules of one convolution.
#ifndef SYSTOLE_TESTS_LANES_CONVOLUTION_TEXT_H_
#define SYSTOLE_TESTS_LANES_CONVOLUTION_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace systole::lanes {

using Ints = std::vector<int64_t>;
inline std::string List(const Ints& ints) { return absl::StrJoin(ints, ","); }

struct Conv {
  int64_t batch = 2, features = 3, outputs = 4, groups = 1, batch_groups = 1;
  Ints size = {7, 6}, window = {3, 2};
  Ints stride = {1, 1}, low = {0, 0}, high = {0, 0};
  Ints base = {1, 1}, dilation = {1, 1}, reversal = {0, 0};
  // Where batch and features stand: the others are spatial, in order.
  int64_t input_batch = 0, input_feature = 3;
  int64_t kernel_input = 2, kernel_output = 3;
  int64_t output_batch = 0, output_feature = 3;
  std::string type = "f32", precision = "DEFAULT";
  bool infinities = false;  // among the kernel's elements
};

// A module of one convolution; `a` is the input, `p` what the kernel is made
// of.
inline std::string ConvolutionText(const Conv& c) {
  const size_t rank = 2 + c.size.size();
  Ints input(rank), kernel(rank), output(rank);
  input[c.input_batch] = c.batch * c.batch_groups;
  input[c.input_feature] = c.features * c.groups;
  kernel[c.kernel_input] = c.features;
  kernel[c.kernel_output] = c.outputs * c.groups * c.batch_groups;
  output[c.output_batch] = c.batch;
  output[c.output_feature] = kernel[c.kernel_output];
  Ints of_input, of_kernel, of_output;
  const auto free = [rank](int64_t a, int64_t b) {
    Ints rest;
    for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
      if (d != a && d != b) rest.push_back(d);
    return rest;
  };
  of_input = free(c.input_batch, c.input_feature);
  of_kernel = free(c.kernel_input, c.kernel_output);
  of_output = free(c.output_batch, c.output_feature);
  for (size_t i = 0; i < c.size.size(); ++i) {
    input[of_input[i]] = c.size[i];
    kernel[of_kernel[i]] = c.window[i];
    const int64_t padded =
        c.low[i] + (c.size[i] - 1) * c.base[i] + 1 + c.high[i];
    output[of_output[i]] =
        (padded - (c.window[i] - 1) * c.dilation[i] - 1) / c.stride[i] + 1;
  }
  return absl::StrFormat(
      R"(module @m {
  %%a = %1$s[%2$s] parameter(), name="a"
  %%p = %1$s[%3$s] parameter(), name="p"%23$s
  %%c = %1$s[%4$s] hlo.convolution(%%a, %%b), stride=[%5$s], low=[%6$s], high=[%7$s], lhs_dilation=[%8$s], rhs_dilation=[%9$s], reversal=[%10$s], input_batch=%11$d, input_feature=%12$d, input_spatial=[%13$s], kernel_input_feature=%14$d, kernel_output_feature=%15$d, kernel_spatial=[%16$s], output_batch=%17$d, output_feature=%18$d, output_spatial=[%19$s], feature_group_count=%20$d, batch_group_count=%21$d, precision=%22$s
  return %%c as "c"
}
)",
      c.type, List(input), List(kernel), List(output), List(c.stride),
      List(c.low), List(c.high), List(c.base), List(c.dilation),
      List(c.reversal), c.input_batch, c.input_feature, List(of_input),
      c.kernel_input, c.kernel_output, List(of_kernel), c.output_batch,
      c.output_feature, List(of_output), c.groups, c.batch_groups, c.precision,
      absl::StrFormat(
          R"(
  %%f = %1$s[%2$s] hlo.%5$s(%%p)
  %%b = %1$s[%2$s] hlo.%3$s(%%p, %4$s))",
          c.type, List(kernel), c.infinities ? "divide" : "maximum",
          c.infinities ? "%f" : "%p", c.infinities ? "floor" : "negate"));
}

}  // namespace systole::lanes

#endif  // SYSTOLE_TESTS_LANES_CONVOLUTION_TEXT_H_
