// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Field numbers: perfetto's protos/perfetto/trace (TracePacket,
// TrackDescriptor, TrackEvent), XProf's xplane.proto.
#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "host/compiler/access.h"
#include "host/profile/profile.h"
#include "host/profile/protobuf.h"

namespace systole::profile {
namespace {

constexpr int kMaxRows = 64;  // of a unit; more than any has in flight

// Perfetto.
enum EventType { kSliceBegin = 1, kSliceEnd = 2, kCounter = 4 };
constexpr uint64_t kSequence = 1, kProcess = 1;

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

void AddDescriptors(const ProgramProfile& p, uint64_t offset, uint64_t first_id,
                    const std::vector<int>& rows, std::vector<Event>& events) {
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
        100 +
        static_cast<uint64_t>(compiler::QueueOf(program.descriptors[i])) *
            kMaxRows +
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

void AddLayers(const ProgramProfile& p, uint64_t offset,
               std::array<uint64_t, 2>& busy, std::vector<Event>& events) {
  for (size_t l = 0; l < p.analysis.layers.size(); ++l) {
    const LayerCycles& layer = p.analysis.layers[l];
    if (layer.last == 0) continue;
    const size_t lane = busy[0] <= offset + layer.first ? 0 : 1;
    if (busy[lane] > offset + layer.first) continue;  // a third at a time
    busy[lane] = offset + layer.last + 1;
    events.push_back({offset + layer.first, 1,
                      Message()
                          .Uint(9, kSliceBegin)
                          .Uint(11, 10 + lane)
                          .Text(23, p.program->layers[l].name)});
    events.push_back(
        {busy[lane], 0, Message().Uint(9, kSliceEnd).Uint(11, 10 + lane)});
  }
}

// XSpace.
class Line {
 public:
  Line(uint64_t id, const std::string& name) {
    line_.Uint(1, id).Text(2, name).Uint(3, 0);
  }
  void Add(uint64_t metadata, uint64_t start, uint64_t end) {
    line_.Sub(4, Message()
                     .Uint(1, metadata)
                     .Uint(2, start * 1000)
                     .Uint(3, (end - start) * 1000));
  }
  const Message& message() const { return line_; }

 private:
  Message line_;
};

// The plane's names of statistics; XProf knows them by these.
class Stats {
 public:
  Message Of(const char* name, uint64_t value) {
    return Message().Uint(1, Id(name)).Uint(3, value);
  }
  Message Of(const char* name, double value) {
    return Message().Uint(1, Id(name)).Double(2, value);
  }
  Message Of(const char* name, const std::string& value) {
    return Message().Uint(1, Id(name)).Text(5, value);
  }
  Message OfBytes(const char* name, const Message& value) {
    return Message().Uint(1, Id(name)).Sub(6, value);
  }
  const std::map<std::string, uint64_t>& names() const { return names_; }

 private:
  uint64_t Id(const char* name) {
    return names_.emplace(name, names_.size() + 1).first->second;
  }
  std::map<std::string, uint64_t> names_;
};

// What XProf's pages of operations count: a layer's multiplications and bytes.
void AddOperation(const ProgramProfile& p, size_t layer, uint64_t program,
                  int beat_bytes, Stats& stats, Message& metadata) {
  enum { kRead = 1, kWrite = 2, kHbm = 1 };
  const LayerInfo& info = p.program->layers[layer];
  const LayerCycles& cycles = p.analysis.layers[layer];
  const auto moved = [&](Unit unit) {
    return cycles.of(unit, Cause::kWork) * static_cast<uint64_t>(beat_bytes);
  };
  const uint64_t read = moved(Unit::kWeight) + moved(Unit::kLoad),
                 written = moved(Unit::kStore);
  const auto access = [](uint64_t operation, uint64_t bytes) {
    return Message().Uint(1, operation).Uint(2, kHbm).Uint(3, bytes);
  };
  metadata.Sub(5, stats.Of("hlo_category", info.op))
      .Sub(5, stats.Of("tf_op", absl::StrCat(info.name, ":", info.op)))
      .Sub(5, stats.Of("program_id", program))
      .Sub(5, stats.Of("symbol_id", uint64_t{layer + 1}))
      .Sub(5, stats.Of("flops", static_cast<uint64_t>(2 * info.macs)))
      .Sub(5, stats.Of("model_flops", static_cast<uint64_t>(2 * info.macs)))
      .Sub(5, stats.Of("bytes_accessed", read + written))
      .Sub(5, stats.OfBytes("memory_access_breakdown",
                            Message()
                                .Sub(1, access(kRead, read))
                                .Sub(1, access(kWrite, written))));
}

}  // namespace

std::string NameOf(const Program& program, size_t descriptor) {
  const isa::Descriptor& d = program.descriptors[descriptor];
  const std::string text = Disassemble(d);
  const std::string opcode = text.substr(0, text.find(' '));
  const size_t tag = compiler::TagOf(d);
  return tag < program.layers.size()
             ? absl::StrCat(program.layers[tag].name, " ", opcode)
             : opcode;
}

std::vector<int> RowsOf(const Program& program, const Recording& recording) {
  std::vector<int> rows(program.descriptors.size(), -1);
  std::array<std::array<uint64_t, kMaxRows>, kProbedQueues> free{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const int q = static_cast<int>(compiler::QueueOf(program.descriptors[i]));
    const DescriptorTimes& times = recording.descriptors[i];
    if (q >= kProbedQueues || times.end == 0) continue;
    int row = 0;
    while (row + 1 < kMaxRows && free[q][row] > times.start) ++row;
    free[q][row] = times.end + 1;
    rows[i] = row;
  }
  return rows;
}

std::string PerfettoTraceOf(const Profile& profile) {
  Perfetto trace;
  trace.Track(kProcess, absl::StrCat(profile.model, " on ",
                                     std::string(profile.preset->name)));
  trace.Track(10, "layers", kProcess);
  trace.Track(11, "layers that overlap", kProcess);
  trace.CounterTrack(20, "memory beats a cycle, in thousandths", kProcess);
  std::vector<Event> events;
  std::array<int, kProbedQueues> most{};
  std::array<uint64_t, 2> busy{};
  uint64_t offset = 0, ids = 0;
  for (const ProgramProfile& p : profile.programs) {
    const std::vector<int> rows = RowsOf(*p.program, *p.recording);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const int q =
          static_cast<int>(compiler::QueueOf(p.program->descriptors[i]));
      most[q] = std::max(most[q], rows[i] + 1);
    }
    AddDescriptors(p, offset, ids, rows, events);
    AddLayers(p, offset, busy, events);
    for (size_t t = 0; t < p.recording->traffic.size(); ++t) {
      uint64_t beats = 0;
      for (const uint8_t n : p.recording->traffic[t]) beats += n;
      events.push_back(
          {offset + t * Recording::kTrafficCycles, 2,
           Message()
               .Uint(9, kCounter)
               .Uint(11, 20)
               .Uint(30, beats * 1000 / Recording::kTrafficCycles)});
    }
    ids += uint64_t{1} << 32;
    offset += p.recording->cycles;
  }
  for (int q = 0; q < kProbedQueues; ++q) {
    for (int row = 0; row < most[q]; ++row) {
      const std::string name = UnitName(static_cast<Unit>(q));
      trace.Track(100 + q * kMaxRows + row,
                  row == 0 ? name : absl::StrCat(name, " ", row + 1), kProcess);
    }
  }
  std::stable_sort(
      events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tie(a.time, a.order) < std::tie(b.time, b.order);
      });
  for (const Event& e : events) trace.Event(e.time, e.message);
  return trace.bytes();
}

std::string XSpaceOf(const Profile& profile) {
  const Preset& preset = *profile.preset;
  Message plane;
  plane.Uint(1, 1).Text(2, "/device:TPU:0");
  Stats stats;
  uint64_t ids = 0;
  Message metadata;  // of all events
  const auto describe = [&](uint64_t id, Message entry) {
    metadata.Sub(4, Message().Uint(1, id).Sub(2, entry));  // a map's entry
  };
  std::map<std::string, uint64_t> names;  // of descriptors
  Line layers(1, "XLA Ops"), modules(2, "XLA Modules"), steps(3, "Steps");
  std::map<std::pair<int, int>, Line> lines;
  uint64_t offset = 0, number = 0;
  for (const ProgramProfile& p : profile.programs) {
    const uint64_t end = offset + p.recording->cycles;
    ++number;
    modules.Add(++ids, offset, end);
    describe(ids, Message()
                      .Uint(1, ids)
                      .Text(2, absl::StrCat(profile.model, "(", number, ")"))
                      .Sub(5, stats.Of("program_id", number)));
    for (size_t l = 0; l < p.analysis.layers.size(); ++l) {
      const LayerCycles& layer = p.analysis.layers[l];
      if (layer.last == 0) continue;
      const LayerInfo& info = p.program->layers[l];
      layers.Add(++ids, offset + layer.first, offset + layer.last + 1);
      Message entry;
      entry.Uint(1, ids)
          .Text(2, absl::StrCat(info.name, " = ", info.op, " ", info.shape))
          .Text(4, info.name);
      AddOperation(p, l, number, preset.beat_bytes(), stats, entry);
      describe(ids, entry);
    }
    const std::vector<int> rows = RowsOf(*p.program, *p.recording);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const int q =
          static_cast<int>(compiler::QueueOf(p.program->descriptors[i]));
      const std::string unit = UnitName(static_cast<Unit>(q));
      const auto line = lines.try_emplace(
          {q, rows[i]}, 100 + q * kMaxRows + rows[i],
          rows[i] == 0 ? unit : absl::StrCat(unit, " ", rows[i] + 1));
      const std::string name = NameOf(*p.program, i);
      const auto [known, fresh] = names.emplace(name, ids + 1);
      if (fresh) {
        ++ids;
        describe(ids, Message().Uint(1, ids).Text(2, name));
      }
      line.first->second.Add(known->second,
                             offset + p.recording->descriptors[i].start,
                             offset + p.recording->descriptors[i].end + 1);
    }
    offset = end;
  }
  steps.Add(++ids, 0, offset);  // all programs of a batch are a step
  describe(ids, Message().Uint(1, ids).Text(2, "0").Text(4, "0"));
  plane.Sub(3, layers.message())
      .Sub(3, modules.message())
      .Sub(3, steps.message());
  for (const auto& [key, line] : lines) plane.Sub(3, line.message());
  // At a cycle a nanosecond.
  plane
      .Sub(6, stats.Of("peak_teraflops_per_second",
                       2e-3 * preset.rows * preset.cols))
      .Sub(6, stats.Of("peak_hbm_bw_gigabytes_per_second",
                       1.0 * preset.beat_bytes()))
      .Sub(6, stats.Of("device_type_string",
                       absl::StrCat("Systole ", std::string(preset.name))));
  for (const auto& [name, id] : stats.names()) {
    plane.Sub(
        5, Message().Uint(1, id).Sub(2, Message().Uint(1, id).Text(2, name)));
  }
  return Message().Text(1, plane.bytes() + metadata.bytes()).bytes();
}

}  // namespace systole::profile
