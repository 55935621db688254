// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A batch as a loop: a program's length does not depend on how many images it
// is for.
//
//   absl::StatusOr<Program> batch = LoopOverImages(of_one_image, 16);

#ifndef SYSTOLE_HOST_PROGRAM_IMAGE_LOOP_H_
#define SYSTOLE_HOST_PROGRAM_IMAGE_LOOP_H_

#include "absl/status/statusor.h"
#include "systole/program.h"

namespace systole {

// The program `passes` times in a loop, each pass for the next images: its
// inputs and outputs hold so many times as many. A pass begins when the one
// before it is complete. Errors: FailedPrecondition (it cannot be moved;
// something does not wait for its first load, or its last store not for
// something), InvalidArgument (no passes), ResourceExhausted (the memory).
absl::StatusOr<Program> LoopOverImages(const Program& program, int64_t passes);

}  // namespace systole

#endif  // SYSTOLE_HOST_PROGRAM_IMAGE_LOOP_H_
