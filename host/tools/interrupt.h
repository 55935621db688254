// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP in commands that run for long. The first asks the
// command to end: it finishes what it has in hand, or gives that up after a
// second. A second one ends the program at once. SIGPIPE, which a write gets
// when nobody reads, asks for the end only. The exit code is 128 and the
// signal's number.
//
//   CatchInterrupts();
//   for (...) {
//     if (Interrupted()) return InterruptedError("after 3 of 8 images");
//     ...
//   }
#ifndef HOST_TOOLS_INTERRUPT_H_
#define HOST_TOOLS_INTERRUPT_H_

#include <string>

#include "absl/status/status.h"

namespace systole::tools {

// From here on; before it a signal ends the program as usual. A SIGHUP or
// SIGPIPE that the program was started to ignore (nohup) stays ignored.
void CatchInterrupts();

bool Interrupted();
// For longer than a second: what is in hand is given up.
bool InterruptOverdue();

// 0: none has come.
int InterruptExitCode();
// kCancelled: "stopped by SIGINT " and `where`.
absl::Status InterruptedError(const std::string& where);

}  // namespace systole::tools

#endif  // HOST_TOOLS_INTERRUPT_H_
