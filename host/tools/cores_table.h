// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What `systole profile` prints of a program for several devices.
#ifndef HOST_TOOLS_CORES_TABLE_H_
#define HOST_TOOLS_CORES_TABLE_H_

#include <string>

#include "host/profile/cores.h"
#include "systole/gen/presets.h"

namespace systole::tools {

// Tables: cores, links, layers over all cores.
std::string CoresTables(const profile::JoinedCores& joined,
                        const profile::MergedCores& merged,
                        const Preset& preset);

}  // namespace systole::tools

#endif  // HOST_TOOLS_CORES_TABLE_H_
