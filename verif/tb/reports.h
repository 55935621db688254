// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What chips in other processes tell their host besides answers: completed
// descriptors, samples of the probe, and a failed assertion. They come in the
// order in which they happened on their chip.

#ifndef SYSTOLE_VERIF_TB_REPORTS_H_
#define SYSTOLE_VERIF_TB_REPORTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "systole/probe.h"
#include "verif/tb/clocked_chip.h"
#include "verif/tb/messages.h"

namespace systole::tb {

// In the chip's process.
class ReportLog {
 public:
  // Listens to the chip, which is number `number` of the device.
  ReportLog(int number, ClockedChip* chip);

  absl::Status SetProbe(int core, bool on);
  bool empty() const { return log_.bytes().empty() && !FailureIsNew(); }
  // Appends all that came since the last call.
  void Take(Packer& packer);

 private:
  class Sink;
  bool FailureIsNew() const {
    return !failure_told_ && chip_->core().failed().has_value();
  }

  int number_;
  ClockedChip* chip_;
  Packer log_;
  bool failure_told_ = false;
  std::array<std::unique_ptr<ProbeSink>, kMaxCores> sinks_;
};

// In the host. Those to whom the reports of a chip go.
struct ReportTargets {
  std::array<ClockedChip::OnRetire, kMaxCores> on_retire;
  std::array<ProbeSink*, kMaxCores> sinks{};
  std::optional<FailedAssertion> failed;
};

// `bytes`: of ReportLog::Take, of one or more chips.
void DeliverReports(absl::string_view bytes, std::vector<ReportTargets>& chips);

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_REPORTS_H_
