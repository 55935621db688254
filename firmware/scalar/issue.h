// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Definitions for issue.c: sizes of the issue port, lists, the fields of
// patches.

#ifndef SYSTOLE_SCALAR_ISSUE_H_
#define SYSTOLE_SCALAR_ISSUE_H_

#include <stdint.h>

#include "protocol.h"

#define DESCRIPTOR_BYTES 64
#define DESCRIPTOR_WORDS 16
#define PLACES 8  // places of the issue port
#define TRAIL 64  // more than the lists in the port and in the core's queues
#define MAX_LISTS (2 * MAX_LOOPS + 1)
#define MAX_LIST 65536  // most descriptors of a list with patches
#define FIELD_BITS 0xFFFFFFu
#define FIELD_LSB(field) ((field)&0xFFFFu)
#define FIELD_SIZE(field) ((field) >> 16 & 0xFFu)
#define FIELD_LOOP(field) ((field) >> 24)
// The code for a launch of one chapter is inlined, so that it makes no calls.
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

// The descriptors from one beginning or end of a loop to the next.
struct list {
  uint32_t from, length;
  uint32_t addr[2];
  uint32_t entries;  // format of REG_STREAM_PATCHES
  uint32_t loop;     // innermost loop around it, from 1; 0: none
};

static inline uint64_t join(const uint32_t words[2]) {
  return (uint64_t)words[1] << 32 | words[0];
}

#endif  // SYSTOLE_SCALAR_ISSUE_H_
