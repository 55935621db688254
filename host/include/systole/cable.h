// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cables between the links of chips.
#ifndef SYSTOLE_CABLE_H_
#define SYSTOLE_CABLE_H_

#include <array>
#include <cstdint>
#include <limits>

namespace systole {

inline constexpr std::array<const char*, 4> kLinkNames = {"X+", "X-", "Y+",
                                                          "Y-"};

// A link of a chip: chips as their host numbers them, links as kLinkNames.
struct LinkEnd {
  int chip = 0, link = 0;
};
inline bool operator==(const LinkEnd& a, const LinkEnd& b) {
  return a.chip == b.chip && a.link == b.link;
}

inline bool operator!=(const LinkEnd& a, const LinkEnd& b) { return !(a == b); }

// Carries both directions.
struct Cable {
  LinkEnd ends[2];
  // Pulled: no signal arrives from this cycle of the simulation on.
  uint64_t until = std::numeric_limits<uint64_t>::max();
};

}  // namespace systole

#endif  // SYSTOLE_CABLE_H_
