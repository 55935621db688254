// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations whose addresses come from data, against the host: numbers inside
// and outside, windows of all forms, updates of one place.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class IndexedTest : public testing::TestWithParam<const char*> {
 protected:
  IndexedTest() : check_(GetParam()) {}

  // Numbers of `index` are brought near 0..range by a remainder.
  void Gather(const std::string& type, const std::string& from,
              const std::string& index, const std::string& to,
              const std::string& attributes, int range) {
    for (const char* number : {"i32", "u8", "i16"}) {
      check_.Check(
          absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%n = %6$s[%3$s] parameter(), name="n"
  %%k = %6$s[] constant(), data=[%7$d]
  %%m = %6$s[%3$s] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%i = %6$s[%3$s] hlo.remainder(%%n, %%m)
  %%r = %1$s[%4$s] hlo.gather(%%x, %%i), %5$s
  return %%r as "r"
}
)",
                          type, from, index, to, attributes, number, range),
          7);
    }
  }

  void Scatter(const std::string& type, const std::string& op,
               const std::string& to, const std::string& index,
               const std::string& updates, const std::string& attributes,
               int range) {
    const std::string body =
        op.empty()
            ? "return %b"
            : absl::StrFormat("%%c = %s[] hlo.%s(%%a, %%b)\n    return %%c",
                              type, op);
    check_.Check(
        absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%n = i32[%3$s] parameter(), name="n"
  %%u = %1$s[%4$s] parameter(), name="u"
  %%k = i32[] constant(), data=[%7$d]
  %%m = i32[%3$s] hlo.broadcast_in_dim(%%k), dimensions=[]
  %%i = i32[%3$s] hlo.remainder(%%n, %%m)
  %%r = %1$s[%2$s] hlo.scatter(%%x, %%i, %%u), %5$s {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %6$s
  }
  return %%r as "r"
}
)",
                        type, to, index, updates, attributes, body, range),
        11);
  }

  void Slice(const std::string& type, const std::string& shape,
             const std::string& part, int rank) {
    for (const bool update : {false, true}) {
      std::string text = absl::StrFormat(
          "module @m {\n  %%x = %1$s[%2$s] parameter(), name=\"x\"\n"
          "  %%u = %1$s[%3$s] parameter(), name=\"u\"\n"
          "  %%k = i32[] constant(), data=[9]\n",
          type, shape, part);
      std::string starts;
      for (int i = 0; i < rank; ++i) {
        absl::StrAppendFormat(&text,
                              "  %%n%1$d = i32[] parameter(), name=\"n%1$d\"\n"
                              "  %%i%1$d = i32[] hlo.remainder(%%n%1$d, %%k)\n",
                              i);
        absl::StrAppendFormat(&starts, ", %%i%d", i);
      }
      if (update) {
        absl::StrAppendFormat(
            &text, "  %%r = %s[%s] hlo.dynamic_update_slice(%%x, %%u%s)\n",
            type, shape, starts);
      } else {
        absl::StrAppendFormat(
            &text, "  %%r = %s[%s] hlo.dynamic_slice(%%x%s), sizes=[%s]\n",
            type, part, starts, part);
      }
      text += "  return %r as \"r\"\n}\n";
      for (const uint64_t seed : {1, 2, 3}) check_.Check(text, seed);
    }
  }

  DeviceCheck check_;
};

TEST_P(IndexedTest, GathersOfRowsAndElements) {
  const char* const types[] = {"f32", "bf16", "i16", "i1", "u64"};
  for (const char* type : types) {
    // Rows of a table; elements of a vector; of a matrix.
    Gather(type, "11,13", "9,1", "9,13",
           "offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], "
           "index_vector_dim=1, slice_sizes=[1,13]",
           13);
    Gather(type, "11,150", "2,3", "2,3,150",
           "offset_dims=[2], collapsed_slice_dims=[0], start_index_map=[0], "
           "index_vector_dim=2, slice_sizes=[1,150]",
           13);
    Gather(type, "20", "300", "300",
           "collapsed_slice_dims=[0], start_index_map=[0], "
           "index_vector_dim=1, slice_sizes=[1]",
           23);
    Gather(type, "6,10", "6,2", "6",
           "collapsed_slice_dims=[0,1], start_index_map=[1,0], "
           "index_vector_dim=1, slice_sizes=[1,1]",
           11);
  }
}

TEST_P(IndexedTest, GathersOfWindows) {
  // Windows of three dimensions, whose elements lie apart in the result.
  Gather("f32", "5,6,7", "2,4", "3,4,2,7",
         "offset_dims=[0,2,3], start_index_map=[2,0], index_vector_dim=0, "
         "slice_sizes=[3,2,7], collapsed_slice_dims=[]",
         4);
}

TEST_P(IndexedTest, GathersOfBatches) {
  Gather("f32", "4,9", "4,3,1", "4,3",
         "collapsed_slice_dims=[1], operand_batching_dims=[0], "
         "start_indices_batching_dims=[0], start_index_map=[1], "
         "index_vector_dim=2, slice_sizes=[1,1]",
         10);
  Gather("f32", "9,4,5", "3,4,1", "5,3,4",
         "offset_dims=[0], collapsed_slice_dims=[0], "
         "operand_batching_dims=[1], start_indices_batching_dims=[1], "
         "start_index_map=[0], index_vector_dim=2, slice_sizes=[1,1,5]",
         10);
}

TEST_P(IndexedTest, Scatters) {
  for (const char* op : {"", "add", "maximum", "multiply"}) {
    for (const char* type : {"f32", "bf16", "f16", "i32", "u16", "u8"}) {
      Scatter(type, op, "11,13", "30,1", "30,13",
              "update_window_dims=[1], inserted_window_dims=[0], "
              "scatter_dims_to_operand_dims=[0], index_vector_dim=1",
              14);
      Scatter(type, op, "20", "60", "60",
              "inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], "
              "index_vector_dim=1",
              23);
    }
  }
  Scatter("u64", "", "6,10", "7,2", "7",
          "inserted_window_dims=[0,1], scatter_dims_to_operand_dims=[1,0], "
          "index_vector_dim=1",
          11);
  // Windows that overlap, and those that do not lie inside.
  Scatter("f32", "add", "9,40,3", "2,6", "4,6,20,3",
          "update_window_dims=[0,2,3], scatter_dims_to_operand_dims=[0,1], "
          "index_vector_dim=0",
          20);
  Scatter("f32", "add", "4,9", "4,3,1", "4,3",
          "inserted_window_dims=[1], input_batching_dims=[0], "
          "scatter_indices_batching_dims=[0], "
          "scatter_dims_to_operand_dims=[1], index_vector_dim=2",
          10);
}

TEST_P(IndexedTest, DynamicSlices) {
  for (const char* type : {"f32", "bf16", "i16", "i1", "u64"}) {
    Slice(type, "37", "30", 1);
    Slice(type, "9,200", "4,196", 2);
    Slice(type, "5,7,9", "2,3,4", 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, IndexedTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
