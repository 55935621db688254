// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The firmware's parts. Nothing here interrupts anything: all waits are sleeps
// that an event or the timer ends. Docs: docs/scalar.md.

#ifndef SYSTOLE_SCALAR_FIRMWARE_H_
#define SYSTOLE_SCALAR_FIRMWARE_H_

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

// ring.c: commands and completions. ------------------------------------------

struct ring {
  const struct image_header* image;
  uint32_t head;     // all before it are complete, modulo 2^32
  uint32_t written;  // commands that the host has written
  uint32_t fetched;  // of these in SMEM
  uint32_t request;  // of the last doorbell, until it was taken
  uint32_t done;     // bit of a place: complete, though not all before it are
  uint32_t completed;
  struct command commands[MAX_ENTRIES];  // by place
  uint8_t ends[MAX_ENTRIES];             // how the last of a place ended
  uint32_t orphans;      // bit of a place: what it waits for did not end well
  uint32_t smem_before;  // corrected in SMEM before the first command
  uint32_t mask;         // of a place
  uint32_t offset[MAX_ENTRIES];  // of a place in the rings
};

void ring_init(struct ring* ring, const struct image_header* image);
// Looks at the doorbell, and fetches commands; true: there is a command that is
// not complete, or a request.
bool ring_poll(struct ring* ring);
// All is complete: sleeps until a doorbell, and takes it. The command that
// came, if it is alone and waits for none; null: something else came.
const struct command* ring_wait(struct ring* ring);
// Which command is next, as its sequence number: of those that may run the
// first of the highest priority. False: none.
bool ring_pick(const struct ring* ring, uint32_t* sequence);
bool ring_is_done(const struct ring* ring, uint32_t sequence);
// That command; null: it was not readable, or its tag is not that of its place.
const struct command* ring_command(const struct ring* ring, uint32_t sequence);
// Whether the launch that it waits for did not end well.
bool ring_orphaned(const struct ring* ring, uint32_t sequence);
// All words 0 but the status. (Not by the library, whose loop is one of bytes.)
void completion_init(struct completion* completion, uint32_t status);
// Writes the completion of that command, and tells the host.
void ring_complete(struct ring* ring, uint32_t sequence,
                   struct completion* completion);

// program.c: runs one command. -----------------------------------------------

void program_init(void);  // contexts: all unknown
// From the command to its completion, which has all but what ring_complete puts
// in; before, it is as completion_init makes it with STATUS_REFUSED. True: the
// host asked meanwhile to cancel.
bool program_run(struct ring* ring, const struct command* command,
                 struct completion* completion);
// What is left to do once the completion is written.
void program_done(const struct command* command,
                  const struct completion* completion);
// COMMAND_CONTEXT; false: refused.
bool program_context(const struct command* command);
// Whether time is over or the host cancels; the latter is kept in `ring`.
bool program_interrupted(struct ring* ring);

// issue.c: programs that are handed over piece by piece. ---------------------

// What a program may touch must be set. False: a table or a descriptor makes no
// sense; or, with issue_escape, a descriptor is not the program's to read.
bool issue_load(const struct command* command, uint32_t stride);
// Hands over a run, as far as the core takes it: to its end, to a fault, or
// until something is asked of the firmware. False: the tables of a chapter make
// no sense.
bool issue_run(struct ring* ring, const struct command* command, uint32_t run);
// Something outside of the window was read: where, and for which descriptor.
bool issue_escape(uint64_t* address, uint32_t* index);
// The place in the program of the descriptor that came as that one of the run.
uint32_t issue_place(uint32_t instance);

// log.c: the trace log. ------------------------------------------------------

void log_init(const struct image_header* image);
void log_event(uint32_t event, uint32_t value0, uint32_t value1);
// Writes what has not been written to HBM.
void log_flush(void);

// main.c ---------------------------------------------------------------------

// Serves commands until COMMAND_STOP.
void serve(const struct image_header* image);

// selftest.c: whether SMEM corrects and finds errors; whether the core computes
// the known answer.
bool selftest_ecc(void);
bool selftest_core(const struct image_header* image);

#ifdef __cplusplus
}
#endif

#endif  // SYSTOLE_SCALAR_FIRMWARE_H_
