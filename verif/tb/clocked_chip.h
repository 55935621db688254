// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Verilated chip with its host's bus masters on its AXI pins, clock by
// clock. It is plain C++: Chip makes a SystemC module of it, and Windows runs
// the chips of a torus.

#ifndef SYSTOLE_VERIF_TB_CLOCKED_CHIP_H_
#define SYSTOLE_VERIF_TB_CLOCKED_CHIP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "verif/tb/axi_masters.h"
#include "verif/tb/core_model.h"
#include "verif/tb/layer_trace.h"
#include "verif/tb/wires.h"

namespace systole::tb {

class ClockedChip {
 public:
  // The memory of `core` must outlive the chip. stall_rate: random gaps on the
  // AXI channels, in 1/256.
  ClockedChip(std::unique_ptr<CoreModel> core, int cores, int beat_bytes,
              int stall_rate, uint64_t seed)
      : core_(std::move(core)),
        cores_(cores),
        lite_(stall_rate, seed),
        axi_(beat_bytes, stall_rate, seed + 1) {}
  // Joins the chip to others, as number `number`. `wires` must outlive it.
  void Connect(Wires* wires, int number) {
    wires_ = wires;
    number_ = number;
  }

  // Runs up to `most` cycles, but stops after a cycle with an event. Returns
  // the number of cycles. The chips of a device may run at the same time.
  int Run(int most) {
    int cycles = 1;
    while (!Cycle() && cycles < most) ++cycles;
    return cycles;
  }
  // What happened since the last call.
  struct Events {
    bool lite_ended = false, axi_ended = false;  // transfers
    bool irq_changed = false;  // of a core that StopAtInterrupt names
    bool at_reached = false;
    uint64_t progress = 0;  // the last multiple of 1,024 cycles; 0: none
  };
  Events TakeEvents() { return std::exchange(events_, {}); }

  // Events are a change of this core's interrupt line (kAll: of any; kNone) and
  // this value of the core's cycles(); 0: none.
  static constexpr int kAll = -1, kNone = -2;
  void StopAtInterrupt(int core) { irq_core_ = core; }
  void StopAt(uint64_t cycle) { at_ = cycle; }

  AxiLiteMaster& lite() { return lite_; }
  AxiMaster& axi() { return axi_; }
  CoreModel& core() { return *core_; }
  const CoreModel& core() const { return *core_; }
  int cores() const { return cores_; }
  bool irq(int core) const { return irq_[core]; }

  // Called when a descriptor completes, with its queue, its index in the
  // program, and the chip's cycle. One function per core.
  using OnRetire =
      std::function<void(int queue, uint32_t index, uint64_t cycle)>;
  std::array<OnRetire, kMaxCores> on_retire;
  // Into the open trace, from now on; without a layer: no more.
  void RecordLayer(LayerPlan plan) {
    layer_.reset();
    if (!plan.wanted.empty()) layer_.emplace(core_.get(), std::move(plan));
  }

 private:
  bool Cycle();  // returns whether there was an event
  void TellRetires(int core);

  std::unique_ptr<CoreModel> core_;
  int cores_;
  Wires* wires_ = nullptr;
  int number_ = 0;
  Pins pins_;
  AxiLiteMaster lite_;
  AxiMaster axi_;
  uint64_t at_ = 0;
  int irq_core_ = kAll;
  std::array<bool, kMaxCores> irq_{};
  std::optional<LayerTrace> layer_;
  Events events_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CLOCKED_CHIP_H_
