// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/dma/send_reference.h"

#include <algorithm>
#include <optional>

namespace systole::dma_test {
namespace {

using isa::Fault;
using isa::Send;

struct Trap {
  Fault fault;
  uint64_t addr;
};

// Its bytes and its post, as far as it comes.
std::optional<Trap> Do(const SendWorld& world, const Send& d,
                       std::vector<Sent>* sent) {
  const uint64_t beat = world.preset->beat_bytes();
  const bool post = d.header.flags & Send::kLinkPost;
  const bool empty = d.header.flags & Send::kEmpty;
  if (static_cast<int>(d.dst_x) >= world.columns ||
      static_cast<int>(d.dst_y) >= world.rows)
    return Trap{Fault::kIllegalDescriptor, 0};
  Sent to;
  to.x = static_cast<int>(d.dst_x);
  to.y = static_cast<int>(d.dst_y);
  to.core = static_cast<int>(d.dst_core);
  to.tie = (d.header.flags & Send::kNegative) != 0;
  const uint64_t fields[] = {
      d.hbm_addr,   uint64_t{d.ub_addr},     d.hbm_stride1,
      d.ub_stride1, uint64_t{d.hbm_stride2}, uint64_t{d.ub_stride2}};
  if (empty) {
    bool zero = d.len == 0 && d.n1 == 0 && d.n2 == 0;
    for (const uint64_t f : fields) zero &= f == 0;
    if (!post || !zero) return Trap{Fault::kIllegalDescriptor, 0};
  } else {
    if (d.len == 0 || d.n1 == 0 || d.n2 == 0)
      return Trap{Fault::kIllegalDescriptor, 0};
    for (const uint64_t f : fields)
      if (f % beat != 0) return Trap{Fault::kMisaligned, f};
    for (uint64_t i2 = 0; i2 < d.n2; ++i2) {
      for (uint64_t i1 = 0; i1 < d.n1; ++i1) {
        const uint64_t far =
            d.hbm_addr + i2 * d.hbm_stride2 + i1 * d.hbm_stride1;
        const uint64_t ub =
            uint64_t{d.ub_addr} + i2 * d.ub_stride2 + i1 * d.ub_stride1;
        // Whole beats of a run lie in both memories, or none of it is sent.
        for (uint64_t b = 0; b < d.len; b += beat) {
          if (far + b < world.base || far + b + beat > world.end)
            return Trap{Fault::kHbmRange, far + b};
        }
        for (uint64_t b = 0; b < d.len; b += beat) {
          if (ub + b + beat > static_cast<uint64_t>(world.preset->ub_bytes))
            return Trap{Fault::kUbRange, ub + b};
        }
        for (uint64_t b = 0; b < d.len; ++b) {
          to.address = far + b;
          to.source = ub + b;
          to.run_end = b + 1 == d.len;
          sent->push_back(to);
        }
      }
    }
  }
  if (post) {
    to.post = true;
    to.address = isa::kFirstLinkFlag + d.link_flag;
    sent->push_back(to);
  }
  sent->back().last = true;
  return std::nullopt;
}

uint64_t Below(std::mt19937* random, uint64_t n) {
  return std::uniform_int_distribution<uint64_t>(0, n - 1)(*random);
}

}  // namespace

SendExpected SendReference(const SendWorld& world,
                           const std::vector<isa::Descriptor>& descriptors) {
  SendExpected out;
  for (const isa::Descriptor& d : descriptors) {
    const std::optional<Trap> trap = Do(world, Send::Decode(d), &out.sent);
    if (trap) {
      out.fault = trap->fault;
      out.fault_addr = trap->addr;
      break;
    }
    ++out.complete;
  }
  return out;
}

Send RandomSend(const SendWorld& world, std::mt19937* random) {
  const auto below = [random](uint64_t n) { return Below(random, n); };
  const uint64_t beat = world.preset->beat_bytes();
  Send d;
  d.dst_x = static_cast<uint32_t>(below(world.columns));
  d.dst_y = static_cast<uint32_t>(below(world.rows));
  d.dst_core = static_cast<uint32_t>(below(2));
  d.link_flag = static_cast<uint32_t>(below(isa::kNumLinkFlags));
  d.header.flags = static_cast<uint8_t>(below(2) * Send::kLinkPost +
                                        below(2) * Send::kNegative);
  if (below(5) == 0) {
    d.header.flags |= Send::kLinkPost | Send::kEmpty;
    return d;
  }
  d.n1 = static_cast<uint32_t>(1 + below(4));
  d.n2 = static_cast<uint32_t>(1 + below(3));
  const uint64_t beats = 1 + below(below(4) == 0 ? 40 : 6);
  d.len = static_cast<uint32_t>(beats * beat - (below(2) ? below(beat) : 0));
  // The start and two strides within `size` bytes, the last run often at
  // their end.
  const auto place = [&](uint64_t size, auto* addr, auto* stride1,
                         auto* stride2) {
    uint64_t room = size / beat - beats;
    const auto stride = [&](uint64_t count) {
      const uint64_t most = count > 1 ? room / (count - 1) : 4096;
      const uint64_t s =
          std::min(most, below(3) == 0 ? below(most + 1) : below(2 * beats));
      if (count > 1) room -= s * (count - 1);
      return s * beat;
    };
    *stride1 = static_cast<std::decay_t<decltype(*stride1)>>(stride(d.n1));
    *stride2 = static_cast<std::decay_t<decltype(*stride2)>>(stride(d.n2));
    *addr = static_cast<std::decay_t<decltype(*addr)>>(
        (below(4) == 0 ? room : below(room + 1)) * beat);
  };
  place(world.end - world.base, &d.hbm_addr, &d.hbm_stride1, &d.hbm_stride2);
  d.hbm_addr += world.base;
  place(world.preset->ub_bytes, &d.ub_addr, &d.ub_stride1, &d.ub_stride2);
  return d;
}

Send FaultySend(const SendWorld& world, std::mt19937* random) {
  const auto below = [random](uint64_t n) { return Below(random, n); };
  const uint64_t beat = world.preset->beat_bytes();
  for (;;) {
    Send d = RandomSend(world, random);
    const uint32_t offset = static_cast<uint32_t>(1 + below(beat - 1));
    const uint64_t far = below((uint64_t{1} << 36) / beat) * beat;
    const uint32_t ub_far =
        static_cast<uint32_t>(below((1u << 25) / beat) * beat);
    // One field, of a descriptor with data or without.
    const auto change = [&](auto* field, uint64_t to) {
      *field = static_cast<std::decay_t<decltype(*field)>>(to);
    };
    switch (below(20)) {
      case 0:
        change(&d.len, below(2) ? 0 : 1);
        break;
      case 1:
        change(&d.n1, below(2) ? 0 : 1);
        break;
      case 2:
        change(&d.n2, below(2) ? 0 : 1);
        break;
      case 3:
        change(&d.hbm_addr, d.hbm_addr + offset);
        break;
      case 4:
        change(&d.ub_addr, d.ub_addr + offset);
        break;
      case 5:
        change(&d.hbm_stride1, d.hbm_stride1 + offset);
        break;
      case 6:
        change(&d.ub_stride1, d.ub_stride1 + offset);
        break;
      case 7:
        change(&d.hbm_stride2, d.hbm_stride2 + offset);
        break;
      case 8:
        change(&d.ub_stride2, d.ub_stride2 + offset);
        break;
      case 9:
        change(&d.hbm_addr, far);
        break;
      case 10:
        change(&d.hbm_stride1, far);
        break;
      case 11:
        change(&d.hbm_stride2, far);
        break;
      case 12:
        change(&d.ub_addr, ub_far);
        break;
      case 13:
        change(&d.ub_stride1, ub_far);
        break;
      case 14:
        change(&d.ub_stride2, ub_far);
        break;
      case 15:
        change(&d.dst_x, std::min(31, world.columns));
        break;
      case 16:
        change(&d.dst_y, std::min(31, world.rows));
        break;
      case 17:
        d.header.flags ^= Send::kEmpty;
        break;
      case 18:
        d.header.flags &= static_cast<uint8_t>(~Send::kLinkPost);
        break;
      case 19:
        change(&d.hbm_addr, below(2) && world.base > 0
                                ? below(world.base / beat) * beat
                                : d.hbm_addr + beat);
        break;
    }
    if (SendReference(world, {d.Encode()}).fault != Fault::kNone) return d;
  }
}

}  // namespace systole::dma_test
