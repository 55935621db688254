// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How a device executes each node of a module.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_NODE_KIND_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_NODE_KIND_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "host/ir/module.h"

namespace systole::lanes {

enum class NodeKind : uint8_t {
  kParameter,
  kKnown,        // depends on no parameter: computed at compile time
  kAlias,        // its result is its operand's memory
  kElementwise,  // part of a kernel
  kMoved,        // its own kernel, if possible: node_kernel.h
  kOther,
};

// Whether lanes of both types hold the same bits for the same memory: true for
// words.
inline bool SameLane(ir::ElementType a, ir::ElementType b) {
  return a == b || (ir::ElementBytes(a) == 4 && ir::ElementBytes(b) == 4);
}

// Whether the node can be computed when a program is compiled, once its
// operands are known.
bool MayBeKnown(const ir::Node& node);

// Whether all elements have the same bits, and there are any.
bool IsUniform(const ir::Literal& literal);

class NodeKinds {
 public:
  explicit NodeKinds(const ir::Module& module);

  NodeKind Of(const ir::Node& node) const { return kinds_.at(&node); }
  // The value whose memory this value shares.
  ir::Value Root(ir::Value value) const;
  // The result of a known node.
  const ir::Literal& Known(const ir::Node* node);
  // A literal that starts with the value of all elements, if it is known to be
  // the same for all; null otherwise.
  const ir::Literal* Splat(ir::Value value);

 private:
  NodeKind Find(const ir::Node& node) const;

  std::unordered_map<const ir::Node*, NodeKind> kinds_;
  std::unordered_map<const ir::Node*, ir::Literal> known_;
  std::map<std::pair<const ir::Node*, ir::ElementType>,
           std::optional<ir::Literal>>
      splats_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_NODE_KIND_H_
