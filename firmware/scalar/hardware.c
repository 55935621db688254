// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "hardware.h"

#include "gen/regs.h"

void hw_copy_prepare(const uint32_t hbm[2], uint64_t offset, const void* smem) {
  const uint64_t addr = (((uint64_t)hbm[1] << 32) | hbm[0]) + offset;
  hw_write(REG_COPY_HBM_LO, (uint32_t)addr);
  hw_write(REG_COPY_HBM_HI, (uint32_t)(addr >> 32));
  hw_write(REG_COPY_SMEM, (uint32_t)(uintptr_t)smem);
}

void hw_copy_in_begin(uint32_t bytes) {
  __asm__ volatile("" ::: "memory");
  hw_write(REG_COPY_IN, bytes);
}

bool hw_copy_end(void) {
  while (hw_read(REG_CORE_STATUS) & CORE_STATUS_COPYING) {
  }
  __asm__ volatile("" ::: "memory");
  if (!(hw_read(REG_EVENTS) & EVENTS_COPY_ERROR)) return true;
  hw_write(REG_EVENTS, EVENTS_COPY_ERROR);
  return false;
}

bool hw_copy_in(const uint32_t hbm[2], uint64_t offset, void* smem,
                uint32_t bytes) {
  hw_copy_prepare(hbm, offset, smem);
  hw_copy_in_begin(bytes);
  return hw_copy_end();
}

bool hw_copy_out(const uint32_t hbm[2], uint64_t offset, const void* smem,
                 uint32_t bytes) {
  hw_copy_prepare(hbm, offset, smem);
  __asm__ volatile("" ::: "memory");
  hw_write(REG_COPY_OUT, bytes);
  return hw_copy_end();
}

void hw_issue(const uint32_t* descriptor) {
  __asm__ volatile("" ::: "memory");
  hw_write(REG_ISSUE, (uint32_t)(uintptr_t)descriptor);
}

void hw_sleep(void) { __asm__ volatile("wfi" ::: "memory"); }
