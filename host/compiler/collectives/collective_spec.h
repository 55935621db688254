// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A reduction or an exchange, and what it is as part of a longer program.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_COLLECTIVE_SPEC_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_COLLECTIVE_SPEC_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/collectives/member_program.h"
#include "host/compiler/collectives/routes.h"
#include "systole/collective.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

using CollectiveSpec = std::variant<AllReduceSpec, ExchangeSpec>;

const std::vector<int>& GroupOf(const CollectiveSpec& spec);
void SetGroup(CollectiveSpec& spec, std::vector<int> group, int columns);

class CollectivePart {
 public:
  // Of a group of cores; without memory.
  CollectivePart(CollectiveSpec spec, const Preset& preset);

  const std::vector<int>& group() const { return GroupOf(spec_); }
  // Bytes of each vector before and after, and of the scratch, of a member.
  std::vector<int64_t> in_bytes() const;
  std::vector<int64_t> out_bytes() const;
  int64_t scratch_bytes() const;

  // Whether it can be part of a program; nothing else can be asked if not.
  // kInvalidArgument: why not.
  absl::Status Check() const { return check_; }
  // Positions that give each other something.
  std::set<std::pair<int, int>> pairs() const;
  // In a reduction, whether the cores of a chip meet in the first round;
  // nothing if they do not meet in one.
  std::optional<bool> cores_meet_first() const;

  // In how many steps it is done, of which a stretch takes some.
  int64_t steps() const;
  // Expected, as if it ran alone.
  int64_t cycles() const;

  // What a position does. memory: by position, placeholders.
  absl::StatusOr<MemberPart> Compile(std::vector<MemberMemory> memory,
                                     int position,
                                     const MemberRoom& room) const;

 private:
  CollectiveSpec spec_;
  const Preset& preset_;
  const absl::Status check_;
  std::optional<Routes> routes_;  // of an exchange
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_COLLECTIVE_SPEC_H_
