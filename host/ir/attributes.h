// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Typed attributes of operations. Each kind lists its fields once, in
// `Fields`; printing, parsing and comparison follow from that list.
#ifndef SYSTOLE_HOST_IR_ATTRIBUTES_H_
#define SYSTOLE_HOST_IR_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "host/ir/hlo/attributes.h"
#include "host/ir/literal.h"
#include "host/ir/quant/attributes.h"
#include "host/ir/train/attributes.h"

namespace systole::ir {

struct NoAttributes {
  template <typename Self, typename Visitor>
  static void Fields(Self&, Visitor&&) {}
};

// The name that callers know the input by.
struct ParameterAttributes {
  std::string name;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("name", self.name);
  }
};

struct ConstantAttributes {
  std::shared_ptr<const Literal> data;  // shared by copies of a node

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("data", self.data);
  }
};

using Attributes = std::variant<
    NoAttributes, ParameterAttributes, ConstantAttributes, ConvAttributes,
    DenseAttributes, PoolAttributes, ClampAttributes, ReduceAttributes,
    SoftmaxAttributes, PadAttributes, AxisAttributes, GatherAttributes,
    TransposeAttributes, SliceAttributes, ResizeAttributes, SlopeAttributes,
    GeluAttributes, MatmulAttributes, Conv3DAttributes, LstmCellAttributes,
    LstmOutputAttributes, HloCompareAttributes, HloReducePrecisionAttributes,
    HloDimensionAttributes, HloDimensionsAttributes, HloSliceAttributes,
    HloSizesAttributes, HloPadAttributes, HloGatherAttributes,
    HloScatterAttributes, HloDotAttributes, HloConvolutionAttributes,
    HloWindowAttributes, HloSortAttributes, HloRngBitsAttributes,
    HloRngAttributes, HloBatchNormAttributes, HloCholeskyAttributes,
    HloTriangularSolveAttributes, HloCollectiveAttributes,
    HloCustomCallAttributes, HloStridedAttributes, HloMatrixProductAttributes,
    TrainWindowAttributes, TrainArrayAttributes, TrainProductAttributes,
    TrainAdamAttributes, TrainSgdAttributes>;

bool Equal(const Attributes& a, const Attributes& b);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_ATTRIBUTES_H_
