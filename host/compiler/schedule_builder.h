// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a list of descriptors that is correct when executed one by one into a
// program: collects it as a sequence and runs the passes that find dependences,
// order the steps and plan the sync flags.
//
//   ScheduleBuilder builder(preset);
//   builder.Append(load);     // isa::Load
//   builder.Append(weights);  // right before the matmuls that take its tiles
//   builder.Append(matmul);
//   // Sets the flags and appends the halt.
//   absl::StatusOr<Schedule> schedule = builder.Finish();
#ifndef HOST_COMPILER_SCHEDULE_BUILDER_H_
#define HOST_COMPILER_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/access.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/sequence.h"
#include "host/kernels/kernels.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

struct Schedule {
  std::vector<isa::Descriptor> descriptors;
  Timeline timeline;  // of these without the halt, by the cost model
  int64_t estimated_cycles = 0;
  int edges = 0;  // number of planned waits
};

class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const Preset& preset) : sequence_(preset) {}

  // Finish fails if a field does not fit its width.
  template <class Op>
  void Append(const Op& op) {
    Append(op.Encode(), op.Fits(), {});
  }
  // The descriptor also touches `accesses`.
  template <class Op>
  void Append(const Op& op, std::vector<Access> accesses) {
    Append(op.Encode(), op.Fits(), std::move(accesses));
  }
  template <class Op>
  void Append(const Op& op, const Access& access) {
    Append(op, std::vector<Access>{access});
  }
  // A run of a kernel, with the effects that it declares.
  void Append(const kernels::Call& call);
  // A run of a vector program, with what it touches (a superset) and its
  // cycles.
  void Append(const isa::Vrun& run, std::vector<Access> accesses,
              int64_t cycles);
  // Keeps flags and tag as they are.
  void AppendEncoded(const isa::Descriptor& descriptor) {
    sequence_.steps.push_back({descriptor, {}, 0, kNoDependences});
  }
  void set_tag(int tag) { tag_ = tag; }

  // kResourceExhausted: a field is too large, or there are too many flag posts.
  // `reorder`: order by expected start, else as appended. `observer` sees the
  // sequence as it was appended ("descriptors") and after each pass. `loops`:
  // repetitions in the sequence remain repetitions in the program.
  absl::StatusOr<Schedule> Finish(
      bool reorder = true, SequencePassManager::Observer observer = nullptr,
      bool loops = false);

  // Only orders the steps: they go into a longer sequence. Errors as above.
  absl::StatusOr<Sequence> Ordered();
  // The same, in the order in which they were appended.
  absl::StatusOr<Sequence> AsAppended();

  // The cost model's expectation for what was appended.
  Timeline Expected() const;

  int size() const { return sequence_.size(); }

 private:
  void Append(isa::Descriptor descriptor, bool fits,
              std::vector<Access> touches);

  int tag_ = 0;
  absl::Status status_;
  Sequence sequence_;
};

// The program of a sequence whose steps may stay in their order. `reorder`: it
// orders them by expected start.
absl::StatusOr<Schedule> ScheduleOf(
    Sequence sequence, bool reorder,
    SequencePassManager::Observer observer = nullptr, bool loops = false);

// The program of what Ordered returned.
absl::StatusOr<Schedule> ScheduleOfOrdered(Sequence sequence);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_SCHEDULE_BUILDER_H_
