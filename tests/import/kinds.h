// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// tests/data/tflite/kinds.json: models, inputs as their files store them, and
// what the reference kernels of TensorFlow Lite give.
#ifndef SYSTOLE_TESTS_IMPORT_KINDS_H_
#define SYSTOLE_TESTS_IMPORT_KINDS_H_

#include <ostream>
#include <string>
#include <vector>

#include "host/ir/module.h"

namespace systole::import {

struct Kind {
  std::string name, model, signature;
  int calls = 1;  // one after the other; all values are in a row
  std::vector<std::string> inputs, outputs;  // bytes
  std::vector<std::vector<int64_t>> shapes;  // of the outputs
};

std::vector<Kind> Kinds();
inline void PrintTo(const Kind& kind, std::ostream* to) { *to << kind.name; }

// Values in the type of the file, as the graph has them, and back.
ir::Literal FromFile(const std::string& bytes, const ir::Type& type,
                     const std::string& stored);
std::string ToFile(const ir::Literal& values, const std::string& stored);

// The case's inputs for the parameters in a call, without states.
std::vector<ir::Literal> InputsOf(const Kind& kind,
                                  const std::vector<ir::Node*>& parameters,
                                  int call = 0);
// Bytes of output `i` of a call.
std::string OutputOf(const Kind& kind, size_t i, int call = 0);

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_KINDS_H_
