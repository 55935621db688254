// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A recorded program layer by layer: cycles, utilisation, what else the array
// did.
#ifndef HOST_TOOLS_LAYER_TABLE_H_
#define HOST_TOOLS_LAYER_TABLE_H_

#include <string>
#include <vector>

#include "host/profile/profile.h"
#include "nlohmann/json.hpp"

namespace systole::tools {

// Why a share of the peak may be more than 100 %.
extern const char kAbovePeak[];

// Of more than a hundred layers those with the most cycles, and how many are
// left out; then what the shares are of.
std::string LayerTable(const profile::ProgramProfile& p, const Preset& preset);
nlohmann::ordered_json LayerTableJson(const profile::ProgramProfile& p,
                                      const Preset& preset);

// Both of all programs of a model, into `text` and the list `json`; `first`:
// other runs follow that are not shown.
void DescribeLayers(const std::vector<const Program*>& programs,
                    profile::Recorder& recorder, const Preset& preset,
                    bool first, std::string& text,
                    nlohmann::ordered_json& json);

}  // namespace systole::tools

#endif  // HOST_TOOLS_LAYER_TABLE_H_
