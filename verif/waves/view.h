// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Views of a recorded waveform for human readers. A view has an overview in
// which descriptors, layers and flags have the program's names. The signals of
// each unit are below it, and markers show the layers. It opens at the time of
// interest.
//
//   auto view =
//       waves::WriteViews("build/waves/conv1.fst", program, /*layer=*/1);
//   // gtkwave build/waves/conv1.gtkw

#ifndef SYSTOLE_VERIF_WAVES_VIEW_H_
#define SYSTOLE_VERIF_WAVES_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "systole/program.h"

namespace systole::waves {

// Writes files beside FILE.fst: FILE.gtkw for GTKWave, whose name it returns,
// and the folder FILE.view with the tables of names and, for Surfer, view.sucl.
// view.sucl must be opened in that folder. The view opens on layer number
// `layer` if it was active, and around the time `mark` if there is one; without
// either (-1), on the whole recording. core: the core whose units are shown, in
// a chip with two. kUnavailable: a file cannot be read or written. kInternal:
// the waveform lacks a signal of view.json.
absl::StatusOr<std::string> WriteViews(const std::string& waveform,
                                       const Program& program, int layer,
                                       std::optional<uint64_t> mark = {},
                                       int core = 0);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_VIEW_H_
