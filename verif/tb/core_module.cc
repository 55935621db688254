// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The exports of a shared library with a build of the chip.
#include "verif/tb/core_module.h"

extern "C" {

__attribute__((visibility("default"))) const char* SystoleCoreStamp() {
  return systole::tb::kCoreStamp;
}

__attribute__((visibility("default"))) systole::tb::CoreFactory
SystoleCoreFactory(const char* preset, bool checked) {
  return systole::tb::FindCore("verilator", preset, checked);
}

}  // extern "C"
