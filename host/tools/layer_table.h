// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A recorded program layer by layer: cycles, utilisation, what else the array
// did.
#ifndef HOST_TOOLS_LAYER_TABLE_H_
#define HOST_TOOLS_LAYER_TABLE_H_

#include <string>

#include "host/profile/profile.h"
#include "nlohmann/json.hpp"

namespace systole::tools {

// Of more than a hundred layers those with the most cycles; the last line says
// how many are left out.
std::string LayerTable(const profile::ProgramProfile& p, const Preset& preset);
nlohmann::ordered_json LayerTableJson(const profile::ProgramProfile& p,
                                      const Preset& preset);

}  // namespace systole::tools

#endif  // HOST_TOOLS_LAYER_TABLE_H_
