// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for sim/rtl in a build without it.

#include "host/driver/backends.h"

namespace systole {

absl::StatusOr<Devices> OpenRtlDevices(const DeviceOptions&, int) {
  return absl::UnimplementedError("this build has no rtl backend");
}

}  // namespace systole
