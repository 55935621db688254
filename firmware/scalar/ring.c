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
_Static_assert(sizeof(struct chapter) == TABLE_ALIGN, "a chapter's record");

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
  ring->mask = image->entries - 1;
  for (uint32_t i = 0; i < image->entries; i++) {
    ring->offset[i] = i * image->stride;
  }
}

static uint32_t place(const struct ring* ring, uint32_t sequence) {
  return sequence & ring->mask;
}

bool ring_is_done(const struct ring* ring, uint32_t sequence) {
  if (sequence - ring->head > ring->mask) return true;
  return ring->done >> place(ring, sequence) & 1;
}

// Whether the launch that this command waits for has already ended and failed.
// Statuses are kept only for the last `entries` commands.
static __attribute__((noinline)) bool ended_badly(const struct ring* ring,
                                                  uint32_t sequence,
                                                  uint32_t after) {
  return after <= sequence && sequence - after < ring->mask &&
         ring_is_done(ring, after - 1) &&
         ring->ends[place(ring, after - 1)] != STATUS_DONE;
}

static void fetch(struct ring* ring) {
  const uint32_t sequence = ring->fetched, at = place(ring, sequence);
  struct command* c = &ring->commands[at];
  if (!hw_copy_in(ring->image->commands, ring->offset[at], c, sizeof *c)) {
    c->tag = 0;
  }
  ring->fetched = sequence + 1;
  ring->orphans &= ~(1u << at);
  if (c->after != 0 && ended_badly(ring, sequence, c->after)) {
    ring->orphans |= 1u << at;
  }
}

static void fetch_all(struct ring* ring) {
  while (ring->fetched != ring->written &&
         ring->fetched - ring->head <= ring->mask) {
    fetch(ring);
  }
}

static inline void take_doorbell(struct ring* ring) {
  hw_write(REG_EVENTS, EVENTS_DOORBELL);
  const uint32_t value = hw_read(REG_DOORBELL);
  // The count is modulo 2^24 and never decreases.
  ring->written += (value - ring->written) & DOORBELL_COUNT_MASK;
  if (__builtin_expect(value >> DOORBELL_REQUEST_SHIFT, 0)) {
    ring->request = value >> DOORBELL_REQUEST_SHIFT;
  }
}

bool ring_poll(struct ring* ring) {
  if (hw_read(REG_EVENTS) & EVENTS_DOORBELL) {
    take_doorbell(ring);
    hw_window(false);
    fetch_all(ring);
  }
  return ring->fetched != ring->head || ring->request != REQUEST_NONE;
}

static __attribute__((noinline)) void fetch_others(struct ring* ring) {
  const uint32_t sequence = ring->fetched - 1, at = place(ring, sequence);
  const uint32_t after = ring->commands[at].after;
  if (after != 0 && ended_badly(ring, sequence, after)) {
    ring->orphans |= 1u << at;
  }
  fetch_all(ring);
}

const struct command* ring_wait(struct ring* ring) {
  const uint32_t sequence = ring->fetched, at = place(ring, sequence);
  struct command* c = &ring->commands[at];
  hw_window(false);
  hw_copy_prepare(ring->image->commands, ring->offset[at], c);
  while (!(hw_read(REG_EVENTS) & EVENTS_DOORBELL)) hw_sleep();
  // Starts the copy before it is known what the host wants, so that the work
  // below overlaps with the copy.
  hw_copy_in_begin(sizeof *c);
  take_doorbell(ring);
  ring->orphans = 0;
  if (__builtin_expect(ring->written == sequence, 0)) {
    hw_copy_end();
    return 0;
  }
  ring->fetched = sequence + 1;
  const bool alone =
      ring->written == sequence + 1 && ring->request == REQUEST_NONE;
  if (!hw_copy_end()) c->tag = 0;
  if (__builtin_expect(alone && c->tag == sequence + 1 && c->after == 0, 1)) {
    return c;
  }
  fetch_others(ring);
  return 0;
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
    // A command that waits for itself or for a later one is not held back here,
    // because program_run refuses it.
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
  hw_copy_out(ring->image->completions, ring->offset[place(ring, sequence)],
              completion, sizeof *completion);
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
