// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs whose length does not grow with the batch or the image:
// docs/program_file.md, "Loops".
//
//   absl::StatusOr<CompiledModel> model =
//       runtime::BuildLooped(*source, preset, options);
#ifndef SYSTOLE_HOST_RUNTIME_LOOPED_H_
#define SYSTOLE_HOST_RUNTIME_LOOPED_H_

#include "absl/status/statusor.h"
#include "host/runtime/build.h"

namespace systole::runtime {

// Like Build, but each program is the shortest of these: loops that RollLoops
// finds in the result of Build; loops of blocks (Options::loops); and for each
// of the two, the program of one image in a loop over all images.
absl::StatusOr<CompiledModel> BuildLooped(const Source& source,
                                          const Preset& preset,
                                          const compiler::Options& options);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_LOOPED_H_
