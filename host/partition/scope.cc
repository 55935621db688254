// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/scope.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

namespace systole::partition {

using ir::ElementType;
using ir::Op;
using ir::Type;
using ir::Value;

Type TileType(const Type& whole, const Sharding& sharding) {
  return {whole.element, TileShape(sharding, whole.shape), {}};
}

Value Scope::Add(std::string name, Op op, Type type,
                 std::vector<Value> operands, ir::Attributes attributes) {
  ir::Node node{absl::StrCat("spmd.", name, ".", numbers_.names++), op,
                std::move(type), std::move(operands), std::move(attributes)};
  return module_.Add(std::move(node));
}

Value Scope::Constant(Type type, ir::Literal literal) {
  return module_.Add(
      ir::MakeConstant(absl::StrCat("spmd.constant.", numbers_.names++),
                       std::move(type), std::move(literal)));
}

std::vector<int64_t> Scope::GroupsOf(const Parts& parts,
                                     const std::vector<int>& devices) const {
  const int64_t count = numbers_.devices;
  const int64_t tiles = TilesOf(parts);
  // Positions that differ in nothing else, each at its tile.
  std::map<int64_t, std::vector<int64_t>> groups;
  for (int64_t position = 0; position < count; ++position) {
    int64_t others = position;
    for (const Part& part : parts) {
      const int64_t rest = count / (part.before * part.size);
      others -= position / rest % part.size * rest;
    }
    std::vector<int64_t>& group = groups[others];
    group.resize(tiles);
    group[TileAt(parts, position, count)] =
        devices.empty() ? position : devices[position];
  }
  std::vector<int64_t> all;
  for (const auto& [others, group] : groups)
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

Value Scope::Gather(Value value, int64_t dimension, const Parts& parts,
                    const std::vector<int>& devices) {
  ir::HloCollectiveAttributes a;
  a.replica_groups = GroupsOf(parts, devices);
  a.group_size = TilesOf(parts);
  a.dimension = dimension;
  a.channel = ++numbers_.channels;
  a.use_global_device_ids = true;
  Type type = value.type();
  type.shape[dimension] *= a.group_size;
  return Add("all_gather", Op::kHloAllGather, type, {value}, a);
}

Value Scope::AllReduce(Value value, Op op, Parts parts,
                       const std::vector<int>& devices) {
  // Members in the order of their positions.
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.before < b.before; });
  ir::HloCollectiveAttributes a;
  a.replica_groups = GroupsOf(parts, devices);
  a.group_size = TilesOf(parts);
  a.channel = ++numbers_.channels;
  a.use_global_device_ids = true;
  const Type scalar{value.type().element, {}, {}};
  auto region = std::make_shared<ir::Module>();
  std::vector<Value> both;
  for (const char* name : {"left", "right"}) {
    both.emplace_back(region->Add(
        {name, Op::kParameter, scalar, {}, ir::ParameterAttributes{""}}));
  }
  region->outputs.push_back(
      {"", region->Add({"sum", op, scalar, both, ir::NoAttributes{}})});
  const Value sum =
      Add("all_reduce", Op::kHloAllReduce, value.type(), {value}, a);
  sum->regions.push_back(std::move(region));
  numbers_.sums.insert(sum->name);
  return sum;
}

Value Scope::Start(const Parts& parts, int64_t tile,
                   const std::vector<int>& devices) {
  std::vector<int64_t> table(numbers_.devices);
  for (int64_t p = 0; p < numbers_.devices; ++p)
    table[devices.empty() ? p : devices[p]] =
        TileAt(parts, p, numbers_.devices) * tile;
  const auto found = starts_.find(table);
  if (found != starts_.end()) return found->second;
  const Type number{ElementType::kInt32, {}, {}};
  const Value starts =
      Constant({ElementType::kInt32, {numbers_.devices}, {}},
               ir::Literal(std::vector<int32_t>(table.begin(), table.end())));
  const Value own =
      Add("starts", Op::kHloDynamicSlice, {ElementType::kInt32, {1}, {}},
          {starts, Device()}, ir::HloSizesAttributes{{1}});
  return starts_[table] =
             Add("start", Op::kHloReshape, number, {own}, ir::NoAttributes{});
}

Value Scope::Device() {
  if (device_.node != nullptr) return device_;
  const Value id = Add("partition_id", Op::kHloPartitionId,
                       {ElementType::kUint32, {}, {}}, {}, ir::NoAttributes{});
  return device_ = Add("device", Op::kHloConvert, {ElementType::kInt32, {}, {}},
                       {id}, ir::NoAttributes{});
}

Value Scope::IsFirst() {
  const Type number{ElementType::kInt32, {}, {}};
  return Add(
      "is_first", Op::kHloCompare, {ElementType::kBool, {}, {}},
      {Device(), Zeros(number)},
      ir::HloCompareAttributes{ir::Direction::kEq, ir::CompareType::kDefault});
}

Value Scope::Broadcast(Value value) {
  ir::HloCollectiveAttributes a;
  for (int d = 0; d < numbers_.devices; ++d) a.replica_groups.push_back(d);
  a.group_size = numbers_.devices;
  a.channel = ++numbers_.channels;
  return Add("broadcast", Op::kHloCollectiveBroadcast, value.type(), {value},
             a);
}

Value Scope::Zeros(const Type& type) {
  const Type scalar{type.element, {}, {}};
  const Value zero = Constant(scalar, ir::Literal::Zeros(type.element, 1));
  if (type.rank() == 0) return zero;
  return Add("zeros", Op::kHloBroadcastInDim, type, {zero},
             ir::HloDimensionsAttributes{});
}

Value Scope::Take(Value value, int64_t dimension, const Parts& parts,
                  const std::vector<int>& devices) {
  Type type = value.type();
  type.shape[dimension] /= TilesOf(parts);
  const Value start = Start(parts, type.shape[dimension], devices);
  std::vector<Value> operands = {value};
  Value zero;
  for (int d = 0; d < type.rank(); ++d) {
    if (d != dimension && zero.node == nullptr)
      zero = Constant({ElementType::kInt32, {}, {}},
                      ir::Literal(std::vector<int32_t>{0}));
    operands.push_back(d == dimension ? start : zero);
  }
  return Add("tile", Op::kHloDynamicSlice, type, operands,
             ir::HloSizesAttributes{type.shape});
}

Value Scope::Once(Value value, const Parts& parts,
                  const std::vector<int>& devices) {
  const Value zero = Zeros({ElementType::kInt32, {}, {}});
  const Value first = Add(
      "first", Op::kHloCompare, {ElementType::kBool, {}, {}},
      {Start(parts, 1, devices), zero},
      ir::HloCompareAttributes{ir::Direction::kEq, ir::CompareType::kDefault});
  return Add("part", Op::kHloSelect, value.type(),
             {first, value, Zeros(value.type())}, ir::NoAttributes{});
}

Value Scope::Count(const ir::Node& node, const Sharding& sharding) {
  const int64_t along = node.attr<ir::HloDimensionAttributes>().dimension;
  const Type type = TileType(node.type, sharding);
  const Parts& parts = sharding.dims[along];
  Type number = type;
  if (ir::IsFloat(type.element)) number.element = ElementType::kInt32;
  const bool direct = parts.empty();
  const Value own = Add("iota", Op::kHloIota, direct ? type : number, {},
                        ir::HloDimensionAttributes{along});
  if (direct) return own;
  Value start = Start(parts, type.shape[along], sharding.devices);
  if (number.element != ElementType::kInt32)
    start = Add("start", Op::kHloConvert, {number.element, {}, {}}, {start},
                ir::NoAttributes{});
  const Value all = Add("starts", Op::kHloBroadcastInDim, number, {start},
                        ir::HloDimensionsAttributes{});
  Value sum = Add("iota", Op::kHloAdd, number, {own, all}, ir::NoAttributes{});
  if (number != type)
    sum = Add("iota", Op::kHloConvert, type, {sum}, ir::NoAttributes{});
  return sum;
}

bool Scope::Gathers(const Sharding& from, const Sharding& to) {
  if (from.replicated() || from == to) return false;
  if (from.devices != to.devices) return true;
  for (size_t d = 0; d < from.dims.size(); ++d)
    if (CommonPrefix(from.dims[d], to.dims[d]) != from.dims[d]) return true;
  return false;
}

Value Scope::InTiles(const Tiles& from, const Sharding& to) {
  if (from.sharding == to) return from.value;
  const auto key = std::pair(
      std::pair<const ir::Node*, int>(from.value.node, from.value.index),
      HloText(to, numbers_.devices));
  const auto found = brought_.find(key);
  if (found != brought_.end()) return found->second;
  const bool other_order = !from.sharding.replicated() && !to.replicated() &&
                           from.sharding.devices != to.devices;
  Value value = from.value;
  const bool sums = from.sharding.unreduced != to.unreduced ||
                    (other_order && !to.unreduced.empty());
  if (sums && !from.sharding.unreduced.empty())
    value = AllReduce(value, Op::kHloAdd, from.sharding.unreduced,
                      from.sharding.devices);
  std::vector<Parts> kept;
  for (size_t d = 0; d < to.dims.size(); ++d) {
    const Parts& own = from.sharding.dims[d];
    kept.push_back(other_order ? Parts() : CommonPrefix(own, to.dims[d]));
    const Parts rest = WithoutPrefix(own, kept[d]);
    if (!rest.empty())
      value =
          Gather(value, static_cast<int64_t>(d), rest, from.sharding.devices);
  }
  for (size_t d = 0; d < to.dims.size(); ++d) {
    const Parts rest = WithoutPrefix(to.dims[d], kept[d]);
    if (!rest.empty())
      value = Take(value, static_cast<int64_t>(d), rest, to.devices);
  }
  if (sums && !to.unreduced.empty())
    value = Once(value, to.unreduced, to.devices);
  return brought_[key] = value;
}

}  // namespace systole::partition
