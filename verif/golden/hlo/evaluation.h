// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A run of a module, and the groups of operations. Every operation computes its
// results from the values of its operands.
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_EVALUATION_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_EVALUATION_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "host/ir/module.h"
#include "verif/golden/hlo/interpreter.h"
#include "verif/golden/hlo/tensor.h"

namespace systole::golden::hlo {

using ir::Node;

class Evaluation {
 public:
  explicit Evaluation(OtherOperation other = nullptr)
      : other_(std::move(other)) {}

  Tensors Run(const ir::Module& module, const Tensors& inputs);
  Tensors Results(const Node& node, const Tensors& operands);
  // The status of the first unsupported operation. The values are then zeros.
  const absl::Status& status() const { return status_; }
  void Refuse(const Node& node, const std::string& why);
  // Returns the number of earlier calls.
  uint64_t NextRandom() { return random_++; }

 private:
  Tensors Other(const Node& node, const Tensors& operands);

  const OtherOperation other_;  // computes operations of other sets
  absl::Status status_;
  uint64_t random_ = 0;
};

// A scalar region that is called repeatedly. A region of a single operation on
// two parameters is executed directly, without running the module.
class Combiner {
 public:
  // `captured` are further operands.
  Combiner(const ir::Module& region, Tensors captured, Evaluation& evaluation);

  // Whether the region is just add, multiply, maximum, minimum, and, or, xor.
  bool single() const { return single_ != nullptr; }
  uint64_t Single(uint64_t a, uint64_t b) const;
  // Calls the region with parameters of these types; returns the outputs' bits.
  std::vector<uint64_t> Call(const std::vector<Element>& types,
                             const std::vector<uint64_t>& parameters);

 private:
  const ir::Module& region_;
  const Tensors captured_;
  Evaluation& evaluation_;
  const Node* single_ = nullptr;
};

// The operands from `first` on.
Tensors Rest(const Tensors& operands, size_t first);

// iota to reverse, bitcast_convert (moves.cc).
Tensor Moved(const Node& node, const Tensors& operands);
// dynamic slices, gather (indexed.cc).
Tensor Indexed(const Node& node, const Tensors& operands);
Tensors Scatter(const Node& node, const Tensors& operands, Evaluation& run);
// products.cc
Tensor DotGeneral(const Node& node, const Tensors& operands);
Tensor Convolution(const Node& node, const Tensors& operands);
// reduce to map (regions.cc).
Tensors Regions(const Node& node, const Tensors& operands, Evaluation& run);
// rng_bit_generator, rng (random.cc).
Tensors RandomBits(const Node& node, const Tensors& operands);
Tensor RandomNumbers(const Node& node, const Tensors& operands,
                     uint64_t number);
// Batch normalisation, factors (matrices.cc).
Tensors Normalised(const Node& node, const Tensors& operands);
Tensor Factor(const Node& node, const Tensors& operands);
Tensors Householder(const Node& node, const Tensors& operands);
// Calls of TFLite_Detection_PostProcess (detections.cc). An error if a box has
// a negative size.
absl::StatusOr<Tensors> Detections(const Node& node, const Tensors& operands);

// docs/hlo.md, "Sums and other reductions": how many elements a section of a
// reduction has on its first level, 0 if it is none of sections. `columns`:
// whether results lie next to each other.
size_t SectionOfSum(size_t count, bool columns);

}  // namespace systole::golden::hlo

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_EVALUATION_H_
