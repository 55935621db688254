// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the state of a program, its end, and ECC results from the registers.

#include <utility>

#include "sim/rtl/rtl_device.h"

namespace systole {

// The interrupt may be older than the start, for example from a fault in the
// same cycle as the start. The program runs in that case.
absl::StatusOr<bool> RtlDevice::StillRuns() {
  auto state = sim_.ReadRegister(csr::kStatus);
  if (!state.ok()) return state.status();
  if ((*state & csr::kStatusRunning) == 0 || (*state & csr::kStatusFault) != 0)
    return false;
  absl::Status status =
      sim_.WriteRegister(csr::kIrq, csr::kIrqDone | csr::kIrqFault);
  if (!status.ok()) return status;
  return true;
}

// Reads only the low halves: programs that are sampled run for less than 2^32
// cycles.
absl::StatusOr<CounterSample> RtlDevice::ReadSample() {
  CounterSample sample;
  for (int i = 0; i < csr::kNumCounters; ++i) {
    auto value = sim_.ReadRegister(csr::kCounterBase + 8 * i);
    if (!value.ok()) return value.status();
    sample.counters[i] = *value;
  }
  sample.cycle = sim_.core().cycles() - start_cycle_;
  return sample;
}

// Reads and clears the ECC counts.
absl::StatusOr<EccCounts> RtlDevice::ReadEcc() {
  EccCounts ecc;
  ecc.smem_corrected =
      smem_corrected_ - std::exchange(smem_told_, smem_corrected_);
  ecc.smem_last = ecc.smem_corrected != 0 ? smem_last_ : 0;
  if (preset().chip.ecc == 0) return ecc;
  auto corrected = sim_.ReadRegister(csr::kEccCorrected);
  auto uncorrected = sim_.ReadRegister(csr::kEccUncorrected);
  for (const absl::Status& status : {corrected.status(), uncorrected.status()})
    if (!status.ok()) return status;
  ecc.corrected = *corrected;
  ecc.uncorrected = *uncorrected;
  if (ecc.corrected == 0 && ecc.uncorrected == 0) return ecc;
  auto first = Read64(csr::kEccFirstLo);
  auto last = Read64(csr::kEccLastLo);
  auto bad = Read64(csr::kEccBadLo);
  for (const absl::Status& status :
       {first.status(), last.status(), bad.status()}) {
    if (!status.ok()) return status;
  }
  ecc.first = *first;
  ecc.last = *last;
  ecc.bad = *bad;
  const absl::Status status =
      sim_.WriteRegister(csr::kEccCtrl, csr::kEccCtrlClear);
  if (!status.ok()) return status;
  return ecc;
}

// Reads the fault registers if the core is frozen.
absl::Status RtlDevice::ReadState() {
  auto state = sim_.ReadRegister(csr::kStatus);
  if (!state.ok()) return state.status();
  if ((*state & csr::kStatusFault) == 0) return absl::OkStatus();
  FaultState fault;
  auto cause = sim_.ReadRegister(csr::kFaultCause);
  auto queue = sim_.ReadRegister(csr::kFaultQueue);
  auto index = sim_.ReadRegister(csr::kFaultPc);
  auto address = Read64(csr::kFaultAddrLo);
  auto cycle = Read64(csr::kFaultCycleLo);
  for (const absl::Status& status :
       {cause.status(), queue.status(), index.status(), address.status(),
        cycle.status()}) {
    if (!status.ok()) return status;
  }
  fault.cause = static_cast<isa::Fault>(*cause);
  fault.queue = *queue;
  fault.index = fault.instance = *index;
  fault.address = *address;
  fault.cycle = *cycle;
  fault_ = fault;
  return absl::OkStatus();
}

}  // namespace systole
