// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that move elements: their results are the operand's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/onnx/model.h"

namespace systole::import {
namespace {

Doubles Counting(int64_t count) {
  Doubles values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(OnnxMovesTest, SliceCountsFromTheEndAndBackwards) {
  OnnxModel m;
  m.Input("x", {4, 6}).Output("y");
  m.Integers("starts", {-1, 1}).Integers("ends", {-100, 100});
  m.Integers("axes", {0, 1}).Integers("steps", {-2, 3});
  m.Node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  EXPECT_EQ(m.Run({Counting(24)}), (Doubles{19, 22, 7, 10}));
}

TEST(OnnxMovesTest, Pads) {
  const auto run = [](const char* mode, const Doubles& pads) {
    OnnxModel m;
    m.Input("x", {4}).Integers("p", pads).Output("y");
    m.Constant("v", {}, {9});
    m.Node("Pad", {"x", "p", "v"}, {"y"}).Set("mode", mode);
    return m.Run({Counting(4)});
  };
  EXPECT_EQ(run("constant", {2, 1}), (Doubles{9, 9, 0, 1, 2, 3, 9}));
  EXPECT_EQ(run("constant", {-1, 1}), (Doubles{1, 2, 3, 9}));
  EXPECT_EQ(run("reflect", {2, 1}), (Doubles{2, 1, 0, 1, 2, 3, 2}));
  EXPECT_EQ(run("edge", {2, 1}), (Doubles{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(run("wrap", {2, 1}), (Doubles{2, 3, 0, 1, 2, 3, 0}));
}

TEST(OnnxMovesTest, GathersAndScatters) {
  OnnxModel gather;
  gather.Input("x", {2, 3}).Input("i", {2}, onnx::TensorProto::INT64);
  gather.Output("y");
  gather.Node("Gather", {"x", "i"}, {"y"}).Set("axis", 1);
  EXPECT_EQ(gather.Run({Counting(6), {-1, 0}}), (Doubles{2, 0, 5, 3}));

  OnnxModel elements;
  elements.Input("x", {2, 3}).Input("i", {1, 3}, onnx::TensorProto::INT64);
  elements.Output("y");
  elements.Node("GatherElements", {"x", "i"}, {"y"});
  EXPECT_EQ(elements.Run({Counting(6), {1, 0, -1}}), (Doubles{3, 1, 5}));

  OnnxModel nd;
  nd.Input("x", {2, 3}).Input("i", {2, 2}, onnx::TensorProto::INT64);
  nd.Output("y");
  nd.Node("GatherND", {"x", "i"}, {"y"});
  EXPECT_EQ(nd.Run({Counting(6), {1, 2, -2, 0}}), (Doubles{5, 0}));

  for (const char* how : {"none", "add", "max"}) {
    OnnxModel scatter;
    scatter.Input("x", {4}).Input("i", {3, 1}, onnx::TensorProto::INT64);
    scatter.Input("u", {3}).Output("y");
    scatter.Node("ScatterND", {"x", "i", "u"}, {"y"}).Set("reduction", how);
    const Doubles y = scatter.Run({{1, 2, 3, 4}, {1, -1, 1}, {10, 20, 5}});
    EXPECT_EQ(y, how[0] == 'n'   ? (Doubles{1, 5, 3, 20})
                 : how[0] == 'a' ? (Doubles{1, 17, 3, 24})
                                 : (Doubles{1, 10, 3, 20}));
  }
}

TEST(OnnxMovesTest, OneHotTriluTileTranspose) {
  OnnxModel hot;
  hot.Input("i", {3}, onnx::TensorProto::INT64).Output("y");
  hot.Integers("d", {3}).Constant("v", {2}, {-1, 7});
  hot.Node("OneHot", {"i", "d", "v"}, {"y"});
  EXPECT_EQ(hot.Run({{0, -1, 5}}), (Doubles{7, -1, -1, -1, -1, 7, -1, -1, -1}));

  OnnxModel triangle;
  triangle.Input("x", {2, 3}).Constant("k", {}, {1}, onnx::TensorProto::INT64);
  triangle.Output("y");
  triangle.Node("Trilu", {"x", "k"}, {"y"});
  EXPECT_EQ(triangle.Run({{1, 2, 3, 4, 5, 6}}), (Doubles{0, 2, 3, 0, 0, 6}));

  OnnxModel tile;
  tile.Input("x", {1, 2}).Integers("r", {2, 2}).Output("y");
  tile.Node("Tile", {"x", "r"}, {"y"});
  EXPECT_EQ(tile.Run({{1, 2}}), (Doubles{1, 2, 1, 2, 1, 2, 1, 2}));

  OnnxModel turn;
  turn.Input("x", {2, 3}).Output("y");
  turn.Node("Transpose", {"x"}, {"y"});
  EXPECT_EQ(turn.Run({Counting(6)}), (Doubles{0, 3, 1, 4, 2, 5}));
}

TEST(OnnxMovesTest, SplitsUnevenly) {
  OnnxModel m;
  m.Input("x", {7}).Output("c");
  m.Node("Split", {"x"}, {"a", "b", "c"}).Set("num_outputs", 3);
  EXPECT_EQ(m.Run({Counting(7)}), (Doubles{6}));
}

TEST(OnnxMovesTest, DepthToSpaceOfBothModes) {
  const auto run = [](const char* mode) {
    OnnxModel m;
    m.Input("x", {1, 8, 1, 1}).Output("y");
    m.Node("DepthToSpace", {"x"}, {"y"}).Set("blocksize", 2).Set("mode", mode);
    return m.Run({Counting(8)});
  };
  EXPECT_EQ(run("DCR"), (Doubles{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(run("CRD"), (Doubles{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(OnnxMovesTest, ResizesByTheirCoordinates) {
  const auto run = [](const char* mode, const char* coordinates, double scale) {
    OnnxModel m;
    m.Input("x", {4}).Constant("s", {1}, {scale}).Output("y");
    m.Node("Resize", {"x", "", "s"}, {"y"})
        .Set("mode", mode)
        .Set("coordinate_transformation_mode", coordinates);
    return m.Run({{0, 10, 20, 40}});
  };
  EXPECT_EQ(run("nearest", "asymmetric", 2),
            (Doubles{0, 0, 10, 10, 20, 20, 40, 40}));
  EXPECT_EQ(run("nearest", "half_pixel", 0.5), (Doubles{0, 20}));
  // Between neighbours; the ends are repeated.
  ExpectNear(run("linear", "half_pixel", 2),
             {0, 2.5, 7.5, 12.5, 17.5, 25, 35, 40});
  ExpectNear(run("linear", "align_corners", 1.75), {0, 5, 10, 15, 20, 30, 40});
}

TEST(OnnxMovesTest, ReverseSequenceTurnsTheFirstElements) {
  OnnxModel m;
  m.Input("x", {4, 2}).Input("n", {2}, onnx::TensorProto::INT64).Output("y");
  m.Node("ReverseSequence", {"x", "n"}, {"y"});
  EXPECT_EQ(m.Run({Counting(8), {3, 1}}), (Doubles{4, 1, 2, 3, 0, 5, 6, 7}));
}

}  // namespace
}  // namespace systole::import
