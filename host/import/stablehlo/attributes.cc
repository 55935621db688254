// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/attributes.h"

#include <algorithm>

#include "host/import/mlir/text.h"

namespace systole::import {
namespace {

using mlir::Attribute;

// For older versions of an operation: "v1".
bool IsVersion(const AttributeReader& in, absl::string_view suffix) {
  const absl::string_view name = in.operation().name;
  return name.size() >= suffix.size() &&
         name.substr(name.size() - suffix.size()) == suffix;
}

// The higher of the operands' precisions, or the default if there are none.
ir::Precision ReadPrecision(AttributeReader& in) {
  const Attribute* list = in.Get("precision_config");
  int64_t precision = 0;
  if (list == nullptr) return ir::Precision::kDefault;
  for (const Attribute* item : list->elements) {
    if (item->kind == Attribute::Kind::kEnum && item->name == "precision") {
      precision = std::max(precision, item->integers[0]);
    }
  }
  return static_cast<ir::Precision>(precision);
}

// An algorithm gives the operands' type and the number of products per result.
// In bf16, one product keeps 8 bits of the fraction, three keep 16, and six
// keep all 24.
ir::Precision ReadAlgorithm(AttributeReader& in) {
  const Attribute* operand = in.Get("lhs_precision_type");
  if (operand == nullptr || operand->type == nullptr) {
    return ir::Precision::kDefault;
  }
  const absl::string_view type = operand->type->name;
  const int64_t products = in.Integer("num_primitive_operations");
  if (type == "bf16") {
    return products >= 6   ? ir::Precision::kHighest
           : products >= 3 ? ir::Precision::kHigh
                           : ir::Precision::kDefault;
  }
  if (type == "tf31" || type == "f16") {
    return products >= 3 ? ir::Precision::kHighest : ir::Precision::kHigh;
  }
  if (type == "f32") return ir::Precision::kHighest;
  in.Refuse("an algorithm with operands of ", mlir::TypeText(*operand->type));
  return ir::Precision::kDefault;
}

// Device numbers as [groups, size]. Groups that are smaller than others are
// padded with -1.
void ReadGroups(AttributeReader& in, const char* name,
                ir::HloCollectiveAttributes& attributes) {
  const Attribute* groups = in.Get(name);
  if (groups && groups->kind != Attribute::Kind::kElements) {
    in.Refuse("replica groups by the axes of a mesh");
  }
  attributes.replica_groups = in.Integers(name);
  const std::vector<int64_t> shape = in.Shape(name);
  if (shape.size() == 2 && shape[1] > 0) attributes.group_size = shape[1];
}

ir::HloCollectiveAttributes ReadCollective(AttributeReader& in,
                                           const char* groups) {
  ir::HloCollectiveAttributes attributes;
  ReadGroups(in, groups, attributes);
  attributes.channel = in.Integer("channel_id");
  return attributes;
}

// For operations whose groups may list devices, regardless of replica and
// partition.
ir::HloCollectiveAttributes ReadDeviceCollective(AttributeReader& in) {
  ir::HloCollectiveAttributes attributes = ReadCollective(in, "replica_groups");
  attributes.use_global_device_ids = in.Boolean("use_global_device_ids");
  return attributes;
}

}  // namespace

ir::Attributes ReadResultAccuracy(AttributeReader& in) {
  const Attribute* accuracy = in.Get("result_accuracy");
  if (accuracy && (accuracy->elements.size() != 1 ||
                   accuracy->elements[0]->text != "DEFAULT")) {
    in.Refuse("a result accuracy other than the default");
  }
  return ir::NoAttributes{};
}

ir::Attributes ReadCompare(AttributeReader& in) {
  return ir::HloCompareAttributes{
      static_cast<ir::Direction>(
          in.Enumeration("comparison_direction", "comparison_direction")),
      static_cast<ir::CompareType>(
          in.Enumeration("compare_type", "comparison_type"))};
}

ir::Attributes ReadReducePrecision(AttributeReader& in) {
  return ir::HloReducePrecisionAttributes{in.Integer("exponent_bits"),
                                          in.Integer("mantissa_bits")};
}

ir::Attributes ReadIota(AttributeReader& in) {
  return ir::HloDimensionAttributes{in.Integer("iota_dimension")};
}

ir::Attributes ReadConcatenate(AttributeReader& in) {
  return ir::HloDimensionAttributes{in.Integer("dimension")};
}

ir::Attributes ReadBroadcastInDim(AttributeReader& in) {
  return ir::HloDimensionsAttributes{in.Integers("broadcast_dimensions")};
}

// The new dimensions come first, followed by those of the operand.
ir::Attributes ReadBroadcast(AttributeReader& in) {
  ir::HloDimensionsAttributes attributes;
  const int64_t added = in.Integers("broadcast_sizes").size();
  const std::vector<ir::Type>& types = in.operand_types();
  const int64_t rank = types.empty() ? 0 : types[0].rank();
  for (int64_t i = 0; i < rank; ++i) attributes.dimensions.push_back(added + i);
  return attributes;
}

ir::Attributes ReadDimensions(AttributeReader& in) {
  return ir::HloDimensionsAttributes{in.Integers("dimensions")};
}

ir::Attributes ReadTranspose(AttributeReader& in) {
  return ir::TransposeAttributes{in.Integers("permutation")};
}

ir::Attributes ReadSlice(AttributeReader& in) {
  return ir::HloSliceAttributes{in.Integers("start_indices"),
                                in.Integers("limit_indices"),
                                in.Integers("strides")};
}

ir::Attributes ReadDynamicSlice(AttributeReader& in) {
  return ir::HloSizesAttributes{in.Integers("slice_sizes")};
}

ir::Attributes ReadPad(AttributeReader& in) {
  return ir::HloPadAttributes{in.Integers("edge_padding_low"),
                              in.Integers("edge_padding_high"),
                              in.Integers("interior_padding")};
}

ir::Attributes ReadGather(AttributeReader& in) {
  ir::HloGatherAttributes attributes;
  attributes.offset_dims = in.Integers("offset_dims");
  attributes.collapsed_slice_dims = in.Integers("collapsed_slice_dims");
  if (!IsVersion(in, "v1")) {
    attributes.operand_batching_dims = in.Integers("operand_batching_dims");
    attributes.start_indices_batching_dims =
        in.Integers("start_indices_batching_dims");
  }
  attributes.start_index_map = in.Integers("start_index_map");
  attributes.index_vector_dim = in.Integer("index_vector_dim");
  attributes.slice_sizes = in.Integers("slice_sizes");
  attributes.indices_are_sorted = in.Boolean("indices_are_sorted");
  return attributes;
}

ir::Attributes ReadScatter(AttributeReader& in) {
  ir::HloScatterAttributes attributes;
  attributes.update_window_dims = in.Integers("update_window_dims");
  attributes.inserted_window_dims = in.Integers("inserted_window_dims");
  if (!IsVersion(in, "v1")) {
    attributes.input_batching_dims = in.Integers("input_batching_dims");
    attributes.scatter_indices_batching_dims =
        in.Integers("scatter_indices_batching_dims");
  }
  attributes.scatter_dims_to_operand_dims =
      in.Integers("scatter_dims_to_operand_dims");
  attributes.index_vector_dim = in.Integer("index_vector_dim");
  attributes.indices_are_sorted = in.Boolean("indices_are_sorted");
  attributes.unique_indices = in.Boolean("unique_indices");
  return attributes;
}

ir::Attributes ReadDotGeneral(AttributeReader& in) {
  ir::HloDotAttributes attributes;
  attributes.precision = ReadPrecision(in);
  if (in.operation().name == "vhlo.dot_v1") {
    const std::vector<ir::Type>& types = in.operand_types();
    attributes.lhs_contracting = {types.empty() ? 0 : types[0].rank() - 1};
    attributes.rhs_contracting = {0};
    return attributes;
  }
  attributes.lhs_batching = in.Integers("lhs_batching_dimensions");
  attributes.rhs_batching = in.Integers("rhs_batching_dimensions");
  attributes.lhs_contracting = in.Integers("lhs_contracting_dimensions");
  attributes.rhs_contracting = in.Integers("rhs_contracting_dimensions");
  if (!IsVersion(in, "v1") && !in.IsNone("lhs_precision_type")) {
    attributes.precision = ReadAlgorithm(in);
  }
  return attributes;
}

ir::Attributes ReadConvolution(AttributeReader& in) {
  ir::HloConvolutionAttributes attributes;
  attributes.stride = in.Integers("window_strides");
  in.Pairs("padding", attributes.low, attributes.high);
  attributes.lhs_dilation = in.Integers("lhs_dilation");
  attributes.rhs_dilation = in.Integers("rhs_dilation");
  attributes.reversal = in.Integers("window_reversal");
  attributes.input_batch = in.Integer("input_batch_dimension");
  attributes.input_feature = in.Integer("input_feature_dimension");
  attributes.input_spatial = in.Integers("input_spatial_dimensions");
  attributes.kernel_input_feature =
      in.Integer("kernel_input_feature_dimension");
  attributes.kernel_output_feature =
      in.Integer("kernel_output_feature_dimension");
  attributes.kernel_spatial = in.Integers("kernel_spatial_dimensions");
  attributes.output_batch = in.Integer("output_batch_dimension");
  attributes.output_feature = in.Integer("output_feature_dimension");
  attributes.output_spatial = in.Integers("output_spatial_dimensions");
  attributes.feature_group_count = in.Integer("feature_group_count");
  attributes.batch_group_count = in.Integer("batch_group_count");
  attributes.precision = ReadPrecision(in);
  return attributes;
}

ir::Attributes ReadReduceWindow(AttributeReader& in) {
  ir::HloWindowAttributes attributes;
  attributes.window = in.Integers("window_dimensions");
  attributes.stride = in.Integers("window_strides");
  attributes.base_dilation = in.Integers("base_dilations");
  attributes.window_dilation = in.Integers("window_dilations");
  in.Pairs("padding", attributes.low, attributes.high);
  return attributes;
}

ir::Attributes ReadSelectAndScatter(AttributeReader& in) {
  ir::HloWindowAttributes attributes;
  attributes.window = in.Integers("window_dimensions");
  attributes.stride = in.Integers("window_strides");
  in.Pairs("padding", attributes.low, attributes.high);
  attributes.base_dilation.assign(attributes.window.size(), 1);
  attributes.window_dilation.assign(attributes.window.size(), 1);
  return attributes;
}

ir::Attributes ReadSort(AttributeReader& in) {
  return ir::HloSortAttributes{in.Integer("dimension"),
                               in.Boolean("is_stable")};
}

ir::Attributes ReadRngBits(AttributeReader& in) {
  return ir::HloRngBitsAttributes{static_cast<ir::RngAlgorithm>(
      in.Enumeration("rng_algorithm", "rng_algorithm"))};
}

ir::Attributes ReadRng(AttributeReader& in) {
  return ir::HloRngAttributes{
      in.Enumeration("rng_distribution", "rng_distribution") == 2
          ? ir::RngDistribution::kNormal
          : ir::RngDistribution::kUniform};
}

ir::Attributes ReadBatchNorm(AttributeReader& in) {
  return ir::HloBatchNormAttributes{in.Float("epsilon"),
                                    in.Integer("feature_index")};
}

ir::Attributes ReadCholesky(AttributeReader& in) {
  return ir::HloCholeskyAttributes{in.Boolean("lower")};
}

ir::Attributes ReadTriangularSolve(AttributeReader& in) {
  constexpr int64_t kNoTranspose = 1;
  return ir::HloTriangularSolveAttributes{
      in.Boolean("left_side"), in.Boolean("lower"), in.Boolean("unit_diagonal"),
      in.Enumeration("transpose_a", "transpose") > kNoTranspose};
}

ir::Attributes ReadAllReduce(AttributeReader& in) {
  return ReadDeviceCollective(in);
}

ir::Attributes ReadAllGather(AttributeReader& in) {
  ir::HloCollectiveAttributes attributes = ReadDeviceCollective(in);
  attributes.dimension = in.Integer("all_gather_dim");
  return attributes;
}

ir::Attributes ReadReduceScatter(AttributeReader& in) {
  ir::HloCollectiveAttributes attributes = ReadDeviceCollective(in);
  attributes.dimension = in.Integer("scatter_dimension");
  return attributes;
}

ir::Attributes ReadAllToAll(AttributeReader& in) {
  ir::HloCollectiveAttributes attributes = ReadCollective(in, "replica_groups");
  attributes.dimension = in.Integer("split_dimension");
  attributes.concat_dimension = in.Integer("concat_dimension");
  return attributes;
}

ir::Attributes ReadCollectivePermute(AttributeReader& in) {
  return ReadCollective(in, "source_target_pairs");
}

ir::Attributes ReadCollectiveBroadcast(AttributeReader& in) {
  return ReadCollective(in, "replica_groups");
}

ir::Attributes ReadCustomCall(AttributeReader& in) {
  ir::HloCustomCallAttributes attributes{in.Text("call_target_name"), ""};
  // Typed calls have a dictionary instead of the text.
  const Attribute* config = in.operation().Find("mhlo.backend_config");
  if (config == nullptr) config = in.operation().Find("backend_config");
  if (config) {
    attributes.config = config->kind == Attribute::Kind::kString
                            ? std::string(config->text)
                            : mlir::AttributeText(*config);
  }
  return attributes;
}

}  // namespace systole::import
