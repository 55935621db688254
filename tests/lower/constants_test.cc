// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that the device does in another guise: sums and products with
// constant vectors of channels, padding. On the simulator, against the golden
// evaluation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "host/tools/tensor_io.h"

namespace systole::lower {
namespace {

using testing::HasSubstr;

runtime::Source SourceOf(const std::string& statements, const char* preset) {
  auto module = ir::Parse("module @m {\n" + statements + "}\n");
  EXPECT_TRUE(module.ok()) << module.status() << statements;
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus()) << statements;
  auto source =
      runtime::SourceOf(*std::move(module), nullptr, FindPreset(preset));
  EXPECT_TRUE(source.ok()) << source.status() << statements;
  return *std::move(source);
}

// All on the device, and equal.
void RunAndCheck(const std::string& statements, const char* preset,
                 int64_t batch, int seed) {
  const runtime::Source source = SourceOf(statements, preset);
  for (const Placement& p : source.lowered.placements)
    EXPECT_NE(p.unit, "host") << p.node << ": " << p.reason << statements;
  compiler::Options options;
  options.batch = batch;
  options.keep_intermediates = seed % 2 == 0;
  const auto model = runtime::Build(source, *FindPreset(preset), options);
  ASSERT_TRUE(model.ok()) << model.status() << statements;
  DeviceOptions device_options;
  device_options.preset = preset;
  device_options.simulation.check_races = true;
  const auto device = Device::Open("iss", device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  std::vector<ir::Literal> inputs;
  for (const ir::Node* input : model->inputs())
    inputs.push_back(tools::RandomValues(input->type, batch, seed));
  const auto run = runtime::Runner(**device, *model).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status() << statements;
  tools::ModelCheck check(source);
  ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty())
      << check.mismatches()[0] << statements;
  EXPECT_GE(check.tensors().size(), 1u);
}

class Draw {
 public:
  explicit Draw(int seed) : random_(seed) {}
  int Number(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }
  std::string Quantisation() {
    return absl::StrCat("{scale=0.0", Number(1, 99),
                        ", zero=", Number(-128, 127), "} ");
  }
  std::string Data(int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      absl::StrAppendFormat(&text, "%02x", Number(0, 255));
    return text;
  }

 private:
  std::mt19937 random_;
};

TEST(Constants, VectorsOfChannelsAndWholeTensors) {
  for (int round = 0; round < 60; ++round) {
    Draw draw(round);
    const int h = draw.Number(1, 9), w = draw.Number(1, 9),
              c = draw.Number(2, 40);
    const bool whole = round % 4 == 3, first = round % 3 == 1;
    const std::string shape = absl::StrCat("[1,", h, ",", w, ",", c, "]");
    const std::string vector = whole ? shape
                               : round % 2 == 0
                                   ? absl::StrCat("[", c, "]")
                                   : absl::StrCat("[1,1,1,", c, "]");
    const auto statement = [&](const char* name, const char* from,
                               const char* op) {
      return absl::StrCat("  %k", name, " = i8", vector, draw.Quantisation(),
                          "constant(), data=x\"",
                          draw.Data(whole ? h * w * c : c), "\"\n  %", name,
                          " = i8", shape, draw.Quantisation(), op, "(",
                          first ? absl::StrCat("%k", name, ", %", from)
                                : absl::StrCat("%", from, ", %k", name),
                          ")\n");
    };
    RunAndCheck(
        absl::StrCat("  %x = i8", shape, draw.Quantisation(),
                     "parameter(), name=\"x\"\n", statement("m", "x", "mul"),
                     statement("y", "m", "add"), "  return %y as \"y\"\n"),
        round % 5 == 0 ? "edge" : "nano", draw.Number(1, 3), round);
  }
}

// A constant that two programs read.
TEST(Constants, ProgramsShareThem) {
  Draw draw(1);
  const std::string data = draw.Data(4);
  const std::string text = absl::StrCat(
      "  %x = i8[1,3,3,4]{scale=0.5} parameter(), name=\"x\"\n"
      "  %k = i8[4]{scale=0.25, zero=3} constant(), data=x\"",
      data,
      "\"\n  %a = i8[1,3,3,4]{scale=0.5} add(%x, %k)\n"
      "  %t = i8[1,3,3,4]{scale=0.00390625, zero=-128} softmax(%a)\n"
      "  %y = i8[1,3,3,4]{scale=0.5, zero=-9} mul(%t, %k)\n"
      "  return %y as \"y\"\n");
  const runtime::Source source = SourceOf(text, "nano");
  ASSERT_EQ(source.lowered.networks.size(), 2u);
  const auto model = runtime::Build(source, *FindPreset("nano"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const auto read = runtime::FromProgram(runtime::ToProgram(*model), "m");
  ASSERT_TRUE(read.ok()) << read.status();
  DeviceOptions options;
  options.preset = "nano";
  const auto device = Device::Open("iss", options);
  const std::vector<ir::Literal> inputs = {
      tools::RandomValues(read->inputs()[0]->type, 1, 3)};
  const auto run = runtime::Runner(**device, *read).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(source);
  ASSERT_EQ(check.Compare(*read, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty());
}

// Side by side in channels or in width; one of them rescaled before, one a
// constant.
TEST(Concatenation, OfTensorsAndConstants) {
  for (int round = 0; round < 60; ++round) {
    Draw draw(round);
    const bool width = round % 3 == 1;
    const int h = draw.Number(1, 9), w = draw.Number(1, 9),
              c = draw.Number(1, 70);
    int sizes[3], sum = 0;
    for (int& size : sizes) sum += size = draw.Number(1, width ? 9 : 70);
    const auto shape = [&](int size) {
      return absl::StrFormat("i8[1,%d,%d,%d]", h, width ? size : w,
                             width ? c : size);
    };
    const std::string type = draw.Quantisation(), other = draw.Quantisation();
    RunAndCheck(
        absl::StrCat("  %x = ", shape(sizes[0]), type,
                     "parameter(), name=\"x\"\n  %z = ", shape(sizes[1]), other,
                     "parameter(), name=\"z\"\n  %r = ", shape(sizes[1]), type,
                     "quantize(%z)\n  %k = ", shape(sizes[2]), type,
                     "constant(), data=x\"",
                     draw.Data(h * (width ? c : w) * sizes[2]),
                     "\"\n  %y = ", shape(sum), type,
                     "concatenate(%x, %r, %k), axis=", width ? 2 : 3,
                     "\n  return %y as \"y\"\n"),
        round % 5 == 0 ? "edge" : "nano", draw.Number(1, 3), round);
  }
}

TEST(Padding, ByTheZeroPoint) {
  for (int round = 0; round < 30; ++round) {
    Draw draw(round);
    const int h = draw.Number(1, 8), w = draw.Number(1, 8),
              c = draw.Number(1, 20), zero = draw.Number(-128, 127);
    int p[4];
    for (int& side : p) side = draw.Number(0, 3);
    const std::string type = absl::StrCat("{scale=0.5, zero=", zero, "} ");
    // A pool keeps the pad from becoming that of a convolution.
    RunAndCheck(
        absl::StrFormat("  %%x = i8[1,%d,%d,%d]%sparameter(), name=\"x\"\n"
                        "  %%p = i8[1,%d,%d,%d]%spad(%%x), low=[0, %d, %d, 0], "
                        "high=[0, %d, %d, 0], value=%d\n"
                        "  %%y = i8[1,%d,%d,%d]%smax_pool(%%p), kernel=[1, 1]\n"
                        "  return %%y as \"y\"\n",
                        h, w, c, type, h + p[0] + p[2], w + p[1] + p[3], c,
                        type, p[0], p[1], p[2], p[3], zero, h + p[0] + p[2],
                        w + p[1] + p[3], c, type),
        "nano", draw.Number(1, 2), round);
  }
}

TEST(Padding, OthersStayOnTheHost) {
  const char* kCases[][2] = {
      {"low=[0, 0, 0, 1], high=[0, 0, 0, 0], value=0", "other axes"},
      {"low=[0, 0, 0, 0], high=[0, 1, 0, 0], value=3", "another value"}};
  for (const auto& [attributes, reason] : kCases) {
    const bool channels =
        std::string(attributes).find("1], high") != std::string::npos;
    const runtime::Source source = SourceOf(
        absl::StrCat(
            "  %x = i8[1,4,4,2]{scale=0.5} parameter(), name=\"x\"\n",
            "  %a = i8[1,4,4,2]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
            "  %y = i8[1,",
            channels ? "4,4,3" : "5,4,2", "]{scale=0.5} pad(%a), ", attributes,
            "\n  return %y as \"y\"\n"),
        "nano");
    const Placement& pad = source.lowered.placements.back();
    EXPECT_EQ(pad.unit, "host");
    EXPECT_THAT(pad.reason, HasSubstr(reason));
  }
}

// Lines of several values one below the other: loaded whole or in slots, or
// left in the unified buffer by the layer before.
TEST(Constants, ConcatenationsOfLines) {
  for (int round = 0; round < 60; ++round) {
    Draw draw(round);
    const bool large = round % 5 == 4;
    const int w = draw.Number(1, large ? 60 : 9),
              c = draw.Number(1, large ? 50 : 20),
              operands = draw.Number(2, round % 7 == 6 ? 12 : 4);
    const std::string q = draw.Quantisation();
    // The axis is the second of four or five dimensions, or the first of three.
    const int kind = draw.Number(0, 2);
    const auto type = [&](int h) {
      return kind == 0   ? absl::StrCat("i8[1,", h, ",", w, ",", c, "]", q)
             : kind == 1 ? absl::StrCat("i8[", h, ",", w, ",", c, "]", q)
                         : absl::StrCat("i8[1,", h, ",3,", w, ",", c, "]", q);
    };
    std::string text, list;
    int lines = 0;
    for (int i = 0; i < operands; ++i) {
      const int h = draw.Number(1, large ? 40 : 6);
      const std::string name = absl::StrCat("%v", i);
      lines += h;
      if (i > 0 && draw.Number(0, 3) == 0) {
        const int bytes = h * w * c * (kind == 2 ? 3 : 1);
        absl::StrAppend(&text, "  ", name, " = ", type(h),
                        "constant(), data=x\"", draw.Data(bytes), "\"\n");
      } else {
        absl::StrAppend(&text, "  ", name, " = ", type(h), "parameter(), ",
                        "name=\"v", i, "\"\n");
      }
      if (draw.Number(0, 2) == 0) {
        absl::StrAppend(&text, "  ", name, "sum = ", type(h), "add(", name,
                        ", ", name, ")\n");
        absl::StrAppend(&list, i > 0 ? ", " : "", name, "sum");
      } else {
        absl::StrAppend(&list, i > 0 ? ", " : "", name);
      }
    }
    absl::StrAppend(&text, "  %all = ", type(lines), "concatenate(", list,
                    "), axis=", kind == 1 ? 0 : 1, "\n");
    absl::StrAppend(&text, "  return %all as \"all\"\n");
    for (const char* preset : {"nano", "edge"})
      RunAndCheck(text, preset, kind == 0 ? 1 + round % 3 : 1, round);
  }
}

}  // namespace
}  // namespace systole::lower
