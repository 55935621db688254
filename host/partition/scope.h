// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The tiles of a module's values while it is partitioned: the program, or a
// region of one of its nodes.
#ifndef SYSTOLE_HOST_PARTITION_SCOPE_H_
#define SYSTOLE_HOST_PARTITION_SCOPE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/ir/module.h"
#include "host/partition/sharding.h"

namespace systole::partition {

// A value of the source, in tiles.
struct Tiles {
  ir::Value value;
  Sharding sharding;
  ir::Type whole;  // its type in the source
};

// What all scopes of a partitioning share.
struct Numbers {
  int devices = 1;
  int64_t names = 0, channels = 0;
  std::set<std::string> sums;  // names of the all_reduces that were added
};

ir::Type TileType(const ir::Type& whole, const Sharding& sharding);

class Scope {
 public:
  // Both must outlive the scope.
  Scope(Numbers& numbers, ir::Module& module)
      : numbers_(numbers), module_(module) {}

  ir::Module& module() { return module_; }
  int devices() const { return numbers_.devices; }

  // The value in other tiles, which must fit its shape.
  ir::Value InTiles(const Tiles& from, const Sharding& to);
  // Whether that needs values of other devices.
  static bool Gathers(const Sharding& from, const Sharding& to);
  // Combines the values of devices that differ in these parts.
  ir::Value AllReduce(ir::Value value, ir::Op op, Parts parts,
                      const std::vector<int>& devices);
  // The number of elements before this device's tile, a scalar of i32.
  ir::Value Start(const Parts& parts, int64_t tile,
                  const std::vector<int>& devices);
  // Whether this is the first device, i1.
  ir::Value IsFirst();
  // The first device's value.
  ir::Value Broadcast(ir::Value value);
  ir::Value Zeros(const ir::Type& type);
  // Of iota: the tile's own numbers, and its start if it is along their
  // dimension. Floats are counted as whole numbers, which are exact.
  ir::Value Count(const ir::Node& node, const Sharding& sharding);
  ir::Value Add(std::string name, ir::Op op, ir::Type type,
                std::vector<ir::Value> operands, ir::Attributes attributes);
  ir::Value Constant(ir::Type type, ir::Literal literal);

 private:
  // This device's number, i32.
  ir::Value Device();
  ir::Value Gather(ir::Value value, int64_t dimension, const Parts& parts,
                   const std::vector<int>& devices);
  // The value on the first of the devices that differ in these, zeros on the
  // others.
  ir::Value Once(ir::Value value, const Parts& parts,
                 const std::vector<int>& devices);
  ir::Value Take(ir::Value value, int64_t dimension, const Parts& parts,
                 const std::vector<int>& devices);
  // The groups of devices that differ in these parts, one after the other.
  std::vector<int64_t> GroupsOf(const Parts& parts,
                                const std::vector<int>& devices) const;

  Numbers& numbers_;
  ir::Module& module_;
  ir::Value device_;  // once it is made
  std::map<std::vector<int64_t>, ir::Value> starts_;
  // Values that were brought into other tiles: by node, result and tiles.
  std::map<std::pair<std::pair<const ir::Node*, int>, std::string>, ir::Value>
      brought_;
};

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_SCOPE_H_
