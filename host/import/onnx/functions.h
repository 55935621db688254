// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions that several operators use.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_FUNCTIONS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_FUNCTIONS_H_

#include <functional>
#include <string>

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// The activation functions of recurrent operators, by lower-case name. Null if
// the name is not known. NaN stands for an attribute that is not given.
using Activation = std::function<Value(HloBuilder& b, const Value& x)>;
Activation FindActivation(const std::string& name, float alpha, float beta);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_FUNCTIONS_H_
