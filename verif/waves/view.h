// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Views of a recorded waveform, for people: an overview in which descriptors,
// layers and flags have the names that the program gives them, the signals of
// each unit below it, markers at the layers, opened where it is interesting.
//
//   auto view = waves::WriteViews("build/waves/conv1.fst", program,
//   /*layer=*/1);
//   // gtkwave build/waves/conv1.gtkw

#ifndef SYSTOLE_VERIF_WAVES_VIEW_H_
#define SYSTOLE_VERIF_WAVES_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "systole/program.h"

namespace systole::waves {

// Writes beside FILE.fst: FILE.gtkw, which it returns, for GTKWave, and the
// folder FILE.view with the names that it looks up and, to be opened in that
// folder, view.sucl for Surfer. Opens on the layer with that number if it was
// at work, around the time `mark` if there is one, and on all that was recorded
// otherwise (-1). core: whose units are shown, of
// a chip with two. kUnavailable: cannot be read or written; kInternal: the
// waveform lacks a signal of view.json.
absl::StatusOr<std::string> WriteViews(const std::string& waveform,
                                       const Program& program, int layer,
                                       std::optional<uint64_t> mark = {},
                                       int core = 0);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_VIEW_H_
