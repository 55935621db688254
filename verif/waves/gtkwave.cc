// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/waves/rows.h"

namespace systole::waves {
namespace {

// Flags of a row in save files.
constexpr uint64_t kRight = 0x20, kHexadecimal = 0x2, kDecimal = 0x4,
                   kBinary = 0x8, kSignedDecimal = 0x400,
                   kGroupBegin = 0x800200, kGroupEnd = 0x1000200,
                   kClosed = 0x400000, kClosedEnd = 0x401000,
                   kFromFile = 0x2000, kEnumeration = 0x100000000,
                   kCurve = 0x8000, kCurveGoesOn = 0x20000;
constexpr int kCurveRows = 2;                 // in addition to its own
constexpr int kWidth = 1800, kHeight = 1000;  // pixels
constexpr int kNames = 330, kWaves = 1440;
constexpr int kLetters = 26;

int ColorOf(const std::string& color) {
  const std::map<std::string, int> colors = {{"red", 1},    {"orange", 2},
                                             {"yellow", 3}, {"green", 4},
                                             {"blue", 5},   {"violet", 7}};
  const auto found = colors.find(color);
  return found == colors.end() ? 0 : found->second;
}

std::string FileOf(const View& view, const Names& names) {
  return absl::StrCat(view.folder, "/", names.name, ".txt");
}

void AddBytes(const Row& row, const std::string& full, std::string& text) {
  const std::string& name = row.signal->name;
  absl::StrAppendFormat(
      &text, "@%x\n-%s\n@%x\n", kGroupBegin | kClosed, name,
      row.numbers ? kRight | kSignedDecimal : kRight | kHexadecimal);
  const int bits = row.element_bits;
  for (int e = 0; e < row.signal->width / bits; ++e) {
    absl::StrAppendFormat(&text, "#{%s[%d]}", name, e);
    for (int bit = bits * (e + 1) - 1; bit >= bits * e; --bit)
      absl::StrAppendFormat(&text, " (%d)%s", row.signal->width - 1 - bit,
                            full);
    text += "\n";
  }
  absl::StrAppendFormat(&text, "@%x\n-%s\n", kGroupEnd | kClosedEnd, name);
}

void AddRow(const View& view, const Row& row, std::string& text) {
  const std::string full = row.signal->full() + row.signal->range;
  uint64_t flags = kRight | kHexadecimal;
  switch (row.format) {
    case Format::kBytes:
      return AddBytes(row, full, text);
    case Format::kBit:
      flags = kRight | kBinary;
      break;
    case Format::kHex:
      break;
    case Format::kDec:
      flags = kRight | kDecimal;
      break;
    case Format::kSigned:
      flags = kRight | kSignedDecimal;
      break;
    case Format::kEnum:
      flags = kRight | kBinary | kEnumeration;
      break;
    case Format::kAnalog:
      flags = kRight | kDecimal | kCurve;
      break;
    case Format::kNames:
      flags = kRight | kDecimal | kFromFile;
      break;
  }
  absl::StrAppendFormat(&text, "@%x\n", flags);
  if (const int color = ColorOf(row.color); color != 0)
    absl::StrAppendFormat(&text, "[color] %d\n", color);
  if (row.format == Format::kNames)
    absl::StrAppendFormat(&text, "^%d %s\n", row.names + 1,
                          FileOf(view, view.names[row.names]));
  absl::StrAppend(&text,
                  row.label.empty() ? "" : absl::StrCat("+{", row.label, "} "),
                  full, "\n");
  if (row.format == Format::kAnalog) {
    absl::StrAppendFormat(&text, "@%x\n", kCurveGoesOn);
    for (int i = 0; i < kCurveRows; ++i) text += "-\n";
  }
}

}  // namespace

std::string GtkwaveNames(const Names& names) {
  std::string text;
  for (const auto& [value, name] : names.texts)
    absl::StrAppend(&text, value, " ", name, "\n");
  absl::StrAppend(&text, names.none, " ?gray20?-\n");
  return text;
}

std::string GtkwaveText(const View& view) {
  // At this zoom, 200 pixels show 2^-zoom time units.
  const double units = static_cast<double>(
      std::max<uint64_t>(view.to - std::min(view.from, view.to), 1));
  const double zoom = -std::log2(200.0 * units / static_cast<double>(kWaves));
  std::string text = absl::StrFormat(
      "[dumpfile] \"%s\"\n[timestart] %d\n[size] %d %d\n*%f %d", view.waveform,
      view.from, kWidth, kHeight, zoom,
      view.mark.empty() ? int64_t{-1} : static_cast<int64_t>(view.mark[0]));
  for (size_t i = 0; i < kLetters; ++i) {
    absl::StrAppend(
        &text, " ",
        i < view.markers.size() ? absl::StrCat(view.markers[i].first) : "-1");
  }
  text += "\n";
  for (size_t i = 0; i < view.markers.size() && i < kLetters; ++i) {
    absl::StrAppendFormat(&text, "[markername] %c%s\n",
                          static_cast<char>('A' + i), view.markers[i].second);
  }
  absl::StrAppendFormat(&text, "[sst_expanded] 0\n[signals_width] %d\n",
                        kNames);
  for (const Group& group : view.groups) {
    const uint64_t closed = group.open ? 0 : kClosed;
    absl::StrAppendFormat(&text, "@%x\n-%s\n", kGroupBegin | closed,
                          group.name);
    for (const Row& row : group.rows) AddRow(view, row, text);
    absl::StrAppendFormat(&text, "@%x\n-%s\n",
                          kGroupEnd | (group.open ? 0 : kClosedEnd),
                          group.name);
  }
  text += "[pattern_trace] 1\n[pattern_trace] 0\n";
  return text;
}

}  // namespace systole::waves
