// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// LSTMs of tests/data/tflite: compiled and run on a device, their products on
// the array, with the results of TensorFlow Lite's reference kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "host/import/tflite_importer.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/import/reference.h"

namespace systole::lower {
namespace {

std::string Decoded(const nlohmann::json& text) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(text.get<std::string>(), &bytes));
  return bytes;
}

TEST(RecurrentDeviceTest, LstmEqualsReferenceKernels) {
  const Preset& preset = *FindPreset("nano");
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.check_races = true;
  auto device = Device::Open("iss", options);
  ASSERT_TRUE(device.ok()) << device.status();
  int cases = 0;
  const nlohmann::json all = import::Reference("operators").at("cases");
  for (const nlohmann::json& item : all) {
    const std::string name = item.at("name");
    if (!absl::StartsWith(name, "lstm ")) continue;
    SCOPED_TRACE(name);
    auto module = import::ImportTflite(Decoded(item.at("model")), name);
    ASSERT_TRUE(module.ok()) << module.status();
    const std::string bytes = Decoded(item.at("inputs").at(0));
    const std::vector<ir::Literal> inputs = {
        ir::Literal(std::vector<int8_t>(bytes.begin(), bytes.end()))};
    const auto source = runtime::SourceOf(*std::move(module));
    ASSERT_TRUE(source.ok()) << source.status();
    int on_array = 0;
    for (const Placement& p : source->lowered.placements) {
      if (p.op != "dense_sums") continue;
      EXPECT_EQ(p.unit, "array") << p.reason;
      EXPECT_GT(p.macs, 0);
      ++on_array;
    }
    EXPECT_GE(on_array, 1);
    const auto built = runtime::Build(*source, preset, {});
    ASSERT_TRUE(built.ok()) << built.status();
    const auto model = runtime::FromProgram(runtime::ToProgram(*built), "case");
    ASSERT_TRUE(model.ok()) << model.status();
    const auto run = runtime::Runner(**device, *model).Run(inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    const std::vector<uint8_t> got = run->outputs.at(0).Bytes();
    EXPECT_TRUE(std::string(got.begin(), got.end()) ==
                Decoded(item.at("output")));
    ++cases;
  }
  EXPECT_GE(cases, 7);
}

}  // namespace
}  // namespace systole::lower
