// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a program: as the list that it is, or, where a launch has arguments, by
// the issue port: the lists between the descriptors that are patched are
// streamed from HBM, those are issued from SMEM.

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

#define DESCRIPTOR_BYTES 64
#define DESCRIPTOR_WORDS 16

// Aligned as the issue port wants it; those of even and of odd runs, so that a
// run's are made while the one before it runs.
static uint32_t patched[2][MAX_PATCHES][DESCRIPTOR_WORDS]
    __attribute__((aligned(DESCRIPTOR_BYTES)));
static struct patch patches[MAX_PATCHES];

static bool legal(const struct command* c) {
  if (c->kind != COMMAND_RUN || c->length == 0 || c->repeat == 0) return false;
  return c->patch_count <= MAX_PATCHES && (c->program[0] & 127) == 0;
}

// Patches and the descriptors that they patch into SMEM. Lists begin at a beat:
// where that holds several descriptors, programs cannot be cut anywhere.
static bool load_patches(const struct command* c, uint32_t stride) {
  if (c->patch_count == 0) return true;
  if (stride != DESCRIPTOR_BYTES) return false;
  if (!hw_copy_in(c->patches, 0, patches,
                  c->patch_count * sizeof(struct patch))) {
    return false;
  }
  for (uint32_t i = 0; i < c->patch_count; i++) {
    const struct patch* p = &patches[i];
    if (p->index >= c->length || p->word > 14) return false;
    if (i > 0 && p->index < patches[i - 1].index) return false;
    if (!hw_copy_in(c->program, (uint64_t)p->index * DESCRIPTOR_BYTES,
                    patched[0][i], DESCRIPTOR_BYTES)) {
      return false;
    }
  }
  return true;
}

static void add_to(uint32_t* field, uint64_t add) {
  const uint64_t sum = (((uint64_t)(field[1] & 15) << 32) | field[0]) + add;
  field[0] = (uint32_t)sum;
  field[1] = (field[1] & ~15u) | ((uint32_t)(sum >> 32) & 15);
}

// The first of the patches of patch i's descriptor, where that is kept.
static uint32_t first_of(uint32_t i) {
  while (i > 0 && patches[i - 1].index == patches[i].index) i--;
  return i;
}

// The descriptors of the first two runs, from those of the list.
static void prepare_first(const struct command* c) {
  for (uint32_t i = 0; i < c->patch_count; i++) {
    add_to(&patched[0][first_of(i)][patches[i].word], patches[i].add);
  }
  if (c->repeat == 1) return;
  for (uint32_t i = 0; i < c->patch_count; i++) {
    for (int w = 0; w < DESCRIPTOR_WORDS; w++) {
      patched[1][i][w] = patched[0][i][w];
    }
  }
  for (uint32_t i = 0; i < c->patch_count; i++) {
    add_to(&patched[1][first_of(i)][patches[i].word], patches[i].step);
  }
}

// Those of the run after the next, from those of the run before.
static void prepare(const struct command* c, uint32_t run) {
  for (uint32_t i = 0; i < c->patch_count; i++) {
    add_to(&patched[run & 1][first_of(i)][patches[i].word],
           2 * (uint64_t)patches[i].step);
  }
}

static void timer_at(uint32_t cycles) {
  hw_write(REG_MTIMECMP_HI, ~0u);
  if (cycles == 0) return;
  const uint64_t low = hw_read(REG_MTIME_LO);
  const uint64_t at = (((uint64_t)hw_read(REG_MTIME_HI) << 32) | low) + cycles;
  hw_write(REG_MTIMECMP_LO, (uint32_t)at);
  hw_write(REG_MTIMECMP_HI, (uint32_t)(at >> 32));
}

static bool timer_over(void) {
  const uint64_t low = hw_read(REG_MTIME_LO);
  const uint64_t now = ((uint64_t)hw_read(REG_MTIME_HI) << 32) | low;
  return now >= (((uint64_t)hw_read(REG_MTIMECMP_HI) << 32) |
                 hw_read(REG_MTIMECMP_LO));
}

// Waits for a place of the issue port; false: the program has ended or failed.
static bool place(void) {
  for (;;) {
    const uint32_t status = hw_read(REG_CORE_STATUS);
    if (!(status & CORE_STATUS_RUNNING) || (status & CORE_STATUS_FAULT)) {
      return false;
    }
    if (status >> CORE_STATUS_PLACES & 15) return true;
    if (timer_over()) return false;
  }
}

// Descriptors from..to of the list, `to` exclusive.
static bool stream(const struct command* c, uint32_t from, uint32_t to) {
  if (from == to) return true;
  if (!place()) return false;
  const uint64_t addr = (((uint64_t)c->program[1] << 32) | c->program[0]) +
                        (uint64_t)from * DESCRIPTOR_BYTES;
  hw_write(REG_STREAM_ADDR_LO, (uint32_t)addr);
  hw_write(REG_STREAM_ADDR_HI, (uint32_t)(addr >> 32));
  hw_write(REG_STREAM, to - from);
  return true;
}

static void issue_run(const struct command* c, uint32_t run) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < c->patch_count; i++) {
    if (first_of(i) != i) continue;
    if (!stream(c, next, patches[i].index) || !place()) return;
    hw_issue(patched[run & 1][i]);
    next = patches[i].index + 1;
  }
  stream(c, next, c->length);
}

static void reset_core(void) {
  hw_write(REG_CORE_CTRL, CORE_CTRL_RESET);
  while (hw_read(REG_CORE_STATUS) &
         (CORE_STATUS_RUNNING | CORE_STATUS_FAULT | CORE_STATUS_RESETTING)) {
  }
  hw_write(REG_EVENTS, EVENTS_DONE | EVENTS_FAULT | EVENTS_DROPPED);
}

static void capture(struct completion* out) {
  out->status = STATUS_FAULT;
  out->cause = hw_read(REG_FAULT_CAUSE);
  out->queue = hw_read(REG_FAULT_QUEUE);
  out->index = hw_read(REG_FAULT_PC);
  out->address[0] = hw_read(REG_FAULT_ADDR_LO);
  out->address[1] = hw_read(REG_FAULT_ADDR_HI);
  out->fault_cycle = hw_read(REG_FAULT_CYCLE);
  log_event(LOG_FAULT, out->cause, out->index);
}

bool program_run(struct ring* ring, const struct command* c,
                 struct completion* out) {
  out->begin = hw_read(REG_MTIME_LO);
  if (!legal(c) || !load_patches(c, ring->image->stride)) {
    log_event(LOG_REFUSED, c->tag, c->kind);
    return false;
  }
  hw_write(REG_PROG_ADDR_LO, c->program[0]);
  hw_write(REG_PROG_ADDR_HI, c->program[1]);
  hw_write(REG_PROG_LEN, c->length);
  hw_write(REG_WATCHDOG, c->watchdog);
  hw_write(REG_LIMIT_LO, c->limit[0]);
  hw_write(REG_LIMIT_HI, c->limit[1]);
  timer_at(c->timeout);
  if (c->patch_count != 0) prepare_first(c);
  const bool issue = c->patch_count != 0;
  bool cancelled = false;
  while (out->runs < c->repeat) {
    hw_write(REG_CORE_CTRL, CORE_CTRL_START | (issue ? CORE_CTRL_ISSUE : 0));
    if (issue) {
      issue_run(c, out->runs);
      if (out->runs > 0 && out->runs + 1 < c->repeat) prepare(c, out->runs + 1);
    }
    if (out->runs == 0) log_event(LOG_START, c->tag, c->length);
    uint32_t events;
    while (!((events = hw_read(REG_EVENTS)) & (EVENTS_DONE | EVENTS_FAULT))) {
      if (events & EVENTS_DOORBELL) {
        ring_poll(ring);
        cancelled = ring->request == REQUEST_CANCEL;
      }
      if (cancelled || timer_over()) break;
      hw_sleep();
    }
    if (events & EVENTS_FAULT) {
      capture(out);
    } else if (events & EVENTS_DONE) {
      hw_write(REG_EVENTS, EVENTS_DONE);
      out->runs++;
      continue;
    } else {
      out->status = cancelled ? STATUS_CANCELLED : STATUS_TIMEOUT;
      log_event(cancelled ? LOG_CANCEL : LOG_TIMEOUT, c->tag, out->runs);
    }
    reset_core();
    break;
  }
  out->end = hw_read(REG_MTIME_LO);
  if (out->runs == c->repeat) {
    out->status = STATUS_DONE;
    out->saturated = hw_read(REG_CORE_STATUS) & CORE_STATUS_SATURATED ? 1 : 0;
    log_event(LOG_DONE, c->tag, out->end - out->begin);
  }
  timer_at(0);
  return cancelled;
}
