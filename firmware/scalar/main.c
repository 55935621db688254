// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "boot.h"
#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

// Only one completion is written at a time.
static struct completion completion;

static void cancel_waiting(struct ring* ring) {
  log_event(LOG_CANCEL, ring->head, ring->fetched);
  const uint32_t end = ring->fetched;
  for (uint32_t s = ring->head; s != end; s++) {
    if (ring_is_done(ring, s)) continue;
    completion_init(&completion, STATUS_CANCELLED);
    ring_complete(ring, s, &completion);
  }
  ring->request = REQUEST_NONE;
}

// Writes the completion of a command. Then resets it for the next program_run,
// ahead of the next doorbell.
static void complete(struct ring* ring, uint32_t sequence) {
  if (completion.status != STATUS_DONE) log_flush();
  ring_complete(ring, sequence, &completion);
  completion_init(&completion, STATUS_REFUSED);
}

static inline void run(struct ring* ring, uint32_t sequence,
                       const struct command* command) {
  const bool cancelled = program_run(ring, command, &completion);
  if (completion.status != STATUS_DONE) log_flush();
  ring_complete(ring, sequence, &completion);
  program_done(command, &completion);
  if (cancelled) cancel_waiting(ring);
  completion_init(&completion, STATUS_REFUSED);
}

void serve(const struct image_header* image) {
  static struct ring ring;
  ring_init(&ring, image);
  program_init();
  completion_init(&completion, STATUS_REFUSED);
  for (;;) {
    if (ring.fetched == ring.head && ring.request == REQUEST_NONE) {
      const struct command* alone = ring_wait(&ring);
      if (__builtin_expect(alone && alone->kind == COMMAND_RUN, 1)) {
        run(&ring, ring.head, alone);
        continue;
      }
    }
    ring_poll(&ring);
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
    uint32_t sequence = ring.head;
    if (!ring_pick(&ring, &sequence)) {
      if (ring.fetched != ring.head) hw_sleep();
      continue;
    }
    const struct command* command = ring_command(&ring, sequence);
    if (command && command->kind != COMMAND_STOP &&
        command->kind != COMMAND_CONTEXT && !ring_orphaned(&ring, sequence)) {
      run(&ring, sequence, command);  // it refuses illegal commands
      continue;
    }
    if (!command) {
      log_event(LOG_REFUSED, sequence + 1, 0);
    } else if (command->kind == COMMAND_STOP) {
      log_event(LOG_STOP, sequence, 0);
      log_flush();
      completion.status = STATUS_STOPPED;
      hw_write(REG_STATE, BOOT_STATE_STOPPED);
      ring_complete(&ring, sequence, &completion);
      return;
    } else if (command->kind == COMMAND_CONTEXT) {
      if (program_context(command)) completion.status = STATUS_DONE;
    } else {
      completion.status = STATUS_CANCELLED;
    }
    complete(&ring, sequence);
  }
}
