// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A profiled model, and the forms that it is written in.
//
//   Profile profile{"digits", &preset, {{&program, &recording, analysis}}};
//   WriteFile(PageOf(profile), "profile.html");
#ifndef SYSTOLE_HOST_PROFILE_PROFILE_H_
#define SYSTOLE_HOST_PROFILE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/profile/analysis.h"
#include "host/profile/cores.h"
#include "nlohmann/json.hpp"

namespace systole::profile {

struct ProgramProfile {
  const Program* program = nullptr;
  const Recording* recording = nullptr;
  Analysis analysis;
  // Of joined programs (join.h): the cycle at which each starts. Empty: one
  // program.
  std::vector<uint64_t> starts = {};
};

struct Profile {
  std::string model;
  const Preset* preset = nullptr;
  // A command that runs the same programs; the page puts options of a waveform
  // behind it.
  std::string command;
  std::vector<ProgramProfile> programs;
  // Of several cores: `programs` are those of one core each, all with the same
  // axis of cycles.
  const JoinedCores* cores = nullptr;
};

// What the page shows. docs/profile.md, "The data".
nlohmann::ordered_json DataOf(const Profile& profile);
// The same as text; bytes of names that are no UTF-8 are replaced.
std::string JsonOf(const Profile& profile);
// One HTML file that needs nothing else: the data are in it, compressed.
std::string PageOf(const Profile& profile);
// A trace that Perfetto reads: a track a unit and lane, flags as flows,
// counters of the memory's beats; of several cores for each, and counters of
// the links' bytes. A cycle is a nanosecond.
std::string PerfettoTraceOf(const Profile& profile);
// XSpace of XProf (.xplane.pb): a plane for each core, a line a unit, and one
// of the layers. A cycle is a nanosecond.
std::string XSpaceOf(const Profile& profile);

// Rows of a unit's bars, at most kUnitRows, which is more than any has in
// flight: descriptors of one row follow each other. Indices are those of the
// program's descriptors.
inline constexpr int kUnitRows = 64;
std::vector<int> RowsOf(const Program& program, const Recording& recording);
// "array", "array 2"
std::string RowName(int queue, int row);
// "conv1 matmul"
std::string NameOf(const Program& program, size_t descriptor);

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_PROFILE_H_
