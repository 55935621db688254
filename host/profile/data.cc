// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include "host/compiler/access.h"
#include "host/profile/profile.h"
#include "systole/gen/hbm.h"

namespace systole::profile {
namespace {

using Json = nlohmann::ordered_json;

// Of a unit's spans on the page. More are told in windows of equal length, each
// with its largest cause.
constexpr size_t kMostSpans = 200000;

struct Flat {
  Json spans = Json::array();  // length, cause, length, cause, ...
  uint64_t resolution = 1;     // cycles of a window
};

void Append(uint64_t length, int cause, Json& spans) {
  if (!spans.empty() && spans.back() == cause) {
    spans[spans.size() - 2] = spans[spans.size() - 2].get<uint64_t>() + length;
    return;
  }
  spans.push_back(length);
  spans.push_back(cause);
}

Flat FlatSpans(const Recording& recording, const std::vector<Span>& spans) {
  Flat flat;
  while (spans.size() > kMostSpans &&
         recording.cycles / flat.resolution > kMostSpans)
    flat.resolution *= 2;
  const auto end = [&](size_t i) -> uint64_t {
    return i + 1 < spans.size() ? spans[i + 1].start : recording.cycles;
  };
  if (flat.resolution == 1) {
    for (size_t i = 0; i < spans.size(); ++i)
      Append(end(i) - spans[i].start, spans[i].cause, flat.spans);
    return flat;
  }
  size_t i = 0;
  for (uint64_t at = 0; at < recording.cycles; at += flat.resolution) {
    const uint64_t until = std::min(recording.cycles, at + flat.resolution);
    CauseCounts counts{};
    for (;; ++i) {
      counts[spans[i].cause] +=
          std::min(end(i), until) - std::max<uint64_t>(spans[i].start, at);
      if (end(i) >= until) break;
    }
    Append(until - at,
           static_cast<int>(std::max_element(counts.begin(), counts.end()) -
                            counts.begin()),
           flat.spans);
    if (i + 1 < spans.size() && end(i) == until) ++i;
  }
  return flat;
}

// The units that the preset's cores have, which the page numbers in their
// order.
std::vector<Unit> UnitsOf(const Preset& preset) {
  std::vector<Unit> units;
  for (int u = 0; u < kNumUnits; ++u) {
    const auto unit = static_cast<Unit>(u);
    if (HasUnit(preset, unit)) units.push_back(unit);
  }
  return units;
}

// What is kept by unit, of these.
template <typename ByUnit>
Json OfUnits(const std::vector<Unit>& units, const ByUnit& all) {
  Json json = Json::array();
  for (const Unit unit : units) {
    if (static_cast<size_t>(unit) < all.size())
      json.push_back(all[static_cast<size_t>(unit)]);
  }
  return json;
}

// collectives: of several cores, which layers are.
Json LayersJson(const ProgramProfile& p, const std::vector<Unit>& units,
                const std::vector<bool>* collectives) {
  Json layers = Json::array();
  for (size_t l = 0; l < p.program->layers.size(); ++l) {
    const LayerInfo& info = p.program->layers[l];
    const LayerCycles& cycles = p.analysis.layers[l];
    layers.push_back(
        {{"name", info.name},
         {"op", info.op},
         {"shape", info.shape},
         {"tiling", info.tiling},
         {"macs", info.macs},
         {"ideal", info.ideal_cycles},
         {"cycles", cycles.cycles},
         {"first", cycles.first},
         {"last", cycles.last},
         {"vectors", cycles.of(Unit::kMxu, Cause::kWork)},
         {"weights", cycles.of(Unit::kWeight, Cause::kWork)},
         {"activations", cycles.of(Unit::kLoad, Cause::kWork) +
                             cycles.of(Unit::kStore, Cause::kWork)},
         {"vector", cycles.of(Unit::kVector, Cause::kWork)},
         {"filled", cycles.filled},
         {"units", OfUnits(units, cycles.units)}});
    if (collectives != nullptr)
      layers.back()["collective"] = bool{(*collectives)[l]};
  }
  return layers;
}

Json DescriptorsJson(const ProgramProfile& p) {
  Json json = {{"queue", Json::array()},
               {"layer", Json::array()},
               {"row", RowsOf(*p.program, *p.recording)},
               {"head", Json::array()},
               {"start", Json::array()},
               {"end", Json::array()},
               {"waits", Json::array()},
               {"text", Json::array()}};
  for (size_t i = 0; i < p.program->descriptors.size(); ++i) {
    const isa::Descriptor& d = p.program->descriptors[i];
    const DescriptorTimes& times = p.recording->descriptors[i];
    const int tag = compiler::TagOf(d);
    json["queue"].push_back(static_cast<int>(compiler::QueueOf(d)));
    json["layer"].push_back(
        tag < static_cast<int>(p.program->layers.size()) ? tag : -1);
    json["head"].push_back(times.head);
    json["start"].push_back(times.start);
    json["end"].push_back(times.end);
    json["text"].push_back(Disassemble(d));
    Json waits = Json::array();
    for (const FlagWait& w : times.waits)
      waits.push_back({w.flag, w.poster, w.posted});
    json["waits"].push_back(waits.empty() ? Json(0) : std::move(waits));
  }
  return json;
}

// Buffers with the cycles between which descriptors of their layers are at
// work.
Json BuffersJson(const ProgramProfile& p) {
  const size_t layers = p.program->layers.size();
  std::vector<uint64_t> first(layers, std::numeric_limits<uint64_t>::max()),
      last(layers, 0);
  for (size_t i = 0; i < p.program->descriptors.size(); ++i) {
    const size_t tag = compiler::TagOf(p.program->descriptors[i]);
    const DescriptorTimes& times = p.recording->descriptors[i];
    if (tag >= layers || times.end == 0) continue;
    first[tag] = std::min(first[tag], times.start);
    last[tag] = std::max(last[tag], times.end);
  }
  Json buffers = Json::array();
  for (const BufferInfo& b : p.program->buffers) {
    if (b.last_layer >= layers || b.first_layer > b.last_layer) continue;
    uint64_t from = first[b.first_layer], to = 0;
    for (uint32_t l = b.first_layer; l <= b.last_layer; ++l)
      to = std::max(to, last[l]);
    if (from > to) continue;  // no descriptor of the layer
    buffers.push_back({{"name", b.name},
                       {"address", b.ub_addr},
                       {"bytes", b.bytes},
                       {"first", from},
                       {"last", to},
                       {"first_layer", b.first_layer}});
  }
  return buffers;
}

Json FindingsJson(const ProgramProfile& p, const std::vector<Unit>& units) {
  Json findings = Json::array();
  const auto number = [&](Unit unit) {
    return std::find(units.begin(), units.end(), unit) - units.begin();
  };
  for (const Finding& f : p.analysis.findings) {
    findings.push_back({{"layer", f.layer},
                        {"unit", number(f.unit)},
                        {"cause", static_cast<int>(f.cause)},
                        {"root_unit", number(f.root_unit)},
                        {"root_cause", static_cast<int>(f.root_cause)},
                        {"root_layer", f.root_layer},
                        {"memory", static_cast<int>(f.memory)},
                        {"cycles", f.cycles},
                        {"text", FindingText(f, *p.program, p.analysis)},
                        {"advice", AdviceFor(f)}});
  }
  return findings;
}

// Pages of the HBM that were open, as bank (of both groups), row, first and
// last cycle, one after the other; nothing where there are too many.
constexpr size_t kMostRows = 200000;
Json PagesJson(const Recording& recording) {
  Json pages = Json::array();
  if (recording.rows.size() > kMostRows) return pages;
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> open;  // row and cycle
  const auto close = [&](uint32_t bank, uint64_t cycle) {
    const auto found = open.find(bank);
    if (found == open.end()) return;
    for (const uint64_t n : {uint64_t{bank}, uint64_t{found->second.first},
                             found->second.second, cycle})
      pages.push_back(n);
    open.erase(found);
  };
  for (const RowEvent& event : recording.rows) {
    const auto command = static_cast<hbm::RowCmd>(event.command.command);
    const uint32_t first =
        static_cast<uint32_t>(event.command.group) * hbm::kBanks;
    const uint32_t bank = first + event.command.bank;
    if (command == hbm::RowCmd::kAct) {
      open[bank] = {event.command.row, event.cycle};
    } else if (command == hbm::RowCmd::kPre) {
      close(bank, event.cycle);
    } else if (command == hbm::RowCmd::kPrea ||
               command == hbm::RowCmd::kRef) {  // all banks
      for (uint32_t b = first; b < first + hbm::kBanks; ++b)
        close(b, event.cycle);
    }
  }
  for (uint32_t b = 0; b < 2 * hbm::kBanks; ++b) close(b, recording.cycles);
  return pages;
}

// Of several cores: what they have in common.
Json CoresJson(const JoinedCores& cores, const Preset& preset) {
  Json json = {{"cores", Json::array()},
               {"torus", {cores.torus.columns, cores.torus.rows}},
               {"rounds",
                {{"first", Json::array()},
                 {"cycles", Json::array()},
                 {"exchanges", Json::array()}}},
               {"links",
                {{"cycles", ProbeSink::kLinkCycles},
                 {"rate", preset.chip.link_bytes},
                 {"busy_cycles", kBusyCycles},
                 {"traffic", Json::array()}}},
               {"findings", Json::array()}};
  for (size_t c = 0; c < cores.cores.size(); ++c) {
    const ExchangeCycles exchanges = ExchangesOf(cores, c);
    json["cores"].push_back(
        {{"core", c},
         {"chip", c / preset.chip.cores},
         {"exchanges",
          {{"cycles", exchanges.all}, {"alone", exchanges.alone}}}});
  }
  for (const Round& round : cores.rounds) {
    json["rounds"]["first"].push_back(round.first);
    json["rounds"]["cycles"].push_back(round.cycles);
    json["rounds"]["exchanges"].push_back(round.exchanges ? 1 : 0);
  }
  for (const LinkTraffic& traffic : cores.links) {
    json["links"]["traffic"].push_back(
        {{"chip", traffic.chip},
         {"link", kLinkNames[traffic.link]},
         {"bytes", traffic.bytes},
         {"sent", traffic.counts.bytes_sent},
         {"received", traffic.counts.bytes_received},
         {"busiest", BusiestOf(traffic)},
         {"replays", traffic.counts.replays},
         {"credit_stalls", traffic.counts.credit_stalls}});
  }
  const MergedCores merged = Merge(cores);
  for (const Finding& f : merged.analysis.findings) {
    json["findings"].push_back(
        {{"cycles", f.cycles},
         {"text", FindingText(f, merged.program, merged.analysis)},
         {"advice", AdviceFor(f)}});
  }
  return json;
}

}  // namespace

Json DataOf(const Profile& profile) {
  Json json = {{"format", "systole profile"},
               {"version", 1},
               {"model", profile.model},
               {"preset", std::string(profile.preset->name)},
               {"rows", profile.preset->rows},
               {"cols", profile.preset->cols},
               {"beat", profile.preset->beat_bytes()},
               {"command", profile.command},
               {"units", Json::array()},
               {"causes", Json::array()},
               {"programs", Json::array()}};
  const std::vector<Unit> units = UnitsOf(*profile.preset);
  for (const Unit unit : units) json["units"].push_back(UnitName(unit));
  for (int c = 0; c < kNumCauses; ++c)
    json["causes"].push_back(CauseName(static_cast<Cause>(c)));
  if (profile.cores != nullptr)
    json.update(CoresJson(*profile.cores, *profile.preset));
  for (size_t i = 0; i < profile.programs.size(); ++i) {
    const ProgramProfile& p = profile.programs[i];
    const std::vector<bool>* collectives =
        profile.cores == nullptr ? nullptr : &profile.cores->collectives[i];
    Json program = {
        {"cycles", p.recording->cycles},
        {"layers", LayersJson(p, units, collectives)},
        {"descriptors", DescriptorsJson(p)},
        {"spans", Json::array()},
        {"resolution", Json::array()},
        {"totals", OfUnits(units, p.recording->totals)},
        {"buffers", BuffersJson(p)},
        {"buffer_bytes", profile.preset->ub_bytes},
        {"banks",
         profile.preset->chip.memory == Memory::kHbm ? 2 * hbm::kBanks : 0},
        {"pages", PagesJson(*p.recording)},
        {"findings", FindingsJson(p, units)}};
    if (!p.starts.empty()) program["starts"] = p.starts;
    for (const Unit unit : units) {
      Flat flat = FlatSpans(*p.recording,
                            p.recording->spans[static_cast<size_t>(unit)]);
      program["spans"].push_back(std::move(flat.spans));
      program["resolution"].push_back(flat.resolution);
    }
    Json beats = Json::array();
    for (int client = 0; client < 4; ++client) {
      Json column = Json::array();
      for (const auto& period : p.recording->traffic)
        column.push_back(period[client]);
      beats.push_back(std::move(column));
    }
    program["traffic"] = {{"cycles", Recording::kTrafficCycles},
                          {"beats", std::move(beats)}};
    json["programs"].push_back(std::move(program));
  }
  return json;
}

std::string JsonOf(const Profile& profile) {
  return DataOf(profile).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace systole::profile
