// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/remote_chips.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/tb/core_module.h"

namespace systole::tb {

// What the host knows of a chip, and asks its process to do.
class RemoteChips::Core : public ObservedCore {
 public:
  Core(RemoteChips* chips, int number) : chips_(chips), number_(number) {}
  uint64_t cycles() const override { return cycles_; }
  void SetCycles(uint64_t cycles) { cycles_ = cycles; }
  const std::optional<FailedAssertion>& failed() const override {
    return chips_->targets_[number_].failed;
  }
  absl::Status OpenTrace(const std::string& file, uint64_t zero) override {
    std::error_code error;
    const auto path = std::filesystem::absolute(file, error).string();
    return chips_->Tell(MessageKind::kOpenTrace,
                        Packer().Put(number_).PutText(path).Put(zero));
  }
  void RecordTrace(uint64_t from, uint64_t to) override {
    chips_
        ->Tell(MessageKind::kRecordTrace,
               Packer().Put(number_).Put(from).Put(to))
        .IgnoreError();  // the next call fails with it, too
  }
  absl::Status CloseTrace() override {
    return chips_->Tell(MessageKind::kCloseTrace, Packer().Put(number_));
  }
  absl::Status SetProbe(int core, ProbeSink* sink) override {
    chips_->targets_[number_].sinks[core] = sink;
    return chips_->Tell(MessageKind::kSetProbe,
                        Packer().Put(number_).Put(core).Put(sink != nullptr));
  }

 private:
  RemoteChips* chips_;
  int number_;
  uint64_t cycles_ = 0;
};

RemoteChips::RemoteChips(const ChipsOptions& options, std::unique_ptr<Job> job)
    : job_(std::move(job)),
      targets_(options.chips()),
      on_progress_(options.chips()) {
  for (int i = 0; i < options.chips(); ++i)
    cores_.push_back(std::make_unique<Core>(this, i));
}

absl::StatusOr<std::unique_ptr<Chips>> RemoteChips::Create(
    const ChipsOptions& options) {
  if (options.engine != "verilator") {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d processes: they have no models of the engine %s",
                        options.processes, options.engine));
  }
  // Where the processes will find the model, too.
  auto model = LoadCore(options.preset, options.checked);
  if (absl::IsNotFound(model.status())) {
    const auto checked = LoadCore(options.preset, true);
    if (!absl::IsNotFound(checked.status())) model = checked;
  }
  if (absl::IsNotFound(model.status())) {
    return absl::NotFoundError(absl::StrCat("no RTL model of ", options.preset,
                                            " ", model.status().message()));
  }
  if (!model.ok()) return model.status();
  auto job = Job::Start(options.processes);
  if (!job.ok()) return job.status();
  std::unique_ptr<RemoteChips> chips(new RemoteChips(options, *std::move(job)));
  Packer packer;
  packer.PutText(kCoreStamp);
  PutOptions(options, packer);
  const auto answer = chips->Call(MessageKind::kOpen, packer);
  if (!answer.ok()) return answer.status();
  return chips;
}

absl::StatusOr<RemoteChips::Answer> RemoteChips::Call(MessageKind kind,
                                                      const Packer& packer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!lost_.ok()) return lost_;
  lost_ = job_->Send(kind, packer.bytes());
  while (lost_.ok()) {
    const auto message = job_->Receive();
    if (!message.ok()) {
      lost_ = message.status();
      break;
    }
    Unpacker unpacker(message->bytes);
    switch (message->kind) {
      case MessageKind::kReports:
        DeliverReports(message->bytes, targets_);
        break;
      case MessageKind::kProgress: {
        const auto cycle = unpacker.Get<uint64_t>();
        for (const auto& of_chip : on_progress_) {
          for (const auto& report : of_chip) {
            if (report) report(cycle);
          }
        }
        break;
      }
      case MessageKind::kAnswer: {
        const absl::Status status = unpacker.GetStatus();
        Answer answer;
        answer.outcome = unpacker.Get<Outcome>();
        cpu_seconds_ = unpacker.Get<double>();
        for (const auto& core : cores_)
          core->SetCycles(unpacker.Get<uint64_t>());
        answer.data = std::string(unpacker.GetText());
        if (!status.ok()) return status;
        return answer;
      }
      default:
        return absl::InternalError(
            absl::StrCat("the processes of the chips sent a message of kind ",
                         static_cast<uint32_t>(message->kind)));
    }
  }
  return lost_;
}

absl::StatusOr<Outcome> RemoteChips::Serve(const ChipRequest& request) {
  Packer packer;
  PutRequest(request, packer);
  const auto answer = Call(MessageKind::kRequest, packer);
  if (!answer.ok()) return answer.status();
  if (!request.write && request.data != nullptr &&
      answer->data.size() == request.bytes)
    std::memcpy(request.data, answer->data.data(), request.bytes);
  return answer->outcome;
}

ObservedCore& RemoteChips::core(int chip) { return *cores_[chip]; }

absl::Status RemoteChips::Flip(int chip, int core, uint64_t addr, int bit) {
  return Tell(MessageKind::kFlip,
              Packer().Put(chip).Put(core).Put(addr).Put(bit));
}

absl::Status RemoteChips::CheckMemory(int chip) {
  return Tell(MessageKind::kCheckMemory, Packer().Put(chip));
}

absl::Status RemoteChips::RecordLayer(int chip, const LayerPlan& plan) {
  Packer packer;
  packer.Put(chip);
  PutPlan(plan, packer);
  return Tell(MessageKind::kRecordLayer, packer);
}

void RemoteChips::SetCallbacks(int chip, int core,
                               ClockedChip::OnRetire on_retire,
                               std::function<void(uint64_t)> on_progress) {
  targets_[chip].on_retire[core] = std::move(on_retire);
  on_progress_[chip][core] = std::move(on_progress);
}

}  // namespace systole::tb
