// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "verif/waves/rows.h"

namespace systole::waves {
namespace {

// Names of dividers and markers must be one word.
std::string Word(const std::string& text) {
  return absl::StrReplaceAll(text, {{" ", "_"}, {"\"", "_"}, {";", "_"}});
}

// Surfer's name of a signal. An element of an array is in a scope with the
// array's name: "count_q.[3]".
std::string PathOf(const Signal& signal) {
  return absl::StrCat(signal.scope, ".",
                      absl::StrReplaceAll(signal.name, {{"[", ".["}}));
}

// How commands refer to the item with this index, from 0: hexadecimal digits
// written as the letters a to p.
std::string ItemOf(int index) {
  std::string name = absl::StrFormat("%x", index);
  for (char& c : name) c = c <= '9' ? c - '0' + 'a' : c - 'a' + 'k';
  return name;
}

std::string FormatName(const View& view, const Row& row) {
  switch (row.format) {
    case Format::kBit:
    case Format::kEnum:
      return "";  // the viewer's default
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
  int items = 0;
  for (const Group& group : view.groups) {
    absl::StrAppend(&text, "divider_add ", Word(group.name), "\n");
    ++items;
    for (const Row& row : group.rows) {
      // Format and colour apply to the item with the focus; the next item is
      // added after it.
      absl::StrAppend(&text, "variable_add ", PathOf(*row.signal),
                      "\nitem_focus ", ItemOf(items++), "\n");
      if (const std::string format = FormatName(view, row); !format.empty())
        absl::StrAppend(&text, "item_set_format ", format, "\n");
      if (!row.color.empty())
        absl::StrAppend(&text, "item_set_color ", row.color, "\n");
    }
  }
  absl::StrAppend(&text, "item_unfocus\n");
  for (const auto& [time, name] : view.markers)
    absl::StrAppend(&text, "marker_set_at ", time, " ", Word(name), "\n");
  if (!view.mark.empty())
    absl::StrAppend(&text, "cursor_set ", view.mark[0], "\n");
  absl::StrAppend(&text, "zoom_to ", view.from, " ", view.to, "\n");
  return text;
}

}  // namespace systole::waves
