// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/sharding.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace systole::partition {

int64_t TilesOf(const Parts& parts) {
  int64_t tiles = 1;
  for (const Part& part : parts) tiles *= part.size;
  return tiles;
}

int64_t TileAt(const Parts& parts, int64_t position, int64_t count) {
  int64_t tile = 0;
  for (const Part& part : parts) {
    const int64_t rest = count / (part.before * part.size);
    tile = tile * part.size + position / rest % part.size;
  }
  return tile;
}

bool Overlap(const Parts& a, const Parts& b) {
  for (const Part& p : a) {
    for (const Part& q : b) {
      if (p.before < q.before * q.size && q.before < p.before * p.size)
        return true;
    }
  }
  return false;
}

Parts CommonPrefix(const Parts& a, const Parts& b) {
  Parts prefix;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].before != b[i].before) break;
    if (a[i] == b[i]) {
      prefix.push_back(a[i]);
      continue;
    }
    const int64_t size = std::min(a[i].size, b[i].size);
    if (std::max(a[i].size, b[i].size) % size == 0)
      prefix.push_back({a[i].before, size});
    break;
  }
  return prefix;
}

Parts WithoutPrefix(const Parts& parts, const Parts& prefix) {
  Parts rest = parts;
  for (const Part& part : prefix) {
    Part& first = rest.front();
    if (first == part) {
      rest.erase(rest.begin());
    } else {
      first = {first.before * part.size, first.size / part.size};
    }
  }
  return rest;
}

bool Sharding::replicated() const {
  return unreduced.empty() &&
         std::all_of(dims.begin(), dims.end(),
                     [](const Parts& parts) { return TilesOf(parts) == 1; });
}

bool Sharding::operator==(const Sharding& other) const {
  return dims == other.dims && unreduced == other.unreduced &&
         (devices == other.devices || replicated());
}

namespace {

// Without parts of size 1, and those that are one digit joined.
Parts Joined(const Parts& parts) {
  Parts joined;
  for (const Part& part : parts) {
    if (part.size == 1) continue;
    if (!joined.empty() &&
        joined.back().before * joined.back().size == part.before) {
      joined.back().size *= part.size;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace

Sharding Normalised(Sharding sharding) {
  for (Parts& parts : sharding.dims) parts = Joined(parts);
  std::sort(sharding.unreduced.begin(), sharding.unreduced.end(),
            [](const Part& a, const Part& b) { return a.before < b.before; });
  sharding.unreduced = Joined(sharding.unreduced);
  bool ascending = true;
  for (size_t i = 0; i < sharding.devices.size(); ++i)
    ascending = ascending && sharding.devices[i] == static_cast<int>(i);
  if (ascending || sharding.replicated()) sharding.devices.clear();
  return sharding;
}

Sharding Fitted(Sharding sharding, const std::vector<int64_t>& shape) {
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    Parts& parts = sharding.dims[d];
    while (!parts.empty() && shape[d] % TilesOf(parts) != 0) parts.pop_back();
  }
  return Normalised(std::move(sharding));
}

Sharding WithoutParts(const Sharding& sharding, const Sharding& other,
                      const std::vector<int64_t>& tile) {
  Sharding rest = Sharding::Replicated(tile.size());
  // Positions of devices in another order are not comparable.
  if (sharding.devices != other.devices && !other.replicated()) return rest;
  rest.devices = sharding.devices;
  for (size_t d = 0; d < tile.size(); ++d) {
    for (const Part& part : sharding.dims[d]) {
      bool free = !Overlap(other.unreduced, {part});
      for (const Parts& parts : other.dims)
        free = free && !Overlap(parts, {part});
      if (free) rest.dims[d].push_back(part);
    }
  }
  return Fitted(std::move(rest), tile);
}

std::vector<int64_t> TileShape(const Sharding& sharding,
                               const std::vector<int64_t>& shape) {
  std::vector<int64_t> tile = shape;
  for (size_t d = 0; d < tile.size(); ++d) tile[d] /= TilesOf(sharding.dims[d]);
  return tile;
}

std::vector<int64_t> TileStart(const Sharding& sharding,
                               const std::vector<int64_t>& shape, int device,
                               int64_t count) {
  int64_t position = device;
  if (!sharding.devices.empty()) {
    position =
        std::find(sharding.devices.begin(), sharding.devices.end(), device) -
        sharding.devices.begin();
  }
  std::vector<int64_t> start = TileShape(sharding, shape);
  for (size_t d = 0; d < start.size(); ++d)
    start[d] *= TileAt(sharding.dims[d], position, count);
  return start;
}

std::string HloText(const Sharding& sharding, int64_t count) {
  if (sharding.replicated()) return "{replicated}";
  Parts all;
  std::vector<int64_t> tiles;
  for (const Parts& parts : sharding.dims) {
    tiles.push_back(TilesOf(parts));
    all.insert(all.end(), parts.begin(), parts.end());
  }
  // Devices by tile; of those with the same tile, each copy's parts of a sum
  // next to each other.
  const int64_t parts = TilesOf(sharding.unreduced);
  const int64_t copies = count / (TilesOf(all) * parts);
  std::vector<std::vector<std::vector<int64_t>>> by_tile(TilesOf(all));
  for (auto& same : by_tile) same.resize(parts);
  for (int64_t position = 0; position < count; ++position) {
    by_tile[TileAt(all, position, count)][TileAt(sharding.unreduced, position,
                                                 count)]
        .push_back(sharding.devices.empty() ? position
                                            : sharding.devices[position]);
  }
  std::vector<int64_t> devices;
  for (const auto& same : by_tile) {
    for (int64_t copy = 0; copy < copies; ++copy)
      for (int64_t part = 0; part < parts; ++part)
        devices.push_back(same[part][copy]);
  }
  if (copies > 1) tiles.push_back(copies);
  if (parts > 1) tiles.push_back(parts);
  const char* const last =
      parts > 1 ? (copies > 1 ? " last_tile_dims={replicated, unreduced}"
                              : " last_tile_dims={unreduced}")
                : (copies > 1 ? " last_tile_dim_replicate" : "");
  bool ascending = true;
  for (int64_t i = 0; i < count; ++i) ascending = ascending && devices[i] == i;
  return absl::StrCat(
      "{devices=[", absl::StrJoin(tiles, ","), "]",
      ascending ? absl::StrCat("<=[", count, "]") : absl::StrJoin(devices, ","),
      last, "}");
}

}  // namespace systole::partition
