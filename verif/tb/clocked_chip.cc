// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/clocked_chip.h"

namespace systole::tb {
namespace {

constexpr uint64_t kProgressCycles = 1024;

}  // namespace

bool ClockedChip::Cycle() {
  bool heard = false;
  const bool lite_busy = lite_.busy(), axi_busy = axi_.busy();
  if (lite_busy) lite_.Drive(&pins_.in);
  if (axi_busy) axi_.Drive(&pins_.in);
  const uint64_t now = core_->cycles();
  if (wires_ != nullptr) wires_->Receive(number_, now, &pins_.in.lanes);
  core_->Cycle(&pins_);
  if (wires_ != nullptr) wires_->Send(number_, now, pins_.out.lanes);
  if (lite_busy) {
    lite_.Observe(pins_.in, pins_.out);
    if (!lite_.busy()) {
      lite_.Drive(&pins_.in);
      heard = events_.lite_ended = true;
    }
  }
  if (axi_busy) {
    axi_.Observe(pins_.in, pins_.out);
    if (!axi_.busy()) {
      axi_.Drive(&pins_.in);
      heard = events_.axi_ended = true;
    }
  }
  for (int c = 0; c < cores_; ++c) {
    if (pins_.out.irq[c] != irq_[c] && (irq_core_ == kAll || irq_core_ == c))
      heard = events_.irq_changed = true;
  }
  irq_ = pins_.out.irq;
  if (core_->cycles() == at_) heard = events_.at_reached = true;
  for (int c = 0; c < cores_; ++c)
    if (pins_.out.retire_valid[c] != 0) TellRetires(c);
  if (core_->cycles() % kProgressCycles == 0)
    events_.progress = core_->cycles();
  return heard || core_->failed();
}

void ClockedChip::TellRetires(int core) {
  for (int q = 0; q < isa::kNumQueues; ++q) {
    if ((pins_.out.retire_valid[core] >> q & 1) == 0) continue;
    const uint32_t index = pins_.out.retire_index[core][q];
    if (on_retire[core]) on_retire[core](q, index, core_->cycles());
    if (layer_) layer_->OnRetire(core, index);
  }
}

}  // namespace systole::tb
