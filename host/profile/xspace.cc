// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Field numbers: XProf's xplane.proto.
#include <map>

#include "absl/strings/str_cat.h"
#include "host/compiler/access.h"
#include "host/profile/profile.h"
#include "host/profile/protobuf.h"

namespace systole::profile {
namespace {

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

// The programs of a core, one after the other.
std::string PlaneOf(const Profile& profile,
                    const std::vector<const ProgramProfile*>& programs,
                    int core) {
  const Preset& preset = *profile.preset;
  Message plane;
  plane.Uint(1, core + 1).Text(2, absl::StrCat("/device:TPU:", core));
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
  for (const ProgramProfile* program : programs) {
    const ProgramProfile& p = *program;
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
      const auto line = lines.try_emplace(
          {q, rows[i]}, 100 + q * kUnitRows + rows[i], RowName(q, rows[i]));
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
  return plane.bytes() + metadata.bytes();
}

}  // namespace

std::string XSpaceOf(const Profile& profile) {
  std::vector<const ProgramProfile*> programs;
  for (const ProgramProfile& p : profile.programs) programs.push_back(&p);
  Message space;
  if (profile.cores == nullptr) {
    space.Text(1, PlaneOf(profile, programs, 0));
  } else {
    for (size_t c = 0; c < programs.size(); ++c)
      space.Text(1, PlaneOf(profile, {programs[c]}, static_cast<int>(c)));
  }
  return space.bytes();
}

}  // namespace systole::profile
