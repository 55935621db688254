// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PJRT_REPORT_H_
#define SYSTOLE_HOST_PJRT_REPORT_H_

#include <string>

#include "host/pjrt/objects.h"

namespace systole::pjrt {

// Operations of a program of partitions, with their numbers: "hlo.sort 1".
struct Undivided {
  std::string whole, uneven;
};

// Reports what runs on the host: by default once that something does; with
// SYSTOLE_REPORT=1 the shares of each program.
void Report(const PJRT_Executable& executable, const Undivided& undivided);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_REPORT_H_
