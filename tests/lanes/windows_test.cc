// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// reduce_window and select_and_scatter against the host: windows that overlap
// and that do not, strides, dilation, padding, ties.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"
#include "tests/lanes/module_text.h"

namespace systole::lanes {
namespace {

class WindowsTest : public testing::TestWithParam<const char*> {
 protected:
  WindowsTest() : check_(GetParam()) {}

  void Reduce(const std::string& type, const std::string& op,
              const std::string& from, const std::string& to,
              const std::string& attributes) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$s] parameter(), name="x"
  %%i = %1$s[] parameter(), name="i"
  %%r = %1$s[%4$s] hlo.reduce_window(%%x, %%i), %5$s %2$s
  return %%r as "r"
}
)",
                                 type, Region(type, op), from, to, attributes),
                 5);
  }

  void Select(const std::string& type, const std::string& direction,
              const std::string& from, const std::string& windows,
              const std::string& attributes) {
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%3$s] parameter(), name="x"
  %%s = %1$s[%4$s] parameter(), name="s"
  %%i = %1$s[] parameter(), name="i"
  %%r = %1$s[%3$s] hlo.select_and_scatter(%%x, %%s, %%i), %5$s {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %%c = i1[] hlo.compare(%%a, %%b), direction=%2$s
    return %%c
  } {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %%c = %1$s[] hlo.add(%%a, %%b)
    return %%c
  }
  return %%r as "r"
}
)",
                                 type, direction, from, windows, attributes),
                 6);
  }

  DeviceCheck check_;
};

TEST_P(WindowsTest, Reduces) {
  for (const char* type : {"f32", "bf16", "f16", "i32", "i16", "u8"}) {
    for (const char* op : {"add", "maximum", "minimum", "multiply"}) {
      Reduce(type, op, "3,8,9,5", "3,4,4,5",
             "window=[1,2,2,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,0,0,0], high=[0,0,0,0]");
      Reduce(type, op, "2,7,7,12", "2,4,4,12",
             "window=[1,3,3,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,1,1,0], high=[0,1,1,0]");
    }
  }
  // A running sum; dilation of either side.
  Reduce("f32", "add", "40", "40",
         "window=[40], stride=[1], base_dilation=[1], window_dilation=[1], "
         "low=[39], high=[0]");
  Reduce("f32", "add", "5,200", "7,197",
         "window=[2,2], stride=[1,1], base_dilation=[2,1], "
         "window_dilation=[3,3], low=[0,0], high=[1,0]");
}

// Lines of whole beats, which are loaded into the middle of their padding.
TEST_P(WindowsTest, ReducesWithinPadding) {
  for (const char* type : {"f32", "bf16"}) {
    for (const char* op : {"add", "maximum"}) {
      Reduce(type, op, "1,12,16,128", "1,7,8,128",
             "window=[1,3,3,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,1,1,0], high=[0,2,1,0]");
      Reduce(type, op, "3,2,5,128", "4,3,5,128",
             "window=[2,2,1,1], stride=[1,1,1,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,2,0,0], high=[2,0,0,0]");
    }
  }
  // More taps than one pass combines.
  Reduce("f32", "add", "2,9,8,128", "2,5,4,128",
         "window=[1,5,5,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
         "window_dilation=[1,1,1,1], low=[0,2,2,0], high=[0,2,1,0]");
}

// Windows along the innermost dimension, channels before them.
TEST_P(WindowsTest, InnerWindows) {
  const std::string attributes =
      "window=[1,1,3,3], stride=[1,1,2,2], base_dilation=[1,1,1,1], "
      "window_dilation=[1,1,1,1], low=[0,0,1,1], high=[0,0,1,1]";
  for (const char* type : {"f32", "bf16", "i32"}) {
    for (const char* op : {"add", "maximum"})
      Reduce(type, op, "2,12,9,7", "2,12,5,4", attributes);
    Select(type, "GE", "2,12,9,7", "2,12,5,4", attributes);
  }
  // One stride, and more channels than columns.
  Reduce("f32", "add", "1,40,5,4", "1,40,5,4",
         "window=[1,1,3,3], stride=[1,1,1,1], base_dilation=[1,1,1,1], "
         "window_dilation=[1,1,1,1], low=[0,0,1,1], high=[0,0,1,1]");
  Reduce("f32", "maximum", "6,300", "6,150",
         "window=[1,2], stride=[1,2], base_dilation=[1,1], "
         "window_dilation=[1,1], low=[0,0], high=[0,0]");
}

// An operand that the unified buffer of `mini` does not hold, with padding.
TEST_P(WindowsTest, ReducesWhatDoesNotFit) {
  for (const char* op : {"maximum", "add"})
    Reduce("f32", op, "1,130,131,9", "1,65,66,9",
           "window=[1,2,3,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
           "window_dilation=[1,1,1,1], low=[0,0,1,0], high=[0,0,1,0]");
}

TEST_P(WindowsTest, SelectsAndScatters) {
  for (const char* type : {"f32", "i32", "bf16", "f16", "u16"}) {
    for (const char* direction : {"GE", "GT", "LE"}) {
      Select(type, direction, "3,8,9,5", "3,4,4,5",
             "window=[1,2,2,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,0,0,0], high=[0,0,0,0]");
      // Windows that overlap: several sources of one place, in their order.
      Select(type, direction, "2,7,7,12", "2,4,4,12",
             "window=[1,3,3,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
             "window_dilation=[1,1,1,1], low=[0,1,1,0], high=[0,1,1,0]");
    }
  }
  Select("f32", "GE", "300", "298",
         "window=[4], stride=[1], base_dilation=[1], window_dilation=[1], "
         "low=[0], high=[1]");
}

// Blocks of images, and on `mini` bands of the rows of an image, which overlap
// by the windows at their edges; several passes over the taps of a window.
TEST_P(WindowsTest, InBlocksAndBands) {
  const auto window = [](int size, int stride) {
    return absl::StrFormat(
        "window=[1,%1$d,%1$d,1], stride=[1,%2$d,%2$d,1], "
        "base_dilation=[1,1,1,1], window_dilation=[1,1,1,1], low=[0,0,0,0], "
        "high=[0,0,0,0]",
        size, stride);
  };
  for (const char* type : {"f32", "bf16"}) {
    Reduce(type, "maximum", "41,13,12,32", "41,6,6,32", window(2, 2));
    Select(type, "GE", "41,13,12,32", "41,6,6,32", window(2, 2));
    Select(type, "GE", "3,67,33,32", "3,33,16,32", window(3, 2));
    Select(type, "GT", "2,64,33,32", "2,62,31,32", window(3, 1));
  }
  Select("f32", "GE", "2,40,20,64", "2,12,6,64", window(5, 3));
  Reduce("f32", "add", "9,24,24,32", "9,10,10,32", window(5, 2));
}

INSTANTIATE_TEST_SUITE_P(Presets, WindowsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
