// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/driver/links.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "systole/gen/csr.h"
#include "systole/gen/link.h"

namespace systole {
namespace {

constexpr int kLinks = 4;
constexpr uint32_t kNetworkReset = 1u << 8, kKnown = 1u << 31;
// Rounds of reading all links in which nothing changes. A round takes a hundred
// cycles and more, a training about 160 and twice the cable's.
constexpr int kQuietRounds = 200;

std::string NameOf(const LinkEnd& end) {
  return absl::StrFormat("link %s of chip %d", kLinkNames[end.link], end.chip);
}

// A link's other end, of another chip.
std::optional<LinkEnd> PeerOf(const Peers& peers, int chip, int link) {
  const std::optional<LinkEnd>& peer = peers[chip][link];
  return peer && peer->chip != chip ? peer : std::nullopt;
}

absl::Status CheckEnd(const Peers& peers, const LinkEnd& here,
                      const LinkEnd& there) {
  const int chips = static_cast<int>(peers.size());
  if (there.chip >= chips) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s leads to a chip with number %d, which the host has not: it has "
        "chips 0 to %d",
        NameOf(here), there.chip, chips - 1));
  }
  if (there.link != (here.link ^ 1)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s leads to %s: it has to lead to a link %s", NameOf(here),
        NameOf(there), kLinkNames[here.link ^ 1]));
  }
  const std::optional<LinkEnd> back = PeerOf(peers, there.chip, there.link);
  if (back && *back == here) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%s leads to %s, which %s", NameOf(here), NameOf(there),
                      back ? "leads to " + NameOf(*back) : "hears nothing"));
}

// Each link leads to one of the opposite direction, which leads back; a chip
// has both of a dimension or none.
absl::Status CheckPeers(const Peers& peers) {
  absl::Status silent;
  for (int chip = 0; chip < static_cast<int>(peers.size()); ++chip) {
    for (int link = 0; link < kLinks; ++link) {
      const LinkEnd here{chip, link};
      const std::optional<LinkEnd> there = PeerOf(peers, chip, link);
      if (there) {
        absl::Status s = CheckEnd(peers, here, *there);
        if (!s.ok()) return s;
      } else if (silent.ok() && PeerOf(peers, chip, link ^ 1)) {
        silent = absl::FailedPreconditionError(absl::StrFormat(
            "%s hears nothing: is its cable connected, and the chip at the "
            "other end on?",
            NameOf(here)));
      }
    }
  }
  return silent;
}

// The chips along a positive direction, from one on until it comes again.
std::vector<int> Ring(const Peers& peers, int from, int link) {
  std::vector<int> ring = {from};
  for (auto next = PeerOf(peers, from, link); next && next->chip != from;
       next = PeerOf(peers, next->chip, link))
    ring.push_back(next->chip);
  return ring;
}

// Each chip is at one place, and its links lead to those beside it.
absl::Status CheckPlaces(const Peers& peers, const Places& places) {
  const auto [columns, rows] = places.torus;
  std::vector<bool> used(peers.size());
  for (size_t at = 0; at < places.chip_at.size(); ++at) {
    const int chip = places.chip_at[at];
    const int x = static_cast<int>(at) % columns,
              y = static_cast<int>(at) / columns;
    const int beside[] = {places.chip_at[y * columns + (x + 1) % columns],
                          places.chip_at[(y + 1) % rows * columns + x]};
    const std::string begin = absl::StrFormat(
        "the cables form no torus of %d x %d chips", columns, rows);
    for (int d = 0; d < 2; ++d) {
      const auto there = PeerOf(peers, chip, 2 * d);
      if ((there ? there->chip : chip) == beside[d]) continue;
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: %s, at column %d of row %d, leads to chip %d, and has to lead "
          "to chip %d",
          begin, NameOf({chip, 2 * d}), x, y, there ? there->chip : chip,
          beside[d]));
    }
    if (used[chip]) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: chip %d, at column %d of row %d, is in the torus once more",
          begin, chip, x, y));
    }
    used[chip] = true;
  }
  const auto apart = std::find(used.begin(), used.end(), false);
  if (apart == used.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "no link leads to chip %d: chip 0 is in a torus of %d x %d without it",
      std::distance(used.begin(), apart), columns, rows));
}

absl::Status WriteAll(LinkRegisters& chips, uint32_t offset, uint32_t value) {
  for (int chip = 0; chip < chips.chips(); ++chip)
    if (absl::Status s = chips.Write(chip, offset, value); !s.ok()) return s;
  return absl::OkStatus();
}

uint32_t Number(int chip) { return static_cast<uint32_t>(chip) << 16; }

// Whether the links of all dimensions of the torus have trained.
bool AllHear(const Peers& peers, const Torus& torus) {
  return std::all_of(peers.begin(), peers.end(), [&](const auto& of_chip) {
    return (torus.columns == 1 || (of_chip[0] && of_chip[1])) &&
           (torus.rows == 1 || (of_chip[2] && of_chip[3]));
  });
}

}  // namespace

absl::StatusOr<Places> FindPlaces(const Peers& peers) {
  if (absl::Status s = CheckPeers(peers); !s.ok()) return s;
  Places places;
  const std::vector<int> row = Ring(peers, 0, 0), column = Ring(peers, 0, 2);
  places.torus = {static_cast<int>(row.size()),
                  static_cast<int>(column.size())};
  for (int chip : column) {
    for (size_t x = 0; x < row.size(); ++x) {
      places.chip_at.push_back(chip);
      const auto next = PeerOf(peers, chip, 0);
      chip = next ? next->chip : chip;
    }
  }
  if (absl::Status s = CheckPlaces(peers, places); !s.ok()) return s;
  return places;
}

absl::Status ResetLinks(LinkRegisters& chips) {
  return WriteAll(chips, csr::kLinksEnable, kNetworkReset);
}

absl::StatusOr<Peers> ReadPeers(LinkRegisters& chips) {
  Peers peers(chips.chips());
  for (int chip = 0; chip < chips.chips(); ++chip) {
    for (int link = 0; link < kLinks; ++link) {
      absl::Status s = chips.Write(chip, csr::kLinksSelect,
                                   static_cast<uint32_t>(link) << 8);
      if (!s.ok()) return s;
      const auto peer = chips.Read(chip, csr::kLinksPeer);
      if (!peer.ok()) return peer.status();
      if ((*peer & kKnown) == 0) continue;
      peers[chip][link] = LinkEnd{static_cast<int>(*peer & 0xffff),
                                  static_cast<int>(*peer >> 16 & 3)};
    }
  }
  return peers;
}

absl::StatusOr<Places> StartLinks(LinkRegisters& chips, const Torus& torus) {
  absl::Status s = ResetLinks(chips);
  for (int chip = 0; s.ok() && chip < chips.chips(); ++chip)
    s = chips.Write(chip, csr::kLinksPlace, Number(chip));
  if (s.ok()) s = WriteAll(chips, csr::kLinksTorus, 1 << 8 | 1);
  if (s.ok()) s = WriteAll(chips, csr::kLinksEnable, (1 << kLinks) - 1);
  if (!s.ok()) return s;
  // Until the links of the torus hear each other. If some do not, until no more
  // come.
  Peers peers;
  for (int round = 0, changed = 0; round < changed + kQuietRounds; ++round) {
    auto now = ReadPeers(chips);
    if (!now.ok()) return now.status();
    if (*now != peers) changed = round;
    peers = *std::move(now);
    if (AllHear(peers, torus)) break;
  }
  auto places = FindPlaces(peers);
  if (!places.ok()) return places.status();
  const auto [columns, rows] = places->torus;
  if (columns != torus.columns || rows != torus.rows) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the cables form a torus of %d x %d chips, asked was for %d x %d",
        columns, rows, torus.columns, torus.rows));
  }
  const uint32_t links = (columns > 1 ? 3u : 0) | (rows > 1 ? 12u : 0);
  s = WriteAll(chips, csr::kLinksTorus,
               static_cast<uint32_t>(rows << 8 | columns));
  for (int at = 0; s.ok() && at < torus.chips(); ++at) {
    const int chip = places->chip_at[at];
    s = chips.Write(
        chip, csr::kLinksPlace,
        Number(chip) | static_cast<uint32_t>(at / columns << 8 | at % columns));
    if (s.ok()) s = chips.Write(chip, csr::kLinksEnable, links);
  }
  if (!s.ok()) return s;
  return places;
}

absl::StatusOr<std::vector<LinkCounts>> ReadLinkCounts(LinkRegisters& chips,
                                                       int chip) {
  std::vector<LinkCounts> links(kLinks);
  for (uint32_t l = 0; l < kLinks; ++l) {
    LinkCounts& counts = links[l];
    uint32_t* const fields[] = {
        &counts.packets_sent,   &counts.bytes_sent, &counts.packets_received,
        &counts.bytes_received, &counts.replays,    &counts.crc_errors,
        &counts.credit_stalls,  &counts.trainings,  &counts.packets_lost};
    for (uint32_t i = 0; i < std::size(fields); ++i) {
      absl::Status s = chips.Write(chip, csr::kLinksSelect, l << 8 | i);
      if (!s.ok()) return s;
      auto value = chips.Read(chip, csr::kLinksCountValue);
      if (!value.ok()) return value.status();
      *fields[i] = *value;
    }
  }
  return links;
}

absl::StatusOr<std::vector<LinkInfo>> ReadLinks(LinkRegisters& chips,
                                                int chip) {
  const auto state = chips.Read(chip, csr::kLinksState);
  if (!state.ok()) return state.status();
  auto peers = ReadPeers(chips);
  if (!peers.ok()) return peers.status();
  auto counts = ReadLinkCounts(chips, chip);
  if (!counts.ok()) return counts.status();
  std::vector<LinkInfo> links(kLinks);
  for (int l = 0; l < kLinks; ++l) {
    links[l] = {(*state >> l & 1) != 0, (*state >> (8 + l) & 1) != 0,
                (*peers)[chip][l], (*counts)[l]};
  }
  return links;
}

absl::StatusOr<std::string> DescribeDown(LinkRegisters& chips, int chip) {
  const auto state = chips.Read(chip, csr::kLinksState);
  if (!state.ok()) return state.status();
  for (int link = 0; link < kLinks; ++link) {
    if ((*state >> (8 + link) & 1) == 0) continue;
    const auto peers = ReadPeers(chips);
    if (!peers.ok()) return peers.status();
    const std::optional<LinkEnd>& there = (*peers)[chip][link];
    const auto cause = static_cast<link::Cause>(*state >> (16 + 2 * link) & 3);
    return absl::StrFormat(
        "%s%s is down: %s", NameOf({chip, link}),
        there ? ", to " + NameOf(*there) + "," : "",
        cause == link::Cause::kPeerReset
            ? "the other end was reset while it held packets of this one"
            : "packets get no further, nor do trainings help");
  }
  return std::string();
}

}  // namespace systole
