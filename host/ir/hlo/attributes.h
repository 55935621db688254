// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Attributes of the operations of hlo/ (docs/hlo.md). They have the names and
// meanings of the StableHLO specification.
#ifndef SYSTOLE_HOST_IR_HLO_ATTRIBUTES_H_
#define SYSTOLE_HOST_IR_HLO_ATTRIBUTES_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace systole::ir {

using Ints = std::vector<int64_t>;

// The names of an enumeration's values, in the order of the enumeration.
template <typename E>
struct EnumNames;

enum class Direction { kEq, kNe, kGe, kGt, kLe, kLt };
template <>
struct EnumNames<Direction> {
  static constexpr std::array<const char*, 6> kNames = {"EQ", "NE", "GE",
                                                        "GT", "LE", "LT"};
};

// kDefault depends on the element type (floats: kFloat). i1 and unsigned
// integers always compare as unsigned.
enum class CompareType { kDefault, kFloat, kTotalOrder, kSigned, kUnsigned };
template <>
struct EnumNames<CompareType> {
  static constexpr std::array<const char*, 5> kNames = {
      "DEFAULT", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
};

// For products of f32: one, three or six passes of bf16.
enum class Precision { kDefault, kHigh, kHighest };
template <>
struct EnumNames<Precision> {
  static constexpr std::array<const char*, 3> kNames = {"DEFAULT", "HIGH",
                                                        "HIGHEST"};
};

enum class RngAlgorithm { kDefault, kThreeFry, kPhilox };
template <>
struct EnumNames<RngAlgorithm> {
  static constexpr std::array<const char*, 3> kNames = {"DEFAULT", "THREE_FRY",
                                                        "PHILOX"};
};

enum class RngDistribution { kUniform, kNormal };
template <>
struct EnumNames<RngDistribution> {
  static constexpr std::array<const char*, 2> kNames = {"UNIFORM", "NORMAL"};
};

struct HloCompareAttributes {
  Direction direction = Direction::kEq;
  CompareType type = CompareType::kDefault;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("direction", self.direction);
    visit("type", self.type);
  }
};

struct HloReducePrecisionAttributes {
  int64_t exponent_bits = 8;
  int64_t mantissa_bits = 23;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("exponent_bits", self.exponent_bits);
    visit("mantissa_bits", self.mantissa_bits);
  }
};

// For operations along one dimension, such as iota and concatenate.
struct HloDimensionAttributes {
  int64_t dimension = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("dimension", self.dimension);
  }
};

// For broadcast_in_dim (dimension i of the operand is dimension dimensions[i]
// of the result), reverse, reduce, map.
struct HloDimensionsAttributes {
  Ints dimensions;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("dimensions", self.dimensions);
  }
};

struct HloSliceAttributes {
  Ints start, limit, strides;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("start", self.start);
    visit("limit", self.limit);
    visit("strides", self.strides);
  }
};

// For dynamic_slice.
struct HloSizesAttributes {
  Ints sizes;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("sizes", self.sizes);
  }
};

// `low` and `high` may be negative.
struct HloPadAttributes {
  Ints low, high, interior;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("low", self.low);
    visit("high", self.high);
    visit("interior", self.interior);
  }
};

struct HloGatherAttributes {
  Ints offset_dims, collapsed_slice_dims, operand_batching_dims,
      start_indices_batching_dims, start_index_map;
  int64_t index_vector_dim = 0;
  Ints slice_sizes;
  bool indices_are_sorted = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("offset_dims", self.offset_dims);
    visit("collapsed_slice_dims", self.collapsed_slice_dims);
    visit("operand_batching_dims", self.operand_batching_dims);
    visit("start_indices_batching_dims", self.start_indices_batching_dims);
    visit("start_index_map", self.start_index_map);
    visit("index_vector_dim", self.index_vector_dim);
    visit("slice_sizes", self.slice_sizes);
    visit("indices_are_sorted", self.indices_are_sorted);
  }
};

struct HloScatterAttributes {
  Ints update_window_dims, inserted_window_dims, input_batching_dims,
      scatter_indices_batching_dims, scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false;
  bool unique_indices = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("update_window_dims", self.update_window_dims);
    visit("inserted_window_dims", self.inserted_window_dims);
    visit("input_batching_dims", self.input_batching_dims);
    visit("scatter_indices_batching_dims", self.scatter_indices_batching_dims);
    visit("scatter_dims_to_operand_dims", self.scatter_dims_to_operand_dims);
    visit("index_vector_dim", self.index_vector_dim);
    visit("indices_are_sorted", self.indices_are_sorted);
    visit("unique_indices", self.unique_indices);
  }
};

// A dot algorithm is imported as the precision with the same number of passes.
struct HloDotAttributes {
  Ints lhs_batching, rhs_batching, lhs_contracting, rhs_contracting;
  Precision precision = Precision::kDefault;  // the higher of the operands'

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("lhs_batching", self.lhs_batching);
    visit("rhs_batching", self.rhs_batching);
    visit("lhs_contracting", self.lhs_contracting);
    visit("rhs_contracting", self.rhs_contracting);
    visit("precision", self.precision);
  }
};

// Lists with one entry per spatial dimension: stride, low, high, lhs_dilation,
// rhs_dilation, reversal (1: the window is reversed), *_spatial.
struct HloConvolutionAttributes {
  Ints stride, low, high, lhs_dilation, rhs_dilation, reversal;
  int64_t input_batch = 0, input_feature = 0;
  Ints input_spatial;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  Ints kernel_spatial;
  int64_t output_batch = 0, output_feature = 0;
  Ints output_spatial;
  int64_t feature_group_count = 1, batch_group_count = 1;
  Precision precision = Precision::kDefault;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("stride", self.stride);
    visit("low", self.low);
    visit("high", self.high);
    visit("lhs_dilation", self.lhs_dilation);
    visit("rhs_dilation", self.rhs_dilation);
    visit("reversal", self.reversal);
    visit("input_batch", self.input_batch);
    visit("input_feature", self.input_feature);
    visit("input_spatial", self.input_spatial);
    visit("kernel_input_feature", self.kernel_input_feature);
    visit("kernel_output_feature", self.kernel_output_feature);
    visit("kernel_spatial", self.kernel_spatial);
    visit("output_batch", self.output_batch);
    visit("output_feature", self.output_feature);
    visit("output_spatial", self.output_spatial);
    visit("feature_group_count", self.feature_group_count);
    visit("batch_group_count", self.batch_group_count);
    visit("precision", self.precision);
  }
};

// For reduce_window and select_and_scatter (the latter without dilations); one
// entry per dimension.
struct HloWindowAttributes {
  Ints window, stride, base_dilation, window_dilation, low, high;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("window", self.window);
    visit("stride", self.stride);
    visit("base_dilation", self.base_dilation);
    visit("window_dilation", self.window_dilation);
    visit("low", self.low);
    visit("high", self.high);
  }
};

struct HloSortAttributes {
  int64_t dimension = -1;
  bool is_stable = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("dimension", self.dimension);
    visit("is_stable", self.is_stable);
  }
};

struct HloRngBitsAttributes {
  RngAlgorithm algorithm = RngAlgorithm::kDefault;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("algorithm", self.algorithm);
  }
};

struct HloRngAttributes {
  RngDistribution distribution = RngDistribution::kUniform;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("distribution", self.distribution);
  }
};

struct HloBatchNormAttributes {
  float epsilon = 0;
  int64_t feature_index = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("epsilon", self.epsilon);
    visit("feature_index", self.feature_index);
  }
};

struct HloCholeskyAttributes {
  bool lower = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("lower", self.lower);
  }
};

struct HloTriangularSolveAttributes {
  bool left_side = false, lower = false, unit_diagonal = false;
  bool transpose_a = false;  // the adjoint, also of real matrices

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("left_side", self.left_side);
    visit("lower", self.lower);
    visit("unit_diagonal", self.unit_diagonal);
    visit("transpose_a", self.transpose_a);
  }
};

// replica_groups: the groups one after the other, each padded with -1 to
// group_size. Empty: all form one group. For collective_permute it holds pairs
// of source and target. process_groups.h maps the numbers to processes.
// dimension: the gathered or scattered dimension; for all_to_all the split
// dimension, while concat_dimension is the joined one.
struct HloCollectiveAttributes {
  Ints replica_groups;
  int64_t group_size = 1;
  int64_t dimension = 0, concat_dimension = 0;
  int64_t channel = 0;
  bool use_global_device_ids = false;
  // Of all_gather: no device needs the others' parts. The result is there for
  // the host, and for programs that read each device's part.
  bool parts_stay = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("replica_groups", self.replica_groups);
    visit("group_size", self.group_size);
    visit("dimension", self.dimension);
    visit("concat_dimension", self.concat_dimension);
    visit("channel", self.channel);
    visit("use_global_device_ids", self.use_global_device_ids);
    visit("parts_stay", self.parts_stay);
  }
};

// config: text for the function that is called.
struct HloCustomCallAttributes {
  std::string target, config;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("target", self.target);
    visit("config", self.config);
  }
};

// Element i of the result is the operand's element at offset + dot(i, strides),
// in memory order. sizes: the shape of the result.
struct HloStridedAttributes {
  Ints sizes, strides;
  int64_t offset = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("sizes", self.sizes);
    visit("strides", self.strides);
    visit("offset", self.offset);
  }
};

// `sizes` of the result; its elements are those of the operand, in their order,
// from `starts[p]` on in the process of partition p, or from the last one on.
struct HloShardAttributes {
  Ints sizes, starts;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("sizes", self.sizes);
    visit("starts", self.starts);
  }
};

// The left matrices are a strided view of the left operand: sizes and strides,
// in elements, of the batch dimensions, of `lines` dimensions that form the
// rows of a matrix, and of the contracted dimensions. transposed: the right
// matrices are stored as columns, [batch, n, k].
struct HloMatrixProductAttributes {
  Ints sizes, strides;
  int64_t lines = 1;
  bool transposed = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("sizes", self.sizes);
    visit("strides", self.strides);
    visit("lines", self.lines);
    visit("transposed", self.transposed);
  }
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_ATTRIBUTES_H_
