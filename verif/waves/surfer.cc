// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "verif/waves/rows.h"

namespace systole::waves {
namespace {

// Names of dividers and markers are one word.
std::string Word(const std::string& text) {
  return absl::StrReplaceAll(text, {{" ", "_"}, {"\"", "_"}, {";", "_"}});
}

std::string FormatName(const View& view, const Row& row) {
  switch (row.format) {
    case Format::kBit:
    case Format::kEnum:
      return "";  // what the viewer chooses
    case Format::kDec:
    case Format::kAnalog:
      return "Unsigned";
    case Format::kSigned:
      return "Signed";
    case Format::kNames:
      return absl::StrCat("systole_", view.names[row.names].name);
    default:
      return "Hexadecimal";
  }
}

}  // namespace

std::string SurferNames(const Names& names) {
  std::string text = absl::StrCat("Name = systole_", names.name,
                                  "\nBits = ", names.bits, "\n");
  for (const auto& [value, name] : names.texts)
    absl::StrAppend(&text, value, " ", name, "\n");
  if (names.none >> names.bits == 0)
    absl::StrAppend(&text, names.none, "[weak] -\n");
  return text;
}

std::string SurferText(const View& view) {
  std::string text = absl::StrCat("load_file ", view.waveform, "\n");
  for (const Group& group : view.groups) {
    absl::StrAppend(&text, "divider_add ", Word(group.name), "\n");
    for (const Row& row : group.rows) {
      absl::StrAppend(&text, "variable_add ", row.signal->full(), "\n");
      if (const std::string format = FormatName(view, row); !format.empty())
        absl::StrAppend(&text, "item_set_format ", format, "\n");
      if (!row.color.empty())
        absl::StrAppend(&text, "item_set_color ", row.color, "\n");
    }
  }
  for (const auto& [time, name] : view.markers)
    absl::StrAppend(&text, "marker_set_at ", time, " ", Word(name), "\n");
  if (!view.mark.empty())
    absl::StrAppend(&text, "cursor_set ", view.mark[0], "\n");
  absl::StrAppend(&text, "zoom_to ", view.from, " ", view.to, "\n");
  return text;
}

}  // namespace systole::waves
