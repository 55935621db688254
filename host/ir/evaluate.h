// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Evaluation of operations on the host: those that the device does not have,
// and those that the compiler computes itself. The results are bit-exact as
// docs/numerics.md and docs/hlo.md define them.
//
//   absl::StatusOr<Literals> outputs = EvaluateModule(module, inputs);
#ifndef SYSTOLE_HOST_IR_EVALUATE_H_
#define SYSTOLE_HOST_IR_EVALUATE_H_

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

// Whether Evaluate implements the operation. Only inputs have no evaluator.
bool HostComputes(Op op);

// Called before the host computes a node, also in regions. Exceptions:
// parameters and constants, and a region of a single operation (a sum, a
// maximum) that the host folds with. Returns true if the hook has set
// `results`. An error ends the evaluation.
using NodeHook = std::function<absl::StatusOr<bool>(
    const Node& node, const Operands& operands, Literals& results)>;

// The multiplier for floats. It computes all products of dot_general and
// convolution, which are split into bf16 parts and arranged as matrices.
class ProductUnit {
 public:
  virtual ~ProductUnit() = default;
  // c[i][j] = the chain acc = fma(a[i][p], b[p][j], acc) over ascending p from
  // +0 (docs/numerics.md, "Sums of products of bf16"). a is m x k, b k x n, c
  // m x n, row-major; a and b are bits of bf16. A zero may have either sign.
  virtual absl::Status Multiply(int64_t m, int64_t k, int64_t n,
                                const uint16_t* a, const uint16_t* b,
                                float* c) = 0;
};

// The host's own multiplier.
ProductUnit& HostProducts();

// Makes a call (calls.h).
using Caller = std::function<absl::StatusOr<Literals>(
    const Node& node, const Operands& operands)>;

struct EvaluateOptions {
  NodeHook hook = {};
  ProductUnit* products = nullptr;  // null: the host's; must outlive the run
  Caller caller = {};               // none: calls are refused
};

// Evaluates modules and their regions. The modules must not change while it
// exists. It is not thread-safe.
class Evaluation {
 public:
  explicit Evaluation(EvaluateOptions options = {});
  ~Evaluation();

  // Computes the results of a verified node, in its result types, from the
  // values of its operands. Errors: Unimplemented for an operation without an
  // evaluator.
  absl::StatusOr<Literals> Node(const ir::Node& node, const Operands& operands);
  // Computes the outputs of a verified module or region from its parameters, in
  // their order; their types are not checked. Values are freed after their last
  // use. Errors name the node.
  absl::StatusOr<Literals> Run(const Module& module, Literals inputs);
  // Evaluates a region with scalar parameters for `lanes` sets of values.
  // Operands and outputs have one value per lane, or one value for all lanes. A
  // parameter that is not a scalar is passed to every lane as a whole.
  absl::StatusOr<Literals> RunLanes(const Module& region, int64_t lanes,
                                    const Operands& inputs);
  // For evaluators: takes the operand's value. If nothing else needs it, the
  // value is moved, and the evaluator can compute in place.
  Literal Take(const Literal* operand);
  // For callers of Node: the operands that are not needed after the next call.
  void SetDying(std::vector<const Literal*> operands) {
    dying_ = std::move(operands);
  }
  ProductUnit& products() { return *options_.products; }
  const Caller& caller() const { return options_.caller; }
  // For `rng`: returns a new number in each call.
  uint64_t NextRandom() { return random_++; }

 private:
  struct Plan;
  const Plan& PlanOf(const Module& module);

  EvaluateOptions options_;
  uint64_t random_ = 0;
  std::vector<const Literal*> dying_;  // operands without a later use
  std::unordered_map<const Module*, std::unique_ptr<Plan>> plans_;
};

// The value of a verified node with one result.
absl::StatusOr<Literal> Evaluate(const Node& node, const Operands& operands);

// Computes the outputs of a verified module from its inputs, in their order.
// Errors name the node or the input.
absl::StatusOr<Literals> EvaluateModule(const Module& module,
                                        const Literals& inputs,
                                        EvaluateOptions options = {});

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_EVALUATE_H_
