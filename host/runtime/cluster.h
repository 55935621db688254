// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Clusters of elementwise nodes, and copies of them for a part of their
// elements.
#ifndef SYSTOLE_HOST_RUNTIME_CLUSTER_H_
#define SYSTOLE_HOST_RUNTIME_CLUSTER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::runtime {

// Elementwise nodes of one shape that depend on each other, in their order.
using Cluster = std::vector<ir::Node*>;

// Whether all elements are known to be the same number: a scalar that is
// broadcast, or a constant.
bool IsSplat(const ir::Value& value);

// Copies the nodes of a cluster, one after the other, for `elements` of their
// elements.
class ClusterCopier {
 public:
  ClusterCopier(ir::Module& into, const Cluster& cluster, int64_t elements)
      : into_(into),
        inside_(cluster.begin(), cluster.end()),
        elements_(elements) {}
  virtual ~ClusterCopier() = default;

  ir::Node* Copy(ir::Node* node);

 protected:
  // The part of a value from outside the cluster that `user` reads.
  virtual ir::Value Outer(const ir::Value& value, const ir::Node* user) = 0;
  // A scalar from outside.
  virtual ir::Value Scalar(const ir::Value& value) = 0;
  // Adds what `user`'s copy needs, or is.
  virtual ir::Node* Put(ir::Node node, const ir::Node* user) = 0;

  ir::Type Shape(const ir::Type& type) const {
    return {type.element, {elements_}, {}};
  }
  std::string Name(const ir::Node* node) const {
    return into_.UniqueName(node->name + ".part");
  }
  ir::Module& into_;

 private:
  ir::Value Operand(const ir::Value& value, const ir::Node* user);

  const std::set<const ir::Node*> inside_;
  const int64_t elements_;
  std::unordered_map<const ir::Node*, ir::Node*> copies_;
  std::map<std::pair<const ir::Node*, int>, ir::Value> outer_;
};

// What the planner expects of so many elements of a cluster, of which these
// nodes' results are needed.
int64_t CyclesOf(const Cluster& cluster, const std::vector<ir::Node*>& outputs,
                 int64_t elements, const Preset& preset);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CLUSTER_H_
