// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

static struct command entry;

_Static_assert(sizeof(struct command) == 4 * ENTRY_WORDS, "an entry");
_Static_assert(sizeof(struct completion) == 4 * ENTRY_WORDS, "an entry");
_Static_assert(sizeof(struct image_header) == 128, "the image's start");

void ring_init(struct ring* ring, const struct image_header* image) {
  ring->image = image;
  ring->head = 0;
  ring->written = 0;
  ring->request = REQUEST_NONE;
}

static uint64_t place(const struct ring* ring) {
  return (uint64_t)(ring->head & (ring->image->entries - 1)) *
         ring->image->stride;
}

bool ring_poll(struct ring* ring) {
  if (hw_read(REG_EVENTS) & EVENTS_DOORBELL) {
    hw_write(REG_EVENTS, EVENTS_DOORBELL);
    const uint32_t value = hw_read(REG_DOORBELL);
    // The count is modulo 2^24: it never goes back.
    ring->written += (value - ring->written) & DOORBELL_COUNT_MASK;
    if (value >> DOORBELL_REQUEST_SHIFT) {
      ring->request = value >> DOORBELL_REQUEST_SHIFT;
    }
  }
  return ring->written != ring->head || ring->request != REQUEST_NONE;
}

const struct command* ring_next(struct ring* ring) {
  if (!hw_copy_in(ring->image->commands, place(ring), &entry, sizeof entry)) {
    return 0;
  }
  return entry.tag == ring->head + 1 ? &entry : 0;
}

void completion_init(struct completion* completion, uint32_t status) {
  uint32_t* words = (uint32_t*)completion;
  for (int i = 0; i < ENTRY_WORDS; i++) words[i] = 0;
  completion->status = status;
}

void ring_complete(struct ring* ring, struct completion* completion) {
  completion->tag = ring->head + 1;
  hw_copy_out(ring->image->completions, place(ring), completion,
              sizeof *completion);
  ring->head++;
  hw_write(REG_COMPLETED, ring->head);
  hw_write(REG_HOST_IRQ, 1);
}
