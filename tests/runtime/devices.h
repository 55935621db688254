// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Devices of a client for tests of programs of several processes.
#ifndef SYSTOLE_TESTS_RUNTIME_DEVICES_H_
#define SYSTOLE_TESTS_RUNTIME_DEVICES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/runtime/client.h"

namespace systole::runtime {

inline std::string g_preset = "mini", g_backend = "iss";
inline bool Links() { return g_preset != "mini"; }
// Preset mini: the host exchanges; minichip: the cores, over links.
inline std::unique_ptr<Client> MakeClient(int devices) {
  ClientOptions options;
  options.preset = g_preset;
  options.backend = g_backend;
  options.device.simulation.check_races = options.backend == "iss";
  options.devices = devices;
  auto client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

inline Arguments Put(Device& device, const ir::Module& module,
                     const ir::Literals& values) {
  Arguments arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    arguments.push_back(
        std::make_shared<Buffer>(device, module.inputs()[i]->type, values[i]));
  }
  return arguments;
}

// Runs on devices, the first ones unless others are given; the first error of a
// process.
inline absl::StatusOr<std::vector<ir::Literals>> RunOn(
    Client& client, Executable& executable,
    const std::vector<ir::Literals>& inputs,
    const std::vector<int>& numbers = {}) {
  std::vector<Arguments> arguments;
  std::vector<Device*> devices;
  for (size_t p = 0; p < inputs.size(); ++p) {
    devices.push_back(
        &client.device(numbers.empty() ? static_cast<int>(p) : numbers[p]));
    arguments.push_back(Put(*devices[p], executable.module(), inputs[p]));
  }
  const auto executions = executable.ExecuteAll(arguments, devices);
  if (!executions.ok()) return executions.status();
  std::vector<ir::Literals> outputs;
  for (const Execution& execution : *executions) {
    if (absl::Status s = execution.done->Await(); !s.ok()) return s;
    ir::Literals& own = outputs.emplace_back();
    for (const auto& result : execution.results)
      own.push_back(*result->Await());
  }
  return outputs;
}

}  // namespace systole::runtime

#endif  // SYSTOLE_TESTS_RUNTIME_DEVICES_H_
