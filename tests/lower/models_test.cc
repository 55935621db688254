// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole models, divided between device and host: the network's layers on the
// golden model, then the host's operators, give what the reference kernels of
// TensorFlow Lite give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "host/import/tflite_importer.h"
#include "host/ir/pass.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/lower/lowering.h"
#include "tests/import/reference.h"
#include "verif/golden/interpreter.h"
#include "verif/golden/network.h"

namespace systole::lower {
namespace {

using testing::HasSubstr;

golden::TensorI8 ImageOf(const model::Network& network,
                         const ir::Literal& values) {
  const model::Tensor& t = network.input();
  return golden::TensorI8(1, t.height, t.width, t.channels,
                          values.values<int8_t>());
}

// The module's output, by way of the network.
absl::StatusOr<ir::Literal> RunLowered(const Lowered& lowered,
                                       const ir::Literal& input) {
  const auto head = golden::RunModule(lowered.head(), {input});
  if (!head.ok()) return head.status();
  const auto layers = golden::RunNetwork(
      lowered.networks[0], ImageOf(lowered.networks[0], head->at(0)));
  if (!layers.ok()) return layers.status();
  golden::TensorI8 output;
  for (size_t i = 0; i < layers->size(); ++i) {
    if (lowered.networks[0].layers[i].output ==
        lowered.networks[0].outputs[0]) {
      output = (*layers)[i];
    }
  }
  const auto outputs =
      golden::RunModule(lowered.tail(), {ir::Literal(output.data())});
  if (!outputs.ok()) return outputs.status();
  return outputs->at(0);
}

class ModelTest : public testing::TestWithParam<const char*> {};

TEST_P(ModelTest, EqualsReferenceKernels) {
  const std::string path = import::ModelPath(GetParam());
  if (path.empty()) GTEST_SKIP() << GetParam() << " is not there";
  const auto module = import::ReadTflite(path);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(ir::StandardPasses().Run(**module), absl::OkStatus());
  const auto lowered = LowerModule(**module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(ir::Verify(lowered->head()), absl::OkStatus());
  EXPECT_EQ(ir::Verify(lowered->tail()), absl::OkStatus());
  for (const Placement& p : lowered->placements) {
    EXPECT_EQ(p.unit == "host", p.op == "softmax")
        << p.node << ": " << p.reason;
  }
  const nlohmann::json reference = import::Reference(GetParam());
  for (const nlohmann::json& row : reference.at("outputs")) {
    const ir::Literal input(import::SeededValues(
        row.at("seed"), (*module)->inputs()[0]->type.elements()));
    const auto output = RunLowered(*lowered, input);
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_EQ(import::CrcText(import::Crc32(output->Bytes())),
              row.at("crc32").get<std::string>())
        << "seed " << row.at("seed");
  }
}

INSTANTIATE_TEST_SUITE_P(Own, ModelTest, testing::Values("mnist_cnn"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(MlperfTiny, ModelTest,
                         testing::Values("ad_autoencoder_int8",
                                         "ic_resnet8_int8", "kws_dscnn_int8",
                                         "vww_mobilenet025_96_int8"),
                         [](const auto& info) { return info.param; });

std::unique_ptr<ir::Module> Parsed(const std::string& statements) {
  auto module = ir::Parse("module @m {\n" + statements + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus());
  return *std::move(module);
}

constexpr char kPool[] =
    "  %x = i8[1,4,4,2]{scale=0.5, zero=7} parameter(), name=\"x\"\n"
    "  %p = i8[1,2,2,2]{scale=0.5, zero=7} max_pool(%x), kernel=[2, 2], "
    "stride=[2, 2]\n";

TEST(LowerModuleTest, SaysWhatRunsWhere) {
  const auto module =
      Parsed(std::string(kPool) +
             "  %r = i8[1,8]{scale=0.5, zero=7} reshape(%p)\n"
             "  %s = i8[1,8]{scale=0.00390625, zero=-128} softmax(%r)\n"
             "  %y = f32[1,8] dequantize(%s)\n"
             "  return %y as \"y\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  std::string where;
  for (const Placement& p : lowered->placements) {
    where += p.node + ": " + p.unit + " (" + p.reason + ")\n";
  }
  EXPECT_EQ(where,
            "p: vector unit ()\n"
            "r: nowhere (the bytes stay as they lie)\n"
            "s: host (the device has no such operation)\n"
            "y: host (the device has no such operation)\n");
  EXPECT_EQ(ir::Print(lowered->head()),
            "module @m.head {\n"
            "  %x = i8[1,4,4,2]{scale=0.5, zero=7} parameter(), name=\"x\"\n"
            "  return %x as \"x\"\n}\n");
  EXPECT_EQ(ir::Print(lowered->tail()),
            "module @m.tail {\n"
            "  %r = i8[1,8]{scale=0.5, zero=7} parameter(), name=\"p\"\n"
            "  %s = i8[1,8]{scale=0.00390625, zero=-128} softmax(%r)\n"
            "  %y = f32[1,8] dequantize(%s)\n"
            "  return %y as \"y\"\n}\n");
}

TEST(LowerModuleTest, DepthwiseLayersGoThroughTheModelFile) {
  const auto module = Parsed(
      "  %x = i8[1,3,3,2]{scale=0.5, zero=7} parameter()\n"
      "  %w = i8[1,2,2,4]{scale=0.1} constant(), data=[1, 2, 3, 4, 5, 6, 7, 8, "
      "9, 10, 11, 12, 13, 14, 15, 16]\n"
      "  %b = i32[4]{scale=0.05} constant(), data=[10, 20, 30, 40]\n"
      "  %y = i8[1,2,1,4]{scale=3} depthwise_conv2d(%x, %w, %b), stride=[1, "
      "2]\n"
      "  return %y as \"y\"\n");
  auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  model::Layer& layer = lowered->networks[0].layers[0];
  EXPECT_EQ(layer.op, model::Op::kDepthwise);
  // [channel][tap]
  EXPECT_THAT(layer.weights, testing::ElementsAre(1, 5, 9, 13, 2, 6, 10, 14, 3,
                                                  7, 11, 15, 4, 8, 12, 16));
  EXPECT_EQ(model::Macs(lowered->networks[0], layer), 2 * 4 * 4);
  const auto bytes = model::SerializeNetwork(lowered->networks[0]);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto read = model::ParseNetwork(*bytes, "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->layers[0].op, model::Op::kDepthwise);
  EXPECT_EQ(read->layers[0].weights, layer.weights);
  EXPECT_EQ(read->layers[0].window.stride_w, 2);
  lowered->networks[0].tensors[lowered->networks[0].inputs[0]].channels = 3;
  EXPECT_THAT(std::string(model::Validate(lowered->networks[0]).message()),
              HasSubstr("4 channels from 3, which do not divide them"));
}

std::string PlacesOf(const Lowered& lowered) {
  std::string where;
  for (const Placement& p : lowered.placements) {
    where += p.node + ": " + p.unit + "\n";
  }
  return where;
}

TEST(LowerModuleTest, TheHeadWorksBeforeTheDevice) {
  const auto module = Parsed(
      "  %x = f32[1,2,2,1] parameter(), name=\"picture\"\n"
      "  %q = i8[1,2,2,1]{scale=0.5} quantize(%x)\n"
      "  %p = i8[1,1,1,1]{scale=0.5} max_pool(%q), kernel=[2, 2]\n"
      "  %y = f32[1,1,1,1] dequantize(%p)\n"
      "  return %y as \"y\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(PlacesOf(*lowered), "q: host\np: vector unit\ny: host\n");
  EXPECT_EQ(ir::Print(lowered->head()),
            "module @m.head {\n"
            "  %x = f32[1,2,2,1] parameter(), name=\"picture\"\n"
            "  %q = i8[1,2,2,1]{scale=0.5} quantize(%x)\n"
            "  return %q as \"q\"\n}\n");
}

TEST(LowerModuleTest, SeveralInputsAndOutputs) {
  const auto module =
      Parsed(std::string(kPool) +
             "  %t = i8[1,4,4,2]{scale=0.5, zero=7} resize_nearest(%x)\n"
             "  %q = i8[1,2,2,2]{scale=0.5, zero=7} resize_nearest(%t)\n"
             "  %y = i8[1,2,2,2]{scale=0.5} add(%p, %q)\n"
             "  %r = i8[1,8]{scale=0.5, zero=7} reshape(%p)\n"
             "  %s = i8[1,8]{scale=0.00390625, zero=-128} softmax(%r)\n"
             "  return %y as \"y\", %p as \"p\", %s as \"s\", %t as \"t\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(PlacesOf(*lowered),
            "p: vector unit\nt: host\nq: host\ny: vector unit\nr: nowhere\n"
            "s: host\n");
  EXPECT_EQ(lowered->networks[0].inputs.size(), 2u);
  EXPECT_EQ(lowered->networks[0].outputs.size(), 2u);
  // A value that the tail needs in two shapes comes once; one of the head goes
  // past the device.
  EXPECT_EQ(ir::Print(lowered->tail()),
            "module @m.tail {\n"
            "  %r = i8[1,8]{scale=0.5, zero=7} parameter(), name=\"p\"\n"
            "  %s = i8[1,8]{scale=0.00390625, zero=-128} softmax(%r)\n"
            "  %y = i8[1,2,2,2]{scale=0.5} parameter(), name=\"y\"\n"
            "  %p = i8[1,2,2,2]{scale=0.5, zero=7} reshape(%r)\n"
            "  %t = i8[1,4,4,2]{scale=0.5, zero=7} parameter(), name=\"t\"\n"
            "  return %y as \"y\", %p as \"p\", %s as \"s\", %t as \"t\"\n}\n");
  EXPECT_EQ(ir::Verify(lowered->tail()), absl::OkStatus());
  EXPECT_EQ(model::Validate(lowered->networks[0]), absl::OkStatus());
}

TEST(LowerModuleTest, DeviceAndHostTakeTurns) {
  const auto module = Parsed(
      std::string(kPool) +
      "  %t = i8[1,2,2,2]{scale=0.5, zero=7} resize_nearest(%p)\n"
      "  %r = i8[1,2,4,1]{scale=0.5, zero=7} reshape(%t)\n"
      "  %m = i8[1,1,2,1]{scale=0.5, zero=7} max_pool(%r), kernel=[2, 2], "
      "stride=[2, 2]\n"
      "  %l = i8[1,1,2,1]{scale=0.5, zero=7} resize_nearest(%m)\n"
      "  %q = i8[1,2,2,2]{scale=0.5} add(%p, %t)\n"
      "  %z = i8[1,1,1,1]{scale=0.5, zero=7} max_pool(%l), "
      "kernel=[1, 2]\n"
      "  return %z as \"z\", %q as \"q\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  std::string steps;
  for (const Placement& p : lowered->placements) {
    steps += absl::StrCat(p.node, ": ", p.step, " ", p.unit, "\n");
  }
  EXPECT_EQ(steps,
            "p: 1 vector unit\nt: 2 host\nr: 2 nowhere\nm: 3 vector unit\n"
            "l: 4 host\nq: 3 vector unit\nz: 5 vector unit\n");
  ASSERT_EQ(lowered->networks.size(), 3u);
  ASSERT_EQ(lowered->parts.size(), 4u);
  for (const model::Network& network : lowered->networks) {
    EXPECT_EQ(model::Validate(network), absl::OkStatus());
  }
  EXPECT_EQ(lowered->networks[1].inputs.size(), 3u);  // r, p, t
  EXPECT_EQ(ir::Print(*lowered->parts[1]),
            "module @m.part1 {\n"
            "  %p = i8[1,2,2,2]{scale=0.5, zero=7} parameter(), name=\"p\"\n"
            "  %t = i8[1,2,2,2]{scale=0.5, zero=7} resize_nearest(%p)\n"
            "  %r = i8[1,2,4,1]{scale=0.5, zero=7} reshape(%t)\n"
            "  return %t as \"t\", %r as \"r\"\n}\n");
  EXPECT_EQ(ir::Print(lowered->tail()),
            "module @m.tail {\n"
            "  %z = i8[1,1,1,1]{scale=0.5, zero=7} parameter(), "
            "name=\"z\"\n"
            "  %q = i8[1,2,2,2]{scale=0.5} parameter(), name=\"q\"\n"
            "  return %z as \"z\", %q as \"q\"\n}\n");
}

TEST(LowerModuleTest, RefusesWhatHasNothingForTheDevice) {
  const std::string text =
      "  %x = i8[4]{scale=0.5, zero=7} parameter()\n"
      "  %y = i8[4]{scale=0.00390625, zero=-128} softmax(%x)\n"
      "  return %y as \"y\"\n";
  EXPECT_THAT(std::string(LowerModule(*Parsed(text)).status().message()),
              HasSubstr("no operator runs on the device"));
}

// Rows that are pixels in memory are those of a convolution; others go to the
// host.
TEST(LowerModuleTest, DenseLayersOfManyRowsRunOnTheArray) {
  const auto text = [](const std::string& depth, const std::string& shape) {
    return "  %x = i8[1,3,2,4]{scale=0.5, zero=7} parameter(), name=\"x\"\n"
           "  %r = i8[6,4]{scale=0.5, zero=7} reshape(%x)\n"
           "  %w = i8[3," +
           depth + "]{scale=0.5} constant(), data=x\"" +
           std::string(6 * std::stoi(depth), '1') + "\"\n  %y = i8" + shape +
           "{scale=3} fully_connected(%r, %w)\n"
           "  return %y as \"y\"\n";
  };
  const auto rows = LowerModule(*Parsed(text("4", "[6,3]")));
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->placements.back().unit, "array");
  ASSERT_EQ(rows->networks.size(), 1u);
  EXPECT_EQ(rows->networks[0].layers[0].op, model::Op::kConv2D);
  EXPECT_EQ(model::Validate(rows->networks[0]), absl::OkStatus());
  const auto none = LowerModule(*Parsed(text("8", "[3,3]")));
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("no operator runs on the device"));
}

// The array's operations too, where the device has no such layer.
TEST(LowerModuleTest, HostComputesLayersThatTheDeviceDoesNotHave) {
  const auto module =
      Parsed(std::string(kPool) +
             "  %w = i8[3,8]{scale=0.5} parameter(), name=\"w\"\n"
             "  %y = i8[1,3]{scale=90} fully_connected(%p, %w)\n"
             "  return %y as \"y\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const Placement& placement = lowered->placements.back();
  EXPECT_EQ(placement.unit, "host");
  EXPECT_EQ(placement.reason, "weights and bias are not constants");
  EXPECT_EQ(placement.macs, 24);
}

TEST(LowerModuleTest, ReshapesByWayOfTheHostWhereBytesMove) {
  const auto module = Parsed(
      std::string(kPool) +
      "  %r = i8[1,4,2,1]{scale=0.5, zero=7} reshape(%p)\n"
      "  %y = i8[1,2,1,1]{scale=0.5, zero=7} max_pool(%r), kernel=[2, 2], "
      "stride=[2, 2]\n"
      "  return %y as \"y\"\n");
  const auto lowered = LowerModule(*module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  ASSERT_EQ(lowered->networks.size(), 2u);
  const model::Tensor& input = lowered->networks[1].input();
  EXPECT_EQ(input.name, "p");
  EXPECT_EQ(input.height, 4);
  EXPECT_EQ(input.channels, 1);
}

}  // namespace
}  // namespace systole::lower
