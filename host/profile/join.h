// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that ran one after the other, as one: what a page and a trace show
// of many small ones. What the host did between them has no cycles.
//
//   const Joined joined = Join(pieces);
//   Profile profile{"model", &preset, "", {{&joined.program,
//       &joined.recording, joined.analysis, joined.starts}}};
#ifndef SYSTOLE_HOST_PROFILE_JOIN_H_
#define SYSTOLE_HOST_PROFILE_JOIN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/profile/analysis.h"
#include "host/profile/recorder.h"
#include "systole/program.h"

namespace systole::profile {

struct Piece {
  const Program* program = nullptr;
  const Recording* recording = nullptr;
  // Its first cycle, at or behind the end of the piece before. Up to it the
  // core has no program (Cause::kIdle).
  std::optional<uint64_t> at = std::nullopt;  // behind the piece before
};

struct Joined {
  Program program;  // layers and descriptors of all pieces; it cannot run
  Recording recording;
  Analysis analysis;  // each piece looked at for itself: all cycles of one
                      // with one layer are that layer's
  std::vector<uint64_t> starts;  // cycle at which each piece starts
};

// At most kMostPieces, which is what a descriptor's tag can tell.
inline constexpr size_t kMostPieces = 65535;
// cycles: of all, if more than up to the end of the last piece.
Joined Join(const std::vector<Piece>& pieces, uint64_t cycles = 0);

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_JOIN_H_
