// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/campaign.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "systole/device.h"
#include "verif/faults/injector.h"
#include "verif/faults/state.h"
#include "verif/faults/workload.h"

namespace systole::faults {
namespace {

constexpr const char kMemory[] = "HBM";
constexpr uint32_t kWatchdog = 1500;  // cycles; the programs pause for less
constexpr uint64_t kPatience = 8;     // driver's limit in program times
constexpr unsigned kSeconds = 40;     // processor time of a copy

struct Run {
  absl::Status status;
  RunStats stats;
  std::vector<uint8_t> output;
  bool fault = false, stopped = false;
  std::string cause;
};

// A run as the driver sees it.
Run RunOnce(Device& device, const Workload& work, const bool& stopped) {
  Run run;
  if (run.status = device.Start(work.program); run.status.ok()) {
    auto stats = device.Wait();
    run.status = stats.status();
    if (stats.ok()) run.stats = *std::move(stats);
  }
  run.stopped = stopped || absl::IsDeadlineExceeded(run.status);
  if (!device.fault() && !run.stopped) {
    for (const Range& r : work.outputs) {
      std::vector<uint8_t> bytes(r.bytes);
      const absl::Status read = device.Read(r.address, absl::MakeSpan(bytes));
      if (!read.ok() && run.status.ok()) run.status = read;
      run.output.insert(run.output.end(), bytes.begin(), bytes.end());
    }
  }
  if (device.fault()) {
    run.fault = true;
    const auto cause = static_cast<size_t>(device.fault()->cause);
    run.cause = cause < isa::kFaults.size()
                    ? std::string(isa::kFaults[cause].name)
                    : "unknown";
  }
  return run;
}

// Returns "outcome detail".
std::string Judge(const Run& run, const std::vector<uint8_t>& expected) {
  if (run.fault) return absl::StrCat("reported ", run.cause);
  if (run.stopped) return "reported timeout";
  if (run.output != expected) {
    // An error that the firmware reports also counts as reported.
    if (absl::StartsWith(run.status.message(), "firmware: "))
      return "reported firmware";
    return "silent";
  }
  const EccCounts& ecc = run.stats.ecc;
  return ecc.corrected + ecc.smem_corrected != 0 ? "corrected" : kMasked;
}

struct Bench {
  Workload work;
  bool stopped = false;
  uint64_t limit = 0;  // cycles; 0: none
  std::unique_ptr<Device> device;
};

absl::StatusOr<std::unique_ptr<Bench>> Open(const Options& options,
                                            const std::string& engine) {
  auto bench = std::make_unique<Bench>();
  auto work = MakeWorkload(options.preset, options.seed);
  if (!work.ok()) return work.status();
  bench->work = *std::move(work);
  DeviceOptions device;
  device.preset = options.preset;
  device.simulation.engine = engine;
  device.watchdog = kWatchdog;
  Bench* const b = bench.get();
  device.progress = [b](uint64_t cycles) {
    if (b->limit != 0 && cycles > b->limit) b->stopped = true;
  };
  device.stop = [b] { return b->stopped; };
  auto opened = Device::Open("rtl", device);
  if (!opened.ok()) return opened.status();
  bench->device = *std::move(opened);
  absl::Status loaded = bench->device->Load(bench->work.program);
  // Overwrites the results of the run before, so that they cannot be right by
  // chance.
  for (const Range& r : bench->work.outputs) {
    const std::vector<uint8_t> blank(r.bytes, 0xA5);
    loaded.Update(bench->device->Write(r.address, blank));
  }
  if (!loaded.ok()) return loaded;
  return bench;
}

absl::StatusOr<Flip> Parse(const std::string& said, Flip flip) {
  if (said == "timeout") {
    flip.outcome = Outcome::kReported;
    flip.detail = said;
    return flip;
  }
  const size_t space = said.find(' ');
  for (int o = 0; o < 4; ++o) {
    if (said.substr(0, space) != kOutcomeNames[o]) continue;
    flip.outcome = static_cast<Outcome>(o);
    if (space != std::string::npos) flip.detail = said.substr(space + 1);
    return flip;
  }
  return absl::InternalError(absl::StrCat("a copy said '", said, "'"));
}

uint64_t Words(const Workload& work) {
  uint64_t words = 0;
  for (const Range& r : work.memory) words += r.bytes / 8;
  return words;
}

uint64_t WordBits(bool ecc) { return ecc ? 72 : 64; }

struct Planned {
  Flip flip;
  Injection injection;
  std::pair<std::string, uint64_t> word;
};

// Groups flips of one structure. Two flips in one word might cancel before its
// code is checked, and so might a bit and its parity bit. Structures with
// parity are therefore flipped one bit at a time.
std::vector<std::vector<size_t>> Group(const Options& options,
                                       const std::vector<Planned>& plan) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> open;  // the last group of each structure
  for (size_t i = 0; i < plan.size(); ++i) {
    const std::string& structure = plan[i].flip.structure;
    const auto asked = options.groups.find(structure);
    size_t most = static_cast<size_t>(
        asked == options.groups.end() ? options.group : asked->second);
    if (absl::StartsWith(structure, "unit queues") ||
        structure == "sync flags" || structure == "dispatch")
      most = 1;
    const auto it = open.find(structure);
    bool joins = it != open.end() && groups[it->second].size() < most;
    for (size_t m = 0; joins && m < groups[it->second].size(); ++m)
      joins = plan[groups[it->second][m]].word != plan[i].word;
    if (joins) {
      groups[it->second].push_back(i);
    } else {
      open[structure] = groups.size();
      groups.push_back({i});
    }
  }
  return groups;
}

}  // namespace

absl::StatusOr<Results> RunCampaign(const Options& options) {
  Results results;
  auto bench = Open(options, "faults");
  if (!bench.ok()) return bench.status();
  Device* const device = (*bench)->device.get();
  const Workload& work = (*bench)->work;
  auto found = State::Find(device->preset());
  if (!found.ok()) return found.status();
  const State state = *std::move(found);
  Injector& injector = Injector::Get();

  // A run without a flip gives the duration and the right results.
  const auto said_right =
      injector.Rehearse(state.everything(), [&]() -> std::string {
        const Run run = RunOnce(*device, work, false);
        if (!run.status.ok() || run.stats.retires.empty())
          return absl::StrCat("failed ", run.status.message());
        uint64_t cycles = run.stats.cycles;
        for (const Retire& retire : run.stats.retires)
          cycles = std::max(cycles, retire.cycle);
        return absl::StrCat(cycles, " ",
                            std::string(run.output.begin(), run.output.end()));
      });
  if (!said_right.ok()) return said_right.status();
  const size_t space = said_right->find(' ');
  if (space == std::string::npos ||
      !absl::SimpleAtoi(said_right->substr(0, space), &results.cycles)) {
    return absl::InternalError(
        absl::StrCat("the program fails without a flip: ", *said_right));
  }
  const std::vector<uint8_t> right(said_right->begin() + space + 1,
                                   said_right->end());

  std::vector<const Structure*> structures;  // null: the memory
  std::vector<std::string> names;
  for (const Structure& s : state.structures()) {
    results.bits[s.name] = s.bits;
    names.push_back(s.name);
    if (options.only.empty() || options.only == s.name)
      structures.push_back(&s);
  }
  const bool ecc = device->preset().chip.ecc != 0;
  results.bits[kMemory] = Words(work) * WordBits(ecc);
  names.push_back(kMemory);
  if (options.only.empty() || options.only == kMemory)
    structures.push_back(nullptr);
  if (structures.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no structure '", options.only, "'; there are ",
                     absl::StrJoin(names, ", ")));
  }

  std::mt19937_64 rng(options.seed);
  std::vector<Planned> plan;
  for (int i = 0; i < options.flips; ++i) {
    const Structure* structure =
        structures[static_cast<size_t>(i) % structures.size()];
    Planned p;
    p.injection.cycle = p.flip.cycle = rng() % results.cycles;
    if (structure != nullptr) {
      const uint64_t bit = rng() % structure->bits;
      p.flip.structure = structure->name;
      p.flip.bit = State::Describe(*structure, bit);
      p.word = State::WordOf(*structure, bit);
      p.injection.turn = [&state, structure, bit] {
        state.Turn(*structure, bit);
      };
    } else {
      uint64_t word = rng() % Words(work);
      const Range* range = work.memory.data();
      while (word >= range->bytes / 8) word -= range++->bytes / 8;
      const BitFlip turned = {range->address + word * 8,
                              static_cast<int>(rng() % WordBits(ecc))};
      p.flip.structure = kMemory;
      p.flip.bit = absl::StrFormat("0x%x bit %d", turned.address, turned.bit);
      p.word = {kMemory, turned.address};
      p.injection.turn = [device, turned] {
        device->simulator()->Flip(turned).IgnoreError();
      };
    }
    plan.push_back(std::move(p));
  }
  std::stable_sort(plan.begin(), plan.end(),
                   [](const Planned& a, const Planned& b) {
                     return a.flip.cycle < b.flip.cycle;
                   });

  Injector::Plan injections;
  injections.jobs = options.jobs;
  injections.patience = kPatience * results.cycles;
  injections.seconds = kSeconds;
  injections.state = state.everything();
  injections.groups = Group(options, plan);
  for (Planned& p : plan)
    injections.injections.push_back(std::move(p.injection));
  injector.Arm(std::move(injections));
  (*bench)->limit = kPatience * results.cycles;
  const Run run = RunOnce(*device, work, (*bench)->stopped);
  if (injector.copied()) injector.Say(Judge(run, right));
  std::vector<std::string> said;
  if (absl::Status s = injector.Collect(&said); !s.ok()) return s;
  if (!run.status.ok() || run.output != right)
    return absl::InternalError("the original run is not as the one before");
  results.copies = injector.counters().copies;
  results.early = injector.counters().early;
  for (size_t i = 0; i < plan.size(); ++i) {
    auto flip = Parse(said[i], std::move(plan[i].flip));
    if (!flip.ok()) return flip.status();
    results.flips.push_back(*std::move(flip));
  }
  return results;
}

}  // namespace systole::faults
