// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/reports.h"

#include <utility>

namespace systole::tb {
namespace {

enum class Report : uint8_t { kRetire, kSample, kCommand, kLinks, kFailure };

struct RetireReport {
  int queue;
  uint32_t index;
  uint64_t cycle;
};

}  // namespace

class ReportLog::Sink : public ProbeSink {
 public:
  Sink(int core, Packer* log) : core_(static_cast<uint8_t>(core)), log_(log) {}
  void Sample(ProbeSample sample, uint64_t cycle) override {
    log_->Put(Report::kSample)
        .Put(core_)
        .Put(sample.bits)
        .Put(sample.send)
        .Put(cycle);
  }
  void Command(const RowCommand& command) override {
    log_->Put(Report::kCommand).Put(core_).Put(command);
  }
  void Links(const ChipLinkCounts& counts, uint64_t cycle) override {
    log_->Put(Report::kLinks).Put(core_).Put(counts).Put(cycle);
  }

 private:
  uint8_t core_;
  Packer* log_;
};

ReportLog::ReportLog(int number, ClockedChip* chip)
    : number_(number), chip_(chip) {
  for (int c = 0; c < chip->cores(); ++c) {
    chip->on_retire[c] = [this, c](int queue, uint32_t index, uint64_t cycle) {
      log_.Put(Report::kRetire)
          .Put(static_cast<uint8_t>(c))
          .Put(RetireReport{queue, index, cycle});
    };
  }
}

absl::Status ReportLog::SetProbe(int core, bool on) {
  auto sink = on ? std::make_unique<Sink>(core, &log_) : nullptr;
  absl::Status status = chip_->core().SetProbe(core, sink.get());
  if (status.ok()) sinks_[core] = std::move(sink);
  return status;
}

void ReportLog::Take(Packer& packer) {
  if (FailureIsNew()) {
    const FailedAssertion& failed = *chip_->core().failed();
    log_.Put(Report::kFailure)
        .Put(uint8_t{0})
        .PutText(failed.what)
        .PutText(failed.path)
        .Put(failed.cycle);
    failure_told_ = true;
  }
  packer.Put(number_).PutText(log_.bytes());
  log_ = Packer();
}

void DeliverReports(absl::string_view bytes,
                    std::vector<ReportTargets>& chips) {
  Unpacker all(bytes);
  while (!all.empty() && all.ok()) {
    ReportTargets& chip = chips[all.Get<int>()];
    Unpacker log(all.GetText());
    while (!log.empty() && log.ok()) {
      const auto report = log.Get<Report>();
      const auto core = log.Get<uint8_t>();
      ProbeSink* const sink = chip.sinks[core];
      switch (report) {
        case Report::kRetire: {
          const auto retire = log.Get<RetireReport>();
          if (chip.on_retire[core])
            chip.on_retire[core](retire.queue, retire.index, retire.cycle);
          break;
        }
        case Report::kSample: {
          ProbeSample sample;
          sample.bits = log.Get<uint64_t>();
          sample.send = log.Get<uint32_t>();
          const auto cycle = log.Get<uint64_t>();
          if (sink != nullptr) sink->Sample(sample, cycle);
          break;
        }
        case Report::kCommand: {
          const auto command = log.Get<RowCommand>();
          if (sink != nullptr) sink->Command(command);
          break;
        }
        case Report::kLinks: {
          const auto counts = log.Get<ChipLinkCounts>();
          const auto cycle = log.Get<uint64_t>();
          if (sink != nullptr) sink->Links(counts, cycle);
          break;
        }
        case Report::kFailure: {
          FailedAssertion failed;
          failed.what = std::string(log.GetText());
          failed.path = std::string(log.GetText());
          failed.cycle = log.Get<uint64_t>();
          chip.failed = failed;
          break;
        }
      }
    }
  }
}

}  // namespace systole::tb
