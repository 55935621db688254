// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Into which tiles an operation is divided.
#ifndef SYSTOLE_HOST_PARTITION_CHOOSER_H_
#define SYSTOLE_HOST_PARTITION_CHOOSER_H_

#include <vector>

#include "host/ir/module.h"
#include "host/partition/op_rules.h"
#include "host/partition/sharding.h"

namespace systole::partition {

// The tiles of each factor, all on devices in the same order.
struct Division {
  std::vector<Parts> factors;
  std::vector<int> devices;

  // Of a value with these factors.
  Sharding Of(const std::vector<int>& dims) const;
};

// Chooses the tiles of an operation's factors: first those of a sharding of
// one of its results, then those of its operands.
class Chooser {
 public:
  // Both must outlive the chooser.
  Chooser(const ir::Node& node, const OpRule& rule);

  // A suggestion fixes the factors of a result; those it does not divide stay
  // whole.
  void Suggest(int result, const Sharding& sharding);
  void Use(size_t operand, const Sharding& sharding);
  const Division& division() const { return division_; }
  // Whether a dimension that is divided has no factor.
  bool whole() const { return whole_; }
  // Whether a size that is no multiple stays whole, or in fewer tiles than the
  // shardings have.
  bool uneven() const { return uneven_; }

 private:
  // False: the sharding's devices are in another order than those chosen.
  bool Take(const std::vector<int>& dims, const Sharding& sharding);
  // Whether every dimension of the factor is divided evenly.
  bool Fits(int factor, const Parts& parts) const;

  const ir::Node& node_;
  const OpRule& rule_;
  Division division_;
  std::vector<bool> fixed_;
  bool chosen_ = false;  // the order of devices is that of a sharding
  bool whole_ = false, uneven_ = false;
};

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_CHOOSER_H_
