// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types, attributes and locations in MLIR's own notation, except that
// fractional numbers and dense elements are printed as hexadecimal bits.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_TEXT_H_
#define SYSTOLE_HOST_IMPORT_MLIR_TEXT_H_

#include <string>

#include "host/import/mlir/module.h"

namespace systole::mlir {

// "!vhlo.tensor_v1<2x4x!vhlo.f32_v1>".
std::string TypeText(const Type& type);
// "#vhlo.integer_v1<1 : i64>", "#vhlo.float_v1<0x3f800000 : !vhlo.f32_v1>".
std::string AttributeText(const Attribute& attribute);
// "loc(callsite("f"("train.py":12:3) at "train.py":20:1))"; null is unknown.
std::string LocationText(const Attribute* location);
// For messages: "train.py:12:3 (jit(f)/tanh)", the innermost line of the user's
// program, or "" if it is unknown.
std::string SourceText(const Attribute* location);

// A name in a dictionary, quoted if necessary.
std::string NameText(absl::string_view name);

// The whole module, one line per operation:
//
//   vhlo.add_v1 (0, 1) -> 2: !vhlo.tensor_v1<!vhlo.f32_v1> {} loc(unknown)
//
// with "region" and "block (arguments)" indented below it.
std::string Dump(const Module& module);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_TEXT_H_
