// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Calls of the script that made a program (host/ir/calls.h), while its device
// waits.
#ifndef SYSTOLE_HOST_RUNTIME_CALLING_H_
#define SYSTOLE_HOST_RUNTIME_CALLING_H_

#include <string>

#include "absl/status/status.h"
#include "host/ir/evaluate.h"

namespace systole::runtime {

class Device;

// FailedPrecondition in a thread that does a call of the device's program, or
// of another one on its board: what needs the device would wait for ever.
absl::Status CheckNotCalling(const std::string& name, const Device& device);

// Marks the calls of a device's program.
ir::Caller Marked(ir::Caller caller, const Device& device);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CALLING_H_
