// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Windows of tensors that stay in HBM, against the host: rows of whole beats,
// of parts of beats, single elements, at both ends of the tensor, in chunks and
// slices.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

class RowsTest : public testing::TestWithParam<const char*> {
 protected:
  RowsTest() : check_(GetParam()) {}

  // Starts are anything from -range to range.
  void Gather(const std::string& type, const std::string& from,
              const std::string& index, const std::string& to,
              const std::string& attributes, int range,
              const std::string& number = "i32") {
    SCOPED_TRACE(
        absl::StrCat(type, "[", from, "] by ", number, "[", index, "]"));
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
  // Rows of a matrix.
  void Rows(const std::string& type, int rows, int width, int count,
            const std::string& number = "i32") {
    Gather(type, absl::StrCat(rows, ",", width), absl::StrCat(count, ",1"),
           absl::StrCat(count, ",", width),
           absl::StrFormat("offset_dims=[1], collapsed_slice_dims=[0], "
                           "operand_batching_dims=[], "
                           "start_indices_batching_dims=[], "
                           "start_index_map=[0], index_vector_dim=1, "
                           "slice_sizes=[1,%d], indices_are_sorted=false",
                           width),
           rows + 2, number);
  }
  void Slice(const std::string& type, const std::string& shape,
             const std::string& part, std::vector<int> ranges) {
    SCOPED_TRACE(absl::StrCat(type, "[", shape, "] to [", part, "]"));
    std::string text = absl::StrFormat(
        "module @m {\n  %%x = %s[%s] parameter(), name=\"x\"\n", type, shape);
    std::string starts;
    for (size_t i = 0; i < ranges.size(); ++i) {
      absl::StrAppendFormat(
          &text,
          "  %%n%1$d = i32[] parameter(), name=\"n%1$d\"\n"
          "  %%k%1$d = i32[] constant(), data=[%2$d]\n"
          "  %%i%1$d = i32[] hlo.remainder(%%n%1$d, %%k%1$d)\n",
          i, ranges[i]);
      absl::StrAppendFormat(&starts, ", %%i%d", i);
    }
    absl::StrAppendFormat(
        &text, "  %%r = %s[%s] hlo.dynamic_slice(%%x%s), sizes=[%s]\n", type,
        part, starts, part);
    text += "  return %r as \"r\"\n}\n";
    for (const uint64_t seed : {1, 2, 3, 4}) check_.Check(text, seed);
  }

  DeviceCheck check_;
};

TEST_P(RowsTest, OfWholeBeats) {
  Rows("f32", 700, 256, 100);
  Rows("f32", 3000, 128, 1);
  Rows("bf16", 3000, 256, 700);
}

TEST_P(RowsTest, OfPartsOfBeats) {
  Rows("f32", 3000, 64, 300);
  Rows("f32", 3000, 32, 77, "i16");
  Rows("bf16", 3000, 160, 90);
  Rows("bf16", 4000, 48, 1000);
  Rows("u64", 250, 80, 50, "u8");
  Rows("i1", 5000, 96, 40);
  Rows("f32", 3000, 200, 65);
}

TEST_P(RowsTest, AtAnyByte) {
  Rows("f32", 9000, 3, 200);
  Rows("bf16", 3000, 77, 130);
  Rows("i1", 9000, 17, 90);
  Rows("bf16", 300, 1001, 33);
  Rows("f32", 70000, 1, 333);
}

// One element of each line, as of a loss by labels.
TEST_P(RowsTest, OfBatches) {
  Gather("f32", "300,250", "300,1,1", "300,1",
         "offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0], "
         "start_indices_batching_dims=[0], start_index_map=[1], "
         "index_vector_dim=2, slice_sizes=[1,1], indices_are_sorted=false",
         251);
  Gather("f32", "40,50,64", "40,7,1", "40,7,64",
         "offset_dims=[2], collapsed_slice_dims=[1], "
         "operand_batching_dims=[0], start_indices_batching_dims=[0], "
         "start_index_map=[1], index_vector_dim=2, slice_sizes=[1,1,64], "
         "indices_are_sorted=false",
         52);
}

// Several pieces each, in any order of the result.
TEST_P(RowsTest, OfSeveralPieces) {
  Gather("f32", "60,50,32", "20,2", "20,3,5,32",
         "offset_dims=[1,2,3], collapsed_slice_dims=[], "
         "operand_batching_dims=[], start_indices_batching_dims=[], "
         "start_index_map=[0,1], index_vector_dim=1, slice_sizes=[3,5,32], "
         "indices_are_sorted=false",
         61);
  Gather("bf16", "60,50,64", "3,4,2", "5,3,4,16",
         "offset_dims=[0,3], collapsed_slice_dims=[0], "
         "operand_batching_dims=[], start_indices_batching_dims=[], "
         "start_index_map=[2,0], index_vector_dim=2, slice_sizes=[1,5,16], "
         "indices_are_sorted=false",
         61);
  // The windows' elements are not neighbours in the result.
  Gather("f32", "90,500", "6,1", "500,6",
         "offset_dims=[0], collapsed_slice_dims=[0], "
         "operand_batching_dims=[], start_indices_batching_dims=[], "
         "start_index_map=[0], index_vector_dim=1, slice_sizes=[1,500], "
         "indices_are_sorted=false",
         91);
}

TEST_P(RowsTest, Slices) {
  Slice("f32", "100,30,40", "1,30,40", {105, 3, 3});
  Slice("f32", "900,128", "200,128", {905, 2});
  Slice("bf16", "900,128", "9,37", {905, 130});
  Slice("i8", "90000", "801", {90010});
  Slice("f32", "30,40,50", "7,3,11", {31, 41, 51});
  Slice("f32", "2000,100", "1500,100", {700, 2});
}

INSTANTIATE_TEST_SUITE_P(Presets, RowsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
