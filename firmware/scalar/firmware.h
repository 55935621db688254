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
  uint32_t head;     // commands done, modulo 2^32
  uint32_t written;  // commands that the host has written
  uint32_t request;  // of the last doorbell, until it was taken
};

void ring_init(struct ring* ring, const struct image_header* image);
// Looks at the doorbell; true: there is a command or a request.
bool ring_poll(struct ring* ring);
// Reads the command that comes next, which holds until the next one is read;
// null: it cannot be read, or its tag is not the one of its place.
const struct command* ring_next(struct ring* ring);
// All words 0 but the status. (Not by the library, whose loop is one of bytes.)
void completion_init(struct completion* completion, uint32_t status);
// Writes the completion of that command, and tells the host.
void ring_complete(struct ring* ring, struct completion* completion);

// program.c: runs one command. -----------------------------------------------

// From the command to its completion, which has all but its tag; before, it is
// as completion_init makes it with STATUS_REFUSED. True: the host asked
// meanwhile to cancel.
bool program_run(struct ring* ring, const struct command* command,
                 struct completion* completion);

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
