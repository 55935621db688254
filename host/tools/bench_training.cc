// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Training steps of the digits network, by phase. A cycle belongs to the
// operation (a phase of a layer) that ends next; what the counters grew by in
// it is interpolated between samples.
#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/tools/bench.h"
#include "host/tools/digits.h"
#include "host/tools/golden_network.h"
#include "host/tools/interrupt.h"
#include "host/training/trainer.h"
#include "verif/golden/training.h"

namespace systole::tools {
namespace {

constexpr float kRate = 0.002f;
constexpr uint32_t kStateSeed = 1;

// What each operation's cycles are, by tag.
std::map<int, CounterDelta> Attribute(const Program& program,
                                      const RunStats& stats) {
  std::map<int, uint64_t> end;
  for (const Retire& r : stats.retires) {
    const isa::Header header =
        isa::Halt::Decode(program.descriptors[r.index]).header;
    if (header.opcode == static_cast<uint8_t>(isa::Opcode::kHalt)) continue;
    uint64_t& last = end[static_cast<int>(header.tag)];
    last = std::max(last, r.cycle);
  }
  std::vector<std::pair<uint64_t, int>> order;
  for (const auto& [tag, cycle] : end) order.emplace_back(cycle, tag);
  std::sort(order.begin(), order.end());
  if (!order.empty()) order.back().first = stats.cycles;
  std::map<int, CounterDelta> result;
  uint64_t before = 0;
  for (const auto& [cycle, tag] : order) {
    result[tag] = Between(stats, before, cycle);
    before = cycle;
  }
  return result;
}

void Add(CounterDelta& sum, const CounterDelta& more) {
  sum.cycles += more.cycles;
  for (int c = 0; c < csr::kNumCounters; ++c)
    sum.counters[c] += more.counters[c];
}

// Everything that a step changes, against the golden model.
absl::Status CheckStep(training::Trainer& trainer, const Digits& digits,
                       int64_t batch, const training::StepReport& report,
                       int rows) {
  const std::vector<training::Layer>& layers = trainer.layers();
  const golden::TrainingNetwork network = GoldenNetwork(layers);
  golden::TrainingState state = golden::InitialState(network, kStateSeed);
  golden::Adam adam;
  adam.rate = kRate;
  const int64_t size = int64_t{digits.height} * digits.width;
  const auto want = golden::Step(
      network,
      golden::PixelsToBf16(
          absl::MakeSpan(digits.pixels).subspan(0, batch * size),
          static_cast<int>(size)),
      absl::MakeSpan(digits.labels).subspan(0, batch), adam, rows, &state);
  if (!want.ok()) return want.status();
  if (report.loss != want->loss / static_cast<double>(batch))
    return absl::DataLossError(
        absl::StrFormat("loss %g, golden %g", report.loss,
                        want->loss / static_cast<double>(batch)));
  for (size_t i = 0; i < layers.size(); ++i) {
    const training::LayerLayout& p = trainer.step().layout.layers[i];
    const auto weights = trainer.ReadMatrix(p.slab, p.master);
    const auto offset =
        trainer.ReadParam(static_cast<int>(i),
                          layers[i].normed ? training::kBeta : training::kBias);
    if (!weights.ok()) return weights.status();
    if (!offset.ok()) return offset.status();
    const auto same = [](const std::vector<float>& got, const auto& golden) {
      return static_cast<int64_t>(got.size()) == golden.size() &&
             std::memcmp(got.data(), golden.data(),
                         got.size() * sizeof(float)) == 0;
    };
    if (!same(*weights, state.layers[i].weights.value) ||
        !same(*offset, state.layers[i].offset.value)) {
      return absl::DataLossError(absl::StrFormat(
          "%s: the step's weights differ from the golden model's",
          layers[i].name));
    }
  }
  return absl::OkStatus();
}

int PercentOf(const CounterDelta& delta, csr::Counter c) {
  return static_cast<int>(100 * delta[c] / std::max<int64_t>(delta.cycles, 1));
}

}  // namespace

absl::StatusOr<std::vector<Record>> Bench::TrainingStep(
    const std::string& preset_name, int64_t batch) {
  using csr::Counter;
  progress_.set_label(absl::StrFormat("%s: training step", preset_name));
  const auto digits = ReadDigits(args_.digits);
  if (!digits.ok()) return digits.status();
  DeviceOptions device_options;
  device_options.preset = preset_name;
  device_options.seed = args_.seed;
  device_options.sample_cycles = kSampleCycles;
  device_options.progress = [this](uint64_t count) {
    progress_.Report(count, "cycles");
  };
  device_options.stop = Interrupted;
  const auto device = Device::Open(args_.backend, device_options);
  if (!device.ok()) return device.status();
  const Preset& preset = (*device)->preset();
  training::StepOptions options;
  options.batch = batch;
  auto trainer = training::Trainer::Create(**device, training::DigitsLayers(),
                                           options, kStateSeed);
  if (!trainer.ok()) return trainer.status();
  const int64_t size = int64_t{digits->height} * digits->width;
  const auto report =
      (*trainer)->Step(absl::MakeSpan(digits->pixels).subspan(0, batch * size),
                       absl::MakeSpan(digits->labels).subspan(0, batch), kRate);
  if (!report.ok()) return report.status();
  absl::Status check = CheckStep(**trainer, *digits, batch, *report,
                                 static_cast<int>(preset.rows));
  if (!check.ok()) return check;

  const Program& program = (*trainer)->step().program;
  const std::vector<training::Layer>& layers = (*trainer)->layers();
  const RunStats& stats = report->stats;
  const std::map<int, CounterDelta> operations = Attribute(program, stats);
  std::vector<Record> records;
  Table table({absl::StrFormat("step on %s, batch %d", preset_name, batch),
               "MACs", "cycles", "of peak", "array", "vector unit", "loads",
               "stores", "cause of the shortfall"});
  const auto add = [&](const std::string& name, const CounterDelta& delta,
                       int64_t macs) {
    RunStats part;
    part.cycles = stats.cycles == 0 ? 0 : delta.cycles;
    part.counters = stats.cycles == 0 ? stats.counters : delta.counters;
    Record r = RunRecord("training", preset, name, part, macs);
    r.host_cpu_seconds.reset();
    r.bit_exact = true;
    r.more["batch"] = batch;
    const int64_t ideal = macs / preset.macs_per_cycle();
    if (r.cycles)
      r.more["cause"] = CauseOfShortfall(
          delta, ideal,
          absl::StrFormat("no product (vector unit busy %d %%)",
                          PercentOf(delta, Counter::kVectorBusy)));
    const auto share = [&](Counter c) {
      return r.cycles ? absl::StrFormat("%d %%", PercentOf(delta, c)) : "-";
    };
    table.Add({name, Thousands(macs), r.cycles ? Thousands(*r.cycles) : "-",
               r.utilisation ? Percent(*r.utilisation) : "-",
               share(Counter::kMxuVectors), share(Counter::kVectorBusy),
               share(Counter::kLoadBusy), share(Counter::kStoreBusy),
               r.cycles ? r.more["cause"].get<std::string>() : ""});
    records.push_back(std::move(r));
  };
  CounterDelta all;
  int64_t all_macs = 0;
  for (int p = 0; p < training::kNumPhases; ++p) {
    const auto phase = static_cast<training::Phase>(p);
    CounterDelta sum;
    int64_t macs = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      const int layer = static_cast<int>(i);
      const auto found = operations.find(training::TagOf(layer, phase));
      if (found != operations.end()) Add(sum, found->second);
      macs += training::PhaseMacs(layers, layer, phase, batch);
    }
    add(training::PhaseName(phase), sum, macs);
    all_macs += macs;
  }
  all.cycles = static_cast<int64_t>(stats.cycles);
  all.counters = stats.counters;
  add("whole step", all, all_macs);
  records.back().host_cpu_seconds = stats.host_cpu_seconds;
  if (stats.cycles > 0) {
    for (const auto& [tag, delta] : operations) {
      const int layer = tag / training::kNumPhases;
      const auto phase =
          static_cast<training::Phase>(tag % training::kNumPhases);
      if (layer >= static_cast<int>(layers.size())) continue;
      add(absl::StrCat(layers[layer].name, " ", training::PhaseName(phase)),
          delta, training::PhaseMacs(layers, layer, phase, batch));
    }
  }
  Print("Training step of the digits network: cycles by phase, then by layer",
        table, SpecialValues(stats));
  return records;
}

absl::StatusOr<std::vector<Record>> Bench::TrainingSteps() {
  std::vector<Record> records;
  std::vector<std::pair<std::string, int64_t>> steps = {{"v2", 64},
                                                        {"lite", 16}};
  if (!args_.step_preset.empty())
    steps = {{args_.step_preset, args_.step_batch}};
  for (const auto& [preset, batch] : steps) {
    auto part = TrainingStep(preset, batch);
    if (!part.ok()) return part.status();
    records.insert(records.end(), part->begin(), part->end());
  }
  return records;
}

}  // namespace systole::tools
