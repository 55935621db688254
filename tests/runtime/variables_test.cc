// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model that keeps values from run to run, against TensorFlow Lite's
// interpreter (scripts/vectors/tflite_stream.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "host/import/tflite_importer.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "tests/import/reference.h"

namespace systole::runtime {
namespace {

using testing::HasSubstr;

std::string Decoded(const nlohmann::json& text) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(text.get<std::string>(), &bytes));
  return bytes;
}

struct Stream {
  Source source;
  CompiledModel model;
  std::vector<ir::Literal> inputs, outputs;  // of runs one after the other
};

std::vector<ir::Literal> Runs(const std::string& bytes, int64_t runs) {
  const int64_t size = static_cast<int64_t>(bytes.size()) / runs;
  std::vector<ir::Literal> values;
  for (int64_t r = 0; r < runs; ++r) {
    values.push_back(ir::Literal::FromBytes(
        ir::ElementType::kInt8, size,
        reinterpret_cast<const uint8_t*>(bytes.data()) + r * size));
  }
  return values;
}

Stream Make() {
  const nlohmann::json item = import::Reference("stream");
  auto module = import::ImportTflite(Decoded(item.at("model")), "stream");
  EXPECT_TRUE(module.ok()) << module.status();
  auto source = SourceOf(*std::move(module), nullptr, FindPreset("nano"));
  EXPECT_TRUE(source.ok()) << source.status();
  compiler::Options options;
  options.keep_intermediates = true;
  auto model = Build(*source, *FindPreset("nano"), options);
  EXPECT_TRUE(model.ok()) << model.status();
  const int64_t runs = item.at("runs");
  return {*std::move(source), *std::move(model),
          Runs(Decoded(item.at("inputs")), runs),
          Runs(Decoded(item.at("outputs")), runs)};
}

std::unique_ptr<systole::Device> OpenNano() {
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.check_races = true;
  auto device = systole::Device::Open("iss", options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

// All runs, as TensorFlow Lite's, and as the golden model that keeps its own.
void RunAll(const Stream& s, const CompiledModel& model, Runner& runner) {
  tools::ModelCheck check(s.source);
  for (size_t r = 0; r < s.inputs.size(); ++r) {
    SCOPED_TRACE(r);
    const auto run = runner.Run({s.inputs[r]});
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(run->outputs.size(), 1u);
    EXPECT_TRUE(run->outputs[0] == s.outputs[r]);
    ASSERT_EQ(check.Compare(model, {s.inputs[r]}, *run), absl::OkStatus());
    EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
  }
}

TEST(Variables, KeepTheirValuesFromRunToRun) {
  const Stream s = Make();
  EXPECT_EQ(s.model.inputs().size(), 1u);
  EXPECT_EQ(s.model.outputs().size(), 1u);
  ASSERT_EQ(s.model.variables().size(), 1u);
  const auto device = OpenNano();
  Runner runner(*device, s.model);
  RunAll(s, s.model, runner);
  // The stream goes on: the first input again meets other values.
  const auto on = runner.Run({s.inputs[0]});
  ASSERT_TRUE(on.ok()) << on.status();
  EXPECT_FALSE(on->outputs[0] == s.outputs[0]);
  runner.ResetVariables();
  RunAll(s, s.model, runner);
  // Another runner has its own.
  Runner other(*device, s.model);
  RunAll(s, s.model, other);
}

TEST(Variables, TheCheckSeesAStreamThatWasReset) {
  const Stream s = Make();
  const auto device = OpenNano();
  Runner runner(*device, s.model);
  tools::ModelCheck check(s.source);
  for (int r = 0; r < 2; ++r) {
    runner.ResetVariables();
    const auto run = runner.Run({s.inputs[r]});
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(check.Compare(s.model, {s.inputs[r]}, *run), absl::OkStatus());
    EXPECT_EQ(check.mismatches().empty(), r == 0);
  }
}

TEST(Variables, AreInTheProgramFile) {
  const Stream s = Make();
  const auto read = FromProgram(ToProgram(s.model), "m.tpu");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->variables().size(), 1u);
  const auto device = OpenNano();
  Runner runner(*device, *read);
  RunAll(s, *read, runner);
}

TEST(Variables, RefuseBatchesAndLostValues) {
  const Stream s = Make();
  compiler::Options options;
  options.batch = 2;
  EXPECT_THAT(
      std::string(
          Build(s.source, *FindPreset("nano"), options).status().message()),
      HasSubstr("a batch of 2 images: the model keeps 'state' from "
                "image to image"));
  CompiledModel lost = Build(s.source, *FindPreset("nano"), {}).value();
  for (ir::Output& output : lost.parts.back()->outputs) {
    if (output.name == "state") output.name = "other";
  }
  EXPECT_THAT(
      std::string(FromProgram(ToProgram(lost), "m.tpu").status().message()),
      HasSubstr("nothing gives the variable 'state' its next value"));
}

TEST(Variables, FirstValuesHaveTheTypeOfTheirInput) {
  const auto verified = [](const char* constant, const char* operand) {
    const auto module = ir::Parse(absl::StrCat("module @m {\n  ", constant, R"(
  %x = i8[1,2]{scale=0.5} parameter()",
                                               operand, R"(), name="x"
  %y = i8[1,2]{scale=0.5} add(%x, %f)
  return %y as "x"
}
)"));
    EXPECT_TRUE(module.ok()) << module.status();
    return std::string(ir::Verify(**module).message());
  };
  const char* const good = "%f = i8[1,2]{scale=0.5} constant(), data=[1, 2]";
  const char* const error =
      "a variable's first value must be a constant i8[1,2]{scale=0.5}";
  EXPECT_EQ(verified(good, "%f"), "");
  EXPECT_THAT(
      verified("%f = i8[1,2]{scale=0.25} constant(), data=[1, 2]", "%f"),
      HasSubstr(error));
  EXPECT_THAT(verified("%f = i8[1,2]{scale=0.5} parameter(), name=\"f\"", "%f"),
              HasSubstr(error));
  EXPECT_THAT(verified(good, "%f, %f"), HasSubstr("2 operands"));
}

}  // namespace
}  // namespace systole::runtime
