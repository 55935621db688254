// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/chip.h"

#include <cstring>
#include <utility>

namespace systole::tb {
namespace {

constexpr int kCyclesACall = 64;  // amortises the overhead of the kernel

tlm::tlm_response_status StatusOf(Response response) {
  return response == Response::kOkay ? tlm::TLM_OK_RESPONSE
                                     : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

}  // namespace

Chip::Chip(sc_core::sc_module_name name, std::unique_ptr<ClockedChip> chip)
    : sc_module(name),
      registers("registers"),
      memory("memory"),
      irq("irq", chip->cores()),
      chip_(std::move(chip)) {
  registers.register_b_transport(this, &Chip::AccessRegisters);
  memory.register_b_transport(this, &Chip::AccessMemory);
  SC_METHOD(Clock);
}

// The other processes run before the next cycle, as if each cycle were a call
// of its own.
void Chip::Clock() {
  const int cycles = chip_->Run(kCyclesACall);
  Report();
  if (chip_->core()
          .failed()) {  // otherwise the waiting processes wait for ever
    sc_core::sc_pause();
    return;
  }
  next_trigger(cycles * sc_core::sc_time(1, sc_core::SC_NS));
}

void Chip::Report() {
  const ClockedChip::Events events = chip_->TakeEvents();
  if (events.lite_ended) lite_done_.notify();
  if (events.axi_ended) axi_done_.notify();
  if (events.irq_changed) {
    for (size_t c = 0; c < irq.size(); ++c)
      irq[c].write(chip_->irq(static_cast<int>(c)));
  }
  if (events.at_reached) at_event_.notify(sc_core::SC_ZERO_TIME);  // after irq
  if (events.progress != 0) {
    for (const auto& report : on_progress) {
      if (report) report(events.progress);
    }
  }
}

void Chip::AccessRegisters(tlm::tlm_generic_payload& payload,
                           sc_core::sc_time&) {
  if (payload.get_data_length() != 4 || payload.get_address() % 4 != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  AxiLiteMaster& lite = chip_->lite();
  uint32_t word = 0;
  if (payload.is_write()) {
    std::memcpy(&word, payload.get_data_ptr(), 4);
    lite.StartWrite(static_cast<uint16_t>(payload.get_address()), word);
  } else {
    lite.StartRead(static_cast<uint16_t>(payload.get_address()));
  }
  wait(lite_done_);
  if (payload.is_read()) {
    word = lite.data();
    std::memcpy(payload.get_data_ptr(), &word, 4);
  }
  payload.set_response_status(StatusOf(lite.response()));
}

void Chip::AccessMemory(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  if (payload.get_data_length() == 0 ||
      payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  AxiMaster& axi = chip_->axi();
  axi.Start(payload.is_write(), payload.get_address(), payload.get_data_ptr(),
            payload.get_data_length());
  wait(axi_done_);
  payload.set_response_status(StatusOf(axi.response()));
}

}  // namespace systole::tb
