// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Which collectives the cores of a board do themselves, by programs that send
// over the links (systole/collective.h), and how.
#ifndef SYSTOLE_HOST_RUNTIME_LINK_COLLECTIVES_H_
#define SYSTOLE_HOST_RUNTIME_LINK_COLLECTIVES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/collectives/collective_spec.h"
#include "host/ir/module.h"
#include "systole/collective.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::runtime {

// Larger groups exchange through the host.
inline constexpr int kMostLinkMembers = 8;

// Operands of a collective that one program exchanges. The values lie dense, as
// on the host.
struct LinkCollective {
  // Without group, columns and memory.
  compiler::CollectiveSpec spec;
  std::vector<int> operands;
  std::vector<int64_t> out_bytes;  // of a member's output, for each of them
  int64_t scratch_bytes = 0;       // of its scratch
  // The results of position p begin at byte p * part_bytes of their outputs.
  std::vector<int64_t> part_bytes;

  // A program for each position. Errors: those of CompileAllReduce and
  // CompileExchange.
  absl::StatusOr<std::vector<Program>> Compile(
      const std::vector<int>& group, int columns,
      const std::vector<compiler::MemberMemory>& memory,
      const Preset& preset) const;
};

// Of a node and a group's members; nothing if the host has to do it. sources:
// of collective_permute, by position the one that sends, or -1.
std::vector<LinkCollective> LinkCollectivesOf(const ir::Node& node, int members,
                                              const std::vector<int>& sources,
                                              const Preset& preset);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_LINK_COLLECTIVES_H_
