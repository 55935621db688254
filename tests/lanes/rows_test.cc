// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Windows of tensors that stay in HBM, against the host: rows of whole beats,
// of parts of beats, single elements, at both ends of the tensor, in chunks and
// slices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
             const std::string& part, const std::vector<int>& ranges) {
    SCOPED_TRACE(absl::StrCat(type, "[", shape, "] to [", part, "]"));
    std::string text = absl::StrFormat(
        "module @m {\n  %%x = %s[%s] parameter(), name=\"x\"\n", type, shape);
    const std::string starts = Starts(ranges, text);
    absl::StrAppendFormat(
        &text, "  %%r = %s[%s] hlo.dynamic_slice(%%x%s), sizes=[%s]\n", type,
        part, starts, part);
    text += "  return %r as \"r\"\n}\n";
    for (const uint64_t seed : {1, 2, 3, 4}) check_.Check(text, seed);
  }
  // An update of this shape in place of a part.
  void Update(const std::string& type, const std::string& shape,
              const std::string& part, const std::vector<int>& ranges) {
    SCOPED_TRACE(absl::StrCat(type, "[", part, "] into [", shape, "]"));
    std::string text = absl::StrFormat(
        "module @m {\n  %%x = %1$s[%2$s] parameter(), name=\"x\"\n"
        "  %%u = %1$s[%3$s] parameter(), name=\"u\"\n",
        type, shape, part);
    const std::string starts = Starts(ranges, text);
    absl::StrAppendFormat(
        &text, "  %%r = %s[%s] hlo.dynamic_update_slice(%%x, %%u%s)\n", type,
        shape, starts);
    text += "  return %r as \"r\"\n}\n";
    for (const uint64_t seed : {1, 2, 3}) check_.Check(text, seed);
  }
  // op: what combines elements; "": the update replaces them.
  void Scatter(const std::string& type, const std::string& op,
               const std::string& to, const std::string& index,
               const std::string& updates, const std::string& windows,
               int range) {
    SCOPED_TRACE(absl::StrCat(op, " ", type, "[", updates, "] to [", to, "]"));
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
  %%r = %1$s[%2$s] hlo.scatter(%%x, %%i, %%u), %5$s, indices_are_sorted=false, unique_indices=false {
    %%a = %1$s[] parameter()
    %%b = %1$s[] parameter()
    %6$s
  }
  return %%r as "r"
}
)",
                        type, to, index, updates, windows, body, range),
        11);
  }

  // Adds the starts' parameters to a module; their names as operands.
  static std::string Starts(const std::vector<int>& ranges, std::string& text) {
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
    return starts;
  }

  DeviceCheck check_;
};

constexpr char kToRows[] =
    "update_window_dims=[1], inserted_window_dims=[0], input_batching_dims=[], "
    "scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], "
    "index_vector_dim=1";

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

// Slices whose bounds are no whole beats.
TEST_P(RowsTest, StaticSlices) {
  const auto slice = [&](const std::string& type, const std::string& shape,
                         const std::string& part, const std::string& bounds) {
    SCOPED_TRACE(absl::StrCat(type, "[", shape, "] ", bounds));
    check_.Check(absl::StrFormat(R"(module @m {
  %%x = %1$s[%2$s] parameter(), name="x"
  %%r = %1$s[%3$s] hlo.slice(%%x), %4$s
  return %%r as "r"
}
)",
                                 type, shape, part, bounds),
                 5);
  };
  slice("f32", "90001", "3", "start=[89998], limit=[90001], strides=[1]");
  slice("f32", "90001", "1", "start=[5], limit=[6], strides=[1]");
  slice("bf16", "700,130", "5,7",
        "start=[3,120], limit=[8,127], strides=[1,1]");
  slice("f32", "8,256,130", "8,1,130",
        "start=[0,255,0], limit=[8,256,130], strides=[1,1,1]");
  slice("f32", "9,1000,30", "3,500,30",
        "start=[0,1,0], limit=[9,1000,30], strides=[4,2,1]");
  slice("i1", "300,1001", "1,999",
        "start=[7,2], limit=[8,1001], strides=[1,1]");
}

TEST_P(RowsTest, ScattersToRows) {
  Scatter("f32", "add", "3000,64", "200,1", "200,64", kToRows, 60);
  Scatter("f32", "", "3000,64", "90,1", "90,64", kToRows, 3005);
  Scatter("bf16", "add", "9000,33", "40,1", "40,33", kToRows, 9010);
  Scatter("i32", "maximum", "700,200", "50,1", "50,200", kToRows, 100);
  // Updates that some presets do not hold at once.
  Scatter("f32", "add", "500,100", "3000,1", "3000,100", kToRows, 400);
  Scatter("bf16", "", "2000,96", "700,1", "700,96", kToRows, 2002);
  Scatter("u64", "", "3000,20", "33,1", "33,20", kToRows, 3002);
}

TEST_P(RowsTest, ScattersOfElements) {
  Scatter("f32", "add", "70000", "300,1", "300",
          "update_window_dims=[], inserted_window_dims=[0], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0], index_vector_dim=1",
          70100);
}

// Columns of the operand; rows that are columns of the updates.
TEST_P(RowsTest, ScattersOfColumns) {
  Scatter("f32", "add", "300,250", "5,1", "300,5",
          "update_window_dims=[0], inserted_window_dims=[1], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[1], index_vector_dim=1",
          251);
  Scatter("f32", "add", "900,100", "20,1", "100,20",
          "update_window_dims=[0], inserted_window_dims=[0], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0], index_vector_dim=1",
          901);
}

TEST_P(RowsTest, ScattersOfLinesAndBatches) {
  Scatter("f32", "", "60,50,32", "7,2", "7,3,5,32",
          "update_window_dims=[1,2,3], inserted_window_dims=[], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0,1], index_vector_dim=1",
          61);
  // Windows that overlap add up in their order; mini has no room for more.
  const bool mini = GetParam() == std::string("mini");
  Scatter("f32", "add", "60,50,32", mini ? "9,2" : "12,2",
          mini ? "9,2,3,32" : "12,3,5,32",
          "update_window_dims=[1,2,3], inserted_window_dims=[], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0,1], index_vector_dim=1",
          4);
  // In the updates, windows lie before, between and behind what is counted.
  Scatter("f32", "add", "9,3,16", "33,1,2", "8,2,33,1,7",
          "update_window_dims=[0,1,4], inserted_window_dims=[], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0,2], index_vector_dim=2",
          9);
  Scatter("f32", "", "9,20", "40,2", "3,40,2",
          "update_window_dims=[0,2], inserted_window_dims=[], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0,1], index_vector_dim=1",
          7);
  Scatter("f32", "add", "12,9", "5,1", "4,9,5",
          "update_window_dims=[0,1], inserted_window_dims=[], "
          "input_batching_dims=[], scatter_indices_batching_dims=[], "
          "scatter_dims_to_operand_dims=[0], index_vector_dim=1",
          9);
  Scatter("f32", "multiply", "40,50,24", "40,7,1", "40,7,24",
          "update_window_dims=[2], inserted_window_dims=[1], "
          "input_batching_dims=[0], scatter_indices_batching_dims=[0], "
          "scatter_dims_to_operand_dims=[1], index_vector_dim=2",
          52);
}

TEST_P(RowsTest, Updates) {
  Update("f32", "100,30,40", "1,30,40", {105, 3, 3});
  Update("f32", "900,128", "20,128", {905, 2});
  Update("bf16", "900,128", "9,37", {905, 130});
  Update("i8", "190000", "801", {190010});
  Update("f32", "30,40,50", "7,3,11", {31, 41, 51});
  Update("bf16", "3,4,300,64", "3,4,1,64", {2, 2, 305, 2});
}

INSTANTIATE_TEST_SUITE_P(Presets, RowsTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
