// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Contexts: parts of HBM that programs cannot leave.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/scalar/command_queue.h"

namespace systole::scalar {
namespace {

constexpr uint64_t kAlign = 4096;
constexpr uint64_t kCycles = 4000000;  // behind all that is in flight

absl::Status Unknown(uint32_t context) {
  return absl::InvalidArgumentError(
      absl::StrCat("there is no context ", context));
}

}  // namespace

absl::Status CommandQueue::SetContext(uint32_t context, const Window& window) {
  command c = {};
  c.kind = COMMAND_CONTEXT;
  c.context = context;
  for (int w = 0; w < 2; w++) {
    c.program[w] = static_cast<uint32_t>(window.base >> 32 * w);
    c.limit[w] = static_cast<uint32_t>(window.end >> 32 * w);
  }
  auto tag = Send(c, {});
  if (!tag.ok()) return tag.status();
  auto done = Wait(*tag, kCycles);
  if (!done.ok()) return done.status();
  if (done->status == STATUS_DONE) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the firmware does not take context ",
                                          context, ": ",
                                          DescribeCompletion(*done)));
}

absl::StatusOr<uint32_t> CommandQueue::CreateContext(uint64_t base,
                                                     uint64_t bytes) {
  if (base % kAlign != 0 || bytes % kAlign != 0 || bytes == 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a context of %d bytes at 0x%x: both are multiples of %d", bytes, base,
        kAlign));
  }
  if (base > base_ || bytes > base_ - base) {
    return absl::OutOfRangeError(absl::StrFormat(
        "a context of %d bytes at 0x%x ends above 0x%x", bytes, base, base_));
  }
  for (const auto& [other, window] : contexts_) {
    if (base < window.end && window.base < base + bytes) {
      return absl::AlreadyExistsError(absl::StrFormat(
          "0x%x to 0x%x meets context %d", base, base + bytes, other));
    }
  }
  uint32_t id = 1;
  while (contexts_.count(id) != 0) id++;
  if (id > kMaxContexts) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d contexts are there", kMaxContexts));
  }
  absl::Status status = SetContext(id, {base, base + bytes});
  if (!status.ok()) return status;
  contexts_[id] = {base, base + bytes};
  return id;
}

absl::Status CommandQueue::DestroyContext(uint32_t context) {
  if (contexts_.erase(context) == 0) return Unknown(context);
  return SetContext(context, {});
}

absl::Status CommandQueue::CheckWindow(uint32_t context, uint64_t addr,
                                       size_t bytes) const {
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return Unknown(context);
  const Window& w = found->second;
  if (addr >= w.base && addr <= w.end && bytes <= w.end - addr)
    return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("%d bytes at 0x%x leave 0x%x to 0x%x of context %d",
                      bytes, addr, w.base, w.end, context));
}

absl::Status CommandQueue::WriteMemory(uint32_t context, uint64_t addr,
                                       absl::Span<const uint8_t> bytes) {
  absl::Status status = CheckWindow(context, addr, bytes.size());
  return status.ok() ? port_->WriteMemory(addr, bytes) : status;
}

absl::Status CommandQueue::ReadMemory(uint32_t context, uint64_t addr,
                                      absl::Span<uint8_t> bytes) {
  absl::Status status = CheckWindow(context, addr, bytes.size());
  return status.ok() ? port_->ReadMemory(addr, bytes) : status;
}

}  // namespace systole::scalar
