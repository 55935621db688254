// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/chip.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace systole::tb {
namespace {

constexpr uint64_t kProgressCycles = 1024;
constexpr int kCyclesACall = 64;  // amortises the overhead of the kernel

tlm::tlm_response_status StatusOf(Response response) {
  return response == Response::kOkay ? tlm::TLM_OK_RESPONSE
                                     : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

}  // namespace

Chip::Chip(sc_core::sc_module_name name, std::unique_ptr<CoreModel> core,
           int cores, int beat_bytes, int stall_rate, uint64_t seed)
    : sc_module(name),
      registers("registers"),
      memory("memory"),
      irq("irq", cores),
      core_(std::move(core)),
      lite_(stall_rate, seed),
      axi_(beat_bytes, stall_rate, seed + 1) {
  registers.register_b_transport(this, &Chip::AccessRegisters);
  memory.register_b_transport(this, &Chip::AccessMemory);
  SC_METHOD(Clock);
}

// The other processes run before the next cycle, as if each cycle were a call
// of its own.
void Chip::Clock() {
  if (wires_ != nullptr) return;  // the clock of the joined chips calls Run
  const int cycles = Run(kCyclesACall);
  Report();
  if (core_->failed()) {  // otherwise the waiting processes wait for ever
    sc_core::sc_pause();
    return;
  }
  next_trigger(cycles * sc_core::sc_time(1, sc_core::SC_NS));
}

int Chip::Run(int most) {
  int cycles = 1;
  while (!Cycle() && cycles < most) ++cycles;
  return cycles;
}

void Chip::Report() {
  if (std::exchange(lite_ended_, false)) lite_done_.notify();
  if (std::exchange(axi_ended_, false)) axi_done_.notify();
  if (std::exchange(irq_changed_, false)) {
    for (size_t c = 0; c < irq.size(); ++c) irq[c].write(irq_level_[c]);
  }
  if (std::exchange(at_reached_, false))
    at_event_.notify(sc_core::SC_ZERO_TIME);  // after irq
  if (const uint64_t cycle = std::exchange(progress_, 0)) {
    for (const auto& report : on_progress) {
      if (report) report(cycle);
    }
  }
}

bool Chip::Cycle() {
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
      heard = lite_ended_ = true;
    }
  }
  if (axi_busy) {
    axi_.Observe(pins_.in, pins_.out);
    if (!axi_.busy()) {
      axi_.Drive(&pins_.in);
      heard = axi_ended_ = true;
    }
  }
  if (pins_.out.irq != irq_level_) {
    irq_level_ = pins_.out.irq;
    heard = irq_changed_ = true;
  }
  if (core_->cycles() == at_) heard = at_reached_ = true;
  for (size_t c = 0; c < irq.size(); ++c) {
    if (pins_.out.retire_valid[c] == 0 || !on_retire[c]) continue;
    for (int q = 0; q < isa::kNumQueues; ++q) {
      if (pins_.out.retire_valid[c] >> q & 1)
        on_retire[c](q, pins_.out.retire_index[c][q], core_->cycles());
    }
  }
  if (core_->cycles() % kProgressCycles == 0) progress_ = core_->cycles();
  return heard || core_->failed();
}

void Chip::AccessRegisters(tlm::tlm_generic_payload& payload,
                           sc_core::sc_time&) {
  if (payload.get_data_length() != 4 || payload.get_address() % 4 != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  uint32_t word = 0;
  if (payload.is_write()) {
    std::memcpy(&word, payload.get_data_ptr(), 4);
    lite_.StartWrite(static_cast<uint16_t>(payload.get_address()), word);
  } else {
    lite_.StartRead(static_cast<uint16_t>(payload.get_address()));
  }
  wait(lite_done_);
  if (payload.is_read()) {
    word = lite_.data();
    std::memcpy(payload.get_data_ptr(), &word, 4);
  }
  payload.set_response_status(StatusOf(lite_.response()));
}

void Chip::AccessMemory(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  if (payload.get_data_length() == 0 ||
      payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  axi_.Start(payload.is_write(), payload.get_address(), payload.get_data_ptr(),
             payload.get_data_length());
  wait(axi_done_);
  payload.set_response_status(StatusOf(axi_.response()));
}

}  // namespace systole::tb
