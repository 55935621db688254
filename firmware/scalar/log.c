// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The last events are kept in SMEM. They are written to HBM when the host asks,
// after a fault, and when the firmware stops.

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

#define KEPT 32

static const struct image_header* image_of_log;
static struct { uint32_t time, event, value[2]; } kept[KEPT];
static uint32_t events, flushed;  // counts since the boot
static struct log_entry entry;

void log_init(const struct image_header* image) {
  image_of_log = image;
  events = 0;
  flushed = 0;
}

void log_event(uint32_t event, uint32_t value0, uint32_t value1) {
  const uint32_t i = events++ % KEPT;
  kept[i].time = hw_read(REG_MTIME_LO);
  kept[i].event = event;
  kept[i].value[0] = value0;
  kept[i].value[1] = value1;
}

void log_flush(void) {
  if (events - flushed > KEPT) flushed = events - KEPT;
  for (; flushed != events; flushed++) {
    const uint32_t i = flushed % KEPT;
    entry.number = flushed + 1;
    entry.time = kept[i].time;
    entry.event = kept[i].event;
    entry.value[0] = kept[i].value[0];
    entry.value[1] = kept[i].value[1];
    hw_copy_out(image_of_log->log,
                (uint64_t)(flushed & (image_of_log->log_entries - 1)) *
                    image_of_log->stride,
                &entry, sizeof entry);
  }
}
