// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations as the host computes them: what the device does not have, and what
// the compiler works out itself. To the bit as docs/numerics.md and docs/hlo.md
// say.
//
//   absl::StatusOr<Literals> outputs = EvaluateModule(module, inputs);
#ifndef SYSTOLE_HOST_IR_EVALUATE_H_
#define SYSTOLE_HOST_IR_EVALUATE_H_

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

// Whether Evaluate knows the operation: all but inputs.
bool HostComputes(Op op);

// Is asked for each node but parameters and constants, in regions too, before
// the host computes it. True: `results` are the node's. An error ends the
// evaluation.
using NodeHook = std::function<absl::StatusOr<bool>(
    const Node& node, const Operands& operands, Literals& results)>;

// Does all the multiplying of floats for dot_general and convolution: the
// evaluators bring the operands into this form (batches, groups, windows,
// dilation; the passes of HIGH and HIGHEST), so that the array of a device can
// stand in for the host. (From the lead: NOTE_FROM_LEAD.md in this folder's
// root; the host's own unit is yours to write.)
class ProductUnit {
 public:
  virtual ~ProductUnit() = default;
  // c[i][j] is the chain over ascending k of fma(a[i][k], b[k][j], c) from +0.
  // a [m][k], b [k][n] are bits of bf16, c [m][n] is f32, all row-major.
  virtual absl::Status Multiply(int64_t m, int64_t k, int64_t n,
                                const uint16_t* a, const uint16_t* b,
                                float* c) = 0;
};

// What evaluates modules and the regions in them. The modules must not change
// while it lives. Not for several threads at once.
class Evaluation {
 public:
  explicit Evaluation(NodeHook hook = {});
  ~Evaluation();

  // The values of the results of a verified node from those of its operands,
  // in their types. Errors: Unimplemented for other operations.
  absl::StatusOr<Literals> Node(const ir::Node& node, const Operands& operands);
  // The outputs of a verified module or region from its parameters in their
  // order, whose types are not checked. Values that nothing needs any more are
  // freed on the way. Errors name the node.
  absl::StatusOr<Literals> Run(const Module& module, const Operands& inputs);

  // Who multiplies; null: the host. Must outlive the evaluation.
  ProductUnit* products = nullptr;

 private:
  struct Plan;
  const Plan& PlanOf(const Module& module);

  NodeHook hook_;
  std::unordered_map<const Module*, std::unique_ptr<Plan>> plans_;
};

// The value of a verified node with one result.
absl::StatusOr<Literal> Evaluate(const Node& node, const Operands& operands);

// The outputs of a verified module from its inputs in their order. Errors name
// the node or the input.
absl::StatusOr<Literals> EvaluateModule(const Module& module,
                                        const Literals& inputs,
                                        NodeHook hook = {});

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_EVALUATE_H_
