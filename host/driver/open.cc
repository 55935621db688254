// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the backend of a device, and checks what its options ask for.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "host/driver/backends.h"
#include "systole/device.h"

namespace systole {
namespace {

// Checks that the chip has a processor for the user's firmware.
absl::Status CheckTakesFirmware(const std::string& backend,
                                const Preset* preset,
                                const std::string& firmware) {
  if (backend != "rtl") {
    return absl::InvalidArgumentError(
        absl::StrFormat("firmware %s: backend '%s' runs no firmware, only rtl "
                        "does",
                        firmware, backend));
  }
  if (preset->chip.smem_bytes != 0) return absl::OkStatus();
  std::vector<std::string> names;
  for (const Preset& p : kPresets)
    if (p.chip.smem_bytes != 0) names.emplace_back(p.name);
  return absl::InvalidArgumentError(absl::StrFormat(
      "firmware %s: preset '%s' has no scalar unit that runs it; those with "
      "one are %s",
      firmware, preset->name, absl::StrJoin(names, ", ")));
}

// Checks that chips of the preset can form the torus.
absl::Status CheckTorus(const Preset& preset, const Torus& torus) {
  constexpr int kMost = 32;
  if (torus.columns < 1 || torus.rows < 1 || torus.columns > kMost ||
      torus.rows > kMost) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a torus of %d x %d chips: there are 1 to %d columns and rows",
        torus.columns, torus.rows, kMost));
  }
  if (torus.chips() == 1 || preset.chip.link_bytes != 0)
    return absl::OkStatus();
  std::vector<std::string> names;
  for (const Preset& p : kPresets)
    if (p.chip.link_bytes != 0) names.emplace_back(p.name);
  return absl::InvalidArgumentError(absl::StrFormat(
      "a torus of %d x %d chips: chips of preset '%s' have no links; those "
      "that have are %s",
      torus.columns, torus.rows, preset.name, absl::StrJoin(names, ", ")));
}

// Opens the first `cores` cores of a chip; 0: all of them.
absl::StatusOr<Devices> OpenSome(const std::string& backend,
                                 const DeviceOptions& options, int cores) {
  constexpr absl::string_view kSerial = "serial:";
  const bool serial = absl::StartsWith(backend, kSerial);
  if (!options.simulation.probes.empty() && backend != "rtl")
    return absl::InvalidArgumentError(absl::StrCat(
        "backend '", backend, "' has no probe: only rtl can be profiled"));
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr && !(serial && options.preset.empty())) {
    std::vector<std::string> names;
    for (const Preset& p : kPresets) names.emplace_back(p.name);
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown preset '%s'; there are %s", options.preset,
                        absl::StrJoin(names, ", ")));
  }
  if (!options.firmware.empty()) {
    if (absl::Status s = CheckTakesFirmware(backend, preset, options.firmware);
        !s.ok())
      return s;
  }
  if (preset != nullptr) {
    if (absl::Status s = CheckTorus(*preset, options.torus); !s.ok()) return s;
  }
  if (serial) {
    if (options.torus.chips() > 1)
      return absl::InvalidArgumentError("a board is one chip");
    auto device = OpenSerialDevice(backend.substr(kSerial.size()), options);
    if (!device.ok()) return device.status();
    Devices devices;
    devices.push_back(*std::move(device));
    return devices;
  }
  if (cores == 0) cores = static_cast<int>(preset->chip.cores);
  if (backend == "rtl") return OpenRtlDevices(options, cores);
  if (backend == "iss") return OpenIssDevices(options, cores);
  return absl::InvalidArgumentError(absl::StrFormat(
      "unknown backend '%s'; there are rtl, iss, serial:PORT", backend));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Device::Open(
    const std::string& backend, const DeviceOptions& options) {
  auto devices = OpenSome(backend, options, 1);
  if (!devices.ok()) return devices.status();
  return std::move(devices->front());
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> Device::OpenCores(
    const std::string& backend, const DeviceOptions& options) {
  return OpenSome(backend, options, 0);
}

}  // namespace systole
