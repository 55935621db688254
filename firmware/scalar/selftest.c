// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

static volatile uint32_t cell;
static uint32_t result[ENTRY_WORDS];

// Checks that each flipped bit of the code is corrected and counted. (Several
// flipped bits cause a trap of the processor: tests/rtl/scalar.)
bool selftest_ecc(void) {
  for (uint32_t bit = 0; bit < 39; bit++) {
    const uint32_t before = hw_read(REG_ECC_CORRECTED);
    if (bit < 32) {
      hw_write(REG_ECC_FLIP_LO, 1u << bit);
    } else {
      hw_write(REG_ECC_FLIP_HI, 1u << (bit - 32));
    }
    cell = 0x5A3C0FE1u + bit;
    if (cell != 0x5A3C0FE1u + bit) return false;
    if (hw_read(REG_ECC_CORRECTED) == before) return false;
    if (hw_read(REG_ECC_WORD) != (uint32_t)(uintptr_t)&cell) return false;
    cell = 0;
  }
  return hw_read(REG_ECC_FAILED) == 0;
}

bool selftest_core(const struct image_header* image) {
  static struct ring ring;
  ring_init(&ring, image);
  const struct command command = {
      .tag = 1,
      .kind = COMMAND_RUN,
      .program = {image->test_program[0], image->test_program[1]},
      .length = image->test_length,
      .limit = {~0u, 15},
      .watchdog = 100000,
      .repeat = 1,
  };
  struct completion completion;
  completion_init(&completion, STATUS_REFUSED);
  program_run(&ring, &command, &completion);
  program_done(&command, &completion);
  if (completion.status != STATUS_DONE) return false;
  if (image->test_bytes == 0 || image->test_bytes % sizeof result != 0) {
    return false;
  }
  hw_window(false);
  uint32_t sum = 0;
  for (uint32_t at = 0; at < image->test_bytes; at += sizeof result) {
    if (!hw_copy_in(image->test_result, at, result, sizeof result)) {
      return false;
    }
    for (uint32_t i = 0; i < ENTRY_WORDS; i++) {
      sum = (sum << 1 | sum >> 31) + result[i];
    }
  }
  return sum == image->test_sum;
}
