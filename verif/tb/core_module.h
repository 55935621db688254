// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds of the chip in shared libraries, lib/systole/model_<preset>.so and
// model_<preset>_checked.so. A program loads the one it needs, so it is built,
// linked and installed without other presets. This is no interface between
// versions: a library is accepted only if its stamp says that it was built from
// the same RTL and test bench as the program.
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

// Searches the builds that are linked into this file or program; null if none
// fits.
CoreFactory FindCore(const std::string& engine, const std::string& preset,
                     bool checked);

// Loads a build from a library. It is searched in the folder that the
// environment variable SYSTOLE_MODELS names, or else, relative to this program
// or library, in ../lib/systole (or the library folder of the installation),
// systole or models. kNotFound if there is none; kFailedPrecondition if it was
// built from other sources or is no such library. The message names the
// searched folders.
absl::StatusOr<CoreFactory> LoadCore(const std::string& preset, bool checked);

// The builds that LoadCore finds: "edge", "nano (checked)".
std::vector<std::string> CoresInFiles();

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CORE_MODULE_H_
