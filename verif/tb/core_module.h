// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds of the chip in files of their own, lib/systole/model_<preset>.so and
// model_<preset>_checked.so: a program loads the one that it is asked for, so
// that it is built, linked and installed without those of other presets. Not an
// interface between versions: a file is taken only if it was built from the
// same RTL and test bench as the program (their stamps are equal).
#ifndef SYSTOLE_VERIF_TB_CORE_MODULE_H_
#define SYSTOLE_VERIF_TB_CORE_MODULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "verif/tb/core_model.h"

namespace systole::tb {

// A digest of the RTL, the test bench and the memory models, made anew when one
// of them changes.
extern const char kCoreStamp[];

// Of the builds that this file or program has linked; null if it has not that.
CoreFactory FindCore(const std::string& engine, const std::string& preset,
                     bool checked);

// From a file: in the folder that the environment variable SYSTOLE_MODELS
// names, or else, seen from this program or library, in ../lib/systole (or
// where an installation has its libraries), systole or models.
// kNotFound if there is none, kFailedPrecondition if it is of another state of
// the sources or not such a file; says where it was looked for.
absl::StatusOr<CoreFactory> LoadCore(const std::string& preset, bool checked);

// The builds that LoadCore finds: "edge", "nano (checked)".
std::vector<std::string> CoresInFiles();

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CORE_MODULE_H_
