// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gathers from and scatters to a dimension that is divided and from which each
// window takes one place: rows of a large table, the class of a label. A device
// looks up, or changes, the rows that it has:
//
//   gather:  places = clamp(indices) - start; rows of others are zeros, and
//            the sum over the devices is the row of the one that has it
//   scatter: places = indices - start; places outside the tile change nothing,
//            as the operation says of places outside the operand
#ifndef SYSTOLE_HOST_PARTITION_LOOKUP_H_
#define SYSTOLE_HOST_PARTITION_LOOKUP_H_

#include "host/partition/chooser.h"
#include "host/partition/op_rules.h"
#include "host/partition/scope.h"

namespace systole::partition {

class Lookup {
 public:
  // All must outlive it. `node`: a gather or scatter on whole arrays.
  Lookup(const ir::Node& node, const OpRule& rule, const Division& division,
         Scope& scope);

  // Whether there is such a dimension. If not, nothing else may be called.
  bool needed() const { return !rows_.empty(); }
  // The indices, in tiles, as places in this device's tile of the operand, i32.
  ir::Value Places(ir::Value indices) const;
  // Of a gather: the results of places that this device has, zeros for others.
  ir::Value Own(ir::Value result, ir::Value places) const;
  // Of a gather: the results of the device that has them.
  ir::Value Sum(ir::Value own, const Parts& parts) const;

 private:
  struct Rows {
    int64_t component;  // of an index
    int64_t tile;       // places of each device
    ir::Value start;    // of this device's
  };
  // A value for each component of an index, of the type of `indices`.
  ir::Value Components(const std::vector<int64_t>& values,
                       const ir::Type& indices) const;
  ir::Value Spread(ir::Value value, const ir::Type& type,
                   ir::Ints dimensions) const;

  const ir::Node& node_;
  const Division& division_;
  Scope& scope_;
  std::vector<Rows> rows_;
  ir::Ints map_;  // of components, the dimension of the operand
  int64_t vector_dim_;
};

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_LOOKUP_H_
