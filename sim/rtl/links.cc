// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "sim/rtl/links.h"

#include <array>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_format.h"
#include "systole/gen/csr.h"

namespace systole {
namespace {

constexpr std::array<const char*, tb::kLinks> kLinkNames = {"X+", "X-", "Y+",
                                                            "Y-"};
// A register's read takes some cycles; training about 160 and the cable's.
constexpr int kReads = 10000;

}  // namespace

absl::Status StartLinks(tb::Simulation& device) {
  const auto columns = static_cast<uint32_t>(device.columns()),
             rows = static_cast<uint32_t>(device.rows());
  const uint32_t links = (columns > 1 ? 3u : 0) | (rows > 1 ? 12u : 0);
  // All know their places before any carries packets.
  for (const bool enable : {false, true}) {
    for (uint32_t y = 0; y < rows; ++y) {
      for (uint32_t x = 0; x < columns; ++x) {
        const int chip = static_cast<int>(y * columns + x);
        const auto write = [&](uint32_t offset, uint32_t value) {
          return device.WriteRegister(offset, value, chip);
        };
        absl::Status s = enable ? write(csr::kLinksEnable, links)
                                : write(csr::kLinksTorus, rows << 8 | columns);
        if (s.ok() && !enable) s = write(csr::kLinksPlace, y << 8 | x);
        if (!s.ok()) return s;
      }
    }
  }
  for (int chip = 0; chip < static_cast<int>(columns * rows); ++chip) {
    uint32_t up = 0;
    for (int i = 0; i < kReads && up != links; ++i) {
      auto state = device.ReadRegister(csr::kLinksState, chip);
      if (!state.ok()) return state.status();
      up = *state & links;
    }
    for (int l = 0; l < tb::kLinks; ++l) {
      if (((links & ~up) >> l & 1) == 0) continue;
      return absl::UnavailableError(absl::StrFormat(
          "link %s of chip %d does not train: is its cable connected?",
          kLinkNames[l], chip));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LinkCounts>> ReadLinks(tb::Simulation& device,
                                                  int chip) {
  std::vector<LinkCounts> links(tb::kLinks);
  for (uint32_t l = 0; l < tb::kLinks; ++l) {
    LinkCounts& counts = links[l];
    uint32_t* const fields[] = {
        &counts.packets_sent,   &counts.bytes_sent, &counts.packets_received,
        &counts.bytes_received, &counts.replays,    &counts.crc_errors,
        &counts.credit_stalls,  &counts.trainings,  &counts.packets_lost};
    for (uint32_t i = 0; i < std::size(fields); ++i) {
      absl::Status s =
          device.WriteRegister(csr::kLinksSelect, l << 8 | i, chip);
      if (!s.ok()) return s;
      auto value = device.ReadRegister(csr::kLinksCountValue, chip);
      if (!value.ok()) return value.status();
      *fields[i] = *value;
    }
  }
  return links;
}

}  // namespace systole
