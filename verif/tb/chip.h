// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SystemC module of the Verilated chip. Its AXI pins are behind two TLM-2.0
// target sockets (loosely timed), its HBM PHYs are connected to the device
// models, and each core has an interrupt and a trace port. One SC_METHOD per
// clock drives pins and model. The clock is the chip's own or, if several chips
// are joined, their common one (Clock).

#ifndef SYSTOLE_VERIF_TB_CHIP_H_
#define SYSTOLE_VERIF_TB_CHIP_H_

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <memory>
#include <systemc>

#include "verif/tb/axi_masters.h"
#include "verif/tb/core_model.h"
#include "verif/tb/wires.h"

namespace systole::tb {

class Chip : public sc_core::sc_module {
 public:
  // Registers: 32-bit words at their byte offset. Memory: HBM bytes, any
  // address and length.
  tlm_utils::simple_target_socket<Chip> registers;
  tlm_utils::simple_target_socket<Chip> memory;
  sc_core::sc_vector<sc_core::sc_out<bool>> irq;  // one per core

  // The memory of `core` must outlive the chip. stall_rate: random gaps on the
  // AXI channels, in 1/256.
  Chip(sc_core::sc_module_name name, std::unique_ptr<CoreModel> core, int cores,
       int beat_bytes, int stall_rate, uint64_t seed);
  // Joins the chip to others, as number `number`. `wires` must outlive it. The
  // common clock calls Run and Report.
  void Connect(Wires* wires, int number) {
    wires_ = wires;
    number_ = number;
  }
  // Runs up to `most` cycles, but stops after a cycle that other processes must
  // see. Returns the number of cycles. The chips of a device may run at the
  // same time.
  int Run(int most);
  // Call it after Run: notifies the other processes.
  void Report();

  CoreModel& core() { return *core_; }
  // An event that is notified when the core reaches that cycle.
  const sc_core::sc_event& At(uint64_t cycle) {
    at_ = cycle;
    return at_event_;
  }
  // Called when a descriptor completes, with its queue, its index in the
  // program, and the chip's cycle. One function per core.
  using OnRetire =
      std::function<void(int queue, uint32_t index, uint64_t cycle)>;
  std::array<OnRetire, kMaxCores> on_retire;
  // Called about every 1,024 clocks.
  std::array<std::function<void(uint64_t cycle)>, kMaxCores> on_progress;

 private:
  SC_HAS_PROCESS(Chip);
  void Clock();
  bool Cycle();  // returns whether others must see it
  void AccessRegisters(tlm::tlm_generic_payload& payload,
                       sc_core::sc_time& delay);
  void AccessMemory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  std::unique_ptr<CoreModel> core_;
  Wires* wires_ = nullptr;
  int number_ = 0;
  Pins pins_;
  AxiLiteMaster lite_;
  AxiMaster axi_;
  sc_core::sc_event lite_done_, axi_done_, at_event_;
  uint64_t at_ = 0;
  std::array<bool, kMaxCores> irq_level_{};
  // Events that Report notifies.
  bool lite_ended_ = false, axi_ended_ = false, irq_changed_ = false,
       at_reached_ = false;
  uint64_t progress_ = 0;  // cycle; 0: none
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CHIP_H_
