// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The main function of test programs without options of their own.
#include "tests/testing/options.h"

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv, {});
}
