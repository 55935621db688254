// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What Device::Open chooses from.
#ifndef SYSTOLE_HOST_DRIVER_BACKENDS_H_
#define SYSTOLE_HOST_DRIVER_BACKENDS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "systole/device.h"

namespace systole {

// sim/rtl: the Verilated core. options.preset is known to exist.
absl::StatusOr<std::unique_ptr<Device>> OpenRtlDevice(
    const DeviceOptions& options);

// sim/iss: the instruction-set simulator. options.preset is known to exist.
absl::StatusOr<std::unique_ptr<Device>> OpenIssDevice(
    const DeviceOptions& options);

// host/serial: a board. `address`: what follows "serial:". options.preset may
// be empty.
absl::StatusOr<std::unique_ptr<Device>> OpenSerialDevice(
    const std::string& address, const DeviceOptions& options);

}  // namespace systole

#endif  // SYSTOLE_HOST_DRIVER_BACKENDS_H_
