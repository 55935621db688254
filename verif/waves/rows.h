// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The contents of a view, independent of the viewer.

#ifndef SYSTOLE_VERIF_WAVES_ROWS_H_
#define SYSTOLE_VERIF_WAVES_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "verif/waves/fst_file.h"
#include "verif/waves/names.h"
#include "verif/waves/timeline.h"

namespace systole::waves {

enum class Format { kBit, kHex, kDec, kSigned, kBytes, kEnum, kAnalog, kNames };

struct Row {
  const Signal* signal = nullptr;
  Format format = Format::kHex;
  std::string label;     // empty: the signal's name
  std::string color;     // green, yellow, orange, blue, violet, red; or empty
  size_t names = 0;      // kNames: of View::names
  int element_bits = 8;  // kBytes
  bool numbers = true;   // kBytes: as signed numbers
};

struct Group {
  std::string name;
  bool open = false;
  std::vector<Row> rows;
};

struct View {
  std::string waveform;  // absolute
  std::string folder;    // of names and of Surfer's view, absolute
  std::vector<Group> groups;
  std::vector<Names> names;
  std::vector<std::pair<uint64_t, std::string>> markers;  // 26 at most
  uint64_t from = 0, to = 0;                              // shown at first
  std::vector<uint64_t> mark;  // at most one: the time of interest
};

// The rows of view.json that exist in the waveform and for the program's
// preset. kInternal: a required row is missing.
absl::StatusOr<std::vector<Group>> ReadRows(const FstFile& waveform,
                                            const Program& program,
                                            const std::vector<Names>& names);

std::string GtkwaveText(const View& view);  // a save file (.gtkw)
std::string SurferText(const View& view);   // a command file (.sucl)
// A table of names in the format of each viewer.
std::string GtkwaveNames(const Names& names);
std::string SurferNames(const Names& names);

}  // namespace systole::waves

#endif  // SYSTOLE_VERIF_WAVES_ROWS_H_
