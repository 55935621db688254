// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// links: opens the chips of a device, and shows the torus that their links
// form, and what went over each link.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/runtime/board.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "nlohmann/json.hpp"
#include "systole/target.h"

namespace systole::tools {
namespace {

struct LinksArgs {
  std::string preset = "minichip";
  int chips = 4;
  std::string torus;   // "2x2"; empty: as programs have it
  std::string cables;  // a file
  int wire_errors = 0;
  bool json = false, quiet = false;
};

struct Chip {
  int number = 0;
  std::vector<LinkInfo> links;
};

absl::StatusOr<LinkEnd> ParseEnd(absl::string_view text) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 1));
  LinkEnd end;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &end.chip)) {
    for (end.link = 0; end.link < static_cast<int>(kLinkNames.size());
         ++end.link)
      if (parts[1] == kLinkNames[end.link]) return end;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", Printable(std::string(text)),
                   "' is no link: 0.X+ is link X+ of chip 0"));
}

// A line a cable: "0.X+ 1.X-", perhaps with the cycle in which it is pulled;
// '#' begins a comment.
absl::StatusOr<std::vector<Cable>> ReadCables(const std::string& file) {
  auto text = ReadFile(file);
  if (!text.ok()) return text.status();
  std::vector<Cable> cables;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    Cable cable;
    absl::Status s =
        words.size() == 2 || words.size() == 3
            ? absl::OkStatus()
            : absl::InvalidArgumentError(
                  "a cable is two links: 0.X+ 1.X-, perhaps with the cycle in "
                  "which it is pulled");
    for (int e = 0; e < 2 && s.ok(); ++e) {
      const auto end = ParseEnd(words[e]);
      if (end.ok()) cable.ends[e] = *end;
      s = end.status();
    }
    if (s.ok() && words.size() == 3 &&
        !absl::SimpleAtoi(words[2], &cable.until))
      s = absl::InvalidArgumentError(absl::StrCat(
          "'", Printable(std::string(words[2])), "' is no number of a cycle"));
    if (!s.ok())
      return absl::Status(s.code(),
                          absl::StrCat(file, ":", number, ": ", s.message()));
    cables.push_back(cable);
  }
  if (cables.empty())
    return absl::InvalidArgumentError(absl::StrCat(file, ": has no cables"));
  return cables;
}

absl::StatusOr<Torus> TorusOf(const LinksArgs& args) {
  if (args.torus.empty()) return runtime::TorusOf(args.chips);
  const std::vector<std::string> sizes = absl::StrSplit(args.torus, 'x');
  Torus torus;
  if (sizes.size() == 2 && absl::SimpleAtoi(sizes[0], &torus.columns) &&
      absl::SimpleAtoi(sizes[1], &torus.rows))
    return torus;
  return absl::InvalidArgumentError(absl::StrCat(
      "--torus ", Printable(args.torus), ": columns and rows, as 4x2"));
}

// Chips with their numbers; lines are cables, and those at the edges lead
// around.
void PrintPicture(const Torus& torus, const std::vector<Chip>& chips) {
  const auto cable = [](const LinkInfo& link) {
    return link.down ? 'x' : link.up ? '-' : '?';
  };
  std::printf("\n");
  for (int y = 0; y < torus.rows; ++y) {
    std::string boxes, stems;
    for (int x = 0; x < torus.columns; ++x) {
      const Chip& chip = chips[y * torus.columns + x];
      const char c = cable(chip.links[0]);
      absl::StrAppendFormat(&boxes, "%c[%3d ]%c",
                            torus.columns > 1 ? cable(chip.links[1]) : ' ',
                            chip.number, torus.columns > 1 ? c : ' ');
      const char down = cable(chip.links[2]);
      absl::StrAppend(&stems, "    ", std::string(1, down == '-' ? '|' : down),
                      "   ");
    }
    std::printf("  %s\n", boxes.c_str());
    if (torus.rows > 1) std::printf("  %s\n", stems.c_str());
  }
  std::printf("\n");
}

void PrintTable(const Torus& torus, const std::vector<Chip>& chips) {
  std::printf("%5s %7s %5s  %-17s %-6s %9s %8s %8s %10s %10s\n", "chip",
              "place", "link", "leads to", "state", "trainings", "replays",
              "CRC", "bytes out", "bytes in");
  for (int at = 0; at < torus.chips(); ++at) {
    for (size_t l = 0; l < chips[at].links.size(); ++l) {
      const LinkInfo& link = chips[at].links[l];
      if (!link.peer && !link.up && !link.down) continue;
      const LinkCounts& counts = link.counts;
      std::printf(
          "%5d %7s %5s  %-17s %-6s %9u %8u %8u %10u %10u\n", chips[at].number,
          absl::StrFormat("%d, %d", at % torus.columns, at / torus.columns)
              .c_str(),
          kLinkNames[l],
          link.peer ? absl::StrFormat("chip %d, link %s", link.peer->chip,
                                      kLinkNames[link.peer->link])
                          .c_str()
                    : "",
          link.down ? "down"
          : link.up ? "up"
                    : "trains",
          counts.trainings, counts.replays, counts.crc_errors,
          counts.bytes_sent, counts.bytes_received);
    }
  }
}

nlohmann::json JsonOf(const Torus& torus, const std::vector<Chip>& chips) {
  nlohmann::json all = nlohmann::json::array();
  for (int at = 0; at < torus.chips(); ++at) {
    nlohmann::json links = nlohmann::json::object();
    for (size_t l = 0; l < chips[at].links.size(); ++l) {
      const LinkInfo& link = chips[at].links[l];
      if (!link.peer && !link.up && !link.down) continue;
      const LinkCounts& counts = link.counts;
      nlohmann::json one = {{"up", link.up},
                            {"down", link.down},
                            {"trainings", counts.trainings},
                            {"replays", counts.replays},
                            {"crc_errors", counts.crc_errors},
                            {"bytes_sent", counts.bytes_sent},
                            {"bytes_received", counts.bytes_received}};
      if (link.peer)
        one["peer"] = {{"chip", link.peer->chip},
                       {"link", kLinkNames[link.peer->link]}};
      links[kLinkNames[l]] = one;
    }
    all.push_back({{"chip", chips[at].number},
                   {"column", at % torus.columns},
                   {"row", at / torus.columns},
                   {"links", links}});
  }
  return {{"columns", torus.columns}, {"rows", torus.rows}, {"chips", all}};
}

absl::Status ShowLinks(const LinksArgs& args) {
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  DeviceOptions options;
  options.preset = args.preset;
  const auto torus = TorusOf(args);
  if (!torus.ok()) return torus.status();
  options.torus = *torus;
  if (torus->chips() == 1)
    return absl::InvalidArgumentError(
        "a single chip uses no links: --chips says how many there are");
  options.simulation.wire_errors = args.wire_errors;
  options.stop = Interrupted;
  if (!args.cables.empty()) {
    auto cables = ReadCables(args.cables);
    if (!cables.ok()) return cables.status();
    options.simulation.cables = *std::move(cables);
  }
  CatchInterrupts();
  const auto cores = Device::OpenCores("rtl", options);
  if (!cores.ok()) return DeviceError(cores.status());
  const auto on_chip = static_cast<size_t>((*preset)->chip.cores);
  std::vector<Chip> chips;
  for (size_t c = 0; c < cores->size(); c += on_chip) {
    auto links = (*cores)[c]->simulator()->Links();
    if (!links.ok()) return DeviceError(links.status());
    chips.push_back({(*cores)[c]->chip(), *std::move(links)});
  }
  if (args.json) {
    std::printf("%s\n", JsonOf(*torus, chips).dump(2).c_str());
    return absl::OkStatus();
  }
  std::printf("%d chips of %s: a torus of %d x %d, as their links lead\n",
              torus->chips(), args.preset.c_str(), torus->columns, torus->rows);
  PrintPicture(*torus, chips);
  PrintTable(*torus, chips);
  return absl::OkStatus();
}

}  // namespace

void AddLinksCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<LinksArgs>();
  CLI::App* sub = app.add_subcommand(
      "links", "Show the torus that chips form, and the state of their links");
  sub->add_option("--preset", args->preset,
                  "Configuration with links: " +
                      absl::StrJoin(PresetsThat([](const Target& target) {
                                      return target.chip().link_bytes != 0;
                                    }),
                                    ", "))
      ->capture_default_str();
  CLI::Option* const chips =
      sub->add_option("--chips", args->chips, "Number of chips")
          ->check(WholeNumber(1, 1024))
          ->capture_default_str();
  sub->add_option("--torus", args->torus,
                  "Columns and rows that the chips have to form, as 4x2")
      ->check(FileName())
      ->excludes(chips);
  sub->add_option("--cables", args->cables,
                  "File with the cables, a line each: 0.X+ 1.X-, perhaps with "
                  "the cycle in which it is pulled; otherwise those of the "
                  "torus")
      ->check(FileName());
  sub->add_option("--wire-errors", args->wire_errors,
                  "Bits that turn on the wires, of 2^20")
      ->check(WholeNumber(0, 1 << 20))
      ->capture_default_str();
  sub->add_flag("--json", args->json, "Print JSON instead of the table");
  sub->callback(
      [args, &chosen] { chosen = [args] { return ShowLinks(*args); }; });
}

}  // namespace systole::tools
