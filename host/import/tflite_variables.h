// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Variables of a TensorFlow Lite model: VAR_HANDLE, READ_VARIABLE,
// ASSIGN_VARIABLE, and CALL_ONCE of a subgraph that assigns initial values. A
// variable that is assigned only there is a constant. A variable that the main
// graph reads and then assigns is an input and an output of the module, both
// with its name; the module stores the initial value. The output of one run is
// the input of the next.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_VARIABLES_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_VARIABLES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/import/tflite_graph.h"

namespace systole::import {

class Variables {
 public:
  // All arguments must outlive this.
  Variables(absl::Span<const uint8_t> file, const tflite::Model& model,
            const tflite::SubGraph& main);

  static bool Has(tflite::BuiltinOperator code);
  // Imports one of these operators of the main graph.
  absl::Status Import(TfliteGraph& graph, const tflite::Operator& op,
                      tflite::BuiltinOperator code);
  // Adds the outputs of the variables.
  void Finish(TfliteGraph& graph) const;

 private:
  struct Variable {
    ir::Node first;  // a constant, if `known`
    bool known = false;
    ir::Node* value = nullptr;  // current value in the main graph
  };
  using Handles = std::map<int, std::string>;  // by tensor

  absl::Status Initialise(const tflite::Operator& op);
  absl::Status Read(TfliteGraph& graph, const tflite::Operator& op);
  absl::Status Assign(TfliteGraph& graph, const tflite::Operator& op);

  const absl::Span<const uint8_t> file_;
  const tflite::Model& model_;
  Handles handles_;                 // in the main graph
  std::set<std::string> assigned_;  // by the main graph
  std::set<int> initialisers_;      // subgraphs that were called
  std::map<std::string, Variable> variables_;
  std::vector<std::string> order_;  // of the inputs
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_VARIABLES_H_
