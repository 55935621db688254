// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves of blocks, gathers, scatters, and constants that are computed from
// numbers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

constexpr int64_t kMostBlock = 1 << 15;

Ints Ascending(int64_t count, int64_t first = 0) {
  Ints all(std::max<int64_t>(count, 0));
  std::iota(all.begin(), all.end(), first);
  return all;
}

void ImportTile(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Raw(0);
  const Ints times = in.Integers(1);
  if (!in.ok() ||
      !in.Require(times.size() == x.type().shape.size(), times.size(),
                  " numbers of copies of ", ir::TypeText(x.type())))
    return;
  Ints spread, result, dimensions;
  for (size_t i = 0; i < times.size(); ++i) {
    if (!in.Require(0 <= times[i] && times[i] <= ir::kMaxElements, times[i],
                    " copies"))
      return;
    spread.push_back(times[i]);
    dimensions.push_back(static_cast<int64_t>(spread.size()));
    spread.push_back(x.type().shape[i]);
    result.push_back(times[i] * x.type().shape[i]);
  }
  in.SetMoved(n.Reshape(n.BroadcastInDim(x, spread, dimensions), result));
}

void ImportBroadcastTo(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints shape = in.Integers(1);
  in.SetMoved(in.nodes().BroadcastTo(x, shape));
}

void ImportFill(FloatOperator& in) {
  const Ints shape = in.Integers(0);
  const Value x = in.Raw(1);
  in.SetMoved(in.nodes().BroadcastTo(in.nodes().Reshape(x, {}), shape), 1);
}

// Gathers whole slices along `axis`. The first `batch` dimensions of x and of
// the indices correspond.
void Gather(FloatOperator& in, Value x, Value indices, int64_t axis,
            int64_t batch, int from) {
  if (!in.ok()) return;
  const int64_t rank = x.type().rank(), index_rank = indices.type().rank();
  if (!in.Require(0 <= batch && batch <= axis && batch <= index_rank, batch,
                  " batch dimensions, axis ", axis))
    return;
  ir::HloGatherAttributes a;
  a.operand_batching_dims = a.start_indices_batching_dims = Ascending(batch);
  a.collapsed_slice_dims = a.start_index_map = {axis};
  a.index_vector_dim = index_rank;
  a.offset_dims = Ascending(axis - batch, batch);
  const Ints behind = Ascending(rank - axis - 1, axis + index_rank - batch);
  a.offset_dims.insert(a.offset_dims.end(), behind.begin(), behind.end());
  a.slice_sizes = x.type().shape;
  std::fill_n(a.slice_sizes.begin(), batch, 1);
  a.slice_sizes[axis] = 1;
  in.SetMoved(in.nodes().AddOne(Op::kHloGather, {x, indices}, a), from);
}

void ImportGather(FloatOperator& in) {
  const auto* o = in.op().options_as_GatherOptions();
  const Value x = in.Raw(0), indices = in.Raw(1);
  if (!in.ok()) return;
  const int64_t axis = in.Axis(o ? o->axis() : 0, x.type().rank());
  int64_t batch = o ? o->batch_dims() : 0;
  if (batch < 0) batch += indices.type().rank();
  Gather(in, x, indices, axis, batch, 0);
}

void ImportLookup(FloatOperator& in) {
  const Value indices = in.Raw(0), x = in.Raw(1);
  if (in.ok() &&
      in.Require(x.type().rank() >= 1, "values ", ir::TypeText(x.type())))
    Gather(in, x, indices, 0, 0, 1);
}

// Each line of indices (the last dimension) is a position in the first
// dimensions of x.
void ImportGatherNd(FloatOperator& in) {
  const Value x = in.Raw(0), indices = in.Raw(1);
  if (!in.ok() ||
      !in.Require(indices.type().rank() >= 1 &&
                      indices.type().shape.back() <= x.type().rank(),
                  "indices ", ir::TypeText(indices.type()), " of ",
                  ir::TypeText(x.type())))
    return;
  const int64_t places = indices.type().shape.back(),
                outer = indices.type().rank() - 1;
  ir::HloGatherAttributes a;
  a.collapsed_slice_dims = a.start_index_map = Ascending(places);
  a.index_vector_dim = outer;
  a.offset_dims = Ascending(x.type().rank() - places, outer);
  a.slice_sizes = x.type().shape;
  std::fill_n(a.slice_sizes.begin(), places, 1);
  in.SetMoved(in.nodes().AddOne(Op::kHloGather, {x, indices}, a));
}

// The sums of the updates at their positions, 0 elsewhere.
void ImportScatterNd(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value indices = in.Raw(0), updates = in.Real(1);
  const Ints shape = in.Integers(2);
  if (!in.ok() || !in.Require(indices.type().rank() >= 1 &&
                                  indices.type().shape.back() <=
                                      static_cast<int64_t>(shape.size()),
                              "indices ", ir::TypeText(indices.type())))
    return;
  const int64_t places = indices.type().shape.back(),
                outer = indices.type().rank() - 1;
  const ElementType element = updates.type().element;
  ir::HloScatterAttributes a;
  a.update_window_dims = Ascending(updates.type().rank() - outer, outer);
  a.inserted_window_dims = a.scatter_dims_to_operand_dims = Ascending(places);
  a.index_vector_dim = outer;
  const ir::Type scalar{element, {}, {}};
  const auto sum =
      n.Region({scalar, scalar}, [](HloBuilder& b, const Values& v) {
        return Values{b.Binary(Op::kHloAdd, v[0], v[1])};
      });
  in.Set(n.AddOne(Op::kHloScatter,
                  {n.Filled({element, shape, {}}, 0), indices, updates}, a,
                  std::nullopt, {sum}));
}

void ImportDynamicUpdateSlice(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Raw(0), update = in.Raw(1), starts = in.Raw(2);
  if (!in.ok() || !in.Require(starts.type().shape == Ints{x.type().rank()},
                              "places ", ir::TypeText(starts.type())))
    return;
  std::vector<Value> operands = {x, update};
  for (int64_t i = 0; i < x.type().rank(); ++i)
    operands.push_back(n.Reshape(n.SliceIn(starts, 0, i, i + 1), {}));
  in.SetMoved(n.AddOne(Op::kHloDynamicUpdateSlice, operands));
}

// The k largest elements of each line, and their indices.
void ImportTopK(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Real(0);
  const Ints given = in.Integers(1);
  if (!in.ok() ||
      !in.Require(given.size() == 1 && x.type().rank() >= 1 && 0 <= given[0] &&
                      given[0] <= x.type().shape.back() && in.outputs() == 2,
                  "the largest ", ir::ShapeText(given), " of ",
                  ir::TypeText(x.type())))
    return;
  const ElementType element = x.type().element;
  const int64_t last = x.type().rank() - 1;
  const ir::Type number{element, {}, {}}, place{kI32, {}, {}};
  const auto larger = n.Region(
      {number, number, place, place}, [](HloBuilder& b, const Values& v) {
        return Values{b.Compare(ir::Direction::kGt, v[0], v[1])};
      });
  const Values sorted =
      n.Add(Op::kHloSort, {x, n.Iota({kI32, x.type().shape, {}}, last)},
            ir::HloSortAttributes{last, true}, std::nullopt, {larger});
  if (!in.ok()) return;
  in.Set(n.SliceIn(sorted[0], last, 0, given[0]));
  const Value places = n.SliceIn(sorted[1], last, 0, given[0]);
  in.Set(n.Convert(places, in.ResultType(1).element), tflite::Activation_NONE,
         1);
}

bool CheckBlock(FloatOperator& in, Value x, int64_t block) {
  return in.ok() &&
         in.Require(x.type().rank() == 4 && 1 <= block && block <= kMostBlock,
                    "blocks of ", block, " in ", ir::TypeText(x.type()));
}

void ImportSpaceToDepth(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_SpaceToDepthOptions());
  const Value x = in.Raw(0);
  if (!in.ok() || !CheckBlock(in, x, o->block_size())) return;
  const Ints s = x.type().shape;
  const int64_t b = o->block_size();
  if (!in.Require(s[1] % b == 0 && s[2] % b == 0, ir::ShapeText(s),
                  " in blocks of ", b))
    return;
  const Value cut = n.Reshape(x, {s[0], s[1] / b, b, s[2] / b, b, s[3]});
  in.SetMoved(n.Reshape(n.Transpose(cut, {0, 1, 3, 2, 4, 5}),
                        {s[0], s[1] / b, s[2] / b, b * b * s[3]}));
}

void ImportDepthToSpace(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_DepthToSpaceOptions());
  const Value x = in.Raw(0);
  if (!in.ok() || !CheckBlock(in, x, o->block_size())) return;
  const Ints s = x.type().shape;
  const int64_t b = o->block_size();
  if (!in.Require(s[3] % (b * b) == 0, ir::ShapeText(s), " in blocks of ", b))
    return;
  const int64_t c = s[3] / (b * b);
  const Value cut = n.Reshape(x, {s[0], s[1], s[2], b, b, c});
  in.SetMoved(n.Reshape(n.Transpose(cut, {0, 1, 3, 2, 4, 5}),
                        {s[0], s[1] * b, s[2] * b, c}));
}

// Checks the blocks and borders of dimensions 1 to m.
bool CheckBlocks(FloatOperator& in, Value x, const Ints& block,
                 const Ints& borders) {
  const auto sane = [](int64_t low) {
    return [low](int64_t v) { return low <= v && v <= kMostBlock; };
  };
  return in.ok() &&
         in.Require(block.size() < x.type().shape.size() &&
                        borders.size() == 2 * block.size() &&
                        std::all_of(block.begin(), block.end(), sane(1)) &&
                        std::all_of(borders.begin(), borders.end(), sane(0)),
                    "blocks ", ir::ShapeText(block), ", borders ",
                    ir::ShapeText(borders), " of ", ir::TypeText(x.type()));
}

void ImportSpaceToBatch(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  Value x = in.Raw(0);
  const Ints block = in.Integers(1), borders = in.Integers(2);
  if (!CheckBlocks(in, x, block, borders)) return;
  const auto m = static_cast<int64_t>(block.size());
  Ints low(x.type().rank(), 0), high = low;
  for (int64_t i = 0; i < m; ++i) {
    low[1 + i] = borders[2 * i];
    high[1 + i] = borders[2 * i + 1];
  }
  const auto affine = in.AffineOf(0);
  x = n.Pad(x,
            n.Scalar(x.type().element,
                     affine ? static_cast<double>(affine->zeros[0]) : 0.0),
            low, high);
  if (!in.ok()) return;
  const Ints s = x.type().shape;
  Ints cut = {s[0]}, order, result = {s[0]}, inner;
  for (int64_t i = 0; i < m; ++i) {
    if (!in.Require(s[1 + i] % block[i] == 0, ir::ShapeText(s),
                    " in blocks of ", ir::ShapeText(block)))
      return;
    cut.push_back(s[1 + i] / block[i]);
    cut.push_back(block[i]);
    order.push_back(2 + 2 * i);
    inner.push_back(1 + 2 * i);
    result[0] *= block[i];
    result.push_back(s[1 + i] / block[i]);
  }
  order.push_back(0);
  order.insert(order.end(), inner.begin(), inner.end());
  for (int64_t i = 1 + m; i < static_cast<int64_t>(s.size()); ++i) {
    order.push_back(static_cast<int64_t>(cut.size()));
    cut.push_back(s[i]);
    result.push_back(s[i]);
  }
  in.SetMoved(n.Reshape(n.Transpose(n.Reshape(x, cut), order), result));
}

void ImportBatchToSpace(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  Value x = in.Raw(0);
  const Ints block = in.Integers(1), crops = in.Integers(2);
  if (!CheckBlocks(in, x, block, crops)) return;
  const auto m = static_cast<int64_t>(block.size());
  const Ints s = x.type().shape;
  int64_t blocks = 1;
  for (const int64_t b : block) blocks = std::min(blocks * b, ir::kMaxElements);
  if (!in.Require(s[0] % blocks == 0, ir::ShapeText(s), " in blocks of ",
                  ir::ShapeText(block)))
    return;
  Ints cut = block, order = {m}, result = {s[0] / blocks};
  cut.push_back(s[0] / blocks);
  Ints start = {0}, limit = {s[0] / blocks};
  for (int64_t i = 0; i < static_cast<int64_t>(s.size()) - 1; ++i) {
    order.push_back(m + 1 + i);
    cut.push_back(s[1 + i]);
    const bool spatial = i < m;
    if (spatial) order.push_back(i);
    result.push_back(s[1 + i] * (spatial ? block[i] : 1));
    start.push_back(spatial ? crops[2 * i] : 0);
    limit.push_back(result.back() - (spatial ? crops[2 * i + 1] : 0));
  }
  x = n.Reshape(n.Transpose(n.Reshape(x, cut), order), result);
  in.SetMoved(n.Slice(x, start, limit, Ints(s.size(), 1)));
}

void ImportOneHot(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_OneHotOptions());
  const Value indices = in.Raw(0);
  const Ints depth = in.Integers(1);
  const Value on = in.Real(2), off = in.Real(3);
  if (!in.ok() || !in.Require(depth.size() == 1 && depth[0] >= 0, "a depth of ",
                              ir::ShapeText(depth)))
    return;
  const int64_t axis = in.Axis(o->axis(), indices.type().rank() + 1);
  Ints shape = indices.type().shape, from;
  shape.insert(shape.begin() + axis, depth[0]);
  for (int64_t i = 0; i <= indices.type().rank(); ++i)
    if (i != axis) from.push_back(i);
  const Value places = n.Iota({indices.type().element, shape, {}}, axis);
  const Value here = n.Compare(ir::Direction::kEq, places,
                               n.BroadcastInDim(indices, shape, from));
  in.Set(n.Select(here, n.Reshape(on, {}), n.Reshape(off, {})));
}

// The bounds must be constants, because they determine the size of the result.
void ImportRange(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  double bounds[3] = {};
  for (int i = 0; i < 3; ++i) {
    const Value bound = in.Raw(i);
    if (!in.ok()) return;
    if (!bound->is_constant() || bound.type().elements() != 1) {
      in.Fail(Unsupported("a range of bounds that are not constant"));
      return;
    }
    bounds[i] = bound->literal().Visit(
        [](const auto& v) { return static_cast<double>(v[0]); });
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!in.Require(bounds[2] != 0 && count < ir::kMaxElements, "a range from ",
                  bounds[0], " to ", bounds[1], " by ", bounds[2]))
    return;
  const ElementType element = in.ResultType().element;
  const Value places =
      n.Iota({element, {count > 0 ? static_cast<int64_t>(count) : 0}, {}}, 0);
  if (!in.ok()) return;
  in.Set(n.Binary(Op::kHloAdd, n.Binary(Op::kHloMultiply, places, bounds[2]),
                  bounds[0]));
}

// The constant was expanded when it was read.
void ImportDensify(FloatOperator& in) { in.SetMoved(in.Raw(0)); }

}  // namespace

FloatRules MoveRules() {
  return {
      {B::BuiltinOperator_TILE, ImportTile},
      {B::BuiltinOperator_BROADCAST_TO, ImportBroadcastTo},
      {B::BuiltinOperator_FILL, ImportFill},
      {B::BuiltinOperator_GATHER, ImportGather},
      {B::BuiltinOperator_EMBEDDING_LOOKUP, ImportLookup},
      {B::BuiltinOperator_GATHER_ND, ImportGatherNd},
      {B::BuiltinOperator_SCATTER_ND, ImportScatterNd},
      {B::BuiltinOperator_DYNAMIC_UPDATE_SLICE, ImportDynamicUpdateSlice},
      {B::BuiltinOperator_TOPK_V2, ImportTopK},
      {B::BuiltinOperator_SPACE_TO_DEPTH, ImportSpaceToDepth},
      {B::BuiltinOperator_DEPTH_TO_SPACE, ImportDepthToSpace},
      {B::BuiltinOperator_SPACE_TO_BATCH_ND, ImportSpaceToBatch},
      {B::BuiltinOperator_BATCH_TO_SPACE_ND, ImportBatchToSpace},
      {B::BuiltinOperator_ONE_HOT, ImportOneHot},
      {B::BuiltinOperator_RANGE, ImportRange},
      {B::BuiltinOperator_DENSIFY, ImportDensify},
  };
}

}  // namespace systole::import
