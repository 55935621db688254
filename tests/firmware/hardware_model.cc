// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/firmware/hardware_model.h"

#include <cstring>

namespace systole {
namespace {

HardwareModel* g_model = nullptr;

uint64_t Address(const uint32_t hbm[2], uint64_t offset) {
  return (uint64_t{hbm[1]} << 32 | hbm[0]) + offset;
}

}  // namespace

HardwareModel::HardwareModel() {
  g_model = this;
  regs[REG_MTIMECMP_HI] = ~0u;
}
HardwareModel::~HardwareModel() { g_model = nullptr; }

void HardwareModel::Doorbell(uint32_t value) {
  regs[REG_DOORBELL] = value;
  regs[REG_EVENTS] |= EVENTS_DOORBELL;
}

void HardwareModel::Step() {
  time += 3;
  if (!running || end == End::kNever || time < ends_at) return;
  if (end == End::kDone) {
    running = false;
    regs[REG_EVENTS] |= EVENTS_DONE;
  } else if (!(regs[REG_CORE_STATUS] & CORE_STATUS_FAULT)) {
    regs[REG_EVENTS] |= EVENTS_FAULT;
    regs[REG_CORE_STATUS] |= CORE_STATUS_FAULT;
  }
}

uint32_t HardwareModel::Read(uint32_t reg) {
  Step();
  if (reg == REG_MTIME_LO) return static_cast<uint32_t>(time);
  if (reg == REG_MTIME_HI) return static_cast<uint32_t>(time >> 32);
  if (reg == REG_CORE_STATUS) {
    return regs[reg] | (running ? CORE_STATUS_RUNNING : 0u) |
           8u << CORE_STATUS_PLACES;
  }
  return regs[reg];
}

void HardwareModel::Write(uint32_t reg, uint32_t value) {
  Step();
  switch (reg) {
    case REG_EVENTS:
      regs[reg] &= ~value;
      break;
    case REG_HOST_IRQ:
      host_irqs++;
      break;
    case REG_CORE_CTRL:
      if (value & CORE_CTRL_START) {
        starts++;
        running = true;
        ends_at = time + cycles;
      }
      if (value & CORE_CTRL_RESET) {
        resets++;
        running = false;
        regs[REG_CORE_STATUS] = 0;
      }
      break;
    case REG_STREAM:
      streamed.emplace_back(
          uint64_t{regs[REG_STREAM_ADDR_HI]} << 32 | regs[REG_STREAM_ADDR_LO],
          value);
      break;
    default:
      regs[reg] = value;
      break;
  }
}

}  // namespace systole

extern "C" {

uint32_t hw_read(uint32_t reg) { return systole::g_model->Read(reg); }
void hw_write(uint32_t reg, uint32_t value) {
  systole::g_model->Write(reg, value);
}
bool hw_copy_in(const uint32_t hbm[2], uint64_t offset, void* smem,
                uint32_t bytes) {
  const uint64_t addr = systole::Address(hbm, offset);
  if (addr % 32 != 0) return false;
  for (uint32_t i = 0; i < bytes; i += 4) {
    const uint32_t word = systole::g_model->hbm[addr + i];
    std::memcpy(static_cast<char*>(smem) + i, &word, 4);
  }
  return true;
}
bool hw_copy_out(const uint32_t hbm[2], uint64_t offset, const void* smem,
                 uint32_t bytes) {
  const uint64_t addr = systole::Address(hbm, offset);
  if (addr % 32 != 0) return false;
  for (uint32_t i = 0; i < bytes; i += 4) {
    std::memcpy(&systole::g_model->hbm[addr + i],
                static_cast<const char*>(smem) + i, 4);
  }
  return true;
}
void hw_issue(const uint32_t* descriptor) {
  systole::HardwareModel::Descriptor d;
  std::memcpy(d.data(), descriptor, sizeof d);
  systole::g_model->issued.push_back(d);
}
void hw_sleep(void) {
  systole::g_model->time += 50;
  systole::g_model->Step();
  if (systole::g_model->on_sleep) systole::g_model->on_sleep();
}
}
