// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/lookup.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace systole::partition {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::NoAttributes;
using ir::Op;
using ir::Type;
using ir::Value;

Type With(Type type, ElementType element) {
  type.element = element;
  return type;
}

// Each number, or the nearest that the type has.
ir::Literal NumbersOf(const std::vector<int64_t>& numbers,
                      ElementType element) {
  return ir::WithElement(element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values;
    for ([[maybe_unused]] const int64_t number : numbers) {
      if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        const int64_t least =
            std::is_signed_v<T> ? static_cast<int64_t>(Limits::min()) : 0;
        const int64_t most = sizeof(T) == 8
                                 ? std::numeric_limits<int64_t>::max()
                                 : static_cast<int64_t>(Limits::max());
        values.push_back(static_cast<T>(std::clamp(number, least, most)));
      }
    }
    return ir::Literal(std::move(values));
  });
}

}  // namespace

Lookup::Lookup(const ir::Node& node, const OpRule& rule,
               const Division& division, Scope& scope)
    : node_(node), division_(division), scope_(scope) {
  if (rule.lookups.empty()) return;
  if (node.op == Op::kHloGather) {
    const auto& a = node.attr<ir::HloGatherAttributes>();
    map_ = a.start_index_map;
    vector_dim_ = a.index_vector_dim;
  } else {
    const auto& a = node.attr<ir::HloScatterAttributes>();
    map_ = a.scatter_dims_to_operand_dims;
    vector_dim_ = a.index_vector_dim;
  }
  for (const int64_t component : rule.lookups) {
    const int64_t dim = map_[component];
    const Parts& parts = division.factors[rule.operands[0][dim]];
    if (parts.empty()) continue;
    const int64_t tile = node.operands[0].type().shape[dim] / TilesOf(parts);
    rows_.push_back(
        {component, tile, scope.Start(parts, tile, division.devices)});
  }
}

Value Lookup::Spread(Value value, const Type& type, Ints dimensions) const {
  return scope_.Add("spread", Op::kHloBroadcastInDim,
                    With(type, value.type().element), {value},
                    ir::HloDimensionsAttributes{std::move(dimensions)});
}

Value Lookup::Components(const std::vector<int64_t>& values,
                         const Type& indices) const {
  const bool scalar = vector_dim_ == indices.rank();
  const Type type{indices.element,
                  scalar ? Ints{} : Ints{static_cast<int64_t>(values.size())},
                  {}};
  return Spread(scope_.Constant(type, NumbersOf(values, indices.element)),
                indices, scalar ? Ints{} : Ints{vector_dim_});
}

Value Lookup::Places(Value indices) const {
  const Type& operand = node_.operands[0].type();
  const bool gathers = node_.op == Op::kHloGather;
  // The same windows on whole arrays, and numbers that i32 holds.
  std::vector<int64_t> least(map_.size(), gathers ? 0 : -1), most;
  for (const int64_t dim : map_) {
    const int64_t size =
        gathers ? node_.attr<ir::HloGatherAttributes>().slice_sizes[dim] : 0;
    most.push_back(operand.shape[dim] - size);
  }
  const Type type = indices.type();
  Value places = scope_.Add("places", Op::kHloMaximum, type,
                            {indices, Components(least, type)}, NoAttributes{});
  places = scope_.Add("places", Op::kHloMinimum, type,
                      {places, Components(most, type)}, NoAttributes{});
  const Type number = With(type, ElementType::kInt32);
  if (type != number)
    places =
        scope_.Add("places", Op::kHloConvert, number, {places}, NoAttributes{});
  for (const Rows& rows : rows_) {
    std::vector<int64_t> here(map_.size(), 0);
    here[rows.component] = 1;
    Value start = Spread(rows.start, number, {});
    if (map_.size() > 1)
      start = scope_.Add("start", Op::kHloMultiply, number,
                         {start, Components(here, number)}, NoAttributes{});
    places = scope_.Add("places", Op::kHloSubtract, number, {places, start},
                        NoAttributes{});
  }
  return places;
}

Value Lookup::Own(Value result, Value places) const {
  Type type = places.type();
  Ints batch;  // of the result
  const Ints& offsets = node_.attr<ir::HloGatherAttributes>().offset_dims;
  for (int d = 0; d < result.type().rank(); ++d)
    if (std::find(offsets.begin(), offsets.end(), d) == offsets.end())
      batch.push_back(d);
  for (const Rows& rows : rows_) {
    Value place = places;
    if (vector_dim_ < type.rank()) {
      ir::HloSliceAttributes a{Ints(type.rank(), 0), type.shape,
                               Ints(type.rank(), 1)};
      a.start[vector_dim_] = rows.component;
      a.limit[vector_dim_] = rows.component + 1;
      Type one = type;
      one.shape[vector_dim_] = 1;
      place = scope_.Add("place", Op::kHloSlice, one, {place}, std::move(a));
      one.shape.erase(one.shape.begin() + vector_dim_);
      place =
          scope_.Add("place", Op::kHloReshape, one, {place}, NoAttributes{});
    }
    // As unsigned numbers, places before the tile are behind it.
    const Type count = With(place.type(), ElementType::kUint32);
    const Value unsigned_place =
        scope_.Add("place", Op::kHloConvert, count, {place}, NoAttributes{});
    const Value end =
        Spread(scope_.Constant({ElementType::kUint32, {}, {}},
                               NumbersOf({rows.tile}, ElementType::kUint32)),
               count, {});
    const Value own =
        scope_.Add("own", Op::kHloCompare, With(count, ElementType::kBool),
                   {unsigned_place, end},
                   ir::HloCompareAttributes{ir::Direction::kLt,
                                            ir::CompareType::kDefault});
    const Type& whole = result.type();
    const Value zero = scope_.Constant({whole.element, {}, {}},
                                       ir::Literal::Zeros(whole.element, 1));
    result =
        scope_.Add("own", Op::kHloSelect, whole,
                   {Spread(own, whole, batch), result, Spread(zero, whole, {})},
                   NoAttributes{});
  }
  return result;
}

Value Lookup::Sum(Value own, const Parts& parts) const {
  // Of floats the bits are added, for 0 and -0 is 0.
  const Type type = own.type();
  const auto cast = [&](Value value, Op op, ElementType element) {
    return scope_.Add("bits", op, With(type, element), {value}, NoAttributes{});
  };
  const bool is_float = ir::IsFloat(type.element);
  const ElementType wide = is_float ? ElementType::kFloat32 : type.element;
  const ElementType bits = is_float ? ElementType::kInt32 : type.element;
  if (wide != type.element) own = cast(own, Op::kHloConvert, wide);
  if (bits != wide) own = cast(own, Op::kHloBitcastConvert, bits);
  const Op op = bits == ElementType::kBool ? Op::kHloOr : Op::kHloAdd;
  own = scope_.AllReduce(own, op, parts, division_.devices);
  if (bits != wide) own = cast(own, Op::kHloBitcastConvert, wide);
  if (wide != type.element) own = cast(own, Op::kHloConvert, type.element);
  return own;
}

}  // namespace systole::partition
