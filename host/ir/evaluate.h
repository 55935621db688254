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

// Whether Evaluate implements the operation; it implements all but inputs.
bool HostComputes(Op op);

// Called for each node but parameters and constants before the host computes
// it, in regions too. The exception is a region of a single operation (a sum, a
// maximum) that the host folds with. True: the hook has set `results`. An error
// ends the evaluation.
using NodeHook = std::function<absl::StatusOr<bool>(
    const Node& node, const Operands& operands, Literals& results)>;

// The multiplier of floats. Every product of dot_general and convolution goes
// through it, split into bf16 parts and arranged as matrices.
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

// Gives the value of the other core of two where this core has `own`, the
// operand of a node train.sum_cores.
using OtherCore = std::function<absl::StatusOr<Literal>(const Node& node,
                                                        const Literal& own)>;

// Does a call of calls.h.
using Caller = std::function<absl::StatusOr<Literals>(
    const Node& node, const Operands& operands)>;

struct EvaluateOptions {
  NodeHook hook = {};
  ProductUnit* products = nullptr;  // null: the host's; must outlive the run
  OtherCore other_core = {};        // none: there is only one core
  Caller caller = {};               // none: calls are refused
};

// Evaluates modules and their regions. The modules must not change while it
// exists. It is not thread-safe.
class Evaluation {
 public:
  explicit Evaluation(EvaluateOptions options = {});
  ~Evaluation();

  // Computes the results of a verified node from the values of its operands, in
  // the result types. Errors: Unimplemented for other operations.
  absl::StatusOr<Literals> Node(const ir::Node& node, const Operands& operands);
  // Computes the outputs of a verified module or region from its parameters, in
  // their order; their types are not checked. Values are freed after their last
  // use. Errors name the node.
  absl::StatusOr<Literals> Run(const Module& module, Literals inputs);
  // Evaluates a region with scalar parameters for each of `lanes` sets of them.
  // Operands and outputs have one value per lane, or one for all lanes.
  // Parameters that are not scalars are passed to each lane.
  absl::StatusOr<Literals> RunLanes(const Module& region, int64_t lanes,
                                    const Operands& inputs);
  // For evaluators: takes the value of the operand. It is moved if nothing else
  // needs it, so it can be modified in place.
  Literal Take(const Literal* operand);
  // For callers of Node: the operands that they do not need any more.
  void SetDying(std::vector<const Literal*> operands) {
    dying_ = std::move(operands);
  }
  ProductUnit& products() { return *options_.products; }
  const OtherCore& other_core() const { return options_.other_core; }
  const Caller& caller() const { return options_.caller; }
  // For `rng`: a number that was not returned before.
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
