// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The methods of HloBuilder that add a single operation.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using ir::Type;

absl::Status DoNotStretch(const Value& x, const Value& y) {
  return absl::InvalidArgumentError(
      absl::StrCat(ir::TypeText(x.type()), " and ", ir::TypeText(y.type()),
                   " do not go together"));
}

// The identity element of an operation: combined with x, it gives x. For the
// maximum of integers it is the lowest value, to which -infinity is converted.
Value IdentityOf(HloBuilder& b, Op op, const Value& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double identity = op == Op::kHloMaximum   ? -kInfinity
                          : op == Op::kHloMinimum ? kInfinity
                          : op == Op::kHloMultiply || op == Op::kHloAnd ? 1
                                                                        : 0;
  return b.Scalar(x.type().element, identity);
}

// The operation as a region on two scalars.
std::shared_ptr<const ir::Module> Combining(HloBuilder& b, Op op,
                                            const Value& x) {
  const Type scalar{x.type().element, {}, {}};
  return b.Region({scalar, scalar}, [op](HloBuilder& inner, const Values& v) {
    return Values{inner.AddOne(op, {v[0], v[1]})};
  });
}

}  // namespace

Value HloBuilder::Unary(Op op, const Value& x) { return AddOne(op, {x}); }

Value HloBuilder::Binary(Op op, const Value& x, const Value& y) {
  const auto shape = ir::BroadcastShape(x.type().shape, y.type().shape);
  if (!shape) return Fail(DoNotStretch(x, y));
  return AddOne(op, {BroadcastTo(x, *shape), BroadcastTo(y, *shape)});
}

Value HloBuilder::Binary(Op op, const Value& x, double y) {
  return Binary(op, x, Scalar(x.type().element, y));
}

Value HloBuilder::Compare(ir::Direction direction, const Value& x,
                          const Value& y) {
  const auto shape = ir::BroadcastShape(x.type().shape, y.type().shape);
  if (!shape) return Fail(DoNotStretch(x, y));
  return AddOne(Op::kHloCompare,
                {BroadcastTo(x, *shape), BroadcastTo(y, *shape)},
                ir::HloCompareAttributes{direction});
}

Value HloBuilder::Compare(ir::Direction direction, const Value& x, double y) {
  return Compare(direction, x, Scalar(x.type().element, y));
}

Value HloBuilder::Select(const Value& condition, const Value& x,
                         const Value& y) {
  auto shape = ir::BroadcastShape(x.type().shape, y.type().shape);
  if (!shape) return Fail(DoNotStretch(x, y));
  shape = ir::BroadcastShape(*shape, condition.type().shape);
  if (!shape) return Fail(DoNotStretch(condition, x));
  return AddOne(Op::kHloSelect,
                {BroadcastTo(condition, *shape), BroadcastTo(x, *shape),
                 BroadcastTo(y, *shape)});
}

Value HloBuilder::Convert(const Value& x, ir::ElementType element) {
  if (x.type().element == element) return x;
  if (element == ir::ElementType::kBool)
    return Compare(ir::Direction::kNe, x, 0.0);
  return AddOne(Op::kHloConvert, {x}, {}, Type{element, x.type().shape, {}});
}

Value HloBuilder::BroadcastTo(const Value& x, const Ints& shape) {
  if (x.type().shape == shape) return x;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t own = x.type().rank();
  if (own > rank) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("shape ", ir::ShapeText(x.type().shape),
                     " does not stretch to ", ir::ShapeText(shape))));
  }
  return BroadcastInDim(x, shape, Range(rank - own, rank));
}

Value HloBuilder::BroadcastInDim(const Value& x, const Ints& shape,
                                 const Ints& dims) {
  // A broadcast scalar is broadcast from the scalar again, so there is only one
  // broadcast.
  if (x->op == Op::kHloBroadcastInDim && x->operands[0].type().rank() == 0)
    return BroadcastInDim(x->operands[0], shape, {});
  return AddOne(Op::kHloBroadcastInDim, {x}, ir::HloDimensionsAttributes{dims},
                Type{x.type().element, shape, {}});
}

Value HloBuilder::Reshape(const Value& x, const Ints& shape) {
  if (x.type().shape == shape) return x;
  return AddOne(Op::kHloReshape, {x}, {}, Type{x.type().element, shape, {}});
}

Value HloBuilder::Transpose(const Value& x, const Ints& permutation) {
  if (permutation == Range(0, x.type().rank())) return x;
  ir::TransposeAttributes how;
  how.permutation.assign(permutation.begin(), permutation.end());
  return AddOne(Op::kHloTranspose, {x}, how);
}

Value HloBuilder::Slice(const Value& x, const Ints& start, const Ints& limit,
                        const Ints& strides) {
  const Ints ones(strides.size(), 1), zeros(start.size(), 0);
  if (start == zeros && limit == x.type().shape && strides == ones) return x;
  return AddOne(Op::kHloSlice, {x},
                ir::HloSliceAttributes{start, limit, strides});
}

Value HloBuilder::SliceIn(const Value& x, int64_t dimension, int64_t first,
                          int64_t limit, int64_t stride) {
  Ints start(x.type().rank(), 0), end = x.type().shape,
                                  strides(x.type().rank(), 1);
  if (dimension < 0 || dimension >= x.type().rank()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "dimension ", dimension, " of ", ir::ShapeText(x.type().shape))));
  }
  start[dimension] = first;
  end[dimension] = limit;
  strides[dimension] = stride;
  return Slice(x, start, end, strides);
}

Value HloBuilder::Concatenate(const Values& values, int64_t dimension) {
  if (values.size() == 1) return values[0];
  return AddOne(Op::kHloConcatenate, values,
                ir::HloDimensionAttributes{dimension});
}

Value HloBuilder::Pad(const Value& x, const Value& with, const Ints& low,
                      const Ints& high, const Ints& interior) {
  const Ints zeros(x.type().rank(), 0);
  const Ints& inner = interior.empty() ? zeros : interior;
  if (low == zeros && high == zeros && inner == zeros) return x;
  return AddOne(Op::kHloPad, {x, with}, ir::HloPadAttributes{low, high, inner});
}

Value HloBuilder::Reverse(const Value& x, const Ints& dimensions) {
  if (dimensions.empty()) return x;
  return AddOne(Op::kHloReverse, {x}, ir::HloDimensionsAttributes{dimensions});
}

Value HloBuilder::Iota(const Type& type, int64_t dimension) {
  return AddOne(Op::kHloIota, {}, ir::HloDimensionAttributes{dimension}, type);
}

Value HloBuilder::Clamp(double low, const Value& x, double high) {
  const ir::ElementType element = x.type().element;
  return AddOne(Op::kHloClamp, {Scalar(element, low), x, Scalar(element, high)},
                {}, x.type());
}

Value HloBuilder::Reduce(Op op, const Value& x, const Ints& dimensions,
                         bool keep) {
  Value result = x;
  if (!dimensions.empty()) {
    Ints sorted = dimensions;
    std::sort(sorted.begin(), sorted.end());
    result = AddOne(Op::kHloReduce, {x, IdentityOf(*this, op, x)},
                    ir::HloDimensionsAttributes{sorted}, std::nullopt,
                    {Combining(*this, op, x)});
  }
  if (!keep || !ok()) return result;
  Ints shape = x.type().shape;
  for (const int64_t dimension : dimensions) shape[dimension] = 1;
  return Reshape(result, shape);
}

Value HloBuilder::ReduceWindow(Op op, const Value& x,
                               const ir::HloWindowAttributes& window) {
  return AddOne(Op::kHloReduceWindow, {x, IdentityOf(*this, op, x)}, window,
                std::nullopt, {Combining(*this, op, x)});
}

Value HloBuilder::DotGeneral(const Value& x, const Value& y,
                             ir::HloDotAttributes how) {
  how.precision = state_.precision;
  return AddOne(Op::kHloDotGeneral, {x, y}, std::move(how),
                Type{x.type().element, {}, {}});
}

Value HloBuilder::Convolution(const Value& x, const Value& kernel,
                              ir::HloConvolutionAttributes how) {
  how.precision = state_.precision;
  return AddOne(Op::kHloConvolution, {x, kernel}, std::move(how),
                Type{x.type().element, {}, {}});
}

}  // namespace systole::import
