// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/campaign.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/match.h"
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
constexpr uint32_t kWatchdog = 1500;  // cycles, above any pause of the programs
constexpr uint64_t kPatience = 8;     // programs' times until the driver stops
constexpr unsigned kSeconds = 40;     // of a copy that does not even come there

struct Run {
  absl::Status status;
  RunStats stats;
  std::vector<uint8_t> output;
  bool fault = false, stopped = false;
  std::string cause;
};

// What the driver sees of one run.
Run RunOnce(Device& device, const Workload& work, const bool& stopped) {
  Run run;
  if (run.status = device.Start(work.program); run.status.ok()) {
    auto stats = device.Wait();
    run.status = stats.status();
    if (stats.ok()) run.stats = *std::move(stats);
  }
  run.stopped = stopped || absl::IsDeadlineExceeded(run.status);
  if (!device.fault() && !run.stopped) {
    run.output.resize(work.output.bytes);
    const absl::Status read =
        device.Read(work.output.address, absl::MakeSpan(run.output));
    if (!read.ok() && run.status.ok()) run.status = read;
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

// "outcome detail"
std::string Judge(const Run& run, const std::vector<uint8_t>& expected) {
  if (run.fault) return absl::StrCat("reported ", run.cause);
  if (run.stopped) return "reported timeout";
  if (run.output != expected) {
    // The firmware's own account of what went wrong is one, too.
    if (absl::StartsWith(run.status.message(), "firmware: "))
      return "reported firmware";
    return "silent";
  }
  const EccCounts& ecc = run.stats.ecc;
  return ecc.corrected + ecc.smem_corrected != 0 ? "corrected" : "masked";
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
  device.engine = engine;
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
  // The results' place, so that no result is there by chance.
  const std::vector<uint8_t> blank(bench->work.output.bytes, 0xA5);
  loaded.Update(bench->device->Write(bench->work.output.address, blank));
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

}  // namespace

absl::StatusOr<Results> RunCampaign(const Options& options) {
  Results results;
  // Without a flip: how long it takes and what is right.
  auto plain = Open(options, "faults");
  if (!plain.ok()) return plain.status();
  const Run right = RunOnce(*(*plain)->device, (*plain)->work, false);
  if (!right.status.ok()) {
    return absl::InternalError(absl::StrCat(
        "the program fails without a flip: ", right.status.message()));
  }
  plain->reset();
  results.cycles = right.stats.cycles;

  auto bench = Open(options, "faults");
  if (!bench.ok()) return bench.status();
  auto found = State::Find((*bench)->device->preset());
  if (!found.ok()) return found.status();
  const State state = *std::move(found);
  Device* const device = (*bench)->device.get();

  std::vector<const Structure*> structures;  // null: the memory
  std::vector<std::string> names;
  for (const Structure& s : state.structures()) {
    results.bits[s.name] = s.bits;
    names.push_back(s.name);
    if (options.only.empty() || options.only == s.name)
      structures.push_back(&s);
  }
  uint64_t words = 0;
  for (const Range& r : (*bench)->work.memory) words += r.bytes / 8;
  const bool ecc = device->preset().chip.ecc != 0;
  const uint64_t word_bits = ecc ? 72 : 64;
  results.bits[kMemory] = words * word_bits;
  names.push_back(kMemory);
  if (options.only.empty() || options.only == kMemory)
    structures.push_back(nullptr);
  if (structures.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no structure '", options.only, "'; there are ",
                     absl::StrJoin(names, ", ")));
  }

  std::mt19937_64 rng(options.seed);
  std::vector<std::pair<Flip, Injection>> plan;
  for (int i = 0; i < options.flips; ++i) {
    const Structure* structure =
        structures[static_cast<size_t>(i) % structures.size()];
    Flip flip;
    Injection injection;
    injection.cycle = flip.cycle = rng() % results.cycles;
    if (structure != nullptr) {
      const uint64_t bit = rng() % structure->bits;
      flip.structure = structure->name;
      flip.bit = State::Describe(*structure, bit);
      injection.turn = [&state, structure, bit] {
        state.Turn(*structure, bit);
      };
    } else {
      uint64_t word = rng() % words;
      const Range* range = (*bench)->work.memory.data();
      while (word >= range->bytes / 8) word -= range++->bytes / 8;
      const BitFlip turned = {range->address + word * 8,
                              static_cast<int>(rng() % word_bits)};
      flip.structure = kMemory;
      flip.bit = absl::StrFormat("0x%x bit %d", turned.address, turned.bit);
      injection.turn = [device, turned] { device->Flip(turned).IgnoreError(); };
    }
    plan.emplace_back(std::move(flip), std::move(injection));
  }
  std::stable_sort(plan.begin(), plan.end(), [](const auto& a, const auto& b) {
    return a.first.cycle < b.first.cycle;
  });
  std::vector<Injection> injections;
  for (auto& [flip, injection] : plan)
    injections.push_back(std::move(injection));

  Injector& injector = Injector::Get();
  injector.Arm(std::move(injections), options.jobs, kSeconds);
  (*bench)->limit = kPatience * results.cycles;
  const Run run = RunOnce(*device, (*bench)->work, (*bench)->stopped);
  if (injector.copied()) injector.Say(Judge(run, right.output));
  std::vector<std::string> said;
  if (absl::Status s = injector.Collect(&said); !s.ok()) return s;
  if (!run.status.ok() || run.output != right.output)
    return absl::InternalError("the original run is not as the one before");
  for (size_t i = 0; i < plan.size(); ++i) {
    auto flip = Parse(said[i], std::move(plan[i].first));
    if (!flip.ok()) return flip.status();
    results.flips.push_back(*std::move(flip));
  }
  return results;
}

}  // namespace systole::faults
