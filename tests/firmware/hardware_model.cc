// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/firmware/hardware_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

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
  if (!port.empty() && ++since_read >= port_delay) {
    since_read = 0;
    port.front().read();
    port.pop_front();
  }
  if (!running || end == End::kNever || time < ends_at) return;
  const bool issue = (regs[REG_CORE_CTRL] & CORE_CTRL_ISSUE) != 0;
  if (end == End::kDone) {
    if (issue && !halted) return;
    running = false;
    regs[REG_EVENTS] |= EVENTS_DONE;
  } else if (!(regs[REG_CORE_STATUS] & CORE_STATUS_FAULT)) {
    regs[REG_EVENTS] |= EVENTS_FAULT;
    regs[REG_CORE_STATUS] |= CORE_STATUS_FAULT;
    port.clear();
  }
}

void HardwareModel::Push(std::function<void()> read, uint32_t entries) {
  ASSERT_TRUE(running) << "pushed while no program runs";
  ASSERT_LT(port.size(), 8u) << "dropped";
  const uint32_t first = entries & 0xFF;
  port.push_back(
      {std::move(read), first, first + (entries >> STREAM_PATCHES_COUNT)});
}

void HardwareModel::Patch(uint32_t entry, uint32_t place, Descriptor* d) {
  Entry& e = table[entry];
  if ((e.field & 0xFFFF) != place) return;
  const uint32_t lsb = e.field >> 16 & 511, bits = (e.field >> 25) + 1;
  uint64_t carry = 0;
  for (uint32_t b = 0; b < bits; b++) {
    uint32_t& word = (*d)[(lsb + b) / 32];
    const uint32_t at = (lsb + b) % 32;
    const uint64_t sum = (word >> at & 1) + (e.value >> b & 1) + carry;
    word = (word & ~(1u << at)) | static_cast<uint32_t>(sum & 1) << at;
    carry = sum >> 1;
  }
  e.value = (e.value + e.step) & 0xFFFFFFFFFu;
}

bool HardwareModel::InWindow(uint64_t addr, uint64_t bytes) {
  if (regs[REG_COPY_WINDOW] == 0) return true;
  const auto at = [&](uint32_t low, uint32_t high) {
    return uint64_t{regs[high]} << 32 | regs[low];
  };
  return addr >= at(REG_BASE_LO, REG_BASE_HI) &&
         addr + bytes <= at(REG_LIMIT_LO, REG_LIMIT_HI);
}

uint32_t HardwareModel::Read(uint32_t reg) {
  Step();
  if (reg == REG_MTIME_LO) return static_cast<uint32_t>(time);
  if (reg == REG_MTIME_HI) return static_cast<uint32_t>(time >> 32);
  if (reg == REG_CORE_STATUS) {
    const auto places = static_cast<uint32_t>(8 - port.size());
    return regs[reg] | (running ? CORE_STATUS_RUNNING : 0u) |
           places << CORE_STATUS_PLACES;
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
      regs[reg] = value;
      if (value & CORE_CTRL_START) {
        starts++;
        running = true;
        halted = false;
        ends_at = time + cycles;
        if (on_start) on_start();
      }
      if (value & CORE_CTRL_RESET) {
        resets++;
        running = false;
        port.clear();
        regs[REG_CORE_STATUS] = 0;
      }
      break;
    case REG_STREAM: {
      const uint64_t addr =
          uint64_t{regs[REG_STREAM_ADDR_HI]} << 32 | regs[REG_STREAM_ADDR_LO];
      const uint32_t entries = regs[REG_STREAM_PATCHES];
      const auto read = [this, addr, value, entries] {
        uint32_t entry = entries & 0xFF;
        const uint32_t end = entry + (entries >> STREAM_PATCHES_COUNT);
        for (uint32_t i = 0; i < value; i++) {
          received.push_back(Get<Descriptor>(addr + 64 * i));
          while (entry < end && (table[entry].field & 0xFFFF) == i)
            Patch(entry++, i, &received.back());
          halted = halted ||
                   addr + 64 * i == regs[REG_PROG_ADDR_LO] +
                                        64 * uint64_t{regs[REG_PROG_LEN] - 1};
        }
        EXPECT_EQ(entry, end) << "an entry without its descriptor";
      };
      Push(read, entries);
      break;
    }
    case REG_PATCH_FIELD:
    case REG_PATCH_VALUE:
    case REG_PATCH_STEP: {
      const uint32_t e = regs[REG_PATCH_ENTRY];
      for (const Item& item : port)
        EXPECT_FALSE(e >= item.first && e < item.end) << "still in use: " << e;
      const uint64_t wide = uint64_t{regs[REG_PATCH_HI] & 15} << 32 | value;
      if (reg == REG_PATCH_FIELD) table[e].field = value;
      if (reg == REG_PATCH_VALUE) table[e].value = wide;
      if (reg == REG_PATCH_STEP) table[e].step = wide;
      break;
    }
    case REG_FLAG_WAIT:
      regs[reg] = value;
      if (value != 0 && on_flag_wait && on_flag_wait(value)) {
        regs[reg] = 0;
        regs[REG_EVENTS] |= EVENTS_FLAGS;
      }
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
  if (addr % 32 != 0 || !systole::g_model->InWindow(addr, bytes)) return false;
  for (uint32_t i = 0; i < bytes; i += 4) {
    const uint32_t word = systole::g_model->hbm[addr + i];
    std::memcpy(static_cast<char*>(smem) + i, &word, 4);
  }
  return true;
}
void hw_copy_prepare(const uint32_t hbm[2], uint64_t offset, const void* smem) {
  systole::g_model->copy_from = systole::Address(hbm, offset);
  systole::g_model->copy_to = const_cast<void*>(smem);
}
void hw_copy_in_begin(uint32_t bytes) {
  systole::HardwareModel& m = *systole::g_model;
  const uint32_t hbm[2] = {static_cast<uint32_t>(m.copy_from),
                           static_cast<uint32_t>(m.copy_from >> 32)};
  m.copied = hw_copy_in(hbm, 0, m.copy_to, bytes);
}
bool hw_copy_end(void) { return systole::g_model->copied; }
bool hw_copy_out(const uint32_t hbm[2], uint64_t offset, const void* smem,
                 uint32_t bytes) {
  const uint64_t addr = systole::Address(hbm, offset);
  if (addr % 32 != 0 || !systole::g_model->InWindow(addr, bytes)) return false;
  for (uint32_t i = 0; i < bytes; i += 4) {
    std::memcpy(&systole::g_model->hbm[addr + i],
                static_cast<const char*>(smem) + i, 4);
  }
  return true;
}
void hw_issue(const uint32_t* descriptor) {
  // Read when it is the first one, as the port does.
  systole::g_model->Push([descriptor] {
    systole::HardwareModel::Descriptor d;
    std::memcpy(d.data(), descriptor, sizeof d);
    systole::g_model->received.push_back(d);
  });
}
void hw_sleep(void) {
  systole::g_model->time += 50;
  systole::g_model->Step();
  if (systole::g_model->on_sleep) systole::g_model->on_sleep();
}
}
