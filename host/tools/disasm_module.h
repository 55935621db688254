// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef HOST_TOOLS_DISASM_MODULE_H_
#define HOST_TOOLS_DISASM_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/whole_program.h"
#include "systole/gen/presets.h"

namespace systole::tools {

// What a device runs of a module: a listing of each program, its descriptors
// with the kernel that each is of, and its vector code; and what the host does
// between them. Values lie one after the other in memory.
std::string DisassembleModule(const runtime::WholeProgram& program,
                              const Preset& preset);

}  // namespace systole::tools

#endif  // HOST_TOOLS_DISASM_MODULE_H_
