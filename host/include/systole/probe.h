// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What the units of a simulated core do in a cycle, as the probe that is bound
// into its model sees it (verif/profile/systole_profile_probe.sv). A sink that
// SimulationOptions::probes names gets a sample a cycle:
//
//   class Count : public ProbeSink {
//     void Sample(ProbeSample s, uint64_t) override { vectors += s.mxu_enter(); }
//   };
#ifndef SYSTOLE_PROBE_H_
#define SYSTOLE_PROBE_H_

#include <array>
#include <cstdint>

#include "systole/gen/isa.h"

namespace systole {

// FIELD(name, bits), the first in bit 0. Fields of five bits: a bit for each
// queue of isa::Queue that every chip has; of three reads: fetch, weight, load.
//   head             a descriptor is at the head of the queue
//   want             it waits for flags
//   start, done      one starts; the oldest in flight is complete
//   running          a program runs
//   desc_valid       the sequencer has a descriptor to dispatch,
//   dispatch_stall   and no room in its queue,
//   dispatch_queue   which is this one; dispatch: it goes there
//   mxu_enter        a vector goes into the array
//   mxu_step         the data setup lets one go, to the array or the transposer
//   mxu_stall_*      it must not go: no tile, array not free for the tile, a
//                    sum on its way, no window of the unified buffer
//   mxu_next         there is a next vector
//   mxu_last         the vector of mxu_step is the last of its descriptor
//   weight_beat      a beat goes into the weight FIFO
//   weight_full      one waits for room there
//   *_valid, *_ready a request and its grant; ub: of the unified buffer
//   rd_answer        a beat comes from the memory
//   vec_progress     the vector unit worked in the cycle before
//   vec_stall_*      it waits for a port: of the unified buffer, accumulators
//   vec_write        it writes to the unified buffer
//   hbm_*            the memory's data bus, row commands, refresh, columns; a
//                    cycle late
// Of the send unit and the halt, in chips with links:
//   halt_want        the halt waits for its flags, or for what is in flight
//   send_head, ...   the same of the queue `send`
//   send_net_*       a flit for the network, send_post: a packet without data
inline constexpr int kProbedQueues = isa::kNumQueues;
#define SYSTOLE_PROBE_SEND_FIELDS(FIELD) \
  FIELD(halt_want, 1)                    \
  FIELD(send_head, 1)                    \
  FIELD(send_want, 1)                    \
  FIELD(send_start, 1)                   \
  FIELD(send_done, 1)                    \
  FIELD(send_ub_valid, 1)                \
  FIELD(send_ub_ready, 1)                \
  FIELD(send_net_valid, 1)               \
  FIELD(send_net_ready, 1)               \
  FIELD(send_post, 1)
#define SYSTOLE_PROBE_FIELDS(FIELD) \
  FIELD(head, 5)                    \
  FIELD(want, 5)                    \
  FIELD(start, 5)                   \
  FIELD(done, 5)                    \
  FIELD(running, 1)                 \
  FIELD(desc_valid, 1)              \
  FIELD(dispatch_stall, 1)          \
  FIELD(mxu_enter, 1)               \
  FIELD(mxu_step, 1)                \
  FIELD(mxu_stall_weights, 1)       \
  FIELD(mxu_stall_swap, 1)          \
  FIELD(mxu_stall_acc, 1)           \
  FIELD(mxu_stall_ub, 1)            \
  FIELD(mxu_next, 1)                \
  FIELD(mxu_last, 1)                \
  FIELD(weight_beat, 1)             \
  FIELD(weight_full, 1)             \
  FIELD(weight_ub_valid, 1)         \
  FIELD(weight_ub_ready, 1)         \
  FIELD(rd_valid, 3)                \
  FIELD(rd_ready, 3)                \
  FIELD(rd_answer, 3)               \
  FIELD(load_ub_valid, 1)           \
  FIELD(load_ub_ready, 1)           \
  FIELD(store_ub_valid, 1)          \
  FIELD(store_ub_ready, 1)          \
  FIELD(store_mem_valid, 1)         \
  FIELD(store_mem_ready, 1)         \
  FIELD(vec_progress, 1)            \
  FIELD(vec_stall_ub, 1)            \
  FIELD(vec_stall_acc, 1)           \
  FIELD(vec_write, 1)               \
  FIELD(hbm_read, 1)                \
  FIELD(hbm_write, 1)               \
  FIELD(hbm_activate, 1)            \
  FIELD(hbm_refresh, 1)             \
  FIELD(hbm_columns, 1)             \
  FIELD(dispatch_queue, 3)          \
  FIELD(dispatch, 1)

struct ProbeSample {
  uint64_t bits = 0;
  uint32_t send = 0;  // of the send unit; 0 in chips without links

  // Each field as a bit offset and an accessor.
#define SYSTOLE_FIELD(name, width) \
  k_##name, k_##name##_last = k_##name + width - 1,
  enum Field : int { SYSTOLE_PROBE_FIELDS(SYSTOLE_FIELD) kBits };
  enum SendField : int { SYSTOLE_PROBE_SEND_FIELDS(SYSTOLE_FIELD) kSendBits };
#undef SYSTOLE_FIELD
#define SYSTOLE_FIELD(name, width)                          \
  constexpr uint32_t name() const {                         \
    return bits >> k_##name & ((uint32_t{1} << width) - 1); \
  }
  SYSTOLE_PROBE_FIELDS(SYSTOLE_FIELD)
#undef SYSTOLE_FIELD
#define SYSTOLE_FIELD(name, width) \
  constexpr uint32_t name() const { return send >> k_##name & 1; }
  SYSTOLE_PROBE_SEND_FIELDS(SYSTOLE_FIELD)
#undef SYSTOLE_FIELD

  // Of all queues, a bit for each.
  constexpr uint32_t heads() const { return head() | send_head() << kSend; }
  constexpr uint32_t wants() const { return want() | send_want() << kSend; }
  constexpr uint32_t starts() const { return start() | send_start() << kSend; }
  constexpr uint32_t dones() const { return done() | send_done() << kSend; }

 private:
  static constexpr int kSend = static_cast<int>(isa::Queue::kSend);
};
static_assert(ProbeSample::kBits <= 64 && ProbeSample::kSendBits <= 16);

// A row command of an HBM's group of pseudo-channels, which all get the same
// ones (docs/hbm.md).
struct RowCommand {
  int group = 0;
  uint32_t command = 0;  // hbm::RowCmd, not kNop
  uint32_t bank = 0, row = 0;
};

// What happened on a link of a chip since the device was opened.
struct LinkCounts {
  uint32_t packets_sent = 0, bytes_sent = 0;  // replays included; payload
  uint32_t packets_received = 0, bytes_received = 0;
  uint32_t replays = 0, crc_errors = 0;
  uint32_t credit_stalls = 0;  // cycles
  uint32_t trainings = 0;
  uint32_t packets_lost = 0;  // given up, as the link is down
};
// Of X+, X-, Y+, Y-.
using ChipLinkCounts = std::array<LinkCounts, 4>;

// The chips of a device may be simulated by several threads; a sink is called
// by the thread of its core's chip.
class ProbeSink {
 public:
  virtual ~ProbeSink() = default;
  // In each cycle of the core, also between programs. `cycle`: of the device,
  // of which all chips have the same clock.
  virtual void Sample(ProbeSample sample, uint64_t cycle) = 0;
  // After the cycle's sample.
  virtual void Command(const RowCommand&) {}
  // Likewise, every kLinkCycles cycles: of a chip with links, to the sink of
  // its first core.
  static constexpr uint64_t kLinkCycles = 256;
  virtual void Links(const ChipLinkCounts&, uint64_t /*cycle*/) {}
};

}  // namespace systole

#endif  // SYSTOLE_PROBE_H_
