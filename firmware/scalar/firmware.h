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
  uint32_t head;     // sequence number: all earlier commands are complete
  uint32_t written;  // number of commands that the host has written
  uint32_t fetched;  // number of commands fetched into SMEM
  uint32_t request;  // request of the last doorbell, until it is handled
  uint32_t done;     // bit per place: complete, but an earlier one is not
  uint32_t completed;
  struct command commands[MAX_ENTRIES];  // indexed by place
  uint8_t ends[MAX_ENTRIES];             // by place: the last status
  uint32_t orphans;      // bit per place: the launch that it waits for failed
  uint32_t smem_before;  // corrected SMEM errors before the first command
  uint32_t mask;         // place = sequence number & mask
  uint32_t offset[MAX_ENTRIES];  // by place: offset in the rings, in bytes
};

void ring_init(struct ring* ring, const struct image_header* image);
// Checks the doorbell and fetches new commands. Returns whether a command is
// not complete or a request is pending.
bool ring_poll(struct ring* ring);
// Call it only when all commands are complete. It sleeps until a doorbell and
// handles it. Returns the new command if it is the only one and waits for no
// other; null otherwise.
const struct command* ring_wait(struct ring* ring);
// Gives the sequence number of the next command to run: of the commands that
// may run, the first one of the highest priority. False: no command may run.
bool ring_pick(const struct ring* ring, uint32_t* sequence);
bool ring_is_done(const struct ring* ring, uint32_t sequence);
// The command of a sequence number. Null: it could not be read, or its tag does
// not match its place.
const struct command* ring_command(const struct ring* ring, uint32_t sequence);
// Whether the launch that this command waits for has failed.
bool ring_orphaned(const struct ring* ring, uint32_t sequence);
// Sets the status, and all other words to 0. (The library's memset works byte
// by byte.)
void completion_init(struct completion* completion, uint32_t status);
// Writes the completion of a command and notifies the host.
void ring_complete(struct ring* ring, uint32_t sequence,
                   struct completion* completion);

// program.c: runs one command. -----------------------------------------------

void program_init(void);  // clears all contexts
// Runs a command and fills in its completion, except the fields that
// ring_complete sets. Before the call, the completion must be as
// completion_init with STATUS_REFUSED leaves it. Returns true if the host
// requested a cancel in the meantime.
bool program_run(struct ring* ring, const struct command* command,
                 struct completion* completion);
// Work that is left for the time after the completion is written.
void program_done(const struct command* command,
                  const struct completion* completion);
// Executes a COMMAND_CONTEXT. False: it is refused.
bool program_context(const struct command* command);
// Whether the timeout has expired or the host requested a cancel. The request
// stays in `ring`.
bool program_interrupted(struct ring* ring);

// issue.c: programs handed over piece by piece. ------------------------------

// Loads the patches and loops of a command. False: a table is malformed, or
// `stride` does not suit the issue port.
bool issue_load(const struct command* command, uint32_t stride);
// Hands a run over while the core accepts it: up to the end of the program, a
// fault, or an event that the firmware must handle. False: the tables of a
// chapter are malformed.
bool issue_run(struct ring* ring, const struct command* command, uint32_t run);
// Whether the firmware read a loop's condition outside the window. Gives the
// address, and the index of the loop's first descriptor.
bool issue_escape(uint64_t* address, uint32_t* index);
// The index in the program of descriptor number `instance` of the run.
uint32_t issue_place(uint32_t instance);

// log.c: the trace log. ------------------------------------------------------

void log_init(const struct image_header* image);
void log_event(uint32_t event, uint32_t value0, uint32_t value1);
// Writes the events to HBM that were not written yet.
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
