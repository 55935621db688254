// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The end of every compiler: what it allocated and scheduled becomes a program.
#ifndef HOST_COMPILER_FINISH_PROGRAM_H_
#define HOST_COMPILER_FINISH_PROGRAM_H_

#include <vector>

#include "absl/status/status.h"
#include "host/compiler/hbm_image.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

// Puts the descriptors behind all that `hbm` has, and sets preset, data
// segments and, if `movable`, parts of the memory and relocations
// (PlaceProgram). Errors: kResourceExhausted, if it does not fit the memory.
absl::Status FinishProgram(const Preset& preset,
                           std::vector<isa::Descriptor> descriptors,
                           HbmImage& hbm, Program& program,
                           bool movable = true);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_FINISH_PROGRAM_H_
