// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_RUNTIME_GUARDED_H_
#define SYSTOLE_HOST_RUNTIME_GUARDED_H_

#include <exception>
#include <new>

#include "absl/status/status.h"

namespace systole::runtime {

// What the function returns, a status or a value with one. What it throws
// becomes an error: kResourceExhausted if the host has no memory left.
template <typename Function>
auto Guarded(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory left on the host");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_GUARDED_H_
