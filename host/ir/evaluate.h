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
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

// Whether Evaluate knows the operation: all but inputs.
bool HostComputes(Op op);

// Is asked for each node but parameters and constants before the host computes
// it, in regions too, but for those of a single operation (a sum, a maximum)
// that the host folds with. True: `results` are the node's. An error ends the
// evaluation.
using NodeHook = std::function<absl::StatusOr<bool>(
    const Node& node, const Operands& operands, Literals& results)>;

// The multiplier of floats: every product of dot_general and convolution goes
// through it, split into bf16 and laid out as matrices.
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

// The host's own.
ProductUnit& HostProducts();

// What the other core of two has where this one has `own`: the operand of a
// node train.sum_cores.
using OtherCore = std::function<absl::StatusOr<Literal>(const Node& node,
                                                        const Literal& own)>;

struct EvaluateOptions {
  NodeHook hook = {};
  ProductUnit* products = nullptr;  // null: the host's; outlives the run
  OtherCore other_core = {};        // none: there is one core
};

// What evaluates modules and the regions in them. The modules must not change
// while it lives. Not for several threads at once.
class Evaluation {
 public:
  explicit Evaluation(EvaluateOptions options = {});
  ~Evaluation();

  // The values of the results of a verified node from those of its operands,
  // in their types. Errors: Unimplemented for other operations.
  absl::StatusOr<Literals> Node(const ir::Node& node, const Operands& operands);
  // The outputs of a verified module or region from its parameters in their
  // order, whose types are not checked. Values that nothing needs any more are
  // freed on the way. Errors name the node.
  absl::StatusOr<Literals> Run(const Module& module, Literals inputs);
  // A region whose parameters are scalars, for each of `lanes` sets of them:
  // operands and outputs have a value a lane, or one for all; other parameters
  // are given to each.
  absl::StatusOr<Literals> RunLanes(const Module& region, int64_t lanes,
                                    const Operands& inputs);
  // For evaluators: the operand's value, for good if nothing else needs it, so
  // that it may be written to in place.
  Literal Take(const Literal* operand);
  // For who calls Node: the operands that it needs no more.
  void SetDying(std::vector<const Literal*> operands) {
    dying_ = std::move(operands);
  }
  ProductUnit& products() { return *options_.products; }
  const OtherCore& other_core() const { return options_.other_core; }
  // Of the operations `rng`: a number that was not there before.
  uint64_t NextRandom() { return random_++; }

 private:
  struct Plan;
  const Plan& PlanOf(const Module& module);

  EvaluateOptions options_;
  uint64_t random_ = 0;
  std::vector<const Literal*> dying_;  // operands that are needed no more
  std::unordered_map<const Module*, std::unique_ptr<Plan>> plans_;
};

// The value of a verified node with one result.
absl::StatusOr<Literal> Evaluate(const Node& node, const Operands& operands);

// The outputs of a verified module from its inputs in their order. Errors name
// the node or the input.
absl::StatusOr<Literals> EvaluateModule(const Module& module,
                                        const Literals& inputs,
                                        EvaluateOptions options = {});

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_EVALUATE_H_
