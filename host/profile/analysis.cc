// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/profile/analysis.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "systole/target.h"

namespace systole::profile {
namespace {

// A walk along a recording, from one change of anything to the next.
class Walk {
 public:
  Walk(const Program& program, const Recording& recording)
      : program_(program), recording_(recording) {
    for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
      const isa::Queue queue = compiler::QueueOf(program.descriptors[i]);
      if (queue != isa::Queue::kNone)
        queues_[static_cast<int>(queue)].push_back(i);
    }
  }

  // f(cycles): causes and layers hold for so many.
  template <class F>
  void ForEach(F f) {
    for (uint64_t at = 0; at < recording_.cycles;) {
      uint64_t next = recording_.cycles;
      for (int u = 0; u < kNumUnits; ++u) {
        const std::vector<Span>& spans = recording_.spans[u];
        while (span_[u] + 1 < spans.size() && spans[span_[u] + 1].start <= at)
          ++span_[u];
        if (span_[u] + 1 < spans.size())
          next = std::min<uint64_t>(next, spans[span_[u] + 1].start);
      }
      for (int q = 0; q < kProbedQueues; ++q) {
        while (at_[q] < queues_[q].size() && End(q) < at) ++at_[q];
        if (at_[q] < queues_[q].size()) next = std::min(next, End(q) + 1);
      }
      f(next - at);
      at = next;
    }
  }

  const Span& span(Unit unit) const {
    const int u = static_cast<int>(unit);
    return recording_.spans[u][span_[u]];
  }
  Cause cause(Unit unit) const { return span(unit).why(); }
  bool ended(int queue) const { return at_[queue] == queues_[queue].size(); }
  // Of the descriptor that a queue's unit is at, or that comes next; -1: none.
  int layer(int queue) const {
    if (ended(queue)) return -1;
    const int tag =
        compiler::TagOf(program_.descriptors[queues_[queue][at_[queue]]]);
    return tag < static_cast<int>(program_.layers.size()) ? tag : -1;
  }

 private:
  uint64_t End(int q) const {
    return recording_.descriptors[queues_[q][at_[q]]].end;
  }

  const Program& program_;
  const Recording& recording_;
  std::array<std::vector<uint32_t>, kProbedQueues> queues_;
  std::array<size_t, kProbedQueues> at_{};
  std::array<size_t, kNumUnits> span_{};
};

// The unit that the program's progress is looked at from.
Unit Principal(const Walk& walk) {
  for (const Unit unit : {Unit::kMxu, Unit::kVector, Unit::kStore, Unit::kSend,
                          Unit::kLoad, Unit::kWeight}) {
    if (!walk.ended(static_cast<int>(unit))) return unit;
  }
  return Unit::kSequencer;
}

// The unit that this one waits for, or itself.
Unit Next(const Walk& walk, Unit unit) {
  const Cause cause = walk.cause(unit);
  if (const int queue = FlagQueue(cause); queue >= 0)
    return static_cast<Unit>(queue);
  if (cause == Cause::kNoWeights) return Unit::kWeight;
  if (cause == Cause::kFifoFull) return Unit::kMxu;
  if (cause == Cause::kDispatch && walk.span(unit).at < kProbedQueues)
    return static_cast<Unit>(walk.span(unit).at);
  if (cause == Cause::kFetch) return Unit::kSequencer;
  return unit;
}

Finding Chain(const Walk& walk) {
  Finding f;
  f.unit = f.root_unit = Principal(walk);
  f.cause = walk.cause(f.unit);
  const auto layer = [&walk](Unit unit) {
    const int queue = static_cast<int>(unit);
    return queue < kProbedQueues ? walk.layer(queue) : -1;
  };
  f.layer = layer(f.unit);
  uint32_t seen = 0;
  for (Unit next = f.unit; (seen >> static_cast<int>(next) & 1) == 0;
       next = Next(walk, next)) {
    seen |= 1u << static_cast<int>(next);
    f.root_unit = next;
  }
  f.root_cause = walk.cause(f.root_unit);
  f.root_layer = layer(f.root_unit);
  if (f.root_cause == Cause::kMemoryLatency ||
      f.root_cause == Cause::kMemoryBusy)
    f.memory = walk.cause(Unit::kMemory);
  return f;
}

auto KeyOf(const Finding& f) {
  return std::make_tuple(f.layer, f.unit, f.cause, f.root_unit, f.root_cause,
                         f.root_layer, f.memory);
}

struct Known {
  Unit unit;
  std::vector<Cause> causes;
  std::vector<csr::Counter> counters;
  int64_t unit_bytes = 1;  // that the counters count of each
};

// From here on it is a cause that is named.
constexpr double kFull = 0.9;

std::string LayerName(const Program& program, int layer) {
  if (program.layers.empty()) return "the program";
  return layer < 0 ? "after the last layer" : program.layers[layer].name;
}

}  // namespace

absl::Status CheckRecording(const Recording& recording, const Preset& preset,
                            const RunStats& stats) {
  if (recording.cycles != stats.cycles) {
    return absl::InternalError(
        absl::StrFormat("profile: %d cycles were seen, the counter says %d",
                        recording.cycles, stats.cycles));
  }
  for (int u = 0; u < kNumUnits; ++u) {
    uint64_t sum = 0;
    for (const uint64_t cycles : recording.totals[u]) sum += cycles;
    CauseCounts by_span{};
    const std::vector<Span>& spans = recording.spans[u];
    for (size_t i = 0; i < spans.size(); ++i) {
      const uint64_t end =
          i + 1 < spans.size() ? spans[i + 1].start : recording.cycles;
      if (spans[i].cause < kNumCauses)
        by_span[spans[i].cause] += end - spans[i].start;
    }
    if (sum != recording.cycles || by_span != recording.totals[u]) {
      return absl::InternalError(absl::StrFormat(
          "profile: the causes of the %s's cycles add up to %d of %d",
          UnitName(static_cast<Unit>(u)), sum, recording.cycles));
    }
  }
  using csr::Counter;
  const auto beat = static_cast<int64_t>(preset.beat_bytes());
  std::vector<Known> known = {
      {Unit::kMxu, {Cause::kWork}, {Counter::kMxuVectors}},
      {Unit::kMxu, {Cause::kNoWeights}, {Counter::kMxuStallWeights}},
      {Unit::kMxu, {Cause::kSwap}, {Counter::kMxuStallSwap}},
      {Unit::kMxu, {Cause::kSums}, {Counter::kMxuStallAcc}},
      {Unit::kVector,
       {Cause::kBufferPort, Cause::kAccPort},
       {Counter::kVectorStallUb}},
      {Unit::kLoad, {Cause::kWork}, {Counter::kLoadBytes}, beat},
      {Unit::kStore, {Cause::kWork}, {Counter::kStoreBytes}, beat},
      {Unit::kMemory,
       {Cause::kRead, Cause::kReadWrite},
       {Counter::kHbmReadBeats}},
      {Unit::kMemory,
       {Cause::kWrite, Cause::kReadWrite},
       {Counter::kHbmWriteBeats}}};
  if (Target(preset)
          .weights_from_memory()) {  // else the transposer fills beside
    known.push_back({Unit::kMxu, {Cause::kBufferPort}, {Counter::kMxuStallUb}});
    known.push_back(
        {Unit::kWeight, {Cause::kWork}, {Counter::kWeightBytes}, beat});
  }
  if (HasUnit(preset, Unit::kSend)) {
    known.push_back({Unit::kSend,
                     {Cause::kWork},
                     {Counter::kSendBytes},
                     preset.flit_bytes()});
  }
  for (const Known& k : known) {
    uint64_t seen = 0, counted = 0;
    for (const Cause c : k.causes)
      seen += recording.totals[static_cast<int>(k.unit)][static_cast<int>(c)];
    for (const Counter c : k.counters) counted += stats.counter(c);
    counted /= static_cast<uint64_t>(k.unit_bytes);
    if (seen != counted) {
      return absl::InternalError(absl::StrFormat(
          "profile: %s, %s: %d cycles, the counter says %d", UnitName(k.unit),
          CauseName(k.causes[0]), seen, counted));
    }
  }
  return absl::OkStatus();
}

double FilledOf(const LayerInfo& info, const LayerCycles& layer,
                const Preset& preset) {
  const auto cells = static_cast<double>(layer.of(Unit::kMxu, Cause::kWork)) *
                     static_cast<double>(preset.macs_per_cycle());
  if (info.macs == 0 || cells == 0) return 1;
  return std::min(1.0, static_cast<double>(info.macs) / cells);
}

Analysis Analyse(const Program& program, const Recording& recording) {
  Analysis analysis;
  analysis.layers.resize(program.layers.size());
  for (LayerCycles& layer : analysis.layers)
    layer.first = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    const size_t tag = compiler::TagOf(program.descriptors[i]);
    const isa::Queue queue = compiler::QueueOf(program.descriptors[i]);
    if (tag >= analysis.layers.size() ||
        (queue != isa::Queue::kMxu && queue != isa::Queue::kVector))
      continue;
    LayerCycles& layer = analysis.layers[tag];
    layer.first = std::min(layer.first, recording.descriptors[i].start);
    layer.last = std::max(layer.last, recording.descriptors[i].end);
  }
  for (LayerCycles& layer : analysis.layers)
    layer.first = std::min(layer.first, layer.last);

  using Key = decltype(KeyOf(Finding{}));
  std::map<Key, Finding> findings;
  Walk walk(program, recording);
  walk.ForEach([&](uint64_t cycles) {
    for (int q = 0; q < kProbedQueues; ++q) {
      const int layer = walk.layer(q);
      if (layer >= 0)
        analysis.layers[layer]
            .units[q][static_cast<int>(walk.cause(static_cast<Unit>(q)))] +=
            cycles;
    }
    const Finding chain = Chain(walk);
    if (chain.layer >= 0) analysis.layers[chain.layer].cycles += cycles;
    findings.try_emplace(KeyOf(chain), chain).first->second.cycles += cycles;
  });
  if (const Preset* preset = FindPreset(program.preset)) {
    for (size_t l = 0; l < analysis.layers.size(); ++l)
      analysis.layers[l].filled =
          FilledOf(program.layers[l], analysis.layers[l], *preset);
  }
  for (auto& [key, finding] : findings) {
    if (finding.root_unit == Unit::kMxu && finding.root_cause == Cause::kWork &&
        finding.root_layer >= 0)
      finding.filled = analysis.layers[finding.root_layer].filled;
    analysis.findings.push_back(finding);
  }
  std::stable_sort(
      analysis.findings.begin(), analysis.findings.end(),
      [](const Finding& a, const Finding& b) { return a.cycles > b.cycles; });
  return analysis;
}

std::string FindingText(const Finding& f, const Program& program,
                        const Analysis& analysis) {
  if (f.cause == Cause::kIdle)
    return "no program of the core runs: those of other cores are not complete";
  const uint64_t all = f.layer < 0 ? 0 : analysis.layers[f.layer].cycles;
  std::string text = LayerName(program, f.layer);
  if (all > 0)
    absl::StrAppendFormat(
        &text, ", %.1f %% of its cycles",
        100.0 * static_cast<double>(f.cycles) / static_cast<double>(all));
  absl::StrAppend(&text, ": ", UnitName(f.unit), ": ", CauseName(f.cause));
  if (f.unit != f.root_unit) {
    absl::StrAppend(&text, "; behind it ", UnitName(f.root_unit), ": ",
                    CauseName(f.root_cause));
    if (f.root_layer >= 0 && f.root_layer != f.layer)
      absl::StrAppend(&text, " (", LayerName(program, f.root_layer), ")");
  }
  if (f.filled < kFull)
    absl::StrAppendFormat(&text, ", %.0f %% of its cells in use",
                          100 * f.filled);
  if (f.memory != Cause::kDone && f.memory != f.root_cause)
    absl::StrAppend(&text, "; the memory: ", CauseName(f.memory));
  return text;
}

std::string AdviceFor(const Finding& f) {
  if (f.memory == Cause::kRefresh)
    return "the memory refreshes: only what was asked for before helps, more "
           "in flight or loaded earlier";
  switch (f.root_cause) {
    case Cause::kWork:
      switch (f.root_unit) {
        case Unit::kMxu:
          return f.filled < kFull
                     ? "rows or columns of the array stay empty: the layer's "
                       "inputs of a product (rows) or its output channels "
                       "(columns) are no multiple of the array's size; up to "
                       "the next multiple, more channels take no more cycles"
                     : "";
        case Unit::kVector:
          return "the vector unit is the limit: more lanes (VectorLanes) or, "
                 "in "
                 "a bf16 core, rows a cycle (Sublanes); larger tiles of "
                 "columns, so that it has fewer rows to take";
        case Unit::kWeight:
          return "weights come at the memory's full rate: larger blocks or a "
                 "larger batch use each tile for more vectors";
        case Unit::kLoad:
          return "activations come at the memory's full rate: keep tensors in "
                 "the unified buffer (UbBytes), or a wider memory";
        case Unit::kSend:
          return "packets leave at the core's full rate: fewer bytes to "
                 "exchange (bf16, smaller groups)";
        case Unit::kStore:
          return "results leave at the memory's full rate: smaller last "
                 "blocks hide less; a wider memory";
        default:
          return "the sequencer dispatches a descriptor a cycle: fewer, larger "
                 "descriptors";
      }
    case Cause::kStart:
      return "a unit prepares a descriptor or lets its last results out: "
             "fewer, larger descriptors, or more of them in flight";
    case Cause::kTranspose:
      return "blocks go through the transposer: keep the tensor the other way "
             "round";
    case Cause::kNoWeights:
    case Cause::kMemoryLatency:
      return f.root_unit == Unit::kWeight
                 ? "tiles are asked for too late or too few at a time: a "
                   "larger weight FIFO (WfifoTiles) or a larger batch"
             : f.root_unit == Unit::kSequencer
                 ? "descriptors come from memory: fewer of them, or start the "
                   "fetch earlier"
                 : "the memory's latency is in the open: load earlier, in "
                   "larger pieces";
    case Cause::kMemoryBusy:
      return "several units want the memory: a wider memory (HbmPcs), fewer "
             "bytes, or loads at another time";
    case Cause::kNetworkBusy:
      return "the links are the limit: fewer bytes to exchange, or wider links "
             "(LinkBytes)";
    case Cause::kFlagCore:
      return "the core waits for what another core sends: as much work for "
             "each core, fewer and larger exchanges";
    case Cause::kIdle:
      return "other cores' programs take longer: as much work for each core";
    case Cause::kFifoFull:
      return "tiles are on their way through the weight FIFO, and passes are "
             "too short to wait for the next: longer passes (larger blocks, a "
             "larger batch)";
    case Cause::kSwap:
      return "passes are shorter than a tile's way into the array: larger "
             "blocks (AccRows) or a larger batch";
    case Cause::kSums:
      return "a row's next pass comes before its sum is back: passes of more "
             "vectors";
    case Cause::kBufferPort:
      return "windows meet in a bank of the unified buffer: another line "
             "pitch, or more banks (UbBanks)";
    case Cause::kAccPort:
      return "array and vector unit use the same accumulator bank: blocks in "
             "both banks in turn";
    case Cause::kDispatch:
    case Cause::kFetch:
      return "descriptors stand behind others in the program: deeper queues "
             "(QueueDepth) or another order";
    default:
      return "";
  }
}

}  // namespace systole::profile
