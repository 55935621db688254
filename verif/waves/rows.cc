// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/waves/rows.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "systole/gen/presets.h"
#include "verif/waves/embedded.h"

namespace systole::waves {
namespace {

using Json = nlohmann::ordered_json;

// Verilator records arrays of up to this number of elements.
constexpr int kRecordedElements = 32;

// The format of a cell, by its name in view.json.
Format FormatOf(const std::string& as, bool bf16) {
  const std::map<std::string, Format> formats = {
      {"bit", Format::kBit},
      {"hex", Format::kHex},
      {"dec", Format::kDec},
      {"bytes", Format::kBytes},
      {"enum", Format::kEnum},
      {"analog", Format::kAnalog},
      {"element", bf16 ? Format::kHex : Format::kSigned},
      {"sum", bf16 ? Format::kHex : Format::kSigned}};
  const auto found = formats.find(as);
  return found == formats.end() ? Format::kNames : found->second;
}

size_t TableOf(const std::vector<Names>& names, const std::string& name) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].name == name) return i;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<Group>> ReadRows(const FstFile& waveform,
                                            const Program& program,
                                            const std::vector<Names>& names) {
  const Json view = Json::parse(EmbeddedTexts()[0].text, nullptr, true, true);
  const Preset* preset = FindPreset(program.preset);
  const bool bf16 = preset != nullptr && preset->cell == Cell::kBf16;
  const std::string memory =
      preset != nullptr && preset->chip.memory == Memory::kAxi ? "axi" : "hbm";
  const bool long_arrays =
      preset != nullptr &&
      std::max(preset->rows, preset->cols) > kRecordedElements;
  const Names& flags = names[TableOf(names, "flag")];
  std::map<std::string, Json> signals;  // of the earlier groups
  std::vector<Group> groups;
  for (const Json& entry : view["groups"]) {
    Group group{entry["name"], entry.value("open", false), {}};
    std::string from, to;
    const Json* list = entry.contains("signals") ? &entry["signals"] : nullptr;
    if (list == nullptr) {
      list = &signals[entry["like"]];
      from = entry["replace"][0];
      to = entry["replace"][1];
    }
    signals[group.name] = *list;
    if (entry.value("memory", memory) != memory) continue;
    if (entry.value("cell", bf16 ? "bf16" : "int8") != (bf16 ? "bf16" : "int8"))
      continue;
    for (const Json& item : *list) {
      const std::string path =
          from.empty() ? item["path"].get<std::string>()
                       : absl::StrReplaceAll(item["path"].get<std::string>(),
                                             {{from, to}});
      const std::string as = item["as"];
      const std::vector<const Signal*> found = waveform.FindAll(path);
      if (found.empty()) {
        if (long_arrays && (as == "element" || as == "sum")) continue;
        return absl::InternalError(
            absl::StrCat("the waveform has no ", path, " of view.json"));
      }
      for (size_t i = 0; i < found.size(); ++i) {
        Row row;
        row.signal = found[i];
        row.label = item.value("label", "");
        row.color = item.value("color", "");
        row.element_bits = bf16 ? 16 : 8;
        row.numbers = !bf16;
        if (as == "flags") {
          if (flags.texts.count(i) == 0) continue;
          row.format = Format::kDec;
          row.label = absl::StrCat("flag: ", flags.texts.at(i));
        } else {
          row.format = FormatOf(as, bf16);
          if (row.format == Format::kNames) row.names = TableOf(names, as);
        }
        group.rows.push_back(std::move(row));
      }
    }
    if (!group.rows.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace systole::waves
