// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a list of descriptors that is right when executed one by one into a
// program: finds every dependence between queues from what the descriptors read
// and write, orders them as the units are expected to start them, and plans the
// sync flags.
//
//   ScheduleBuilder builder(preset);
//   builder.Append(load);      // isa::Load
//   builder.Append(weights);   // right before the matmuls that take its tiles
//   builder.Append(matmul);
//   absl::StatusOr<Schedule> schedule = builder.Finish();   // flags set, halt
//   at the end
#ifndef HOST_COMPILER_SCHEDULE_BUILDER_H_
#define HOST_COMPILER_SCHEDULE_BUILDER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/access.h"
#include "host/compiler/cost_model.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// The latest descriptor of each queue that one must come after; -1 = none.
// Earlier ones of that queue are implied.
using Dependences = std::array<int, isa::kNumQueues>;

struct Schedule {
  std::vector<isa::Descriptor> descriptors;
  int64_t estimated_cycles = 0;
  int edges = 0;  // posts (and waits) planned
};

// Last writer and readers of every granule of a memory.
class TouchMap {
 public:
  explicit TouchMap(int64_t granule) : granule_(granule) {}
  // Adds what `op` of `queue` must come after, and records its access.
  void Touch(const Access& access, int op, isa::Queue queue, Dependences& deps);

 private:
  struct State {
    int writer = -1;
    int8_t writer_queue = -1;
    Dependences readers = {-1, -1, -1, -1, -1};
  };
  int64_t granule_;
  std::vector<State> states_;
};

class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const Preset& preset);

  // A field that does not fit its width makes Finish fail.
  template <class Op>
  void Append(const Op& op) {
    Append(op.Encode(), op.Fits());
  }
  // With what it has to come after: the writers of `after`.
  template <class Op>
  void Append(const Op& op, const Access& after) {
    after_ = after;
    Append(op.Encode(), op.Fits());
    after_.reset();
  }
  // A run of a vector program: what it touches (a superset), and the cycles
  // that it takes.
  void Append(const isa::Vrun& run, std::vector<Access> accesses,
              int64_t cycles);
  // Flags and tag as they are.
  void AppendEncoded(const isa::Descriptor& descriptor) {
    Push(descriptor, AccessesOf(descriptor, preset_),
         CostOf(descriptor, preset_));
  }
  void set_tag(int tag) { tag_ = tag; }

  // kResourceExhausted: a field too large, or too many flag posts. `reorder`:
  // by expected start, else as appended.
  absl::StatusOr<Schedule> Finish(bool reorder = true) const;

  // What the cost model expects of what was appended.
  Timeline Expected() const {
    return Simulate(descriptors_, costs_, deps_, preset_);
  }

  int size() const { return static_cast<int>(descriptors_.size()); }
  const std::vector<Dependences>& dependences() const { return deps_; }

 private:
  void Append(isa::Descriptor descriptor, bool fits);
  void Push(isa::Descriptor descriptor, const std::vector<Access>& accesses,
            const Cost& cost);
  std::vector<int64_t> DispatchKeys(const Timeline& timeline) const;

  const Preset& preset_;
  int tag_ = 0;
  std::optional<Access> after_;
  absl::Status status_;
  std::vector<isa::Descriptor> descriptors_;
  std::vector<Cost> costs_;
  std::vector<Dependences> deps_;
  TouchMap ub_, acc_, hbm_;
};

// The flag of the channel between two queues.
int ChannelFlag(isa::Queue from, isa::Queue to);

// Sets wait and post masks for dependences (indices into `descriptors`, all
// pointing backwards). An edge that queues or other edges imply is left out;
// the n-th post of a channel meets the n-th wait. Returns the edges kept.
absl::StatusOr<int> PlanFlags(std::vector<isa::Descriptor>& descriptors,
                              const std::vector<Dependences>& deps);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_SCHEDULE_BUILDER_H_
