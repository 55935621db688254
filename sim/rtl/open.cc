// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Opens simulated chips.

#include <memory>
#include <utility>
#include <vector>

#include "host/driver/backends.h"
#include "host/scalar/elf.h"
#include "sim/rtl/machine.h"
#include "sim/rtl/rtl_device.h"

namespace systole {

absl::StatusOr<Devices> OpenRtlDevices(const DeviceOptions& given, int cores) {
  const auto environment = ReadEnvironment();
  if (!environment.ok()) return environment.status();
  const auto completed = CompleteOptions(given, *environment);
  if (!completed.ok()) return completed.status();
  const DeviceOptions& options = *completed;
  const SimulationOptions& simulation = options.simulation;
  tb::Simulation::Options sim_options;
  sim_options.preset = options.preset;
  sim_options.checked = simulation.checked;
  sim_options.seed = simulation.seed;
  sim_options.stall_rate = simulation.stall_rate;
  sim_options.engine = simulation.engine;
  sim_options.record_file = simulation.record_file;
  sim_options.threads = simulation.threads;
  sim_options.processes = simulation.processes;
  sim_options.alone = simulation.alone && cores == 1;
  sim_options.columns = options.torus.columns;
  sim_options.rows = options.torus.rows;
  sim_options.cables = simulation.cables;
  sim_options.wire_errors = simulation.wire_errors;
  std::vector<uint32_t> firmware;
  if (!options.firmware.empty()) {
    auto image = scalar::ReadFirmware(
        options.firmware,
        static_cast<uint64_t>(FindPreset(options.preset)->chip.smem_bytes));
    if (!image.ok()) return image.status();
    firmware = *std::move(image);
  }
  auto sim = tb::Simulation::Create(sim_options);
  if (!sim.ok()) return sim.status();
  const auto machine = std::make_shared<Machine>(std::move(*sim), options.torus,
                                                 std::move(firmware));
  if (absl::Status s = machine->Start(); !s.ok()) return s;
  const int all = cores == 1 ? 1 : cores * options.torus.chips();
  Devices devices;
  for (int core = 0; core < all; ++core) {
    auto device =
        std::make_unique<RtlDevice>(options, *environment, machine, core);
    if (absl::Status s = device->Identify(); !s.ok()) return s;
    devices.push_back(std::move(device));
  }
  if (absl::Status s = machine->Boot(); !s.ok()) return s;
  return devices;
}

}  // namespace systole
