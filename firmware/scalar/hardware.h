// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The hardware as the firmware's logic sees it. In the chip this is registers
// and copies (hardware.c); in tests on the host it is a model (tests/firmware).

#ifndef SYSTOLE_SCALAR_HARDWARE_H_
#define SYSTOLE_SCALAR_HARDWARE_H_

#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "gen/regs.h"

#ifdef __cplusplus
extern "C" {
#endif

// A register of gen/regs.h.
#ifdef __riscv
static inline uint32_t hw_read(uint32_t reg) {
  return *(volatile uint32_t*)(REGS + reg);
}
static inline void hw_write(uint32_t reg, uint32_t value) {
  *(volatile uint32_t*)(REGS + reg) = value;
}
#else
uint32_t hw_read(uint32_t reg);
void hw_write(uint32_t reg, uint32_t value);
#endif

// Copies whole words between HBM and SMEM, and waits for the end of the copy.
// False: the copy was refused.
bool hw_copy_in(const uint32_t hbm[2], uint64_t offset, void* smem,
                uint32_t bytes);
// The same copy in steps. Work between the steps overlaps with the copy.
void hw_copy_prepare(const uint32_t hbm[2], uint64_t offset, const void* smem);
void hw_copy_in_begin(uint32_t bytes);
bool hw_copy_end(void);
bool hw_copy_out(const uint32_t hbm[2], uint64_t offset, const void* smem,
                 uint32_t bytes);

// Selects the owner of the copies that follow. True: the program, so copies
// outside base and limit are refused. False: the firmware itself.
static inline void hw_window(bool program) {
  hw_write(REG_COPY_WINDOW, program);
}

// Hands a descriptor in SMEM to the issue port, which must have a free place.
void hw_issue(const uint32_t* descriptor);

// Sleeps until an enabled event or the timer. May return early.
void hw_sleep(void);

#ifdef __cplusplus
}
#endif

#endif  // SYSTOLE_SCALAR_HARDWARE_H_
