// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the digits network's last layer on the Verilated nano core, compares it
// with the golden model, and writes all pins of every cycle to a file, which
// verif/engines/replay.py gives to other simulators.
//   record FILE

#include <cstdio>

#include "host/tools/checker.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/testing/last_layer.h"

namespace systole {
namespace {

absl::Status Record(const char* file) {
  const auto layer = testing_options::LastLayer();
  if (!layer.ok()) return layer.status();
  const auto& [network, input] = *layer;
  const auto program =
      compiler::CompileNetwork(network, *FindPreset("nano"), {});
  if (!program.ok()) return program.status();
  const auto expected = tools::GoldenTensors(network, input, /*raw=*/false);
  if (!expected.ok()) return expected.status();
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.engine = "record";
  options.simulation.record_file = file;
  auto device = Device::Open("rtl", options);
  if (!device.ok()) return device.status();
  const auto run =
      tools::RunChecked(**device, *program, network, input, *expected);
  if (!run.ok()) return run.status();
  if (!run->mismatches().empty())
    return absl::DataLossError(run->mismatches()[0]);
  std::printf("%s: %d cycles of the program\n", network.layers[0].name.c_str(),
              static_cast<int>(run->stats.cycles));
  return absl::OkStatus();
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  const absl::Status status = systole::Record(argv[1]);
  if (!status.ok())
    std::fprintf(stderr, "record: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
