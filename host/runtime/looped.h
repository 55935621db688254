// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs that grow neither with the batch nor with the image:
// docs/program_file.md, "Loops".
//
//   absl::StatusOr<CompiledModel> model =
//       runtime::BuildLooped(*source, preset, options);
#ifndef SYSTOLE_HOST_RUNTIME_LOOPED_H_
#define SYSTOLE_HOST_RUNTIME_LOOPED_H_

#include "absl/status/statusor.h"
#include "host/runtime/build.h"

namespace systole::runtime {

// As Build, each program the shortest of what it can be with loops: those that
// RollLoops finds in what Build makes, those of blocks (Options::loops), and
// either of one image in a loop over all.
absl::StatusOr<CompiledModel> BuildLooped(const Source& source,
                                          const Preset& preset,
                                          const compiler::Options& options);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_LOOPED_H_
