// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Start of the links between the chips of a simulated device, as its host does
// it: through the registers of each chip.

#ifndef SYSTOLE_SIM_RTL_LINKS_H_
#define SYSTOLE_SIM_RTL_LINKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/device.h"
#include "verif/tb/simulation.h"

namespace systole {

// Tells each chip its place in the torus, then starts its links and waits until
// all of them are up. kUnavailable names the first that is not.
absl::Status StartLinks(tb::Simulation& device);

// The counters of a chip's links.
absl::StatusOr<std::vector<LinkCounts>> ReadLinks(tb::Simulation& device,
                                                  int chip);

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_LINKS_H_
