// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What one member of a group does in an exchange: it loads parcels and sends
// them to where they belong, or to who gives them on. A flag says that a parcel
// has come that is given on; another post follows the last one that is not. Of
// a part of a longer program, each pair of cores has the same flags as in a
// reduction (reduction_member.h), of which the exchange takes two, one for each
// half; a whole program has a flag for each sender.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_MEMBER_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_MEMBER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/collectives/member_program.h"
#include "host/compiler/collectives/routes.h"
#include "systole/collective.h"

namespace systole::compiler {

// kInvalidArgument: what CompileExchange does not take.
absl::Status CheckExchange(const ExchangeSpec& spec, const Preset& preset);

class ExchangeMember : public MemberProgram {
 public:
  // As of ReductionMember. routes: of the spec, straight in a whole program and
  // by bits in a part; they must outlive the member, too.
  ExchangeMember(const ExchangeSpec& spec, const Routes& routes,
                 const Preset& preset, int position,
                 const MemberRoom* room = nullptr)
      : MemberProgram(preset, spec.group, spec.columns, position, room),
        spec_(spec),
        routes_(routes),
        duty_(routes.DutyOf(position, this->room().stretch)) {}

  // Errors: those of CompileExchange.
  absl::StatusOr<Program> Compile();
  absl::StatusOr<MemberPart> CompilePart();

 private:
  void PlaceMemory();
  void AddVector(const std::string& name, const std::string& number,
                 uint64_t at, int64_t bytes);
  int64_t WholeBeats(int64_t bytes) const {
    return (bytes + beat() - 1) / beat() * beat();
  }
  // Fills the vectors after with zeros.
  absl::Status Clear();
  void Emit(const Routes::Handling& handling);
  uint64_t AddressOf(int member, const Routes::Parcel& parcel,
                     const Routes::Place& place) const;
  // The flag that `to` waits for, as a mask.
  uint32_t FlagOf(int from, int to, int half) const;
  uint32_t EndWaits() const;

  const ExchangeSpec& spec_;
  const Routes& routes_;
  const Routes::Duty duty_;
  std::vector<MemberMemory> memory_;  // by position
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_MEMBER_H_
