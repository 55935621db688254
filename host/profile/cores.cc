// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/profile/cores.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"

namespace systole::profile {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// The links of a torus, by their bits.
uint32_t LinksOf(const Torus& torus) {
  return (torus.columns > 1 ? 3u : 0) | (torus.rows > 1 ? 12u : 0);
}

// The chip at the other end of a link.
int Neighbour(const Torus& torus, int chip, int link) {
  const int x = chip % torus.columns, y = chip / torus.columns;
  const int step = link % 2 == 0 ? 1 : -1;
  const auto along = [step](int at, int size) {
    return (at + step + size) % size;
  };
  return link < 2 ? y * torus.columns + along(x, torus.columns)
                  : along(y, torus.rows) * torus.columns + x;
}

void Add(const LinkCounts& from, const LinkCounts& to, LinkCounts& sum) {
  sum.packets_sent += to.packets_sent - from.packets_sent;
  sum.bytes_sent += to.bytes_sent - from.bytes_sent;
  sum.packets_received += to.packets_received - from.packets_received;
  sum.bytes_received += to.bytes_received - from.bytes_received;
  sum.replays += to.replays - from.replays;
  sum.crc_errors += to.crc_errors - from.crc_errors;
  sum.credit_stalls += to.credit_stalls - from.credit_stalls;
  sum.trainings += to.trainings - from.trainings;
  sum.packets_lost += to.packets_lost - from.packets_lost;
}

}  // namespace

std::vector<bool> CollectivesOf(const Program& program) {
  std::vector<bool> collectives(program.layers.size());
  const Preset* preset = FindPreset(program.preset);
  const uint32_t flags = preset == nullptr ? 0 : ForeignFlags(*preset);
  for (const isa::Descriptor& descriptor : program.descriptors) {
    const isa::Header header = isa::Halt::Decode(descriptor).header;
    const isa::Queue queue = compiler::QueueOf(descriptor);
    if (queue == isa::Queue::kNone) continue;  // a halt is of no layer
    const bool exchanges = queue == isa::Queue::kSend ||
                           ((header.wait_mask | header.post_mask) & flags) != 0;
    if (exchanges && header.tag < collectives.size())
      collectives[header.tag] = true;
  }
  return collectives;
}

ExchangeCycles ExchangesOf(const JoinedCores& joined, size_t core) {
  const Program& program = joined.cores[core].program;
  const Recording& recording = joined.cores[core].recording;
  const std::vector<bool>& collectives = joined.collectives[core];
  // How many begin less how many end, by cycle.
  struct Change {
    int exchanges = 0, kernels = 0;
  };
  std::map<uint64_t, Change> changes;
  for (size_t d = 0; d < program.descriptors.size(); ++d) {
    const DescriptorTimes& times = recording.descriptors[d];
    if (times.end == 0 ||
        compiler::QueueOf(program.descriptors[d]) == isa::Queue::kNone)
      continue;
    const size_t layer = compiler::TagOf(program.descriptors[d]);
    const auto of = layer < collectives.size() && collectives[layer]
                        ? &Change::exchanges
                        : &Change::kernels;
    ++(changes[times.start].*of);
    --(changes[times.end + 1].*of);
  }
  for (const std::vector<Span>& spans : recording.spans) {
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].why() != Cause::kFlagCore) continue;
      ++changes[spans[i].start].exchanges;
      --changes[i + 1 < spans.size() ? spans[i + 1].start : recording.cycles]
            .exchanges;
    }
  }
  ExchangeCycles sum;
  Change now;
  uint64_t since = 0;
  for (const auto& [cycle, change] : changes) {
    if (now.exchanges > 0) sum.all += cycle - since;
    if (now.exchanges > 0 && now.kernels == 0) sum.alone += cycle - since;
    now.exchanges += change.exchanges;
    now.kernels += change.kernels;
    since = cycle;
  }
  return sum;
}

ExchangeCycles ExchangesOf(const JoinedCores& joined) {
  ExchangeCycles sum;
  for (size_t core = 0; core < joined.cores.size(); ++core) {
    const ExchangeCycles of = ExchangesOf(joined, core);
    sum.all += of.all;
    sum.alone += of.alone;
  }
  return sum;
}

CoresRecorder::CoresRecorder(int cores, const Preset& preset)
    : preset_(preset) {
  for (int c = 0; c < cores; ++c)
    recorders_.emplace_back(ModuleRecorder::kMostPrograms / cores);
}

std::vector<runtime::CoreListener*> CoresRecorder::listeners() {
  std::vector<runtime::CoreListener*> all;
  for (ModuleRecorder& recorder : recorders_) all.push_back(&recorder);
  return all;
}

std::vector<ProbeSink*> CoresRecorder::probes() {
  std::vector<ProbeSink*> all;
  for (ModuleRecorder& recorder : recorders_) all.push_back(&recorder);
  return all;
}

void CoresRecorder::Begin() {
  for (ModuleRecorder& recorder : recorders_) recorder.Begin();
}

size_t CoresRecorder::started() const {
  size_t sum = 0;
  for (const ModuleRecorder& recorder : recorders_) sum += recorder.started();
  return sum;
}

absl::StatusOr<JoinedCores> CoresRecorder::Join() {
  // Rounds of which each program is recorded.
  int64_t end = std::numeric_limits<int64_t>::max();
  for (const ModuleRecorder& recorder : recorders_)
    end = std::min(end, recorder.missed());
  struct Begun {
    uint64_t origin = kNever;  // cycle of the device
    bool exchanges = false;
  };
  std::map<int64_t, Begun> begun;
  recorded_ = 0;
  stats_ = {};
  for (size_t c = 0; c < recorders_.size(); ++c) {
    ModuleRecorder& recorder = recorders_[c];
    for (size_t i = 0; i < recorder.rounds().size(); ++i) {
      const ModuleRecorder::OfRound& of = recorder.rounds()[i];
      if (of.round >= end) break;
      const Recording& recording = recorder.recordings()[i];
      const RunStats& stats = recorder.stats()[i];
      if (absl::Status s = CheckRecording(recording, preset_, stats); !s.ok()) {
        return absl::Status(s.code(),
                            absl::StrFormat("%s (core %d)", s.message(), c));
      }
      Begun& round = begun[of.round];
      round.origin = std::min(round.origin, recording.begin);
      const std::vector<bool> collectives =
          CollectivesOf(recorder.programs()[i]);
      round.exchanges |=
          of.exchanges || std::find(collectives.begin(), collectives.end(),
                                    true) != collectives.end();
      stats_.Add(stats);
      ++recorded_;
    }
  }
  std::map<int64_t, Round> rounds;
  for (const auto& [number, of] : begun)
    rounds[number].exchanges = of.exchanges;
  const auto behind = [&](int64_t number, const Recording& recording) {
    const Begun& of = begun[number];
    return of.exchanges ? recording.begin - of.origin : 0;
  };
  const auto for_each = [&](ModuleRecorder& recorder, auto use) {
    for (size_t i = 0; i < recorder.rounds().size(); ++i) {
      const int64_t number = recorder.rounds()[i].round;
      if (number >= end) break;
      use(i, number, recorder.recordings()[i]);
    }
  };
  for (ModuleRecorder& recorder : recorders_) {
    for_each(recorder, [&](size_t, int64_t number, const Recording& recording) {
      rounds[number].cycles = std::max(
          rounds[number].cycles, behind(number, recording) + recording.cycles);
    });
  }
  JoinedCores joined;
  const Torus torus = runtime::TorusOf(static_cast<int>(
      (recorders_.size() + preset_.chip.cores - 1) / preset_.chip.cores));
  joined.torus = torus;
  std::vector<uint64_t> origins;
  for (auto& [number, round] : rounds) {
    round.first = joined.cycles;
    joined.cycles += round.cycles;
    joined.rounds.push_back(round);
    origins.push_back(begun[number].origin);
  }
  for (ModuleRecorder& recorder : recorders_) {
    std::vector<Piece> pieces;
    for_each(recorder, [&](size_t i, int64_t number, const Recording& of) {
      pieces.push_back({&recorder.programs()[i], &of,
                        rounds[number].first + behind(number, of)});
    });
    joined.cores.push_back(profile::Join(pieces, joined.cycles));
    joined.collectives.push_back(CollectivesOf(joined.cores.back().program));
  }
  for (int chip = 0; chip < torus.chips(); ++chip)
    AddLinks(chip, origins, joined);
  if (absl::Status s = CheckLinks(joined); !s.ok()) return s;
  return joined;
}

// A change belongs to the last round that has begun, for nothing is sent
// between rounds.
void CoresRecorder::AddLinks(int chip, const std::vector<uint64_t>& origins,
                             JoinedCores& joined) const {
  const uint32_t links = LinksOf(joined.torus);
  const size_t core = static_cast<size_t>(chip * preset_.chip.cores);
  const size_t first = joined.links.size();
  for (int link = 0; link < static_cast<int>(kLinkNames.size()); ++link)
    if ((links >> link & 1) != 0) joined.links.push_back({chip, link, {}, {}});
  ChipLinkCounts before{};
  for (const ModuleRecorder::LinkSample& sample : recorders_[core].links()) {
    const auto next =
        std::upper_bound(origins.begin(), origins.end(), sample.cycle);
    if (next != origins.begin()) {
      const Round& round = joined.rounds[next - origins.begin() - 1];
      const uint64_t since = sample.cycle - *(next - 1);
      const uint64_t cycle =
          round.first +
          std::min(since, std::max<uint64_t>(round.cycles, 1) - 1);
      const size_t period = cycle / ProbeSink::kLinkCycles;
      for (size_t l = first; l < joined.links.size(); ++l) {
        LinkTraffic& traffic = joined.links[l];
        const LinkCounts &from = before[traffic.link],
                         &to = sample.counts[traffic.link];
        if (traffic.bytes.size() <= period) traffic.bytes.resize(period + 1);
        traffic.bytes[period] += to.bytes_sent - from.bytes_sent;
        Add(from, to, traffic.counts);
      }
    }
    before = sample.counts;
  }
}

absl::Status CheckLinks(const JoinedCores& joined) {
  for (const LinkTraffic& traffic : joined.links) {
    const int other = Neighbour(joined.torus, traffic.chip, traffic.link);
    const int back = traffic.link ^ 1;
    const auto found = std::find_if(joined.links.begin(), joined.links.end(),
                                    [&](const LinkTraffic& t) {
                                      return t.chip == other && t.link == back;
                                    });
    uint64_t sent = 0;
    for (const uint32_t bytes : traffic.bytes) sent += bytes;
    const uint64_t received =
        found == joined.links.end() ? 0 : found->counts.bytes_received;
    // What is sent again counts again.
    if (sent == traffic.counts.bytes_sent &&
        (sent == received || (traffic.counts.replays > 0 && sent > received)))
      continue;
    return absl::InternalError(absl::StrFormat(
        "profile: link %s of chip %d: %d bytes were sent in its periods, %d in "
        "all, chip %d received %d",
        kLinkNames[traffic.link], traffic.chip, sent, traffic.counts.bytes_sent,
        other, received));
  }
  return absl::OkStatus();
}

uint64_t BusiestOf(const LinkTraffic& traffic) {
  constexpr size_t kPeriods = kBusyCycles / ProbeSink::kLinkCycles;
  uint64_t sum = 0, most = 0;
  for (size_t i = 0; i < traffic.bytes.size(); ++i) {
    sum += traffic.bytes[i];
    if (i >= kPeriods) sum -= traffic.bytes[i - kPeriods];
    most = std::max(most, sum);
  }
  return most;
}

MergedCores Merge(const JoinedCores& joined) {
  MergedCores merged;
  std::map<std::tuple<std::string, std::string, std::string>, int> numbers;
  const auto key = [](const Finding& f) {
    return std::make_tuple(f.layer, f.unit, f.cause, f.root_unit, f.root_cause,
                           f.root_layer, f.memory);
  };
  std::map<decltype(key(Finding{})), Finding> findings;
  for (size_t c = 0; c < joined.cores.size(); ++c) {
    const Joined& core = joined.cores[c];
    merged.program.preset = core.program.preset;
    std::vector<int> number;  // of the core's layers
    for (size_t l = 0; l < core.program.layers.size(); ++l) {
      const LayerInfo& info = core.program.layers[l];
      const auto [found, fresh] =
          numbers.try_emplace({info.name, info.op, info.shape},
                              static_cast<int>(merged.program.layers.size()));
      if (fresh) {
        merged.program.layers.push_back(info);
        merged.program.layers.back().macs = 0;
        merged.analysis.layers.emplace_back();
        merged.cycles.emplace_back(joined.cores.size());
      }
      const int at = found->second;
      number.push_back(at);
      const LayerCycles& from = core.analysis.layers[l];
      LayerCycles& to = merged.analysis.layers[at];
      merged.program.layers[at].macs += info.macs;
      merged.cycles[at][c] += from.cycles;
      to.cycles += from.cycles;
      for (int u = 0; u < kProbedQueues; ++u) {
        for (int k = 0; k < kNumCauses; ++k) to.units[u][k] += from.units[u][k];
      }
    }
    for (Finding finding : core.analysis.findings) {
      if (finding.layer >= 0) finding.layer = number[finding.layer];
      if (finding.root_layer >= 0)
        finding.root_layer = number[finding.root_layer];
      const uint64_t cycles = std::exchange(finding.cycles, 0);
      findings.try_emplace(key(finding), finding).first->second.cycles +=
          cycles;
    }
  }
  const Preset* preset = FindPreset(merged.program.preset);
  for (size_t l = 0; preset != nullptr && l < merged.analysis.layers.size();
       ++l) {
    LayerCycles& layer = merged.analysis.layers[l];
    layer.filled = FilledOf(merged.program.layers[l], layer, *preset);
  }
  for (auto& [unused, finding] : findings) {
    if (finding.root_unit == Unit::kMxu && finding.root_cause == Cause::kWork &&
        finding.root_layer >= 0)
      finding.filled = merged.analysis.layers[finding.root_layer].filled;
    merged.analysis.findings.push_back(finding);
  }
  std::stable_sort(
      merged.analysis.findings.begin(), merged.analysis.findings.end(),
      [](const Finding& a, const Finding& b) { return a.cycles > b.cycles; });
  return merged;
}

}  // namespace systole::profile
