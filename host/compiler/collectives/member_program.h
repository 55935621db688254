// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The program of one member of a group of cores that exchange: pieces go from
// its memory through its unified buffer into the memories of others, whose
// flags it posts. Or else its part of a longer program, in which it has a part
// of the unified buffer; all addresses in memory are placeholders there, of
// which each belongs to one member.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/collectives/exchange.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/schedule_builder.h"
#include "systole/collective.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

// Of a level between two cores: of each half, for halving and doubling.
inline constexpr int kFlagsOfLevel = 4;

// That a preset's cores can exchange, as the group is placed.
absl::Status CheckGroup(const std::vector<int>& group, int columns,
                        const Preset& preset);

// That the positions of a group that passed CheckGroup can exchange level by
// level: at level l, those that differ in bit l.
absl::Status CheckLevels(const std::vector<int>& group, const Preset& preset);

// That places of so many vectors, if any are given, are those of the group.
absl::Status CheckMembers(const std::vector<MemberMemory>& memory,
                          size_t vectors, const std::vector<int>& group,
                          const Preset& preset);

// What a part of a longer program may use.
struct MemberRoom {
  int64_t ub_begin = 0, ub_end = 0;  // of the unified buffer; whole words
  int64_t pc = 0;                    // from here on of the instruction memory
  // Cores of other chips that it exchanges with, and whose link flags are
  // whose: each has a number, the same that this one has there.
  std::map<int, int> partners = {};
  Stretch stretch = {};  // what is exchanged
};

// A member's part of a longer program: steps that are correct when executed one
// by one, and its code, which lies at placeholder address 0.
struct MemberPart {
  Sequence sequence;
  std::vector<uint64_t> words;
};

// Bytes of a piece at most: 64 rows of lanes.
inline int64_t PieceBytes(const Preset& preset) { return 64 * 4 * preset.cols; }

// Lines in memory that begin `pitch` bytes after each other; in the unified
// buffer they lie dense.
struct MemberLines {
  int64_t bytes = 0;  // of each
  int64_t count = 1, pitch = 0;
};

class MemberProgram {
 public:
  // group: cores by position; columns: of the torus; room: of a part, or null.
  MemberProgram(const Preset& preset, const std::vector<int>& group,
                int columns, int position, const MemberRoom* room = nullptr)
      : preset_(preset),
        group_(group),
        columns_(columns),
        position_(position),
        part_(room != nullptr),
        room_(part_ ? *room : MemberRoom{0, preset.ub_bytes, 0}),
        hbm_(preset),
        builder_(preset) {}

 protected:
  const Preset& preset() const { return preset_; }
  int position() const { return position_; }
  int size() const { return static_cast<int>(group_.size()); }
  int core() const { return group_[position_]; }
  int64_t beat() const { return preset_.beat_bytes(); }
  int64_t piece_bytes() const { return PieceBytes(preset_); }
  bool OnChip(int a, int b) const {
    return group_[a] / cores() == group_[b] / cores();
  }
  // Of a part: the number of a position on another chip.
  int PartnerNumber(int position) const {
    return room_.partners.at(group_[position]);
  }
  HbmImage& hbm() { return hbm_; }
  const MemberRoom& room() const { return room_; }
  bool is_part() const { return part_; }
  // The address of what the other core of the chip has at `address`.
  uint64_t PeerAddress(uint64_t address) const {
    return part_ ? address : preset_.memory_bytes() + address;
  }
  // Of so many beats.
  Access HbmOf(uint64_t from, int64_t beats, bool write) const;
  // What others write there.
  Access ArrivedAt(uint64_t at, const MemberLines& lines) const;
  // kResourceExhausted: more than the memory holds.
  absl::Status CheckMemory() const;

  // wait, post: masks of flags between cores.
  template <class Op>
  void Append(Op op, uint32_t wait = 0, uint32_t post = 0) {
    op.header.wait_mask = wait;
    op.header.post_mask = post;
    builder_.Append(op);
  }
  void Append(const isa::Vrun& run, std::vector<Access> accesses,
              int64_t cycles) {
    builder_.Append(run, std::move(accesses), cycles);
  }
  void Load(uint64_t from, const MemberLines& lines, int64_t ub,
            uint32_t wait = 0, uint32_t post = 0);
  // What others have written, which is there for all later steps.
  void LoadArrived(uint64_t from, const MemberLines& lines, int64_t ub,
                   uint32_t wait);
  void Store(uint64_t to, const MemberLines& lines, int64_t ub,
             uint32_t post = 0);
  // Into a partner's memory. flag: a mask, posted there afterwards; 0: none.
  // other_way: where there are two ways as long, the one that is not this
  // core's first choice.
  void Send(int partner, uint64_t to, const MemberLines& lines, int64_t ub,
            uint32_t flag, bool other_way);
  // Waits for others, or posts that they may go on, behind all that `accesses`
  // are in conflict with: a load of the beat at `from`, which nobody uses.
  void Fence(uint64_t from, std::vector<Access> accesses, uint32_t wait,
             uint32_t post);
  // Brings code, which a program has at an address in memory, to the
  // instruction memory. Returns the bytes of the unified buffer that it passes
  // through, from the first one on.
  int64_t AddCode(std::vector<uint64_t> words, uint64_t address);
  void AddTensor(TensorInfo tensor) {
    program_.tensors.push_back(std::move(tensor));
  }

  // Places of a piece in the unified buffer, all that are left behind `first`
  // bytes; the one that is free for longest is taken next.
  void MakePlaces(int64_t first);
  size_t places() const { return free_.size(); }
  int64_t Take();
  void Free(int64_t ub) { free_.push_back(ub); }

  // The halt waits for these flags.
  absl::StatusOr<Program> Finish(uint32_t halt_waits);
  absl::StatusOr<MemberPart> FinishPart();

 private:
  int64_t Word() const { return std::max(preset_.word_bytes(), beat()); }
  int cores() const { return static_cast<int>(preset_.chip.cores); }

  const Preset& preset_;
  const std::vector<int> group_;
  const int columns_, position_;
  const bool part_;
  const MemberRoom room_;
  HbmImage hbm_;
  ScheduleBuilder builder_;
  Program program_;
  std::vector<uint64_t> words_;  // of a part
  std::deque<int64_t> free_;
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_MEMBER_PROGRAM_H_
