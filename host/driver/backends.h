// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The backends that Device::Open and OpenCores choose from.
#ifndef SYSTOLE_HOST_DRIVER_BACKENDS_H_
#define SYSTOLE_HOST_DRIVER_BACKENDS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/device.h"

namespace systole {

using Devices = std::vector<std::unique_ptr<Device>>;

// Opens the first core of one chip (`cores` is 1), or all cores of all chips
// (`cores` is the number per chip). The caller has checked that the preset
// exists and has that many cores, and that its chips can form options.torus.
// sim/rtl: the Verilated chip.
absl::StatusOr<Devices> OpenRtlDevices(const DeviceOptions& options, int cores);

// sim/iss: the instruction-set simulator.
absl::StatusOr<Devices> OpenIssDevices(const DeviceOptions& options, int cores);

// host/serial: a board. `address` is the text after "serial:". options.preset
// may be empty.
absl::StatusOr<std::unique_ptr<Device>> OpenSerialDevice(
    const std::string& address, const DeviceOptions& options);

}  // namespace systole

#endif  // SYSTOLE_HOST_DRIVER_BACKENDS_H_
