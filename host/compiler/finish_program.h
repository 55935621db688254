// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The last step of every compiler: makes a program of what it allocated and
// scheduled.
#ifndef HOST_COMPILER_FINISH_PROGRAM_H_
#define HOST_COMPILER_FINISH_PROGRAM_H_

#include <vector>

#include "absl/status/status.h"
#include "host/compiler/hbm_image.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

// Places the descriptors after everything in `hbm`. Sets the preset, the data
// segments and, if `movable`, the memory parts and relocations (PlaceProgram).
// kResourceExhausted: the program does not fit the memory.
absl::Status FinishProgram(const Preset& preset,
                           std::vector<isa::Descriptor> descriptors,
                           HbmImage& hbm, Program& program,
                           bool movable = true);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_FINISH_PROGRAM_H_
