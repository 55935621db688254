// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of one int8 value, for which the device needs only the 256 results:
// activations, conversions, elementwise operations of a graph on one tensor and
// constants (x * logistic(x)), and floats between DEQUANTIZE and QUANTIZE.
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
  // `images`: of every value (tensors.h).
  Tables(const ir::Module& module, int64_t images);

  // The value that the node is an elementwise function of; that value itself is
  // no such function. Null for other nodes.
  const ir::Node* ArgumentOf(const ir::Node* node) const;
  // Whether the node's value is not needed, because only functions of the same
  // argument read it.
  bool Absorbed(const ir::Node* node) const {
    return absorbed_.count(node) > 0;
  }
  // Results for the argument values -128, -127, ..., 127.
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
