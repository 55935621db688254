// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "boot.h"
#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

// One at a time is written.
static struct completion completion;

static void cancel_waiting(struct ring* ring) {
  log_event(LOG_CANCEL, ring->head, ring->written);
  const uint32_t end = ring->written;
  while (ring->head != end) {
    completion_init(&completion, STATUS_CANCELLED);
    ring_complete(ring, &completion);
  }
  ring->request = REQUEST_NONE;
}

void serve(const struct image_header* image) {
  struct ring ring;
  ring_init(&ring, image);
  completion_init(&completion, STATUS_REFUSED);
  for (;;) {
    if (!ring_poll(&ring)) {
      hw_sleep();
      continue;
    }
    if (ring.request == REQUEST_CANCEL) {
      cancel_waiting(&ring);
      completion_init(&completion, STATUS_REFUSED);
      continue;
    }
    if (ring.request == REQUEST_LOG) {
      log_flush();
      ring.request = REQUEST_NONE;
      hw_write(REG_HOST_IRQ, 1);
      continue;
    }
    const struct command* command = ring_next(&ring);
    bool cancelled = false;
    if (!command) {
      log_event(LOG_REFUSED, ring.head + 1, 0);
    } else if (command->kind == COMMAND_STOP) {
      log_event(LOG_STOP, ring.head, 0);
      log_flush();
      completion.status = STATUS_STOPPED;
      hw_write(REG_STATE, BOOT_STATE_STOPPED);
      ring_complete(&ring, &completion);
      return;
    } else {
      cancelled = program_run(&ring, command, &completion);
    }
    if (completion.status != STATUS_DONE) log_flush();
    ring_complete(&ring, &completion);
    if (cancelled) cancel_waiting(&ring);
    completion_init(&completion, STATUS_REFUSED);  // before the next doorbell
  }
}
