// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Data that firmware and host exchange through HBM: words of 32 bits, little
// endian, addresses as low and high word. C and C++ sources include it. Docs:
// docs/scalar.md.

#ifndef SYSTOLE_SCALAR_PROTOCOL_H_
#define SYSTOLE_SCALAR_PROTOCOL_H_

#include <stdint.h>

// The firmware's image: this header, then code. The host fills in the fields
// after `sum`, then `sum` itself, so that all words of the image add up to 0.
struct image_header {
  uint32_t magic;  // IMAGE_MAGIC
  uint32_t bytes;  // size of the image, a multiple of 32
  uint32_t entry;  // address in SMEM
  uint32_t sum;
  uint32_t commands[2];       // address of the command ring
  uint32_t completions[2];    // address of the completion ring
  uint32_t log[2];            // address of the trace log
  uint32_t entries;           // entries of each ring, a power of two
  uint32_t stride;            // bytes from one entry to the next: 64, or a beat
  uint32_t log_entries;       // of the log, a power of two, `stride` bytes each
  uint32_t test_program[2];   // program of BOOT_TEST_CORE (known answer)
  uint32_t test_length;       // its number of descriptors
  uint32_t test_result[2];    // address of its result
  uint32_t test_bytes;        // bytes of the result, a multiple of 64
  uint32_t test_sum;          // checksum: sum = rotate_left(sum, 1) + word
  uint32_t scrub_program[2];  // runs between programs of different contexts
  uint32_t scrub_length;      // its number of descriptors; 0: no such program
  uint32_t reserved[9];
};

#define ENTRY_WORDS 16
#define MAX_ENTRIES 16   // of a ring
#define MAX_PATCHES 256  // of a chapter
#define MAX_PATCH_BITS 36
#define MAX_LOOPS 64
#define MAX_LOOP_DEPTH 4
#define MAX_CONTEXTS 8
#define TABLE_ENTRY_BYTES 24
#define TABLE_ALIGN 64  // a copy begins at a beat

enum command_kind {
  COMMAND_RUN = 1,   // a program
  COMMAND_STOP = 2,  // orderly end: completes all earlier commands, then stops
  COMMAND_CONTEXT = 3,  // the window of `context`: from `program` to `limit`
};

// A command. Sequence numbers count from 0. The place of a command in the ring
// is its sequence number modulo the entries. `tag` is the sequence number plus
// 1, so the firmware detects an entry that was not written. Waiting commands
// run in the order of priority, then of tags. A stop or context command waits
// for all commands before it, and all commands behind it wait for it.
struct command {
  uint32_t tag;
  uint32_t kind;
  uint32_t program[2];  // multiple of 128; for a context, of 4096
  uint32_t length;      // descriptors, the halt included
  uint32_t limit[2];    // end of the HBM that it may access
  uint32_t watchdog;    // cycles without progress before a fault; 0: off
  uint32_t timeout;     // most cycles that it may run; 0: no limit
  uint32_t repeat;      // runs of the program, at least 1
  uint32_t tables[2];   // address of patches and loops, a multiple of the beat
  uint32_t counts;  // bits 15..0: number of patches; 31..16: number of loops,
                    // whose table begins at the next multiple of TABLE_ALIGN;
                    // or COUNTS_CHAPTERS
  uint32_t after;  // tag of a launch that must complete first; 0: none. If that
                   // launch fails, this one is cancelled
  uint32_t context;   // 0: the host's own programs, limited only by `limit`
  uint32_t priority;  // higher runs first
};

// Value of `counts` for a command whose tables are several chapters, one after
// the other. Each chapter consists of a struct chapter, its patches and its
// loops, all at multiples of TABLE_ALIGN.
#define COUNTS_CHAPTERS 0x80000000u

// A chapter is the part of the program from the end of the previous chapter on,
// with its own tables. The last chapter ends with the program.
struct chapter {
  uint32_t end;     // the first descriptor after it; it is in no loop
  uint32_t counts;  // as in a command, but for this chapter
  uint32_t reserved[14];
};

// An argument of a launch. It is added to a field of descriptor `index`: `add`,
// plus `step` times the pass number of a loop. The field has `bits` bits, from
// bit `lsb` on; `bits` is at most MAX_PATCH_BITS, and the field lies within two
// words. Patches are in ascending order of index, lsb, loop.
struct patch {
  uint32_t index;
  uint32_t field;  // bits 15..0: lsb; 23..16: bits; 31..24: loop. Loop 0 is the
                   // runs of the launch, loop n is entry n - 1 of the
                   // chapter's loops
  uint32_t add[2];
  uint32_t step[2];
};
#define PATCH_FIELD(lsb, bits, loop) \
  ((uint32_t)(lsb) | (uint32_t)(bits) << 16 | (uint32_t)(loop) << 24)

// A loop of the program. Loops are in ascending order of `begin`, outer ones
// first.
struct loop {
  uint32_t begin, end;  // descriptors: [begin, end)
  uint32_t count;       // number of passes; with a flag, the most passes
  uint32_t flag;        // LOOP_ALWAYS, or a sync flag. Before each pass the
                        // firmware takes the flag and reads a word in HBM;
                        // the loop ends if the word is 0
  uint32_t word[2];     // address of that word
};
#define LOOP_ALWAYS 0xFFFFFFFFu

enum completion_status {
  STATUS_DONE = 0,
  STATUS_FAULT = 1,
  STATUS_TIMEOUT = 2,
  STATUS_REFUSED = 3,    // a malformed command
  STATUS_CANCELLED = 4,  // the host cancelled it, or the launch that it waits
                         // for failed
  STATUS_STOPPED = 5,    // the answer to COMMAND_STOP
};

struct completion {
  uint32_t tag;  // of the command
  uint32_t status;
  uint32_t runs;                                          // completed runs
  uint32_t cause, queue, index, address[2], fault_cycle;  // of a fault
  uint32_t begin, end;  // low halves of mtime: command read, program ended
  uint32_t saturated;
  uint32_t instance;        // of a fault: descriptors of the run before it
  uint32_t smem_corrected;  // SMEM reads that ECC corrected since the boot; an
                            // uncorrectable error is a trap
  uint32_t smem_word;       // SMEM address of the last corrected error
  uint32_t reserved;
};
// Value of `queue` for a fault of the firmware: it read a loop's condition
// outside the window of the program.
#define FAULT_QUEUE_FIRMWARE 8
#define FAULT_HBM_RANGE 6  // docs/spec/isa.yaml

// Doorbell value. Bits 23..0: the number of commands that the host has written
// since the boot, modulo 2^24. Bits above: a request.
#define DOORBELL_COUNT_MASK 0xFFFFFFu
#define DOORBELL_REQUEST_SHIFT 24
#define REQUEST_NONE 0
#define REQUEST_CANCEL 1  // cancel the waiting commands and the running one
#define REQUEST_LOG 2     // write the trace log to HBM

enum log_event {
  LOG_BOOT = 1,
  LOG_COMMAND = 2,
  LOG_START = 3,
  LOG_DONE = 4,
  LOG_FAULT = 5,
  LOG_TIMEOUT = 6,
  LOG_REFUSED = 7,
  LOG_CANCEL = 8,
  LOG_STOP = 9,
  LOG_ECC = 10,
  LOG_CONTEXT = 11,
};

// An entry of the trace log; `number` counts from 1.
struct log_entry {
  uint32_t number;
  uint32_t time;  // low half of mtime
  uint32_t event;
  uint32_t value[2];
  uint32_t reserved[11];
};

#endif  // SYSTOLE_SCALAR_PROTOCOL_H_
