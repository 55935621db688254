// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SystemC module of the Verilated chip. Its AXI pins are behind two TLM-2.0
// target sockets (loosely timed), its HBM PHYs are connected to the device
// models, and each core has an interrupt and a trace port. One SC_METHOD per
// clock drives pins and model.

#ifndef SYSTOLE_VERIF_TB_CHIP_H_
#define SYSTOLE_VERIF_TB_CHIP_H_

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <memory>
#include <systemc>

#include "verif/tb/clocked_chip.h"

namespace systole::tb {

class Chip : public sc_core::sc_module {
 public:
  // Registers: 32-bit words at their byte offset. Memory: HBM bytes, any
  // address and length.
  tlm_utils::simple_target_socket<Chip> registers;
  tlm_utils::simple_target_socket<Chip> memory;
  sc_core::sc_vector<sc_core::sc_out<bool>> irq;  // one per core

  Chip(sc_core::sc_module_name name, std::unique_ptr<ClockedChip> chip);

  ClockedChip& clocked() { return *chip_; }
  // An event that is notified when the core reaches that cycle.
  const sc_core::sc_event& At(uint64_t cycle) {
    chip_->StopAt(cycle);
    return at_event_;
  }
  // Called about every 1,024 clocks.
  std::array<std::function<void(uint64_t cycle)>, kMaxCores> on_progress;

 private:
  SC_HAS_PROCESS(Chip);
  void Clock();
  void Report();  // notifies the other processes
  void AccessRegisters(tlm::tlm_generic_payload& payload,
                       sc_core::sc_time& delay);
  void AccessMemory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  std::unique_ptr<ClockedChip> chip_;
  sc_core::sc_event lite_done_, axi_done_, at_event_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CHIP_H_
