// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The program of one member of a group of cores that exchange: pieces go from
// its memory through its unified buffer into the memories of others, whose
// flags it posts.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/schedule_builder.h"
#include "systole/collective.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

// That a preset's cores can exchange, as the group is placed.
absl::Status CheckGroup(const std::vector<int>& group, int columns,
                        const Preset& preset);

// That places of so many vectors, if any are given, are those of the group.
absl::Status CheckMembers(const std::vector<MemberMemory>& memory,
                          size_t vectors, const std::vector<int>& group,
                          const Preset& preset);

class MemberProgram {
 public:
  // group: cores by position; columns: of the torus.
  MemberProgram(const Preset& preset, const std::vector<int>& group,
                int columns, int position)
      : preset_(preset),
        group_(group),
        columns_(columns),
        position_(position),
        hbm_(preset),
        builder_(preset) {}

 protected:
  const Preset& preset() const { return preset_; }
  int position() const { return position_; }
  int size() const { return static_cast<int>(group_.size()); }
  int core() const { return group_[position_]; }
  int64_t beat() const { return preset_.beat_bytes(); }
  // Bytes of a piece at most: 64 rows of lanes.
  int64_t piece_bytes() const { return 64 * 4 * preset_.cols; }
  bool OnChip(int a, int b) const {
    return group_[a] / cores() == group_[b] / cores();
  }
  HbmImage& hbm() { return hbm_; }
  // kResourceExhausted: more than the memory holds.
  absl::Status CheckMemory() const;

  // wait, post: masks of flags between cores, beside those of the program's own
  // order.
  template <class Op>
  void Append(const Op& op, uint32_t wait = 0, uint32_t post = 0) {
    builder_.Append(op);
    Note(wait, post);
  }
  void Append(const isa::Vrun& run, std::vector<Access> accesses,
              int64_t cycles) {
    builder_.Append(run, std::move(accesses), cycles);
    Note(0, 0);
  }
  void Load(uint64_t from, int64_t bytes, int64_t ub, uint32_t wait = 0);
  void Store(uint64_t to, int64_t bytes, int64_t ub, uint32_t post = 0);
  // Into a partner's memory. flag: a mask, posted there afterwards; 0: none.
  // other_way: where there are two ways as long, the one that is not this
  // core's first choice.
  void Send(int partner, uint64_t to, int64_t bytes, int64_t ub, uint32_t flag,
            bool other_way);
  void AddSegment(DataSegment segment) {
    program_.segments.push_back(std::move(segment));
  }
  void AddTensor(TensorInfo tensor) {
    program_.tensors.push_back(std::move(tensor));
  }

  // Places of a piece in the unified buffer, from `first` on; the one that is
  // free for longest is taken next.
  void MakePlaces(int64_t first);
  size_t places() const { return free_.size(); }
  int64_t Take();
  void Free(int64_t ub) { free_.push_back(ub); }

  // The halt waits for these flags.
  absl::StatusOr<Program> Finish(uint32_t halt_waits);

 private:
  int cores() const { return static_cast<int>(preset_.chip.cores); }
  void Note(uint32_t wait, uint32_t post) {
    waits_.push_back(wait);
    posts_.push_back(post);
  }

  const Preset& preset_;
  const std::vector<int> group_;
  const int columns_, position_;
  HbmImage hbm_;
  ScheduleBuilder builder_;
  Program program_;
  std::vector<uint32_t> waits_, posts_;  // of others' flags, by descriptor
  std::deque<int64_t> free_;
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_
