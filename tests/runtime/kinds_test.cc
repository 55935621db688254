// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models of the kinds that files come in, compiled and run on the simulator:
// outputs are those of the reference kernels of TensorFlow Lite, and all that
// reaches HBM is the golden model's.
#include "tests/import/kinds.h"

#include <gtest/gtest.h>

#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "host/import/tflite_importer.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "systole/device.h"

namespace systole::runtime {
namespace {

class KindsOnDevice
    : public testing::TestWithParam<std::tuple<const char*, import::Kind>> {};

void RunOn(const std::string& preset, const import::Kind& kind, int batch,
           bool keep) {
  auto module = import::ImportTflite(kind.model, kind.name, kind.signature);
  ASSERT_TRUE(module.ok()) << module.status();
  // A few only move or resize, which the host does alone.
  const auto source =
      SourceOf(*std::move(module), nullptr, FindPreset(preset), true);
  ASSERT_TRUE(source.ok()) << source.status();
  if (source->lowered.networks[0].layers.empty()) batch = 1;
  compiler::Options options;
  options.batch = batch;
  options.keep_intermediates = keep;
  auto built = Build(*source, *FindPreset(preset), options);
  ASSERT_TRUE(built.ok()) << built.status();
  const auto model = FromProgram(ToProgram(*built), kind.name);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->batch(), batch);
  DeviceOptions device_options;
  device_options.preset = preset;
  device_options.simulation.check_races = true;
  auto device = Device::Open("iss", device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  Runner runner(**device, *model);
  tools::ModelCheck check(*source);
  for (int call = 0; call < kind.calls; ++call) {
    std::vector<ir::Literal> inputs =
        import::InputsOf(kind, model->inputs(), call);
    const std::vector<ir::Literal> one = inputs;
    for (int i = 1; i < batch; ++i) {
      for (size_t k = 0; k < inputs.size(); ++k) inputs[k].Append(one[k]);
    }
    const auto run = runner.Run(inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
    ASSERT_EQ(run->outputs.size(), kind.outputs.size());
    for (size_t i = 0; i < kind.outputs.size(); ++i) {
      std::string wanted;
      for (int n = 0; n < batch; ++n) wanted += import::OutputOf(kind, i, call);
      EXPECT_TRUE(import::ToFile(run->outputs[i], model->outputs()[i].stored) ==
                  wanted)
          << "output " << i << " of call " << call;
    }
  }
  for (const std::string& mismatch : check.mismatches())
    ADD_FAILURE() << mismatch;
}

TEST_P(KindsOnDevice, EqualReferenceKernels) {
  const auto& [preset, kind] = GetParam();
  RunOn(preset, kind, 1, true);
  // States go from image to image.
  RunOn(preset, kind, kind.calls > 1 ? 1 : 2, false);
}

INSTANTIATE_TEST_SUITE_P(All, KindsOnDevice,
                         testing::Combine(testing::Values("nano", "edge"),
                                          testing::ValuesIn(import::Kinds())),
                         [](const auto& info) {
                           std::string name =
                               absl::StrCat(std::get<0>(info.param), "_",
                                            std::get<1>(info.param).name);
                           for (char& c : name) {
                             if (!absl::ascii_isalnum(c)) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace systole::runtime
