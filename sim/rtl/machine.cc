// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "sim/rtl/machine.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/rtl/rtl_device.h"

namespace systole {

absl::Status Machine::Start() {
  if (!linked()) {
    chip_at_ = {0};
    return absl::OkStatus();
  }
  auto places = StartLinks(*this, torus_);
  if (!places.ok()) return places.status();
  if (!chip_at_.empty() && chip_at_ != places->chip_at) {
    return absl::FailedPreconditionError(
        "the cables have been changed, and chips have other places than "
        "before: open the device anew");
  }
  chip_at_ = std::move(places->chip_at);
  return absl::OkStatus();
}

absl::Status Machine::Boot() {
  for (RtlDevice* core : cores_)
    if (absl::Status s = core->Configure(firmware_); !s.ok()) return s;
  for (RtlDevice* core : cores_)
    if (absl::Status s = core->Ready(); !s.ok()) return s;
  return absl::OkStatus();
}

// While the networks are in reset, no core waits for a packet to be taken, and
// none gets a flag from another chip. The cores of a chip post each other's
// flags until both have been stopped, so they are reset twice.
absl::Status Machine::Reset() {
  absl::Status s = linked() ? ResetLinks(*this) : absl::OkStatus();
  const auto each = [&](const std::function<absl::Status(RtlDevice&)>& act) {
    for (size_t i = 0; s.ok() && i < cores_.size(); ++i) {
      s = act(*cores_[i]);
      if (!s.ok())
        s = absl::Status(s.code(), absl::StrCat("core ", i, ": ", s.message()));
    }
  };
  each([](RtlDevice& core) { return core.TakeFromFirmware(); });
  each([](RtlDevice& core) { return core.SoftReset(); });
  each([](RtlDevice& core) { return core.SoftReset(); });
  if (s.ok()) s = Start();
  if (s.ok()) s = Boot();
  return s;
}

void Machine::Remove(RtlDevice* core) {
  cores_.erase(std::remove(cores_.begin(), cores_.end(), core), cores_.end());
}

}  // namespace systole
