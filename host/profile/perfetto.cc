// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Field numbers: perfetto's protos/perfetto/trace (TracePacket,
// TrackDescriptor, TrackEvent).
#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "host/compiler/access.h"
#include "host/profile/profile.h"
#include "host/profile/protobuf.h"

namespace systole::profile {
namespace {

enum EventType { kSliceBegin = 1, kSliceEnd = 2, kCounter = 4 };
constexpr uint64_t kSequence = 1;
// Numbers of tracks: of a core from kCore times its number on, of a chip from
// kChips + kChip times its number on.
constexpr uint64_t kProcess = 1, kLayers = 10, kCollectives = 12, kBeats = 20,
                   kUnits = 100;
constexpr uint64_t kCore = 1024, kChips = uint64_t{1} << 32, kChip = 8;
static_assert(kUnits + kProbedQueues * kUnitRows <= kCore);

class Perfetto {
 public:
  void Track(uint64_t uuid, const std::string& name, uint64_t parent = 0) {
    Message track;
    track.Uint(1, uuid).Text(2, name);
    if (parent != 0) track.Uint(5, parent);
    Packet(Message().Sub(60, track), /*first=*/uuid == kProcess);
  }
  void CounterTrack(uint64_t uuid, const std::string& name, uint64_t parent) {
    Message track;
    track.Uint(1, uuid).Text(2, name).Uint(5, parent);
    track.Sub(8, Message());
    Packet(Message().Sub(60, track));
  }
  void Event(uint64_t time, const Message& event) {
    Packet(Message().Uint(8, time).Sub(11, event));
  }
  const std::string& bytes() const { return trace_; }

 private:
  void Packet(Message packet, bool first = false) {
    packet.Uint(10, kSequence);
    if (first) packet.Uint(13, 1).Uint(87, 1);  // incremental state cleared
    trace_ += Message().Sub(1, packet).bytes();
  }
  std::string trace_;
};

struct Event {
  uint64_t time;
  int order;  // of those at the same time: ends first
  Message message;
};

Message Annotation(const char* name, const std::string& value) {
  return Message().Text(10, name).Text(6, value);
}

// core: its first track.
void AddDescriptors(const ProgramProfile& p, uint64_t core, uint64_t offset,
                    uint64_t first_id, const std::vector<int>& rows,
                    std::vector<Event>& events) {
  const Program& program = *p.program;
  std::map<uint32_t, std::vector<uint64_t>> posted;  // flows, by poster
  std::vector<std::vector<uint64_t>> waited(program.descriptors.size());
  uint64_t flow = first_id;
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    for (const FlagWait& w : p.recording->descriptors[i].waits) {
      posted[w.poster].push_back(++flow);
      waited[i].push_back(flow);
    }
  }
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    const DescriptorTimes& times = p.recording->descriptors[i];
    if (rows[i] < 0 || times.end == 0) continue;
    const uint64_t track =
        core + kUnits +
        static_cast<uint64_t>(compiler::QueueOf(program.descriptors[i])) *
            kUnitRows +
        rows[i];
    Message begin;
    begin.Uint(9, kSliceBegin).Uint(11, track).Text(23, NameOf(program, i));
    for (const uint64_t id : posted[static_cast<uint32_t>(i)])
      begin.Fixed64(47, id);
    for (const uint64_t id : waited[i]) begin.Fixed64(48, id);
    begin.Sub(4, Annotation("descriptor", absl::StrCat(i)));
    begin.Sub(4, Annotation("text", Disassemble(program.descriptors[i])));
    begin.Sub(4, Annotation("waited",
                            absl::StrCat(times.start - times.head, " cycles")));
    events.push_back({offset + times.start, 1, std::move(begin)});
    events.push_back({offset + times.end + 1, 0,
                      Message().Uint(9, kSliceEnd).Uint(11, track)});
  }
}

// collectives: of several cores, the layers that have a track of their own.
void AddLayers(const ProgramProfile& p, uint64_t core, uint64_t offset,
               const std::vector<bool>* collectives,
               std::array<uint64_t, 3>& busy, std::vector<Event>& events) {
  for (size_t l = 0; l < p.analysis.layers.size(); ++l) {
    const LayerCycles& layer = p.analysis.layers[l];
    if (layer.last == 0) continue;
    const bool exchanges = collectives != nullptr && (*collectives)[l];
    const size_t lane = exchanges ? kCollectives - kLayers
                        : busy[0] <= offset + layer.first ? 0
                                                          : 1;
    if (busy[lane] > offset + layer.first) continue;  // a third at a time
    busy[lane] = offset + layer.last + 1;
    events.push_back({offset + layer.first, 1,
                      Message()
                          .Uint(9, kSliceBegin)
                          .Uint(11, core + kLayers + lane)
                          .Text(23, p.program->layers[l].name)});
    events.push_back(
        {busy[lane], 0,
         Message().Uint(9, kSliceEnd).Uint(11, core + kLayers + lane)});
  }
}

// The programs of a core, one after the other.
void AddCore(const std::vector<const ProgramProfile*>& programs,
             const std::vector<bool>* collectives, const std::string& name,
             uint64_t core, uint64_t& ids, Perfetto& trace,
             std::vector<Event>& events) {
  trace.Track(core + kProcess, name);
  trace.Track(core + kLayers, "layers", core + kProcess);
  trace.Track(core + kLayers + 1, "layers that overlap", core + kProcess);
  if (collectives != nullptr)
    trace.Track(core + kCollectives, "collectives", core + kProcess);
  trace.CounterTrack(core + kBeats, "memory beats a cycle, in thousandths",
                     core + kProcess);
  std::array<int, kProbedQueues> most{};
  std::array<uint64_t, 3> busy{};
  uint64_t offset = 0;
  for (const ProgramProfile* p : programs) {
    const std::vector<int> rows = RowsOf(*p->program, *p->recording);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const int q =
          static_cast<int>(compiler::QueueOf(p->program->descriptors[i]));
      most[q] = std::max(most[q], rows[i] + 1);
    }
    AddDescriptors(*p, core, offset, ids, rows, events);
    AddLayers(*p, core, offset, collectives, busy, events);
    for (size_t t = 0; t < p->recording->traffic.size(); ++t) {
      uint64_t beats = 0;
      for (const uint8_t n : p->recording->traffic[t]) beats += n;
      events.push_back(
          {offset + t * Recording::kTrafficCycles, 2,
           Message()
               .Uint(9, kCounter)
               .Uint(11, core + kBeats)
               .Uint(30, beats * 1000 / Recording::kTrafficCycles)});
    }
    ids += uint64_t{1} << 32;
    offset += p->recording->cycles;
  }
  for (int q = 0; q < kProbedQueues; ++q) {
    for (int row = 0; row < most[q]; ++row)
      trace.Track(core + kUnits + q * kUnitRows + row, RowName(q, row),
                  core + kProcess);
  }
}

void AddLinks(const JoinedCores& cores, Perfetto& trace,
              std::vector<Event>& events) {
  int chip = -1;
  for (const LinkTraffic& traffic : cores.links) {
    const uint64_t first = kChips + traffic.chip * kChip;
    if (traffic.chip != chip) {
      chip = traffic.chip;
      trace.Track(first, absl::StrCat("links of chip ", chip));
    }
    const uint64_t track = first + 1 + traffic.link;
    trace.CounterTrack(track,
                       absl::StrCat(kLinkNames[traffic.link],
                                    ", bytes a cycle, in thousandths"),
                       first);
    for (size_t t = 0; t <= traffic.bytes.size(); ++t) {  // then none
      const uint64_t bytes = t < traffic.bytes.size() ? traffic.bytes[t] : 0;
      events.push_back({t * ProbeSink::kLinkCycles, 2,
                        Message()
                            .Uint(9, kCounter)
                            .Uint(11, track)
                            .Uint(30, bytes * 1000 / ProbeSink::kLinkCycles)});
    }
  }
}

}  // namespace

std::string PerfettoTraceOf(const Profile& profile) {
  Perfetto trace;
  const std::string name =
      absl::StrCat(profile.model, " on ", std::string(profile.preset->name));
  std::vector<Event> events;
  uint64_t ids = 0;
  std::vector<const ProgramProfile*> programs;
  for (const ProgramProfile& p : profile.programs) programs.push_back(&p);
  if (profile.cores == nullptr) {
    AddCore(programs, nullptr, name, 0, ids, trace, events);
  } else {
    for (size_t c = 0; c < programs.size(); ++c)
      AddCore({programs[c]}, &profile.cores->collectives[c],
              absl::StrCat(name, ", core ", c, " (chip ",
                           c / profile.preset->chip.cores, ")"),
              c * kCore, ids, trace, events);
    AddLinks(*profile.cores, trace, events);
  }
  std::stable_sort(
      events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tie(a.time, a.order) < std::tie(b.time, b.order);
      });
  for (const Event& e : events) trace.Event(e.time, e.message);
  return trace.bytes();
}

}  // namespace systole::profile
