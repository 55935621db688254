// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the devices of a program divide an array. A mesh gives each of n devices
// a position, 0 to n - 1, whose mixed-radix digits are its coordinates. An axis
// of a mesh, or a part of one, is such a digit: [before][size][rest] with
// before * size * rest = n. So arrays of different meshes compare.
#ifndef SYSTOLE_HOST_PARTITION_SHARDING_H_
#define SYSTOLE_HOST_PARTITION_SHARDING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace systole::partition {

struct Part {
  int64_t before = 1, size = 1;
  bool operator==(const Part& other) const {
    return before == other.before && size == other.size;
  }
};
using Parts = std::vector<Part>;  // the first one is the slowest

// The product of the sizes: into how many tiles they divide.
int64_t TilesOf(const Parts& parts);
// The tile of a position, 0 to TilesOf - 1; `count` positions.
int64_t TileAt(const Parts& parts, int64_t position, int64_t count);
// Whether a position's digits have some in common.
bool Overlap(const Parts& a, const Parts& b);
// What both begin with.
Parts CommonPrefix(const Parts& a, const Parts& b);
// What follows a prefix.
Parts WithoutPrefix(const Parts& parts, const Parts& prefix);

// Dimension d is divided into TilesOf(dims[d]) equal tiles. Devices that differ
// in no digit of it have the same values.
struct Sharding {
  std::vector<Parts> dims;
  // The device at each position; empty: device i is at position i.
  std::vector<int> devices;
  // Devices that differ in these have parts of the values: their sum is meant.
  Parts unreduced = {};

  static Sharding Replicated(size_t rank) { return {Dims(rank), {}, {}}; }
  bool replicated() const;
  bool operator==(const Sharding& other) const;
  bool operator!=(const Sharding& other) const { return !(*this == other); }

 private:
  using Dims = std::vector<Parts>;
};

// Leaves out parts of size 1, and joins those that are one digit.
Sharding Normalised(Sharding sharding);
// Leaves out the last parts of dimensions that they do not divide evenly.
Sharding Fitted(Sharding sharding, const std::vector<int64_t>& shape);
// What of a sharding divides the tiles of another one: the parts that have
// nothing of the other's, as far as they divide the shape of its tiles.
Sharding WithoutParts(const Sharding& sharding, const Sharding& other,
                      const std::vector<int64_t>& tile);
// The shape of a tile; the sharding must fit.
std::vector<int64_t> TileShape(const Sharding& sharding,
                               const std::vector<int64_t>& shape);
// The index of a device's first element.
std::vector<int64_t> TileStart(const Sharding& sharding,
                               const std::vector<int64_t>& shape, int device,
                               int64_t count);

// In XLA's notation: "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", with the
// list of devices in place of <=[8] where they are in another order.
std::string HloText(const Sharding& sharding, int64_t count);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_SHARDING_H_
