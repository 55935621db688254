// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Tiles of arrays on the host.
#ifndef SYSTOLE_HOST_PARTITION_TILES_H_
#define SYSTOLE_HOST_PARTITION_TILES_H_

#include "host/ir/literal.h"
#include "host/ir/type.h"
#include "host/partition/sharding.h"

namespace systole::partition {

// A device's tile of an array of `type`, which the sharding fits; `count`
// devices.
ir::Literal TileOf(const ir::Literal& whole, const ir::Type& type,
                   const Sharding& sharding, int device, int64_t count);
// Puts a device's tile into the array.
void PutTile(const ir::Literal& tile, const ir::Type& type,
             const Sharding& sharding, int device, int64_t count,
             ir::Literal& whole);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_TILES_H_
