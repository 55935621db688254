// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IMPORT_MLIR_SDY_TEXT_H_
#define SYSTOLE_HOST_IMPORT_MLIR_SDY_TEXT_H_

#include <string>

#include "host/import/mlir/module.h"

namespace systole::mlir {

// "#sdy.sharding<@mesh, [{"b"}, {}]>".
std::string SdyAttributeText(const Attribute& attribute);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_SDY_TEXT_H_
