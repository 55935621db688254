// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Calls of Python from programs: jax.debug.print, jax.pure_callback and the
// like. The Python package hands over one function (option `caller`, its
// address), which finds the one that is called by its number.
#ifndef SYSTOLE_HOST_PJRT_CALLER_H_
#define SYSTOLE_HOST_PJRT_CALLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/ir/evaluate.h"
#include "host/ir/module.h"

namespace systole::pjrt {

// Dense values of the operands and results, in order. Returns 0, or another
// number after an error, whose text it writes with a 0 at the end.
using CallFunction = int (*)(uint64_t number, const void* const* operands,
                             void* const* results, char* error,
                             size_t error_bytes);

// Errors: Internal, with what the function says.
ir::Caller CallerAt(uint64_t address);

// The calls of a module are in use as long as this is alive.
std::shared_ptr<void> UseOfCalls(const ir::Module& module);

}  // namespace systole::pjrt

// For the Python package: whether a program that may still run has the call.
extern "C" int systole_call_is_used(uint64_t number);

#endif  // SYSTOLE_HOST_PJRT_CALLER_H_
