// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Hands a program over through the issue port, for launches with arguments or
// loops. The program is cut into lists where a loop begins or ends. The table
// of the port holds the values to add to descriptor fields. The hardware adds a
// step to an entry after each use, for the passes of the innermost loop around
// it. The firmware rewrites the entry when that loop begins again. A program
// that exceeds the tables is divided into chapters: the firmware reads the
// tables of the next chapter when it has handed over all lists of the current
// one.

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"
#include "issue.h"

static struct patch patches[MAX_PATCHES];
static struct loop loops[MAX_LOOPS];
static struct list lists[MAX_LISTS];
static uint16_t first_patch[MAX_PATCHES + 1];  // first patch of a table entry
static uint32_t after[MAX_LOOPS];              // first later loop outside it
static uint32_t first_list[MAX_LOOPS], end_list[MAX_LOOPS];
static uint32_t last_push[MAX_LOOPS + 1];  // `pushed` after its last list
static uint32_t passes[MAX_LOOPS + 1];     // completed; [0]: runs of the launch
static uint32_t num_patches, num_entries, num_loops, num_lists;
static bool chapters;         // the launch has several chapters
static uint32_t chapter_end;  // end of the chapter that was read last
static uint64_t tables_at;    // offset of the next chapter in `tables`

static uint32_t pushed;    // lists pushed since the boot
static uint32_t room;      // free places when last read, minus later pushes
static uint32_t instance;  // descriptors pushed in this run
static struct { uint32_t instance, index; } trail[TRAIL];

static bool escaped;
static uint64_t escape_address;
static uint32_t escape_index;

// Loads. ----------------------------------------------------------------------

INLINE bool load_loops(const struct command* c, uint32_t begin, uint32_t end) {
  uint32_t open[MAX_LOOP_DEPTH];
  uint32_t depth = 0;
  const uint32_t last = end == c->length ? end - 1 : end;  // without the halt
  for (uint32_t l = 0; l < num_loops; l++) {
    const struct loop* loop = &loops[l];
    if (loop->begin >= loop->end || loop->end > last) return false;
    if (loop->begin < begin) return false;
    if (loop->count == 0) return false;
    if (loop->flag != LOOP_ALWAYS && loop->flag >= 32) return false;
    if (loop->word[0] & 3) return false;
    if (l > 0 && loop->begin < loops[l - 1].begin) return false;
    while (depth > 0 && loops[open[depth - 1]].end <= loop->begin) depth--;
    if (depth == MAX_LOOP_DEPTH) return false;
    if (depth > 0 && loop->end > loops[open[depth - 1]].end) return false;
    open[depth++] = l;
  }
  return true;
}

// Cuts the chapter into lists where a loop begins or ends.
INLINE void cut(const struct command* c, uint32_t begin, uint32_t end) {
  uint32_t open[MAX_LOOP_DEPTH];
  uint32_t depth = 0, next = 0, at = begin;
  num_lists = 0;
  while (at < end) {
    while (depth > 0 && loops[open[depth - 1]].end == at) {
      end_list[open[--depth]] = num_lists;
    }
    while (next < num_loops && loops[next].begin == at) {
      first_list[next] = num_lists;
      after[next] = next + 1;
      while (after[next] < num_loops &&
             loops[after[next]].begin < loops[next].end) {
        after[next]++;
      }
      open[depth++] = next++;
    }
    uint32_t to = depth > 0 ? loops[open[depth - 1]].end : end;
    if (next < num_loops && loops[next].begin < to) to = loops[next].begin;
    struct list* list = &lists[num_lists++];
    const uint64_t addr = join(c->program) + (uint64_t)at * DESCRIPTOR_BYTES;
    list->from = at;
    list->length = to - at;
    list->addr[0] = (uint32_t)addr;
    list->addr[1] = (uint32_t)(addr >> 32);
    list->entries = 0;
    list->loop = depth > 0 ? open[depth - 1] + 1 : 0;
    at = to;
  }
  while (depth > 0) end_list[open[--depth]] = num_lists;
}

INLINE bool legal_patch(uint32_t i, uint32_t begin, uint32_t end) {
  const struct patch* p = &patches[i];
  const uint32_t lsb = FIELD_LSB(p->field), bits = FIELD_SIZE(p->field);
  const uint32_t l = FIELD_LOOP(p->field);
  if (p->index < begin || p->index >= end || bits == 0 || bits > MAX_PATCH_BITS ||
      (lsb & 31) + bits > 64 || lsb + bits > 512 || l > num_loops) {
    return false;
  }
  if (l > 0 &&
      (p->index < loops[l - 1].begin || p->index >= loops[l - 1].end)) {
    return false;
  }
  if (i == 0) return true;
  const struct patch* before = p - 1;
  if (p->index != before->index) return p->index > before->index;
  return FIELD_LSB(p->field) >= FIELD_LSB(before->field);
}

static void put(uint32_t reg, uint64_t value) {
  hw_write(REG_PATCH_HI, (uint32_t)(value >> 32) & 15);
  hw_write(reg, (uint32_t)value);
}

// Loads the entries of the port's table. Patches of the same field share an
// entry. Values are written when a loop begins.
INLINE bool load_entries(void) {
  uint32_t s = 0;
  num_entries = 0;
  for (uint32_t i = 0; i < num_patches;) {
    const uint32_t index = patches[i].index, field = patches[i].field;
    while (lists[s].from + lists[s].length <= index) s++;
    struct list* list = &lists[s];
    if (index - list->from >= MAX_LIST) return false;
    if (list->entries == 0) list->entries = num_entries;
    list->entries += 1u << STREAM_PATCHES_COUNT;
    first_patch[num_entries] = (uint16_t)i;
    uint64_t step = 0;
    for (; i < num_patches && patches[i].index == index &&
           !((patches[i].field ^ field) & FIELD_BITS);
         i++) {
      if (FIELD_LOOP(patches[i].field) == list->loop) {
        step += join(patches[i].step);
      }
    }
    hw_write(REG_PATCH_ENTRY, num_entries++);
    hw_write(REG_PATCH_FIELD, (index - list->from) | FIELD_LSB(field) << 16 |
                                  (FIELD_SIZE(field) - 1) << 25);
    put(REG_PATCH_STEP, step);
  }
  first_patch[num_entries] = (uint16_t)num_patches;
  return true;
}

// Loads the tables into SMEM, but not the port's entries. Returns the end of
// the tables, or 0 if they are malformed.
INLINE uint64_t load_tables(const struct command* c, uint64_t at,
                            uint32_t counts, uint32_t begin, uint32_t end) {
  num_patches = counts & 0xFFFF;
  num_loops = counts >> 16;
  if (num_patches > MAX_PATCHES || num_loops > MAX_LOOPS) return 0;
  const uint32_t first = num_patches * TABLE_ENTRY_BYTES;
  const uint32_t second = num_loops * TABLE_ENTRY_BYTES;
  if (first != 0 && !hw_copy_in(c->tables, at, patches, first)) return 0;
  at += (first + TABLE_ALIGN - 1) & ~(TABLE_ALIGN - 1u);
  if (second != 0 && !hw_copy_in(c->tables, at, loops, second)) return 0;
  at += (second + TABLE_ALIGN - 1) & ~(TABLE_ALIGN - 1u);
  if (!load_loops(c, begin, end)) return 0;
  cut(c, begin, end);
  for (uint32_t i = 0; i < num_patches; i++) {
    if (!legal_patch(i, begin, end)) return 0;
  }
  return at;
}

static bool runs(uint32_t status) {
  return (status & CORE_STATUS_RUNNING) && !(status & CORE_STATUS_FAULT);
}

// Waits until at most `most` lists are in the port. False: another event must
// be handled first. Callers look at `room` before: while it is large enough,
// they read no register.
INLINE bool wait_port(struct ring* ring, uint32_t most) {
  for (;;) {
    const uint32_t status = hw_read(REG_CORE_STATUS);
    if (!runs(status)) return false;
    room = status >> CORE_STATUS_PLACES & 15;
    if (PLACES - room <= most) return true;
    if (program_interrupted(ring)) return false;
  }
}

enum next { NEXT_READY, NEXT_OTHER, NEXT_BAD };

// Reads the next chapter while the port is busy. Before it writes the entries,
// it waits until the port is empty. `ring` is null if the port is empty
// already.
static NOINLINE enum next next_chapter(struct ring* ring,
                                       const struct command* c) {
  static struct chapter chapter;
  const uint32_t begin = chapter_end;
  hw_window(false);
  if (!hw_copy_in(c->tables, tables_at, &chapter, sizeof chapter)) {
    return NEXT_BAD;
  }
  chapter_end = chapter.end;
  if (chapter_end <= begin || chapter_end > c->length) return NEXT_BAD;
  tables_at = load_tables(c, tables_at + sizeof chapter, chapter.counts, begin,
                          chapter_end);
  if (tables_at == 0) return NEXT_BAD;
  if (ring && !wait_port(ring, 0)) return NEXT_OTHER;
  return load_entries() ? NEXT_READY : NEXT_BAD;
}

static enum next first_chapter(const struct command* c) {
  chapter_end = 0;
  tables_at = 0;
  return next_chapter(0, c);
}

bool issue_load(const struct command* c, uint32_t stride) {
  escaped = false;
  // A list must begin at a beat. If a beat holds several descriptors, a program
  // cannot be cut before each of them.
  if (stride != DESCRIPTOR_BYTES) return false;
  chapters = (c->counts & COUNTS_CHAPTERS) != 0;
  if (chapters) {
    return c->counts == COUNTS_CHAPTERS && first_chapter(c) == NEXT_READY;
  }
  hw_window(false);
  return load_tables(c, 0, c->counts, 0, c->length) != 0 &&
         load_entries();
}

// Runs. -----------------------------------------------------------------------

// Writes the entry values of a loop that begins; loop 0 is the run. First it
// waits until the lists that use the old values have left the port.
static bool begin_entries(struct ring* ring, uint32_t loop, uint32_t s,
                          uint32_t to) {
  bool waited = false;
  for (; s < to; s++) {
    const struct list* list = &lists[s];
    if (list->loop != loop || list->entries == 0) continue;
    const uint32_t since = pushed - last_push[loop];
    if (!waited && PLACES - room > since && !wait_port(ring, since)) {
      return false;
    }
    waited = true;
    uint32_t e = list->entries & 0xFFFF;
    const uint32_t last = e + (list->entries >> STREAM_PATCHES_COUNT);
    for (; e < last; e++) {
      uint64_t value = 0;
      for (uint32_t p = first_patch[e]; p < first_patch[e + 1]; p++) {
        value += join(patches[p].add);
        const uint32_t pass = passes[FIELD_LOOP(patches[p].field)];
        if (pass != 0) value += join(patches[p].step) * pass;
      }
      hw_write(REG_PATCH_ENTRY, e);
      put(REG_PATCH_VALUE, value);
    }
  }
  return true;
}

static inline bool push(struct ring* ring, const struct list* list) {
  if (room == 0 && !wait_port(ring, PLACES - 1)) return false;
  hw_write(REG_STREAM, list->length);
  trail[pushed % TRAIL].instance = instance;
  trail[pushed % TRAIL].index = list->from;
  pushed++;
  room--;
  instance += list->length;
  return true;
}

static inline void name(const struct list* list) {
  hw_write(REG_STREAM_ADDR_LO, list->addr[0]);
  hw_write(REG_STREAM_ADDR_HI, list->addr[1]);
  hw_write(REG_STREAM_PATCHES, list->entries);
}

// Waits for the loop's flag, then reads the word. Returns whether the word is
// not 0. -1: another event must be handled, or the word is outside the window.
static int condition(struct ring* ring, const struct loop* loop) {
  static uint32_t line[DESCRIPTOR_WORDS];
  hw_write(REG_FLAG_WAIT, 1u << loop->flag);
  while (!(hw_read(REG_EVENTS) & EVENTS_FLAGS)) {
    if (!runs(hw_read(REG_CORE_STATUS)) || program_interrupted(ring)) {
      hw_write(REG_FLAG_WAIT, 0);
      return -1;
    }
    hw_sleep();
  }
  hw_write(REG_EVENTS, EVENTS_FLAGS);
  const uint32_t at[2] = {loop->word[0] & ~(DESCRIPTOR_BYTES - 1u),
                          loop->word[1]};
  const uint32_t from = loop->word[0] & (DESCRIPTOR_BYTES - 1);
  hw_window(true);
  if (!hw_copy_in(at, 0, line, from + 4)) {
    escaped = true;
    escape_address = join(loop->word);
    escape_index = loop->begin;
    return -1;
  }
  return line[from / 4] != 0;
}

static int has_pass(struct ring* ring, uint32_t l) {
  if (passes[l + 1] == loops[l].count) return 0;
  return loops[l].flag == LOOP_ALWAYS ? 1 : condition(ring, &loops[l]);
}

// False: another event must be handled first.
INLINE bool run_lists(struct ring* ring, uint32_t begin, uint32_t end) {
  uint32_t open[MAX_LOOP_DEPTH];
  uint32_t depth = 0, next_loop = 0, s = 0, at = begin;
  while (at < end || depth > 0) {
    uint32_t l;
    if (depth > 0 && loops[open[depth - 1]].end == at) {
      l = open[--depth];
      passes[l + 1]++;
    } else if (next_loop < num_loops && loops[next_loop].begin == at) {
      l = next_loop;
      passes[l + 1] = 0;
      if (!begin_entries(ring, l + 1, first_list[l], end_list[l])) return false;
      if (loops[l].flag == LOOP_ALWAYS && after[l] == l + 1) {
        // The loop is a single list: push it once for each pass.
        name(&lists[s]);
        for (uint32_t left = loops[l].count; left > 0; left--) {
          if (!push(ring, &lists[s])) return false;
        }
        last_push[l + 1] = pushed;
        s++;
        at = loops[l].end;
        next_loop++;
        continue;
      }
    } else {
      name(&lists[s]);
      if (!push(ring, &lists[s])) return false;
      last_push[lists[s].loop] = pushed;
      at += lists[s++].length;
      continue;
    }
    const int pass = has_pass(ring, l);
    if (pass < 0) return false;
    if (pass) {
      open[depth++] = l;
      at = loops[l].begin;
      next_loop = l + 1;
      s = first_list[l];
    } else {
      at = loops[l].end;
      next_loop = after[l];
      s = end_list[l];
    }
  }
  return true;
}

INLINE bool begin_run(struct ring* ring) {
  for (uint32_t l = 0; l <= num_loops; l++) last_push[l] = pushed - PLACES;
  return begin_entries(ring, 0, 0, num_lists);
}

static NOINLINE bool run_chapters(struct ring* ring, const struct command* c) {
  // The previous run has emptied the port.
  if (passes[0] != 0 && first_chapter(c) != NEXT_READY) return false;
  for (uint32_t begin = 0;;) {
    if (!begin_run(ring) || !run_lists(ring, begin, chapter_end)) return true;
    begin = chapter_end;
    if (begin == c->length) return true;
    const enum next next = next_chapter(ring, c);
    if (next != NEXT_READY) return next != NEXT_BAD;
  }
}

bool issue_run(struct ring* ring, const struct command* c, uint32_t run) {
  passes[0] = run;
  instance = room = 0;
  if (__builtin_expect(chapters, 0)) return run_chapters(ring, c);
  if (run == 0 && !begin_run(ring)) return true;
  run_lists(ring, 0, c->length);
  return true;
}

bool issue_escape(uint64_t* address, uint32_t* index) {
  *address = escape_address;
  *index = escape_index;
  return escaped;
}

uint32_t issue_place(uint32_t which) {
  for (uint32_t i = 1; i <= TRAIL && i <= pushed; i++) {
    const uint32_t t = (pushed - i) % TRAIL;
    if (trail[t].instance <= which) {
      return trail[t].index + which - trail[t].instance;
    }
  }
  return which;
}
