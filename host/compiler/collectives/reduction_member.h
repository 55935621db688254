// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What one member of a group does in an all-reduce, reduce-scatter or
// all-gather. Everything moves in pieces: loaded, combined by the vector unit,
// sent on from the unified buffer, where what the next round combines stays as
// long as there is room. A link flag, or a flag between the cores of a chip,
// says that a piece has come. Each direction of each round has a flag of its
// own, so its posts and waits are in one order, also over several collectives
// behind each other: of the same group, or where each partner has flags of its
// own (MemberRoom::partners). The cores of a chip read each other's
// vectors, which saves to send them.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_MEMBER_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_MEMBER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/collectives/exchange.h"
#include "host/compiler/collectives/member_program.h"
#include "systole/collective.h"

namespace systole::compiler {

// How the vectors are divided.
struct ReductionLayout {
  ReductionLayout(const AllReduceSpec& spec, const Preset& preset);

  Exchange::Way way;
  int64_t chunk;                // beats of a piece at most
  std::vector<int64_t> begins;  // of the vectors, in beats; the end of all
  std::vector<int> orders[2];   // levels of each half
  std::vector<std::vector<Share>> halves[2];  // of each vector
  std::vector<int64_t> columns;               // of each vector
};

class ReductionMember : public MemberProgram {
 public:
  // room: of a part of a longer program; or null. The spec must have passed
  // its check and must outlive the member; of a part it has placeholders as
  // addresses (member_program.h).
  ReductionMember(const AllReduceSpec& spec, const Preset& preset, int position,
                  const MemberRoom* room = nullptr)
      : MemberProgram(preset, spec.group, spec.columns, position, room),
        spec_(spec) {}

  // Errors: those of CompileAllReduce.
  absl::StatusOr<Program> Compile();
  absl::StatusOr<MemberPart> CompilePart();

 private:
  // What happens to a piece of a half in a slot.
  enum class Kind { kCopy, kFirst, kCombine, kOwn, kTake };
  struct Step {
    int64_t slot;
    int half, round;
    Kind kind;
    Piece piece;
  };

  bool combines() const {
    return spec_.phase != AllReduceSpec::Phase::kAllGather;
  }
  bool doubles() const {
    return spec_.phase != AllReduceSpec::Phase::kReduceScatter && !whole_;
  }
  absl::Status Emit();
  absl::Status PlaceMemory();
  absl::Status LoadCode();
  // That this member's vectors are read.
  std::vector<Access> VectorsRead() const;
  void MakeSteps();
  void Emit(const Step& step);
  void EmitCombined(const Step& step, int64_t ub);
  // Keeps a piece for the next round, in its place if enough others are free.
  void Keep(const Step& step, int64_t ub);
  // Combines two places of so many bytes; the result replaces the first.
  void Combine(int64_t ub, int64_t other, int64_t bytes);
  // Sends a final piece to the partners of the rounds before `before`.
  void Give(const Step& step, int before, int64_t ub);
  // The piece to the partner of a round, with or without its flag. Where there
  // are two ways, the halves take one each.
  void SendPiece(int half, int round, bool doubling, const Piece& piece,
                 int64_t ub, bool post);

  // Whether it reads what its first partner would send.
  bool Pulls() const;
  // The flag of what comes in a round of a half, as a mask. Levels between
  // chips are numbered; a half takes its own rounds in its own order.
  uint32_t FlagOf(int half, int round, bool doubling) const;
  // Number of a level among those that lead to other chips; of a part, that of
  // the partner.
  int LinkLevel(int partner) const;
  size_t VectorOf(const Piece& piece) const;
  // Where a piece of the whole vectors lies.
  uint64_t PlaceOf(const std::vector<uint64_t>& vectors,
                   const Piece& piece) const;
  // In the member's own vector, which an all-gather has a part of.
  uint64_t InputOf(const Piece& piece) const;
  // Where what comes in a round lands.
  uint64_t Landing(int member, int round, const Piece& piece) const;
  void LoadPiece(uint64_t from, const Piece& piece, int64_t ub, uint32_t wait,
                 uint32_t post = 0) {
    Load(from, {piece.beats() * beat()}, ub, wait, post);
  }
  void StorePiece(uint64_t to, const Piece& piece, int64_t ub) {
    Store(to, {piece.beats() * beat()}, ub);
  }
  TensorInfo TensorOf(const std::string& name, const std::string& number,
                      int64_t elements, uint64_t at) const;

  const AllReduceSpec& spec_;
  std::vector<int64_t> begins_;  // of the vectors, in beats; the end of all
  std::vector<Exchange> halves_;
  bool whole_ = false;  // Exchange::Way::kWhole
  std::vector<Step> steps_;
  uint32_t end_waits_ = 0;
  std::vector<Piece> at_end_;         // what others bring until then
  int64_t given_left_[2] = {0, 0};    // pieces for the first partner
  int64_t read_left_ = 0;             // pieces of the other core's vector
  std::vector<MemberMemory> memory_;  // by position
  std::map<int64_t, int64_t> kept_;   // by begin of a piece: its place
  size_t reserve_ = 0;      // places that are not taken for what is kept
  bool ready_ = false;      // the first partner's vector was waited for
  int many_ = 0, few_ = 0;  // places of the code
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_REDUCTION_MEMBER_H_
