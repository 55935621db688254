// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

_Static_assert(sizeof(struct command) == 4 * ENTRY_WORDS, "an entry");
_Static_assert(sizeof(struct completion) == 4 * ENTRY_WORDS, "an entry");
_Static_assert(sizeof(struct image_header) == 128, "the image's start");
_Static_assert(sizeof(struct patch) == TABLE_ENTRY_BYTES, "a table's entry");
_Static_assert(sizeof(struct loop) == TABLE_ENTRY_BYTES, "a table's entry");

void ring_init(struct ring* ring, const struct image_header* image) {
  ring->image = image;
  ring->head = 0;
  ring->written = 0;
  ring->fetched = 0;
  ring->request = REQUEST_NONE;
  ring->done = 0;
  ring->orphans = 0;
  ring->completed = 0;
  ring->smem_before = hw_read(REG_ECC_CORRECTED);
}

static uint32_t place(const struct ring* ring, uint32_t sequence) {
  return sequence & (ring->image->entries - 1);
}

static uint64_t offset(const struct ring* ring, uint32_t sequence) {
  return (uint64_t)place(ring, sequence) * ring->image->stride;
}

bool ring_is_done(const struct ring* ring, uint32_t sequence) {
  if (sequence - ring->head >= ring->image->entries) return true;
  return ring->done >> place(ring, sequence) & 1;
}

static void fetch(struct ring* ring) {
  const uint32_t bit = 1u << place(ring, ring->fetched);
  struct command* c = &ring->commands[place(ring, ring->fetched)];
  if (!hw_copy_in(ring->image->commands, offset(ring, ring->fetched), c,
                  sizeof *c)) {
    c->tag = 0;
  }
  // A launch that ended before; how is known of the last `entries` alone.
  ring->orphans &= ~bit;
  if (c->after != 0 && c->after <= ring->fetched &&
      ring->fetched - c->after < ring->image->entries - 1 &&
      ring_is_done(ring, c->after - 1) &&
      ring->ends[place(ring, c->after - 1)] != STATUS_DONE) {
    ring->orphans |= bit;
  }
  ring->fetched++;
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
    hw_window(false);
    while (ring->fetched != ring->written &&
           ring->fetched - ring->head < ring->image->entries) {
      fetch(ring);
    }
  }
  return ring->fetched != ring->head || ring->request != REQUEST_NONE;
}

const struct command* ring_command(const struct ring* ring, uint32_t sequence) {
  const struct command* c = &ring->commands[place(ring, sequence)];
  return c->tag == sequence + 1 ? c : 0;
}

bool ring_pick(const struct ring* ring, uint32_t* sequence) {
  const struct command* best = 0;
  *sequence = ring->head;
  for (uint32_t s = ring->head; s != ring->fetched; s++) {
    if (ring_is_done(ring, s)) continue;
    const struct command* c = ring_command(ring, s);
    if (!c || c->kind != COMMAND_RUN) {
      if (best) return true;
      *sequence = s;
      return s == ring->head;
    }
    // What waits for itself, or for what comes later, never gets its turn here
    // but is refused where it is looked at.
    if (c->after != 0 && c->after < c->tag &&
        !ring_is_done(ring, c->after - 1)) {
      continue;
    }
    if (!best || c->priority > best->priority) {
      best = c;
      *sequence = s;
    }
  }
  return best != 0;
}

bool ring_orphaned(const struct ring* ring, uint32_t sequence) {
  return ring->orphans >> place(ring, sequence) & 1;
}

void completion_init(struct completion* completion, uint32_t status) {
  uint32_t* words = (uint32_t*)completion;
  for (int i = 0; i < ENTRY_WORDS; i++) words[i] = 0;
  completion->status = status;
}

void ring_complete(struct ring* ring, uint32_t sequence,
                   struct completion* completion) {
  completion->tag = sequence + 1;
  completion->smem_corrected = hw_read(REG_ECC_CORRECTED) - ring->smem_before;
  if (completion->smem_corrected != 0) {
    completion->smem_word = hw_read(REG_ECC_WORD);
  }
  hw_window(false);
  hw_copy_out(ring->image->completions, offset(ring, sequence), completion,
              sizeof *completion);
  ring->completed++;
  hw_write(REG_COMPLETED, ring->completed);
  hw_write(REG_HOST_IRQ, 1);
  ring->ends[place(ring, sequence)] = (uint8_t)completion->status;
  ring->done |= 1u << place(ring, sequence);
  for (uint32_t s = ring->head;
       completion->status != STATUS_DONE && s != ring->fetched; s++) {
    const struct command* c = ring_command(ring, s);
    if (c && c->after == sequence + 1) ring->orphans |= 1u << place(ring, s);
  }
  while (ring->head != ring->fetched &&
         ring->done >> place(ring, ring->head) & 1) {
    ring->done &= ~(1u << place(ring, ring->head));
    ring->head++;
  }
}
