// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of one int8 value, of which the device needs to know the 256
// results alone: activations, conversions, what a graph puts together of
// elementwise operations on one tensor and constants (x * logistic(x)), floats
// between DEQUANTIZE and QUANTIZE.
//
//   Tables tables(module);
//   if (const ir::Node* argument = tables.ArgumentOf(node))
//     const std::vector<int8_t>& table = tables.TableOf(node);
#ifndef SYSTOLE_HOST_LOWER_TABLES_H_
#define SYSTOLE_HOST_LOWER_TABLES_H_

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::lower {

class Tables {
 public:
  explicit Tables(const ir::Module& module);

  // The value that the node is a function of, element by element: itself no
  // such function. Null for other nodes.
  const ir::Node* ArgumentOf(const ir::Node* node) const;
  // Whether only functions of the same argument read the node, so that nothing
  // needs its value.
  bool Absorbed(const ir::Node* node) const {
    return absorbed_.count(node) > 0;
  }
  // Results of the argument's values -128, -127, ..., 127.
  const std::vector<int8_t>& TableOf(const ir::Node* node) const {
    return tables_.at(node);
  }

 private:
  // Errors: the function has no result for some value.
  absl::StatusOr<std::vector<int8_t>> Evaluated(const ir::Node* node,
                                                const ir::Node* argument) const;

  std::unordered_map<const ir::Node*, const ir::Node*> arguments_;
  std::unordered_map<const ir::Node*, std::vector<int8_t>> tables_;
  std::unordered_set<const ir::Node*> absorbed_;
};

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_TABLES_H_
