// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/tiles.h"

#include <cstring>

#include "host/ir/index.h"

namespace systole::partition {
namespace {

// Calls `copy` with the places of each line of a device's tile, in the tile and
// in the whole array, and its length; all in bytes.
template <typename Copy>
void ForLines(const ir::Type& type, const Sharding& sharding, int device,
              int64_t count, Copy copy) {
  if (type.elements() == 0) return;
  const int64_t element = ir::ElementBytes(type.element);
  const std::vector<int64_t> start =
      TileStart(sharding, type.shape, device, count);
  std::vector<int64_t> lines = TileShape(sharding, type.shape);
  const int64_t bytes = lines.empty() ? element : element * lines.back();
  if (!lines.empty()) lines.back() = 1;
  const std::vector<int64_t> strides = ir::StridesOf(type.shape);
  int64_t left = 1;
  for (const int64_t size : lines) left *= size;
  std::vector<int64_t> index(lines.size(), 0);
  for (int64_t own = 0; left > 0; --left, own += bytes) {
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d)
      place += (start[d] + index[d]) * strides[d];
    copy(own, place * element, bytes);
    if (!lines.empty()) ir::Advance(lines, index);
  }
}

}  // namespace

ir::Literal TileOf(const ir::Literal& whole, const ir::Type& type,
                   const Sharding& sharding, int device, int64_t count) {
  int64_t size = 1;
  for (const int64_t d : TileShape(sharding, type.shape)) size *= d;
  ir::Literal tile = ir::Literal::Zeros(type.element, size);
  uint8_t* const to = tile.data();
  ForLines(type, sharding, device, count,
           [&](int64_t own, int64_t place, int64_t bytes) {
             std::memcpy(to + own, whole.data() + place, bytes);
           });
  return tile;
}

void PutTile(const ir::Literal& tile, const ir::Type& type,
             const Sharding& sharding, int device, int64_t count,
             ir::Literal& whole) {
  uint8_t* const to = whole.data();
  ForLines(type, sharding, device, count,
           [&](int64_t own, int64_t place, int64_t bytes) {
             std::memcpy(to + place, tile.data() + own, bytes);
           });
}

}  // namespace systole::partition
