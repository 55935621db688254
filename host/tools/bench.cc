// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/bench.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <tuple>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/driver/run_loop.h"
#include "host/tools/interrupt.h"
#include "systole/target.h"

namespace systole::tools {

absl::StatusOr<Device*> Bench::Open(const std::string& preset) {
  std::unique_ptr<Device>& device = devices_[preset];
  if (!device) {
    DeviceOptions options;
    options.preset = preset;
    options.simulation.seed = args_.seed;
    options.progress = [this](uint64_t count) {
      progress_.Report(count, "cycles");
    };
    options.stop = Interrupted;
    auto opened = Device::Open(args_.backend, options);
    if (!opened.ok()) return opened.status();
    device = *std::move(opened);
  }
  return device.get();
}

absl::StatusOr<Measurement> Bench::Measure(const std::string& preset,
                                           const std::string& name,
                                           const model::Network& network,
                                           const Program& program,
                                           const std::vector<int8_t>& input,
                                           bool raw) {
  progress_.set_label(absl::StrFormat("%s: %s", preset, name));
  const auto device = Open(preset);
  if (!device.ok()) return device.status();
  const auto expected = GoldenTensors(network, input, raw);
  if (!expected.ok()) return expected.status();
  auto run = RunChecked(**device, program, network, input, *expected);
  if (!run.ok()) return run.status();
  Measurement m;
  m.run = *std::move(run);
  m.expected_cycles = compiler::EstimateCycles(program, (*device)->preset());
  for (const LayerInfo& layer : program.layers) {
    m.macs += layer.macs;
    m.ideal_cycles += layer.ideal_cycles;
  }
  const std::vector<std::string> mismatches = m.run.mismatches();
  if (!mismatches.empty())
    return absl::DataLossError(absl::StrFormat("%s: %s", name, mismatches[0]));
  return m;
}

absl::Status Bench::StartAgain(Device& device, const Program& program,
                               Measurement& m) {
  constexpr int64_t kBytes = 64, kStep = 7, kPeriod = 61;
  m.starts = {static_cast<int64_t>(m.run.stats.cycles)};
  std::vector<uint8_t> bytes(kBytes * kPeriod);
  for (int i = 1; i < args_.starts; ++i) {
    const absl::Span<uint8_t> part =
        absl::MakeSpan(bytes).first(kBytes * (i * kStep % kPeriod + 1));
    if (absl::Status s = device.Read(0, part); !s.ok()) return s;
    const auto stats = RunLoaded(device, program);
    if (!stats.ok()) return stats.status();
    m.starts.push_back(static_cast<int64_t>(stats->cycles));
  }
  return absl::OkStatus();
}

std::string Bench::StartsText(const Measurement& m) {
  if (m.starts.size() < 2 || m.starts[0] == 0) return "";  // iss: no cycles
  const auto [least, most] =
      std::minmax_element(m.starts.begin(), m.starts.end());
  return absl::StrFormat("%s - %s", Thousands(*least), Thousands(*most));
}

absl::StatusOr<Measurement> Bench::MeasureMatmul(
    const std::string& preset, const compiler::MatmulSpec& spec,
    const std::string& name) {
  const auto program = compiler::CompileMatmul(spec, *FindPreset(preset), {});
  if (!program.ok()) return program.status();
  std::mt19937_64 rng(args_.seed);
  auto m = Measure(preset, name, compiler::MatmulNetwork(spec), *program,
                   RandomInt8(spec.m * spec.k, rng), spec.raw);
  if (!m.ok()) return m;
  if (absl::Status s = StartAgain(**Open(preset), *program, *m); !s.ok())
    return s;
  return m;
}

absl::StatusOr<Measurement> Bench::MeasureConv(const std::string& preset,
                                               const ConvSpec& spec,
                                               int64_t batch) {
  const model::Network network = ConvNetwork(spec, args_.seed);
  compiler::Options options;
  options.batch = batch;
  const auto program =
      compiler::CompileNetwork(network, *FindPreset(preset), options);
  if (!program.ok()) return program.status();
  std::mt19937_64 rng(args_.seed);
  return Measure(preset, spec.name, network, *program,
                 RandomInt8(batch * network.tensors[0].size(), rng), false);
}

Record Bench::MakeRecord(const std::string& section, const std::string& preset,
                         const std::string& name, const Measurement& m) const {
  const double peak = static_cast<double>(FindPreset(preset)->macs_per_cycle());
  Record r = RunRecord(section, *FindPreset(preset), name, m.run.stats, m.macs);
  r.more["expected_cycles"] = m.expected_cycles;
  r.hbm_read_bytes = r.hbm_write_bytes = 0;
  for (const LayerRun& layer : m.run.layers) {
    *r.hbm_read_bytes += layer.hbm_read_bytes;
    *r.hbm_write_bytes += layer.hbm_write_bytes;
  }
  r.bit_exact = m.run.layers.back().bit_exact;
  if (m.starts.size() > 1 && m.starts[0] > 0)
    r.more["cycles_of_starts"] = m.starts;
  if (m.ideal_cycles > 0) {
    r.ideal_utilisation = static_cast<double>(m.macs) /
                          (static_cast<double>(m.ideal_cycles) * peak);
    r.more["ideal_cycles"] = m.ideal_cycles;
  }
  return r;
}

Record Bench::RunRecord(const std::string& section, const Preset& preset,
                        const std::string& name, const RunStats& stats,
                        int64_t macs) const {
  Record r;
  r.name = name;
  r.section = section;
  r.preset = preset.name;
  r.host_cpu_seconds = stats.host_cpu_seconds;
  r.hbm_read_bytes =
      stats.counter(csr::Counter::kHbmReadBeats) * preset.beat_bytes();
  r.hbm_write_bytes =
      stats.counter(csr::Counter::kHbmWriteBeats) * preset.beat_bytes();
  r.macs = macs;
  r.peak_macs_per_cycle = preset.macs_per_cycle();
  if (stats.cycles == 0) return r;  // the simulator has no time
  r.cycles = static_cast<int64_t>(stats.cycles);
  r.utilisation = static_cast<double>(macs) /
                  (static_cast<double>(stats.cycles) *
                   static_cast<double>(preset.macs_per_cycle()));
  r.more["counters"] = ToJson(stats.counters);
  return r;
}

nlohmann::ordered_json ToJson(const CounterValues& counters) {
  nlohmann::ordered_json json;
  for (int c = 0; c < csr::kNumCounters; ++c)
    json[std::string(csr::kCounterNames[c])] = counters[c];
  return json;
}

void Bench::Print(const std::string& title, const Table& table,
                  const std::string& note) const {
  progress_.Clear();
  if (!args_.json) {
    std::printf("%s\n\n%s\n", title.c_str(), table.ToString().c_str());
    if (!note.empty()) std::printf("%s\n\n", note.c_str());
  }
  std::fflush(stdout);
}

namespace {

// Counters at a cycle.
CounterDelta At(const RunStats& stats, uint64_t cycle) {
  CounterSample before, after;
  after.cycle = stats.cycles;
  after.counters = stats.counters;
  for (const CounterSample& s : stats.samples) {
    if (s.cycle > cycle) {
      if (s.cycle < after.cycle) after = s;
      break;
    }
    before = s;
  }
  const double part =
      after.cycle > before.cycle
          ? std::min(1.0, static_cast<double>(cycle - before.cycle) /
                              static_cast<double>(after.cycle - before.cycle))
          : 1.0;
  CounterDelta at;
  at.cycles = static_cast<int64_t>(cycle);
  for (int c = 0; c < csr::kNumCounters; ++c) {
    const double grown = static_cast<double>(after.counters[c]) -
                         static_cast<double>(before.counters[c]);
    at.counters[c] =
        before.counters[c] + static_cast<uint64_t>(part * std::max(0.0, grown));
  }
  return at;
}

}  // namespace

CounterDelta Between(const RunStats& stats, uint64_t from, uint64_t to) {
  const CounterDelta before = At(stats, from), after = At(stats, to);
  CounterDelta delta;
  delta.cycles = after.cycles - before.cycles;
  for (int c = 0; c < csr::kNumCounters; ++c)
    delta.counters[c] =
        after.counters[c] - std::min(after.counters[c], before.counters[c]);
  return delta;
}

std::string CauseOfShortfall(const CounterDelta& run, int64_t ideal_cycles) {
  using csr::Counter;
  const auto count = [&](Counter c) { return run[c]; };
  const int64_t cycles = std::max<int64_t>(run.cycles, 1);
  const int64_t vectors = count(Counter::kMxuVectors);
  const int64_t weights = count(Counter::kMxuStallWeights);
  const int64_t swap = count(Counter::kMxuStallSwap);
  const int64_t banks = count(Counter::kMxuStallUb);
  const int64_t sums = count(Counter::kMxuStallAcc);
  const int64_t idle = count(Counter::kMxuIdle);
  // Whoever is busiest is what the array waits for.
  const auto pace =
      std::max({std::make_pair(count(Counter::kLoadBusy), "loads"),
                std::make_pair(count(Counter::kVectorBusy), "vector unit"),
                std::make_pair(count(Counter::kStoreBusy), "stores")},
               [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::string waits = absl::StrFormat(
      "waits (%s busy %d %%)", pace.second, 100 * pace.first / cycles);
  std::vector<std::pair<int64_t, std::string>> causes = {
      {vectors - ideal_cycles, "passes not full"},
      {weights, "weights not there"},
      {swap, "passes shorter than a tile's way in"},
      {banks, "buffer banks"},
      {sums, "sums on their way"},
      {idle, "start and end"},
      {cycles - vectors - weights - swap - banks - sums - idle, waits}};
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [lost, name] : causes) {
    if (parts.size() < 2 && lost > 0 && lost * 10 >= cycles - ideal_cycles) {
      parts.push_back(absl::StrFormat("%s %d", name, lost));
    }
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<std::vector<Record>> Bench::Matmuls() {
  std::vector<Record> records;
  Table table({"matmul on edge", "MACs", "ideal", "cycles", "starts", "of peak",
               "goal", "bit-exact", "cause of the shortfall"});
  struct Item {
    int64_t m, k, n;
    bool raw;
    double goal;
  };
  for (const Item& item : std::vector<Item>{{512, 512, 512, false, 0.95},
                                            {256, 256, 256, false, 0.85},
                                            {512, 512, 512, true, 0},
                                            {128, 128, 128, false, 0},
                                            {1, 1024, 1024, false, 0}}) {
    const std::string name = absl::StrFormat("%dx%dx%d%s", item.m, item.k,
                                             item.n, item.raw ? " int32" : "");
    const auto m = MeasureMatmul(
        "edge", RandomMatmul(item.m, item.k, item.n, item.raw, args_.seed),
        name);
    if (!m.ok()) return m.status();
    Record r = MakeRecord("matmul", "edge", name, *m);
    r.more["goal"] = item.goal > 0 ? nlohmann::ordered_json(item.goal)
                                   : nlohmann::ordered_json(nullptr);
    r.more["cause"] = CauseOfShortfall(m->run.stats, m->ideal_cycles);
    table.Add({name, Thousands(m->macs), Thousands(m->ideal_cycles),
               r.cycles ? Thousands(*r.cycles) : "-", StartsText(*m),
               r.utilisation ? Percent(*r.utilisation) : "-",
               item.goal > 0 ? Percent(item.goal) : "", YesNo(r.bit_exact),
               r.cycles ? r.more["cause"].get<std::string>() : ""});
    records.push_back(std::move(r));
  }
  Print("Matrix products, HBM to HBM, loads and stores included", table);
  return records;
}

// One stream of 32,768 beats, 4 MiB at least: transfers as long as the unified
// buffer allows, nothing else.
absl::StatusOr<std::vector<Record>> Bench::HbmStreaming() {
  std::vector<Record> records;
  Table table({"HBM stream", "preset", "bytes", "cycles", "bytes a cycle",
               "peak", "of peak", "goal"});
  // What a stream's cycles depend on: measured once, of what has a model.
  std::set<std::tuple<Memory, int64_t, int64_t, int64_t>> done;
  for (const Preset& preset : kPresets) {
    const std::string preset_name(preset.name);
    const int64_t beat = preset.beat_bytes(), ub = preset.ub_bytes;
    const auto key = std::tuple(preset.chip.memory, beat, ub, preset.chip.ecc);
    if (done.count(key) > 0 || absl::IsNotFound(Open(preset_name).status()))
      continue;
    done.insert(key);
    for (const bool write : {false, true}) {
      const int64_t chunk = std::min<int64_t>(ub / 2, 128 * 1024),
                    total = std::max<int64_t>(int64_t{4} << 20, 32768 * beat);
      Program program;
      program.preset = preset_name;
      for (int64_t at = 0; at < total; at += chunk) {
        isa::Load load;
        load.hbm_addr = at;
        load.ub_addr = static_cast<uint32_t>(at / chunk % 2 * chunk);
        load.len = static_cast<uint32_t>(chunk);
        load.n1 = load.n2 = 1;
        isa::Store store;
        store.hbm_addr = load.hbm_addr;
        store.ub_addr = load.ub_addr;
        store.len = load.len;
        store.n1 = store.n2 = 1;
        program.descriptors.push_back(write ? store.Encode() : load.Encode());
      }
      program.descriptors.push_back(isa::Halt{}.Encode());
      program.prog_addr = total;
      // The program is fetched in whole beats.
      const int64_t code = isa::kDescriptorBytes *
                           static_cast<int64_t>(program.descriptors.size());
      program.hbm_bytes = total + (code + beat - 1) / beat * beat;
      const std::string name = write ? "write" : "read";
      progress_.set_label(absl::StrFormat("%s: HBM %s", preset_name, name));
      const auto device = Open(preset_name);
      if (!device.ok()) return device.status();
      const auto stats = (*device)->Run(program);
      if (!stats.ok()) return stats.status();
      Record r;
      r.name = "hbm_" + name;
      r.section = "hbm";
      r.preset = preset_name;
      (write ? r.hbm_write_bytes : r.hbm_read_bytes) = total;
      r.host_cpu_seconds = stats->host_cpu_seconds;
      if (stats->cycles > 0) {
        r.cycles = static_cast<int64_t>(stats->cycles);
        const double rate =
            static_cast<double>(total) / static_cast<double>(stats->cycles);
        r.more["bytes_per_cycle"] = rate;
        r.more["of_peak"] = rate / static_cast<double>(beat);
        table.Add(
            {name, preset_name, Thousands(total), Thousands(*r.cycles),
             absl::StrFormat("%.1f", rate), absl::StrFormat("%d", beat),
             Percent(rate / static_cast<double>(beat)),
             write || preset.chip.memory != Memory::kHbm ? "" : "90.0 %"});
      }
      records.push_back(std::move(r));
    }
  }
  Print("HBM streams through DMA, refresh included", table);
  return records;
}

absl::StatusOr<std::vector<Record>> Bench::Speed() {
  std::vector<Record> records;
  Table table({"simulation", "matmul", "cycles", "host CPU s",
               "cycles a second", "goal", "million MACs a second"});
  struct Item {
    const char* preset;
    int64_t m, k, n, goal;
  };
  for (const Item& item : std::vector<Item>{{"nano", 256, 256, 256, 0},
                                            {"edge", 512, 512, 512, 100000},
                                            {"v1", 2048, 1024, 1024, 20000},
                                            {"lite", 512, 256, 512, 0},
                                            {"v2", 2048, 512, 1024, 30000}}) {
    const std::string name =
        absl::StrFormat("%dx%dx%d", item.m, item.k, item.n);
    const auto m = Target(*FindPreset(item.preset)).float_modules()
                       ? MeasureFloat(item.preset, item.m, item.k, item.n, name)
                       : MeasureMatmul(item.preset,
                                       RandomMatmul(item.m, item.k, item.n,
                                                    false, args_.seed),
                                       name);
    if (!m.ok()) return m.status();
    Record r = MakeRecord("speed", item.preset, "matmul " + name, *m);
    if (r.cycles) {
      const double rate = static_cast<double>(*r.cycles) / *r.host_cpu_seconds;
      const double macs = static_cast<double>(m->macs) / *r.host_cpu_seconds;
      r.more["cycles_per_second"] = rate;
      r.more["macs_per_second"] = macs;
      table.Add({item.preset, name, Thousands(*r.cycles),
                 absl::StrFormat("%.2f", *r.host_cpu_seconds),
                 Thousands(static_cast<int64_t>(rate)),
                 item.goal > 0 ? Thousands(item.goal) : "",
                 Thousands(static_cast<int64_t>(macs / 1e6))});
    }
    records.push_back(std::move(r));
  }
  Print("Simulation speed: the whole core in plain RTL, tracing off", table);
  return records;
}

}  // namespace systole::tools
