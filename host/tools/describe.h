// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Compiled models and programs as text and as JSON.
#ifndef HOST_TOOLS_DESCRIBE_H_
#define HOST_TOOLS_DESCRIBE_H_

#include <string>
#include <vector>

#include "host/compiler/access.h"
#include "host/runtime/compiled_model.h"
#include "nlohmann/json.hpp"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::tools {

// What of a model runs on a unit.
struct Share {
  std::string unit;
  int operators = 0;
  int64_t macs = 0, bytes = 0;             // bytes of results
  double macs_share = 0, bytes_share = 0;  // of all
};
std::vector<Share> SharesOf(const std::vector<lower::Placement>& placements);

// What runs where, an operator a line, then the units' shares.
std::string PlacementText(const std::vector<lower::Placement>& placements);
// How each layer is cut into blocks and passes.
std::string TilingText(const Program& program);
// Buffers of the unified buffer, and what lies in HBM.
std::string MemoryText(const Program& program);
// Work, expected cycles and traffic of each layer.
std::string LayerText(const Program& program, const Preset& preset);
// The model's inputs and outputs.
std::string SignatureText(const runtime::CompiledModel& model);

// Bytes of memory from the lowest to behind the highest that an access touches.
struct Extent {
  int64_t low = 0, high = 0;
};
Extent ExtentOf(const compiler::Access& access);

// kInvalidArgument names the first descriptor that reads or writes beyond the
// chip's memory, or in so many runs that its cycles cannot be estimated. What
// follows is for programs that pass.
absl::Status CheckAccesses(const Program& program, const Preset& preset);

// Inputs, outputs, and what runs where; needs no programs.
nlohmann::ordered_json PlacementJson(const runtime::CompiledModel& model);
nlohmann::ordered_json InfoJson(const Program& program, const Preset& preset);
nlohmann::ordered_json InfoJson(const runtime::CompiledModel& model,
                                const Preset& preset);

}  // namespace systole::tools

#endif  // HOST_TOOLS_DESCRIBE_H_
