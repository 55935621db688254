// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The start of a program on the small matrix units.

#include "VMxuMini.h"
#include "VMxuNano.h"
#include "tests/rtl/mxu/start.h"

namespace systole::mxu_test {
namespace {

TEST(MxuStart, NanoForgetsByTheStart) { StartsAnew<VMxuNano>("nano", false); }
TEST(MxuStart, NanoForgetsByTheReset) { StartsAnew<VMxuNano>("nano", true); }
TEST(MxuStart, MiniForgetsByTheStart) { StartsAnew<VMxuMini>("mini", false); }
TEST(MxuStart, MiniForgetsByTheReset) { StartsAnew<VMxuMini>("mini", true); }

}  // namespace
}  // namespace systole::mxu_test
