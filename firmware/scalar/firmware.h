// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The parts of the firmware. There are no interrupt handlers: every wait is a
// sleep that an event or the timer ends. Docs: docs/scalar.md.

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
  uint32_t head;     // all commands before it are complete, modulo 2^32
  uint32_t written;  // number of commands that the host has written
  uint32_t fetched;  // number of them that are in SMEM
  uint32_t request;  // of the last doorbell, until it is handled
  uint32_t done;     // bit of a place: complete, but not all before it are
  uint32_t completed;
  struct command commands[MAX_ENTRIES];  // indexed by place
  uint8_t ends[MAX_ENTRIES];             // last status of a place
  uint32_t orphans;      // bit of a place: the command it waits for failed
  uint32_t smem_before;  // corrected SMEM errors before the first command
  uint32_t mask;         // sequence number to place
  uint32_t offset[MAX_ENTRIES];  // of a place in the rings, in bytes
};

void ring_init(struct ring* ring, const struct image_header* image);
// Checks the doorbell and fetches commands. True: a command is not complete, or
// there is a request.
bool ring_poll(struct ring* ring);
// To be called when all commands are complete: sleeps until a doorbell and
// handles it. Returns the new command if it is the only one and waits for no
// other; null otherwise.
const struct command* ring_wait(struct ring* ring);
// Selects the next command and gives its sequence number: the first one of the
// highest priority among those that may run. False: there is none.
bool ring_pick(const struct ring* ring, uint32_t* sequence);
bool ring_is_done(const struct ring* ring, uint32_t sequence);
// The command of a sequence number. Null: it was not readable, or its tag does
// not belong to its place.
const struct command* ring_command(const struct ring* ring, uint32_t sequence);
// Whether the launch that it waits for failed.
bool ring_orphaned(const struct ring* ring, uint32_t sequence);
// Sets all words but the status to 0. (The library's memset works byte by
// byte.)
void completion_init(struct completion* completion, uint32_t status);
// Writes the completion of a command and notifies the host.
void ring_complete(struct ring* ring, uint32_t sequence,
                   struct completion* completion);

// program.c: runs one command. -----------------------------------------------

void program_init(void);  // clears all contexts
// Runs a command and fills in its completion, except the fields that
// ring_complete sets. The completion must be as completion_init leaves it with
// STATUS_REFUSED. True: the host requested a cancel in the meantime.
bool program_run(struct ring* ring, const struct command* command,
                 struct completion* completion);
// The work that may follow after the completion is written.
void program_done(const struct command* command,
                  const struct completion* completion);
// COMMAND_CONTEXT; false: refused.
bool program_context(const struct command* command);
// Whether the time is over or the host cancels. A cancel stays in `ring`.
bool program_interrupted(struct ring* ring);

// issue.c: programs handed over piece by piece. ------------------------------

// The window of the program must be set. False: a table or a descriptor is
// malformed, or, if issue_escape says so, a descriptor lies outside the window.
bool issue_load(const struct command* command, uint32_t stride);
// Hands over a run while the core accepts it: up to its end, a fault, or an
// event that the firmware must handle. False: the tables of a chapter are
// malformed.
bool issue_run(struct ring* ring, const struct command* command, uint32_t run);
// Whether something outside the window was read, at which address, and for
// which descriptor.
bool issue_escape(uint64_t* address, uint32_t* index);
// Index in the program of the descriptor that was number `instance` of the run.
uint32_t issue_place(uint32_t instance);

// log.c: the trace log. ------------------------------------------------------

void log_init(const struct image_header* image);
void log_event(uint32_t event, uint32_t value0, uint32_t value1);
// Writes the events to HBM that are not there yet.
void log_flush(void);

// main.c ---------------------------------------------------------------------

// Serves commands until COMMAND_STOP.
void serve(const struct image_header* image);

// selftest.c: checks that SMEM corrects and detects errors, and that the core
// computes the known answer.
bool selftest_ecc(void);
bool selftest_core(const struct image_header* image);

#ifdef __cplusplus
}
#endif

#endif  // SYSTOLE_SCALAR_FIRMWARE_H_
