// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips with a scalar unit: the firmware runs the programs.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/scalar/core_programs.h"
#include "sim/rtl/rtl_device.h"

namespace systole {
namespace {

constexpr uint64_t kCancelCycles = 1000000;

}  // namespace

absl::Status RtlDevice::BeginBoot(const std::vector<uint32_t>& firmware) {
  port_ = std::make_unique<ScalarPort>(sim_);
  port_->StopOn(options_.stop);
  constexpr uint64_t kReserved = scalar::CommandQueue::kReserved;
  constexpr uint64_t kPrograms = scalar::CommandQueue::kPrograms;
  auto programs = scalar::MakeCorePrograms(
      preset(), preset().memory_bytes() - kReserved + kPrograms,
      kReserved - kPrograms);
  if (!programs.ok()) return programs.status();
  scalar::BootOptions options;
  options.test_core = true;
  options.known = programs->options;
  options.data = std::move(programs->data);
  options.firmware = firmware;
  auto queue = scalar::CommandQueue::BeginBoot(port_.get(), options);
  if (!queue.ok()) return queue.status();
  queue_ = std::move(*queue);
  return absl::OkStatus();
}

absl::Status RtlDevice::Ready() {
  if (queue_ == nullptr) return absl::OkStatus();
  absl::Status status = WithLog(queue_->Ready());
  port_->StopOn(nullptr);
  return status;
}

absl::Status RtlDevice::WithLog(const absl::Status& status) {
  if (!absl::IsInternal(status)) return status;
  std::string text = options_.firmware;
  absl::StrAppend(&text, text.empty() ? "" : ": ", status.message());
  auto log = queue_->ReadLog(0);
  if (!log.ok()) return log.status();
  for (const scalar::LogLine& line : *log)
    absl::StrAppend(&text, "\n  ", scalar::DescribeLog(line));
  return absl::InternalError(text);
}

absl::Status RtlDevice::Launch(const Program& program) {
  scalar::Launch launch;
  launch.program = program.prog_addr;
  launch.length = static_cast<uint32_t>(program.descriptors.size());
  launch.limit = program.hbm_bytes;
  if (options_.watchdog != 0) launch.watchdog = options_.watchdog;
  scalar::AddLoops(program.loops, program.steps, &launch);
  auto tag = queue_->Submit(launch);
  if (!tag.ok()) return WithLog(tag.status());
  launched_ = *tag;
  return absl::OkStatus();
}

// Only one launch is in flight, so the interrupt belongs to it.
absl::Status RtlDevice::ReadCompletion() {
  auto done = queue_->Wait(launched_, kCancelCycles);
  if (absl::IsDeadlineExceeded(done.status())) {
    return WithLog(absl::InternalError(absl::StrFormat(
        "the firmware raised its interrupt, but %d cycles later launch %d is "
        "not complete",
        kCancelCycles, launched_)));
  }
  if (!done.ok()) return WithLog(done.status());
  launched_ = 0;
  smem_corrected_ = done->smem_corrected;
  smem_last_ = done->smem_word;
  if (done->status == STATUS_DONE) return absl::OkStatus();
  if (done->status != STATUS_FAULT) {
    // The firmware writes its log before it reports such a completion.
    return WithLog(absl::InternalError(
        absl::StrCat("firmware: ", scalar::DescribeCompletion(*done))));
  }
  FaultState fault;
  fault.cause = static_cast<isa::Fault>(done->cause);
  fault.queue = done->queue;
  fault.index = done->index;
  fault.instance = done->instance;
  fault.address = uint64_t{done->address[1]} << 32 | done->address[0];
  fault.cycle = done->fault_cycle;
  fault_ = fault;
  return absl::OkStatus();
}

absl::Status RtlDevice::TakeFromFirmware() {
  queue_ = nullptr;
  launched_ = 0;
  smem_corrected_ = smem_told_ = 0;
  if (preset().chip.smem_bytes == 0) return absl::OkStatus();
  // The core is reset, and then the host's.
  absl::Status status = sim_.WriteRegister(csr::kScalarRun, 0);
  if (status.ok()) status = AwaitReset();
  return status;
}

absl::Status RtlDevice::CancelLaunch() {
  if (launched_ == 0) return absl::OkStatus();
  absl::Status status = queue_->Cancel();
  if (!status.ok()) return status;
  return queue_->Wait(std::exchange(launched_, 0), kCancelCycles).status();
}

}  // namespace systole
