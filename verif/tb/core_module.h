// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds of the chip in shared libraries, lib/systole/model_<preset>.so and
// model_<preset>_checked.so. A program loads the one it needs, so it can be
// built, linked and installed without other presets. This is not an interface
// between versions: a library is accepted only if its stamp shows that it was
// built from the same RTL and test bench as the program.
#ifndef SYSTOLE_VERIF_TB_CORE_MODULE_H_
#define SYSTOLE_VERIF_TB_CORE_MODULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "verif/tb/core_model.h"

namespace systole::tb {

// A digest of the RTL, the test bench and the memory models; it changes when
// one of them changes.
extern const char kCoreStamp[];

// Searches the builds that are linked into this file or program. Null if there
// is none.
CoreFactory FindCore(const std::string& engine, const std::string& preset,
                     bool checked);

// Loads a build from a library. It searches the folder that the environment
// variable SYSTOLE_MODELS names. Without the variable it searches, relative to
// this program or library, ../lib/systole (or the library folder of the
// installation), systole and models. kNotFound if there is none.
// kFailedPrecondition if the library was built from other sources, or has no
// build. The message names the searched folders.
absl::StatusOr<CoreFactory> LoadCore(const std::string& preset, bool checked);

// The program of that name beside the libraries that LoadCore finds; empty if
// there is none.
std::string FindProgram(const std::string& name);

// The builds that LoadCore finds: "edge", "nano (checked)".
std::vector<std::string> CoresInFiles();

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CORE_MODULE_H_
