// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Registry of emitters by operation and element type, for layers of quantised
// networks and for operations of a training step.
//
//   constexpr Registered<model::Op, ElementType, ArrayEmitter> kEmitters[] = {
//       {model::Op::kConv2D, ElementType::kInt8, EmitConv}, ...};
//   const ArrayEmitter emitter = FindIn(kEmitters, op, type);
#ifndef HOST_COMPILER_REGISTRY_H_
#define HOST_COMPILER_REGISTRY_H_

#include <cstddef>

namespace systole::compiler {

template <class Op, class Type, class Emitter>
struct Registered {
  Op op;
  Type type;
  Emitter emitter;
};

// Returns null if there is none.
template <class Op, class Type, class Emitter, size_t N>
Emitter FindIn(const Registered<Op, Type, Emitter> (&list)[N], Op op,
               Type type) {
  for (const Registered<Op, Type, Emitter>& e : list) {
    if (e.op == op && e.type == type) return e.emitter;
  }
  return nullptr;
}

}  // namespace systole::compiler

#endif  // HOST_COMPILER_REGISTRY_H_
