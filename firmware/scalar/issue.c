// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Hands a program over by the issue port, where a launch has arguments or
// loops: lists of descriptors are streamed from HBM, those that are patched are
// kept in SMEM, made for each pass there, and issued.

#include "firmware.h"
#include "gen/regs.h"
#include "hardware.h"

#define DESCRIPTOR_BYTES 64
#define DESCRIPTOR_WORDS 16
#define PLACES 8  // of the issue port
#define TRAIL 64  // more items than are in the port and in the core's queues
#define FIELD_BITS 0xFFFFFFu
#define FIELD_LSB(field) ((field)&0xFFFFu)
#define FIELD_SIZE(field) ((field) >> 16 & 0xFFu)
#define FIELD_LOOP(field) ((field) >> 24)

// What is patched most: the HBM address of transfers.
#define HBM_ADDR_WORD 3
#define HBM_ADDR (HBM_ADDR_WORD * 32u | 36u << 16)

// A descriptor in SMEM, with patches or between two of those.
struct item {
  uint32_t index;
  uint32_t first, end;   // its patches
  uint32_t pushed;       // number of its last push
  const uint32_t* pass;  // of the loop next around it, if its one patch is of
                         // that and of the HBM address; else null
};

static struct patch patches[MAX_PATCHES];
static struct loop loops[MAX_LOOPS];
static struct item items[MAX_PATCHED + 1];  // the last one is beyond the end
static uint32_t kept[MAX_PATCHED][DESCRIPTOR_WORDS]
    __attribute__((aligned(DESCRIPTOR_BYTES)));
static uint32_t after[MAX_LOOPS];  // the first loop that is not in it
static uint32_t first_item[MAX_LOOPS], end_item[MAX_LOOPS];
static uint32_t passes[MAX_LOOPS + 1];  // 0: runs of the launch
static uint32_t num_patches, num_items, num_loops;

static uint32_t pushed;    // items, ever
static uint32_t room;      // places that were free, less what was pushed since
static uint32_t instance;  // descriptors of this run
static struct { uint32_t instance, index; } trail[TRAIL];

static bool escaped;
static uint64_t escape_address;
static uint32_t escape_index;

static uint64_t join(const uint32_t words[2]) {
  return (uint64_t)words[1] << 32 | words[0];
}

// Loads. ----------------------------------------------------------------------

static bool is_simple(uint32_t i, uint32_t loop) {
  const uint32_t field = patches[items[i].first].field;
  return items[i].end == items[i].first + 1 && field == (HBM_ADDR | loop << 24);
}

static bool load_loops(const struct command* c) {
  uint32_t open[MAX_LOOP_DEPTH];
  uint32_t depth = 0;
  for (uint32_t l = 0; l < num_loops; l++) {
    const struct loop* loop = &loops[l];
    if (loop->begin >= loop->end || loop->end >= c->length) return false;
    if (loop->count == 0) return false;
    if (loop->flag != LOOP_ALWAYS && loop->flag >= 32) return false;
    if (loop->word[0] & 3) return false;
    if (l > 0 && loop->begin < loops[l - 1].begin) return false;
    while (depth > 0 && loops[open[depth - 1]].end <= loop->begin) depth--;
    if (depth == MAX_LOOP_DEPTH) return false;
    if (depth > 0 && loop->end > loops[open[depth - 1]].end) return false;
    open[depth++] = l;
  }
  for (uint32_t i = 0; i < num_items; i++) {
    items[i].pass = is_simple(i, 0) ? &passes[0] : 0;
  }
  for (uint32_t l = 0; l < num_loops; l++) {
    uint32_t next = l + 1;
    while (next < num_loops && loops[next].begin < loops[l].end) next++;
    after[l] = next;
    uint32_t i = 0;
    while (i < num_items && items[i].index < loops[l].begin) i++;
    first_item[l] = i;
    for (; i < num_items && items[i].index < loops[l].end; i++) {
      items[i].pass = is_simple(i, l + 1) ? &passes[l + 1] : 0;
    }
    end_item[l] = i;
  }
  return true;
}

static uint64_t field_of(const uint32_t* d, uint32_t field) {
  const uint32_t lsb = FIELD_LSB(field), shift = lsb & 31;
  const uint32_t* w = d + (lsb >> 5);
  uint64_t value = w[0] >> shift;
  if (shift + FIELD_SIZE(field) > 32) {
    value |= shift ? (uint64_t)w[1] << (32 - shift) : (uint64_t)w[1] << 32;
  }
  return value;
}

static void put_field(uint32_t* d, uint32_t field, uint64_t value) {
  const uint32_t lsb = FIELD_LSB(field), bits = FIELD_SIZE(field);
  const uint32_t shift = lsb & 31;
  uint32_t* w = d + (lsb >> 5);
  const uint32_t low =
      shift + bits >= 32 ? ~0u << shift : ((1u << bits) - 1) << shift;
  w[0] = (w[0] & ~low) | ((uint32_t)value << shift & low);
  if (shift + bits <= 32) return;
  const uint32_t left = shift + bits - 32;  // bits in the second word
  const uint32_t high = left == 32 ? ~0u : (1u << left) - 1;
  const uint32_t upper = (uint32_t)(value >> 32);
  const uint32_t part =
      shift ? (uint32_t)value >> (32 - shift) | upper << shift : upper;
  w[1] = (w[1] & ~high) | (part & high);
}

static bool legal_patch(const struct command* c, uint32_t i) {
  const struct patch* p = &patches[i];
  const uint32_t lsb = FIELD_LSB(p->field), bits = FIELD_SIZE(p->field);
  const uint32_t l = FIELD_LOOP(p->field);
  if (p->index >= c->length || bits == 0 || (lsb & 31) + bits > 64 ||
      lsb + bits > 512 || l > num_loops) {
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

// The first patch of a field gets all that does not depend on a pass.
static void gather(uint32_t i, uint32_t end, const uint32_t* d) {
  while (i < end) {
    struct patch* first = &patches[i];
    uint64_t base = field_of(d, first->field);
    for (; i < end && !((patches[i].field ^ first->field) & FIELD_BITS); i++) {
      base += join(patches[i].add);
    }
    first->add[0] = (uint32_t)base;
    first->add[1] = (uint32_t)(base >> 32);
  }
}

// The descriptor into SMEM; its patches follow.
static struct item* keep(const struct command* c, uint32_t index) {
  struct item* item = &items[num_items];
  item->index = index;
  item->pushed = pushed - PLACES;  // long ago
  item->pass = 0;
  const uint64_t at = (uint64_t)index * DESCRIPTOR_BYTES;
  if (hw_copy_in(c->program, at, kept[num_items], DESCRIPTOR_BYTES)) {
    num_items++;
    return item;
  }
  escaped = true;
  escape_address = join(c->program) + at;
  escape_index = index;
  return 0;
}

static bool load_items(const struct command* c) {
  hw_window(true);
  num_items = 0;
  // A descriptor alone between two that are patched is issued sooner than it is
  // streamed; as many as there is room for.
  uint32_t room = MAX_PATCHED;
  for (uint32_t i = 0; i < num_patches; i++) {
    if (i > 0 && patches[i].index == patches[i - 1].index) continue;
    if (room-- == 0) return false;
  }
  for (uint32_t i = 0; i < num_patches;) {
    if (!legal_patch(c, i)) return false;
    const uint32_t index = patches[i].index;
    if (room > 0 && i > 0 && index == patches[i - 1].index + 2) {
      struct item* between = keep(c, index - 1);
      if (!between) return false;
      between->first = between->end = i;
      room--;
    }
    struct item* item = keep(c, index);
    if (!item) return false;
    item->first = i;
    while (i < num_patches && patches[i].index == index) {
      if (!legal_patch(c, i)) return false;
      i++;
    }
    item->end = i;
    gather(item->first, i, kept[num_items - 1]);
  }
  items[num_items].index = ~0u;
  return true;
}

bool issue_load(const struct command* c, uint32_t stride) {
  escaped = false;
  num_patches = c->counts & 0xFFFF;
  num_loops = c->counts >> 16;
  // Lists begin at a beat: where that holds several descriptors, programs
  // cannot be cut anywhere.
  if (num_patches > MAX_PATCHES || num_loops > MAX_LOOPS ||
      stride != DESCRIPTOR_BYTES) {
    return false;
  }
  hw_window(false);
  if (num_patches != 0 &&
      !hw_copy_in(c->tables, 0, patches, num_patches * TABLE_ENTRY_BYTES)) {
    return false;
  }
  // Behind the patches; a copy begins at a beat.
  const uint32_t from = num_patches * TABLE_ENTRY_BYTES;
  const uint64_t at = (from + DESCRIPTOR_BYTES - 1) & ~(DESCRIPTOR_BYTES - 1u);
  if (num_loops != 0 &&
      !hw_copy_in(c->tables, at, loops, num_loops * TABLE_ENTRY_BYTES)) {
    return false;
  }
  // Patches are looked at beside their loops, loops beside the items.
  if (!load_items(c)) return false;
  return load_loops(c);
}

// Runs. -----------------------------------------------------------------------

static bool runs(uint32_t status) {
  return (status & CORE_STATUS_RUNNING) && !(status & CORE_STATUS_FAULT);
}

// Waits until at most that many items are in the port; false: something else
// has to be looked at first. `room`: places that were free, less what was
// pushed since: nothing has to be read while there are enough.
static bool wait_port(struct ring* ring, uint32_t most) {
  for (;;) {
    const uint32_t status = hw_read(REG_CORE_STATUS);
    if (!runs(status)) return false;
    room = status >> CORE_STATUS_PLACES & 15;
    if (PLACES - room <= most) return true;
    if (program_interrupted(ring)) return false;
  }
}

static inline void note(uint32_t index, uint32_t count) {
  trail[pushed % TRAIL].instance = instance;
  trail[pushed % TRAIL].index = index;
  pushed++;
  room--;
  instance += count;
}

// Descriptors from..to of the list, `to` exclusive.
static bool stream(struct ring* ring, const struct command* c, uint32_t from,
                   uint32_t to) {
  if (from == to) return true;
  if (room == 0 && !wait_port(ring, PLACES - 1)) return false;
  const uint64_t addr = join(c->program) + (uint64_t)from * DESCRIPTOR_BYTES;
  hw_write(REG_STREAM_ADDR_LO, (uint32_t)addr);
  hw_write(REG_STREAM_ADDR_HI, (uint32_t)(addr >> 32));
  hw_write(REG_STREAM, to - from);
  note(from, to - from);
  return true;
}

// The descriptor as it is in these passes.
static void make(uint32_t i) {
  const struct item* item = &items[i];
  for (uint32_t p = item->first; p < item->end;) {
    const uint32_t field = patches[p].field;
    uint64_t value = join(patches[p].add);
    for (; p < item->end && !((patches[p].field ^ field) & FIELD_BITS); p++) {
      value += join(patches[p].step) * passes[FIELD_LOOP(patches[p].field)];
    }
    put_field(kept[i], field, value);
  }
}

// From the pass before to this one.
static inline void advance(uint32_t i) {
  const struct patch* p = &patches[items[i].first];
  uint32_t* w = &kept[i][HBM_ADDR_WORD];
  const uint32_t low = w[0] + p->step[0];
  w[1] = (w[1] & ~15u) | ((w[1] + p->step[1] + (low < w[0])) & 15);
  w[0] = low;
}

static inline bool issue(struct ring* ring, uint32_t i) {
  struct item* item = &items[i];
  // The port reads a descriptor when it is the first: what was pushed before
  // must be out of it.
  const uint32_t since = pushed - item->pushed;
  const uint32_t most = since < PLACES - 1 ? since : PLACES - 1;
  if (PLACES - room > most && !wait_port(ring, most)) return false;
  if (item->pass && *item->pass != 0) {
    advance(i);
  } else if (item->first != item->end) {
    make(i);
  }
  hw_issue(kept[i]);
  note(item->index, 1);
  item->pushed = pushed;
  return true;
}

// Takes the flag and reads the word: -1: something else has to be looked at.
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

void issue_run(struct ring* ring, const struct command* c, uint32_t run) {
  uint32_t open[MAX_LOOP_DEPTH];
  uint32_t depth = 0, next_loop = 0, item = 0, at = 0;
  passes[0] = run;
  instance = room = 0;
  while (at < c->length) {
    uint32_t l;
    if (depth > 0 && loops[open[depth - 1]].end == at) {
      l = open[--depth];
      passes[l + 1]++;
    } else if (next_loop < num_loops && loops[next_loop].begin == at) {
      l = next_loop;
      passes[l + 1] = 0;
    } else {
      uint32_t end = depth > 0 ? loops[open[depth - 1]].end : c->length;
      if (next_loop < num_loops && loops[next_loop].begin < end) {
        end = loops[next_loop].begin;
      }
      while (items[item].index < end) {
        if (!stream(ring, c, at, items[item].index)) return;
        if (!issue(ring, item)) return;
        at = items[item++].index + 1;
      }
      if (!stream(ring, c, at, end)) return;
      at = end;
      continue;
    }
    const int pass = has_pass(ring, l);
    if (pass < 0) return;
    if (pass) {
      open[depth++] = l;
      at = loops[l].begin;
      next_loop = l + 1;
      item = first_item[l];
    } else {
      at = loops[l].end;
      next_loop = after[l];
      item = end_item[l];
    }
  }
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
