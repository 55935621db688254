// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that only move elements: each element of the result is that of a
// place in the operand, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/float/float_net.h"

namespace systole::import {
namespace {

// One operator of one operand and integers: the result's elements by place.
void Check(
    B code, const Array& x, const std::vector<Array>& integers,
    const Shape& shape, const std::function<float(const Shape&)>& wanted,
    const std::function<ModelBuilder::Offset(ModelBuilder&)>& options = nullptr,
    tflite::Options kind = tflite::Options_NONE) {
  FloatNet net;
  std::vector<int32_t> operands = {net.In(x)};
  for (const Array& values : integers)
    operands.push_back(net.Const(values, kInt));
  SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
  const ModelBuilder::Offset made = options ? options(net.b) : 0;
  ExpectNear(net.One(code, operands, shape, kind, made), Made(shape, wanted),
             0);
}

Array List(const std::vector<float>& values) {
  return Array({static_cast<int32_t>(values.size())}, values);
}
Array Pairs(const std::vector<float>& values) {
  return Array({static_cast<int32_t>(values.size() / 2), 2}, values);
}

TEST(FloatMoves, OtherShapes) {
  const Array x = Random({1, 3, 1, 4}, 1);
  const auto same = [&](const Shape& shape) {
    return [&x, shape](const Shape& i) { return Array(shape, x.v).at(i); };
  };
  Check(tflite::BuiltinOperator_RESHAPE, x, {List({6, -1})}, {6, 2},
        same({6, 2}));
  Check(tflite::BuiltinOperator_SQUEEZE, x, {}, {3, 4}, same({3, 4}));
  Check(
      tflite::BuiltinOperator_SQUEEZE, x, {}, {1, 3, 4}, same({1, 3, 4}),
      [](ModelBuilder& b) {
        const std::vector<int32_t> axes = {-2};
        return tflite::CreateSqueezeOptionsDirect(b.fbb, &axes).Union();
      },
      tflite::Options_SqueezeOptions);
  Check(tflite::BuiltinOperator_EXPAND_DIMS, x, {Array({}, {-2})},
        {1, 3, 1, 1, 4}, same({1, 3, 1, 1, 4}));
}

TEST(FloatMoves, OrderAndPadding) {
  const Array x = Random({2, 3, 4}, 1);
  Check(tflite::BuiltinOperator_TRANSPOSE, x, {List({2, 0, 1})}, {4, 2, 3},
        [&](const Shape& i) {
          return x.at({i[1], i[2], i[0]});
        });
  Check(tflite::BuiltinOperator_REVERSE_V2, x, {List({2})}, {2, 3, 4},
        [&](const Shape& i) {
          return x.at({i[0], i[1], 3 - i[2]});
        });
  Check(tflite::BuiltinOperator_PAD, x, {Pairs({1, 0, 0, 2, 2, 3})}, {3, 5, 9},
        [&](const Shape& i) {
          return x.Get({i[0] - 1, i[1], i[2] - 2});
        });
  FloatNet net;
  ExpectNear(net.One(tflite::BuiltinOperator_PADV2,
                     {net.In(x), net.Const(Pairs({0, 0, 1, 1, 0, 0}), kInt),
                      net.Const(Array({}, {1.5f}))},
                     {2, 5, 4}),
             Made({2, 5, 4},
                  [&](const Shape& i) {
                    return x.Get({i[0], i[1] - 1, i[2]}, 1.5f);
                  }),
             0);
  for (const bool reflect : {true, false}) {
    // Before the first element come those behind it, or it comes again.
    const auto mirrored = [&](int place, int size) {
      if (place < 0) return -place - (reflect ? 0 : 1);
      return place < size ? place : 2 * size - place - (reflect ? 2 : 1);
    };
    Check(
        tflite::BuiltinOperator_MIRROR_PAD, x, {Pairs({0, 0, 2, 1, 3, 2})},
        {2, 6, 9},
        [&](const Shape& i) {
          return x.at({i[0], mirrored(i[1] - 2, 3), mirrored(i[2] - 3, 4)});
        },
        [&](ModelBuilder& b) {
          return tflite::CreateMirrorPadOptions(
                     b.fbb, reflect ? tflite::MirrorPadMode_REFLECT
                                    : tflite::MirrorPadMode_SYMMETRIC)
              .Union();
        },
        tflite::Options_MirrorPadOptions);
  }
}

TEST(FloatMoves, Parts) {
  const Array x = Random({4, 5, 6}, 1);
  Check(tflite::BuiltinOperator_SLICE, x, {List({1, 0, 2}), List({2, -1, 3})},
        {2, 5, 3}, [&](const Shape& i) {
          return x.at({1 + i[0], i[1], 2 + i[2]});
        });
  const auto masks = [](int begin, int end, int ellipsis, int added,
                        int shrink) {
    return [=](ModelBuilder& b) {
      return tflite::CreateStridedSliceOptions(b.fbb, begin, end, ellipsis,
                                               added, shrink)
          .Union();
    };
  };
  // Backwards, with an open end.
  Check(
      tflite::BuiltinOperator_STRIDED_SLICE, x,
      {List({1, -1, -1}), List({3, 0, 1}), List({1, -1, -2})}, {2, 5, 2},
      [&](const Shape& i) {
        return x.at({1 + i[0], 4 - i[1], 5 - 2 * i[2]});
      },
      masks(0, 2, 0, 0, 0), tflite::Options_StridedSliceOptions);
  // A dimension that is dropped.
  Check(
      tflite::BuiltinOperator_STRIDED_SLICE, x,
      {List({-1, 0, 1}), List({0, 0, 6}), List({1, 1, 2})}, {5, 3},
      [&](const Shape& i) {
        return x.at({3, i[0], 1 + 2 * i[1]});
      },
      masks(2, 2, 0, 0, 1), tflite::Options_StridedSliceOptions);
  // All dimensions before the last one, and a new one.
  Check(
      tflite::BuiltinOperator_STRIDED_SLICE, x,
      {List({0, 0, 2}), List({0, 0, 5}), List({1, 1, 1})}, {4, 5, 1, 3},
      [&](const Shape& i) {
        return x.at({i[0], i[1], 2 + i[3]});
      },
      masks(0, 0, 1, 2, 0), tflite::Options_StridedSliceOptions);
}

TEST(FloatMoves, SeveralResults) {
  const Array x = Random({3, 6}, 1);
  const auto check = [&](FloatNet& net, const std::vector<int>& outputs,
                         const std::vector<int>& begins) {
    const std::vector<Array> got = net.Run(outputs);
    for (size_t part = 0; part < outputs.size(); ++part)
      for (size_t k = 0; k < got[part].v.size(); ++k) {
        const int width = static_cast<int>(got[part].v.size() / 3);
        const int at = static_cast<int>(k);
        EXPECT_EQ(got[part].v[k], x.at({at / width, begins[part] + at % width}))
            << part;
      }
  };
  FloatNet split;
  std::vector<int> outputs = {split.Out({3, 2}), split.Out({3, 2}),
                              split.Out({3, 2})};
  split.Add(tflite::BuiltinOperator_SPLIT,
            {split.Const(Array({}, {1}), kInt), split.In(x)}, outputs);
  check(split, outputs, {0, 2, 4});
  FloatNet sizes;
  outputs = {sizes.Out({3, 1}), sizes.Out({3, 3}), sizes.Out({3, 2})};
  sizes.Add(
      tflite::BuiltinOperator_SPLIT_V,
      {sizes.In(x), sizes.Ints({1, -1, 2}), sizes.Const(Array({}, {-1}), kInt)},
      outputs);
  check(sizes, outputs, {0, 1, 4});
  FloatNet columns;
  outputs.clear();
  for (int i = 0; i < 6; ++i) outputs.push_back(columns.Out({3}));
  columns.Add(tflite::BuiltinOperator_UNPACK, {columns.In(x)}, outputs,
              tflite::Options_UnpackOptions,
              tflite::CreateUnpackOptions(columns.b.fbb, 6, 1).Union());
  check(columns, outputs, {0, 1, 2, 3, 4, 5});
}

TEST(FloatMoves, Joined) {
  const Array x = Random({2, 3}, 1), y = Random({2, 5}, 2),
              z = Random({2, 3}, 3);
  FloatNet net;
  ExpectNear(
      net.One(tflite::BuiltinOperator_CONCATENATION, {net.In(x), net.In(y)},
              {2, 8}, tflite::Options_ConcatenationOptions,
              tflite::CreateConcatenationOptions(net.b.fbb, -1).Union()),
      Made({2, 8},
           [&](const Shape& i) {
             return i[1] < 3 ? x.at(i) : y.at({i[0], i[1] - 3});
           }),
      0);
  FloatNet pack;
  ExpectNear(pack.One(tflite::BuiltinOperator_PACK, {pack.In(x), pack.In(z)},
                      {2, 2, 3}, tflite::Options_PackOptions,
                      tflite::CreatePackOptions(pack.b.fbb, 2, 1).Union()),
             Made({2, 2, 3},
                  [&](const Shape& i) {
                    return (i[1] ? z : x).at({i[0], i[2]});
                  }),
             0);
}

TEST(FloatMoves, Copies) {
  const Array x = Random({2, 1, 3}, 1);
  Check(tflite::BuiltinOperator_TILE, x, {List({1, 4, 2})}, {2, 4, 6},
        [&](const Shape& i) {
          return x.at({i[0], 0, i[2] % 3});
        });
  Check(tflite::BuiltinOperator_BROADCAST_TO, x, {List({4, 2, 5, 3})},
        {4, 2, 5, 3}, [&](const Shape& i) {
          return x.at({i[1], 0, i[3]});
        });
  FloatNet net;
  ExpectNear(net.One(tflite::BuiltinOperator_FILL,
                     {net.Ints({2, 3}), net.In(Array({}, {2.5f}))}, {2, 3}),
             Made({2, 3}, [](const Shape&) { return 2.5f; }), 0);
}

TEST(FloatMoves, Gathers) {
  const Array x = Random({2, 5, 6}, 1);
  const Array places = Whole({2, 3}, 2, 0, 4);
  for (const int batch : {0, 1}) {
    const Shape shape = batch ? Shape{2, 3, 6} : Shape{2, 2, 3, 6};
    Check(
        tflite::BuiltinOperator_GATHER, x, {places}, shape,
        [&](const Shape& i) {
          const Shape place = batch ? Shape{i[0], i[1]} : Shape{i[1], i[2]};
          return x.at({i[0], static_cast<int>(places.at(place)), i.back()});
        },
        [&](ModelBuilder& b) {
          return tflite::CreateGatherOptions(b.fbb, 1, batch).Union();
        },
        tflite::Options_GatherOptions);
  }
  const Array pairs({2, 2}, {1, 4, 0, 2});
  Check(tflite::BuiltinOperator_GATHER_ND, x, {pairs}, {2, 6},
        [&](const Shape& i) {
          return x.at({static_cast<int>(pairs.at({i[0], 0})),
                       static_cast<int>(pairs.at({i[0], 1})), i[1]});
        });
  const Array rows = Random({5, 4}, 3);
  FloatNet net;
  ExpectNear(net.One(tflite::BuiltinOperator_EMBEDDING_LOOKUP,
                     {net.Ints({4, 0, 2}), net.In(rows)}, {3, 4}),
             Made({3, 4},
                  [&](const Shape& i) {
                    return rows.at({i[0] == 0 ? 4 : i[0] == 1 ? 0 : 2, i[1]});
                  }),
             0);
}

// Updates of one place add up.
TEST(FloatMoves, Scatters) {
  const Array x = Random({3, 4}, 1);
  FloatNet net;
  ExpectNear(net.One(tflite::BuiltinOperator_SCATTER_ND,
                     {net.Const(Array({3, 1}, {1, 3, 1}), kInt), net.In(x),
                      net.Ints({5, 4})},
                     {5, 4}),
             Made({5, 4}, [&](const Shape& i) {
               return i[0] == 1   ? x.at({0, i[1]}) + x.at({2, i[1]})
                      : i[0] == 3 ? x.at({1, i[1]})
                                  : 0;
             }));
  const Array y = Random({2, 3}, 2);
  FloatNet update;
  const Array base = Random({4, 4}, 3);
  ExpectNear(
      update.One(tflite::BuiltinOperator_DYNAMIC_UPDATE_SLICE,
                 {update.In(base), update.In(y), update.Ints({2, 1})}, {4, 4}),
      Made({4, 4},
           [&](const Shape& i) {
             return i[0] >= 2 && i[1] >= 1 ? y.at({i[0] - 2, i[1] - 1})
                                           : base.at(i);
           }),
      0);
}

TEST(FloatMoves, Blocks) {
  const Array x = Random({2, 4, 6, 3}, 1), deep = Random({1, 2, 3, 8}, 2);
  Check(
      tflite::BuiltinOperator_SPACE_TO_DEPTH, x, {}, {2, 2, 3, 12},
      [&](const Shape& i) {
        return x.at(
            {i[0], 2 * i[1] + i[3] / 6, 2 * i[2] + i[3] / 3 % 2, i[3] % 3});
      },
      [](ModelBuilder& b) {
        return tflite::CreateSpaceToDepthOptions(b.fbb, 2).Union();
      },
      tflite::Options_SpaceToDepthOptions);
  Check(
      tflite::BuiltinOperator_DEPTH_TO_SPACE, deep, {}, {1, 4, 6, 2},
      [&](const Shape& i) {
        return deep.at(
            {0, i[1] / 2, i[2] / 2, (i[1] % 2 * 2 + i[2] % 2) * 2 + i[3]});
      },
      [](ModelBuilder& b) {
        return tflite::CreateDepthToSpaceOptions(b.fbb, 2).Union();
      },
      tflite::Options_DepthToSpaceOptions);
  // Blocks of 2 x 3; a border of 1 on the left and of 2 on the right.
  Check(tflite::BuiltinOperator_SPACE_TO_BATCH_ND, x,
        {List({2, 3}), Pairs({0, 0, 1, 2})}, {12, 2, 3, 3},
        [&](const Shape& i) {
          const int block = i[0] / 2;
          return x.Get(
              {i[0] % 2, 2 * i[1] + block / 3, 3 * i[2] + block % 3 - 1, i[3]});
        });
  const Array batches = Random({12, 2, 3, 3}, 3);
  Check(tflite::BuiltinOperator_BATCH_TO_SPACE_ND, batches,
        {List({2, 3}), Pairs({1, 0, 1, 2})}, {2, 3, 6, 3}, [&](const Shape& i) {
          const int row = i[1] + 1, column = i[2] + 1;
          return batches.at({(row % 2 * 3 + column % 3) * 2 + i[0], row / 2,
                             column / 3, i[3]});
        });
}

TEST(FloatMoves, NumbersOfPlaces) {
  const Array places = Whole({2, 3}, 1, 0, 4);
  FloatNet hot;
  ExpectNear(hot.One(tflite::BuiltinOperator_ONE_HOT,
                     {hot.In(places, kInt), hot.Const(Array({}, {5}), kInt),
                      hot.Const(Array({}, {2})), hot.Const(Array({}, {-1}))},
                     {2, 5, 3}, tflite::Options_OneHotOptions,
                     tflite::CreateOneHotOptions(hot.b.fbb, 1).Union()),
             Made({2, 5, 3},
                  [&](const Shape& i) {
                    return places.at({i[0], i[2]}) == static_cast<float>(i[1])
                               ? 2.0f
                               : -1.0f;
                  }),
             0);
  FloatNet range;
  ExpectNear(
      range.One(tflite::BuiltinOperator_RANGE,
                {range.Const(Array({}, {1})), range.Const(Array({}, {4})),
                 range.Const(Array({}, {0.5f}))},
                {6}),
      Array({6}, {1, 1.5f, 2, 2.5f, 3, 3.5f}), 0);
}

// Shapes that follow from others: [2,3,4] -> its first two sizes -> [2,3,4].
TEST(FloatMoves, ShapesAreKnownAtImport) {
  const Array x = Random({2, 3, 4}, 1);
  FloatNet net;
  const int in = net.In(x), shape = net.Out({3}, kInt),
            front = net.Out({2}, kInt), rank = net.Out({}, kInt),
            joined = net.Out({3}, kInt), y = net.Out({3, 2, 4});
  net.Add(tflite::BuiltinOperator_SHAPE, {in}, {shape});
  net.Add(tflite::BuiltinOperator_RANK, {in}, {rank});
  net.Add(tflite::BuiltinOperator_GATHER, {shape, net.Ints({1, 0})}, {front});
  net.Add(tflite::BuiltinOperator_CONCATENATION, {front, net.Ints({4})},
          {joined}, tflite::Options_ConcatenationOptions,
          tflite::CreateConcatenationOptions(net.b.fbb, 0).Union());
  net.Add(tflite::BuiltinOperator_RESHAPE, {in, joined}, {y});
  const std::vector<Array> got = net.Run({y, rank});
  EXPECT_EQ(got[0].v, x.v);
  EXPECT_EQ(got[1].v, std::vector<float>{3});
}

}  // namespace
}  // namespace systole::import
