// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PJRT_MANUAL_H_
#define SYSTOLE_HOST_PJRT_MANUAL_H_

#include "host/import/stablehlo/stablehlo_importer.h"

namespace systole::pjrt {

// Whether all of a program of several partitions computes with tiles itself, as
// shard_map and pmap write it: then there is nothing to suggest.
bool IsManual(const import::StableHloProgram& program);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_MANUAL_H_
