// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds nodes in a module, and turns regions of scalars into nodes of tensors.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REGION_NODES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REGION_NODES_H_

#include <string>
#include <utility>
#include <vector>

#include "host/ir/module.h"

namespace systole::lanes {

// Whether all operations of the region work on scalars, each in a lane.
bool IsLiftable(const ir::Module& region);

// Inserts nodes at the end of a module, or before one of its nodes.
class RegionNodes {
 public:
  RegionNodes(ir::Module& module, const ir::Node* before, std::string name)
      : module_(module), before_(before), name_(std::move(name)) {}

  // Gives the node a name and adds it.
  ir::Value Add(ir::Node node);
  ir::Value Make(ir::Op op, ir::Type type, std::vector<ir::Value> operands,
                 ir::Attributes attributes = ir::NoAttributes{});
  ir::Value Spread(ir::Value scalar, const ir::Ints& shape);
  // An i32 constant.
  ir::Value Number(int32_t number);
  ir::Value Whole(ir::Op op, ir::Value a, int32_t b);
  ir::Value Parameter(const ir::Type& type);
  // The results of such a region for all elements of tensors of a shape.
  std::vector<ir::Value> Lift(const ir::Module& region, const ir::Ints& shape,
                              const std::vector<ir::Value>& parameters);

 private:
  ir::Module& module_;
  const ir::Node* before_;
  const std::string name_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REGION_NODES_H_
