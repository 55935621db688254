// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What becomes of the nodes of a module on a device.
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
  kKnown,        // depends on no parameter: computed when a module is compiled
  kAlias,        // its result is its operand's memory
  kElementwise,  // part of a kernel
  kMoved,        // a kernel of its own, where that can be made: node_kernel.h
  kOther,
};

// Whether a lane that holds an element of one type is that of the same memory
// as the other type: words are words.
inline bool SameLane(ir::ElementType a, ir::ElementType b) {
  return a == b || (ir::ElementBytes(a) == 4 && ir::ElementBytes(b) == 4);
}

class NodeKinds {
 public:
  explicit NodeKinds(const ir::Module& module);

  NodeKind Of(const ir::Node& node) const { return kinds_.at(&node); }
  // The value whose memory a value is.
  ir::Value Root(ir::Value value) const;
  // The result of a known node.
  const ir::Literal& Known(const ir::Node* node);
  // A literal that begins with the only value that all elements have, as far
  // as it is known; null: none.
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
