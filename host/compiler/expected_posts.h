// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_EXPECTED_POSTS_H_
#define SYSTOLE_HOST_COMPILER_EXPECTED_POSTS_H_

#include <vector>

#include "host/compiler/sequence.h"

namespace systole::compiler {

// When other cores will have posted what a step waits for: about when this core
// has posted the same, as partners do the same at the same time. By step, the
// steps before it whose ends count; none if nothing is known.
std::vector<std::vector<int>> ExpectedPosts(const std::vector<Step>& steps);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_EXPECTED_POSTS_H_
