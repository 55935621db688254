// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Start of the links between the chips of a device. No chip knows where it is.
// The host gives each a number; links tell it to their other ends, and the host
// follows them from chip 0 on. So it finds the torus, and tells each chip its
// place (docs/link.md).
//
//   absl::StatusOr<Places> places = StartLinks(registers, {2, 2});
//   const int chip = places->chip_at[1];  // which lies at column 1, row 0
#ifndef SYSTOLE_HOST_DRIVER_LINKS_H_
#define SYSTOLE_HOST_DRIVER_LINKS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/cable.h"
#include "systole/device.h"

namespace systole {

// Registers of the links, by byte offset (csr::kLinks...), of chips that the
// host numbers from 0 on.
class LinkRegisters {
 public:
  virtual ~LinkRegisters() = default;
  virtual int chips() const = 0;
  virtual absl::StatusOr<uint32_t> Read(int chip, uint32_t offset) = 0;
  virtual absl::Status Write(int chip, uint32_t offset, uint32_t value) = 0;
};

// Of each chip: who is at the other ends of its links.
using Peers = std::vector<std::array<std::optional<LinkEnd>, 4>>;

// Where chips lie. chip_at: by place, row by row; chip 0 is at place 0.
struct Places {
  Torus torus;
  std::vector<int> chip_at;
};

// The torus that links form: from X+ to X-, from Y+ to Y-. A link between a
// chip and itself counts as none. kFailedPrecondition names the first link that
// is in the way.
absl::StatusOr<Places> FindPlaces(const Peers& peers);

// Resets the chips' networks. What is on its way is lost, and cores that send
// meanwhile send into nothing, until StartLinks.
absl::Status ResetLinks(LinkRegisters& chips);

// Trains the links, finds the torus, which has to be `torus`, and tells the
// chips their places. Errors: FindPlaces's; kFailedPrecondition: it is another
// torus.
absl::StatusOr<Places> StartLinks(LinkRegisters& chips, const Torus& torus);

// Who is at the other ends now; none where a link has not trained.
absl::StatusOr<Peers> ReadPeers(LinkRegisters& chips);

absl::StatusOr<std::vector<LinkCounts>> ReadLinkCounts(LinkRegisters& chips,
                                                       int chip);

absl::StatusOr<std::vector<LinkInfo>> ReadLinks(LinkRegisters& chips, int chip);

// "link X+, to X- of chip 3, is down: ..."; the first that is down, else empty.
absl::StatusOr<std::string> DescribeDown(LinkRegisters& chips, int chip);

}  // namespace systole

#endif  // SYSTOLE_HOST_DRIVER_LINKS_H_
