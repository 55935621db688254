// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Replays programs from their start, in a copy of the process that was forked
// there. The copy has all state that determines the run: memories, generators
// of random stalls, the cycle counter. So the replay takes the same course.

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sim/rtl/rtl_device.h"

namespace systole {
namespace {

// Orders and answers are strings joined by kBetween.
const absl::string_view kBetween("\0", 1);
enum Order { kFile, kLayer, kFrom, kTo, kMark, kOrders };
enum Answer { kError, kView, kCycles, kEnded, kEnd, kCompletions, kAnswers };

uint64_t Number(const std::string& text) {
  uint64_t value = 0;
  (void)absl::SimpleAtoi(text, &value);
  return value;
}

// Checksum of the completions before a cycle; sensitive to their order.
uint64_t Checksum(const std::vector<Retire>& retires, uint64_t before) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const Retire& r : retires) {
    if (r.cycle >= before) break;
    for (const uint64_t word :
         {static_cast<uint64_t>(r.queue), uint64_t{r.index}, r.cycle}) {
      sum = (sum ^ word) * 0x100000001b3;
      sum ^= sum >> 29;
    }
  }
  return sum;
}

}  // namespace

absl::Status RtlDevice::KeepStart(const Program& program) {
  while (!kept_.empty() &&
         kept_.size() >= static_cast<size_t>(options_.simulation.snapshots))
    kept_.pop_front();
  Kept kept;
  kept.run = runs_ - 1;
  auto snapshot = Snapshot::Take([this, &program](const std::string& order) {
    return RunAgain(program, order);
  });
  if (!snapshot.ok()) return snapshot.status();
  kept.snapshot = *std::move(snapshot);
  kept_.push_back(std::move(kept));
  return absl::OkStatus();
}

void RtlDevice::KeepEnd() {
  if (kept_.empty() || kept_.back().run != runs_ - 1) return;
  kept_.back().retires = retires_;
  kept_.back().end = DescribeEnd();
  kept_.back().cycles = now();
}

std::string RtlDevice::DescribeEnd() const {
  if (const auto& failed = sim_.core().failed()) {
    return absl::StrFormat("%s in %s, cycle %d", failed->what, failed->path,
                           failed->cycle - start_cycle_);
  }
  if (!fault_) return "done";
  return absl::StrFormat("fault %d, queue %d, descriptor %d, address %d, %d",
                         static_cast<int>(fault_->cause), fault_->queue,
                         fault_->index, fault_->address, fault_->cycle);
}

// Runs in the copy: starts the program that the process was about to start.
std::string RtlDevice::RunAgain(const Program& program,
                                const std::string& order) {
  const std::vector<std::string> wanted = absl::StrSplit(order, kBetween);
  kept_.clear();
  options_.progress = nullptr;
  options_.stop = nullptr;
  const int chips = sim_.device().columns() * sim_.device().rows();
  for (int chip = 0; chip < chips; ++chip) {
    for (int core = 0; core < preset().chip.cores; ++core)
      sim_.device().core(chip).SetProbe(core, nullptr).IgnoreError();
  }
  TraceOptions trace;
  trace.file = wanted[kFile];
  trace.layer = wanted[kLayer];
  trace.from = Number(wanted[kFrom]);
  trace.to = Number(wanted[kTo]);
  if (!wanted[kMark].empty()) trace.mark = Number(wanted[kMark]);
  tracer_.emplace(sim_, trace, program, start_cycle_);
  absl::Status status = tracer_->Open();
  bool ended = false;
  if (status.ok()) {
    absl::Status run = sim_.WriteRegister(csr::kCtrl, csr::kCtrlStart);
    const bool cut = trace.layer.empty() &&
                     trace.to < std::numeric_limits<uint64_t>::max() / 2;
    if (run.ok()) run = sim_.WaitInterrupt(cut ? trace.to + 1 : 0);
    ended = run.ok() || sim_.core().failed();
    // The original run did so too, and it takes cycles.
    if (run.ok()) StillRuns().IgnoreError();
    status = tracer_->Close();
    if (run.ok()) ReadState().IgnoreError();
  }
  return absl::StrJoin({std::string(status.message()), tracer_->view(),
                        absl::StrCat(now()), absl::StrCat(ended), DescribeEnd(),
                        absl::StrCat(Checksum(retires_, now()))},
                       kBetween);
}

absl::StatusOr<Waveform> RtlDevice::Replay(const TraceOptions& trace) {
  const auto kept =
      std::find_if(kept_.begin(), kept_.end(), [&trace](const Kept& k) {
        return k.run == trace.run && k.snapshot != nullptr;
      });
  if (kept == kept_.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the start of program ", trace.run, " is not kept for a replay"));
  }
  const auto text = kept->snapshot->Tell(absl::StrJoin(
      {trace.file, trace.layer, absl::StrCat(trace.from),
       absl::StrCat(trace.to), trace.mark ? absl::StrCat(*trace.mark) : ""},
      kBetween));
  kept->snapshot.reset();
  if (!text.ok()) return text.status();
  const std::vector<std::string> answer = absl::StrSplit(*text, kBetween);
  if (answer.size() != kAnswers)
    return absl::InternalError("the replay gave half an answer");
  if (!answer[kError].empty()) return absl::UnavailableError(answer[kError]);
  const uint64_t cycles = Number(answer[kCycles]);
  const bool ended = answer[kEnded] == "1";
  const uint64_t compared = ended ? kept->cycles : cycles;
  if (Number(answer[kCompletions]) != Checksum(kept->retires, compared) ||
      (ended && answer[kEnd] != kept->end)) {
    return absl::InternalError(absl::StrFormat(
        "%s: the replay of program %d went another way than its run (%s; the "
        "run: %s)",
        trace.file, trace.run, answer[kEnd], kept->end));
  }
  return Waveform{trace.file, answer[kView], trace.run, trace.from,
                  std::min(trace.to, cycles)};
}

absl::StatusOr<Waveform> RtlDevice::ReplayAround(int run, uint64_t cycle,
                                                 const std::string& what) {
  if (folder_.empty())
    return absl::FailedPreconditionError("no folder for waveforms");
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    waveform_ = absl::UnavailableError(
        absl::StrCat(folder_, ": cannot be made: ", error.message()));
    return waveform_;
  }
  TraceOptions trace;
  trace.file =
      absl::StrFormat("%s/%s_%s_run%d.fst", folder_, preset().name, what, run);
  trace.run = run;
  trace.from = cycle - std::min(cycle, kAroundBefore);
  trace.to = cycle + kAroundAfter;
  trace.mark = cycle;
  if (cycle == std::numeric_limits<uint64_t>::max()) {
    const uint64_t end = kept_.empty() ? now() : kept_.back().cycles;
    trace.from = end - std::min(end, kAtEnd);
    trace.to = end;
    trace.mark.reset();
  }
  waveform_ = Replay(trace);
  return waveform_;
}

void RtlDevice::ReplayFailure() {
  if (options_.simulation.waves.empty()) return;
  const int run = runs_ - 1;
  if (const auto& failed = sim_.core().failed()) {
    ReplayAround(run, failed->cycle - start_cycle_, "assertion")
        .status()
        .IgnoreError();
  } else if (fault_) {
    ReplayAround(run, fault_->cycle, "fault").status().IgnoreError();
  }
}

}  // namespace systole
