// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Between the cores of a device: whose queues, flags and memories are whose,
// and what a send brings to another core.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "sim/iss/race_checker.h"

namespace systole::iss {

int RaceChecker::CoreOf(int queue) const {
  const int cores = static_cast<int>(device_->cores.size());
  const int flow = queue - cores * isa::kNumQueues;
  return flow < 0 ? queue / isa::kNumQueues : flow / (2 * cores);
}

Channel& RaceChecker::Waited(int flag) {
  if (!OfOthers(flag)) return channels_[flag];
  return device_->channels[core_][flag - isa::kFirstLinkFlag];
}

Channel& RaceChecker::Posted(int flag) {
  if (!OfOthers(flag)) return channels_[flag];
  return device_->channels[core_ ^ 1][flag - isa::kFirstLinkFlag];
}

Ranges RaceChecker::OfDevice(const Ranges& ranges) const {
  if (core_ == 0) return ranges;
  const uint64_t own = preset_.memory_bytes();
  const uint64_t first = core_ * own, second = (core_ ^ 1) * own;
  Ranges pieces;
  for (const Range& r : ranges) {
    if (r.begin < own)
      pieces.push_back({r.begin + first, std::min(r.end, own) + first});
    if (r.end > own) {
      pieces.push_back(
          {std::max(r.begin, own) - own + second, r.end - own + second});
    }
  }
  return Normalise(std::move(pieces));
}

// Complete is a send when the network has its packets. That they have arrived
// is known by a later post of the same flow alone.
void RaceChecker::Deliver(const Access& self, const isa::Send& send,
                          const Ranges& sent, const Clock& start,
                          const Clock& done) {
  const int cores = static_cast<int>(device_->cores.size());
  const int to = network_->Number(send.dst_x, send.dst_y, send.dst_core);
  const int way = (send.header.flags & isa::Send::kNegative) != 0 ? 1 : 0;
  const int flow = (core_ * cores + to) * 2 + way;
  const Access packets = {static_cast<uint16_t>(cores * isa::kNumQueues + flow),
                          ++device_->sent[flow], self.index};
  const uint64_t base = to * preset_.memory_bytes();
  Ranges writes;
  for (const Range& range : sent)
    writes.push_back({range.begin + base, range.end + base});
  CheckPrograms(self, writes);
  for (const Range& range : writes) {
    device_->memory.Write(
        range, packets,
        [&](const Range& r, const Access& earlier, bool writes) {
          Conflict(Space::kHbm, r, earlier, writes, packets, true, start);
        });
  }
  if ((send.header.flags & isa::Send::kLinkPost) == 0) return;
  Clock known = done;
  known[packets.queue] = packets.number;
  PostTo(device_->channels[to][send.link_flag],
         isa::kFirstLinkFlag + send.link_flag, self, known);
}

void RaceChecker::CheckPrograms(const Access& self, const Ranges& writes) {
  for (const RaceChecker* core : device_->cores) {
    if (core == nullptr) continue;
    for (const Range& r : Intersect(writes, core->OfDevice({core->program_}))) {
      Add({3, self.index, self.index, Space::kHbm, r,
           absl::StrFormat(
               "race on %s: written, and fetched by the sequencer%s:\n"
               "  %s",
               SpaceRange(Space::kHbm, r),
               core == this ? "" : " of another core", Show(self.index))});
    }
  }
}

}  // namespace systole::iss
