// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a program, either as one list or through the issue port (issue.c).

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

#define CONTEXT_ALIGN 4096

// The window of HBM that a program may access: from base to limit. Context 0
// belongs to the host itself.
static struct { uint32_t base[2], limit[2]; } contexts[MAX_CONTEXTS];
static uint32_t last_context;  // the context whose program was in the core last

void program_init(void) {
  for (int i = 0; i < MAX_CONTEXTS; i++) {
    contexts[i].limit[0] = contexts[i].limit[1] = 0;
  }
  last_context = 0;
  hw_write(REG_MTIMECMP_HI, ~0u);
}

static bool below(const uint32_t a[2], const uint32_t b[2]) {
  return a[1] != b[1] ? a[1] < b[1] : a[0] < b[0];
}

bool program_context(const struct command* c) {
  if (c->context == 0 || c->context >= MAX_CONTEXTS) return false;
  if ((c->program[0] & (CONTEXT_ALIGN - 1)) || c->program[1] > 15) return false;
  if (below(c->limit, c->program)) return false;
  for (int w = 0; w < 2; w++) {
    contexts[c->context].base[w] = c->program[w];
    contexts[c->context].limit[w] = c->limit[w];
  }
  log_event(LOG_CONTEXT, c->context, c->limit[0]);
  return true;
}

static bool legal(const struct command* c) {
  if (c->kind != COMMAND_RUN || c->length == 0 || c->repeat == 0) return false;
  if (c->context >= MAX_CONTEXTS || c->after >= c->tag) return false;
  const uint32_t* limit = contexts[c->context].limit;
  if (c->context != 0 && limit[0] == 0 && limit[1] == 0) return false;
  return (c->program[0] & 127) == 0;
}

// Context 0 always has base 0.
static void set_window(const struct command* c) {
  const uint32_t* limit = c->limit;
  if (c->context != 0 && below(contexts[c->context].limit, limit)) {
    limit = contexts[c->context].limit;
  }
  if (c->context != 0 || last_context != 0) {
    hw_write(REG_BASE_LO, contexts[c->context].base[0]);
    hw_write(REG_BASE_HI, contexts[c->context].base[1]);
  }
  last_context = c->context;
  hw_write(REG_LIMIT_LO, limit[0]);
  hw_write(REG_LIMIT_HI, limit[1]);
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

bool program_interrupted(struct ring* ring) {
  if (hw_read(REG_EVENTS) & EVENTS_DOORBELL) ring_poll(ring);
  return ring->request == REQUEST_CANCEL || timer_over();
}

// A reset waits for packets that no link takes. The host is told what happened
// all the same, and resets the links.
#define RESET_CYCLES 20000

static void reset_core(void) {
  const uint32_t begin = hw_read(REG_MTIME_LO);
  hw_write(REG_CORE_CTRL, CORE_CTRL_RESET);
  while ((hw_read(REG_CORE_STATUS) &
          (CORE_STATUS_RUNNING | CORE_STATUS_FAULT | CORE_STATUS_RESETTING)) &&
         hw_read(REG_MTIME_LO) - begin < RESET_CYCLES) {
  }
  hw_write(REG_EVENTS,
           EVENTS_DONE | EVENTS_FAULT | EVENTS_DROPPED | EVENTS_FLAGS);
}

static void capture(struct completion* out, bool issued) {
  out->status = STATUS_FAULT;
  out->cause = hw_read(REG_FAULT_CAUSE);
  out->queue = hw_read(REG_FAULT_QUEUE);
  out->instance = hw_read(REG_FAULT_PC);
  out->index = issued ? issue_place(out->instance) : out->instance;
  out->address[0] = hw_read(REG_FAULT_ADDR_LO);
  out->address[1] = hw_read(REG_FAULT_ADDR_HI);
  out->fault_cycle = hw_read(REG_FAULT_CYCLE);
  log_event(LOG_FAULT, out->cause, out->index);
}

// Reports a fault of the firmware itself: it read outside the window while it
// served the program.
static bool capture_escape(struct completion* out) {
  uint64_t address;
  uint32_t index;
  if (!issue_escape(&address, &index)) return false;
  out->status = STATUS_FAULT;
  out->cause = FAULT_HBM_RANGE;
  out->queue = FAULT_QUEUE_FIRMWARE;
  out->index = out->instance = index;
  out->address[0] = (uint32_t)address;
  out->address[1] = (uint32_t)(address >> 32);
  out->fault_cycle = hw_read(REG_MTIME_LO) - out->begin;
  log_event(LOG_FAULT, out->cause, out->index);
  return true;
}

static inline void set_program(const uint32_t program[2], uint32_t length,
                               uint32_t watchdog) {
  hw_write(REG_PROG_ADDR_LO, program[0]);
  hw_write(REG_PROG_ADDR_HI, program[1]);
  hw_write(REG_PROG_LEN, length);
  hw_write(REG_WATCHDOG, watchdog);
}

// Clears the core between contexts, so that no context sees the data of
// another.
static void scrub(const struct image_header* image) {
  if (image->scrub_length == 0) return;
  hw_write(REG_BASE_LO, 0);
  hw_write(REG_BASE_HI, 0);
  hw_write(REG_LIMIT_LO, ~0u);
  hw_write(REG_LIMIT_HI, 15);
  set_program(image->scrub_program, image->scrub_length, 100000);
  hw_write(REG_CORE_CTRL, CORE_CTRL_START);
  while (!(hw_read(REG_EVENTS) & (EVENTS_DONE | EVENTS_FAULT))) hw_sleep();
  if (hw_read(REG_EVENTS) & EVENTS_FAULT) reset_core();
  hw_write(REG_EVENTS, EVENTS_DONE);
}

static inline uint32_t start_of(const struct command* c) {
  return CORE_CTRL_START | (c->counts != 0 ? CORE_CTRL_ISSUE : 0) |
         (c->context != 0 ? CORE_CTRL_ISOLATED : 0);
}

static __attribute__((noinline)) bool refuse(const struct command* c,
                                             uint32_t why) {
  log_event(LOG_REFUSED, c->tag, why);
  return false;
}

// Runs all repetitions to the end. If the program is a single list, the caller
// has already started the first one.
static __attribute__((noinline)) bool run_all(struct ring* ring,
                                              const struct command* c,
                                              struct completion* out) {
  const bool issued = c->counts != 0;
  bool started = !issued;
  while (out->runs < c->repeat) {
    if (!started) hw_write(REG_CORE_CTRL, start_of(c));
    started = false;
    if (out->runs == 0) log_event(LOG_START, c->tag, c->length);
    const bool bad = issued && !issue_run(ring, c, out->runs);
    uint32_t events;
    bool over = false;
    while (!((events = hw_read(REG_EVENTS)) & (EVENTS_DONE | EVENTS_FAULT))) {
      over = bad ? !refuse(c, c->counts) : issued && capture_escape(out);
      if (over || program_interrupted(ring)) break;
      hw_sleep();
    }
    if (events & EVENTS_FAULT) {
      capture(out, issued);
    } else if (events & EVENTS_DONE) {
      hw_write(REG_EVENTS, EVENTS_DONE);
      out->runs++;
      continue;
    } else if (!over) {
      const bool cancelled = ring->request == REQUEST_CANCEL;
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
  }
  return ring->request == REQUEST_CANCEL;
}

static __attribute__((noinline)) bool run_issued(struct ring* ring,
                                                 const struct command* c,
                                                 struct completion* out) {
  if (!issue_load(c, ring->image->stride)) {
    return !capture_escape(out) && refuse(c, c->counts);
  }
  set_program(c->program, c->length, c->watchdog);
  if (c->timeout != 0) timer_at(c->timeout);
  return run_all(ring, c, out);
}

static __attribute__((noinline)) bool run_other(struct ring* ring,
                                                const struct command* c,
                                                struct completion* out) {
  if (!legal(c)) return refuse(c, c->kind);
  if (c->context != last_context) scrub(ring->image);
  set_window(c);
  if (c->counts != 0) return run_issued(ring, c, out);
  set_program(c->program, c->length, c->watchdog);
  if (c->timeout != 0) timer_at(c->timeout);
  hw_write(REG_CORE_CTRL, start_of(c));
  return run_all(ring, c, out);
}

// The fast path from a doorbell to the first descriptor: for a program of the
// host (context 0) without tables, `after` and timeout. run_other handles
// everything else, so this function saves no registers.
bool program_run(struct ring* ring, const struct command* c,
                 struct completion* out) {
  out->begin = hw_read(REG_MTIME_LO);
  const uint32_t other = (c->kind ^ COMMAND_RUN) | (c->program[0] & 127) |
                         c->after | c->context | last_context | c->counts |
                         c->timeout;
  if (__builtin_expect(other != 0 || c->length == 0 || c->repeat == 0, 0)) {
    return run_other(ring, c, out);
  }
  hw_write(REG_LIMIT_LO, c->limit[0]);
  hw_write(REG_LIMIT_HI, c->limit[1]);
  set_program(c->program, c->length, c->watchdog);
  hw_write(REG_CORE_CTRL, CORE_CTRL_START);
  return run_all(ring, c, out);
}

void program_done(const struct command* c, const struct completion* out) {
  if (out->status == STATUS_DONE) {
    log_event(LOG_DONE, c->tag, out->end - out->begin);
  }
  timer_at(0);
}
