// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/scalar.rdl by scripts/generate.py: edit the source.

#ifndef SYSTOLE_SCALAR_REGS_H_
#define SYSTOLE_SCALAR_REGS_H_

#define REG_MTIME_LO 0x00u  // cycles since the unit's reset, low half; reading it holds the high half
#define REG_MTIME_HI 0x04u  // high half, as it was when the low half was read
#define REG_MTIMECMP_LO 0x08u  // the timer's interrupt is pending while mtime >= mtimecmp
#define REG_MTIMECMP_HI 0x0Cu  // high half
#define REG_EVENTS 0x10u  // what happened; a bit is cleared by writing 1. Doorbell is the external interrupt, the others are fast interrupts 0 to 2
#define EVENTS_DONE 1u
#define EVENTS_FAULT 2u
#define EVENTS_FLAGS 4u
#define EVENTS_DOORBELL 8u
#define EVENTS_DROPPED 16u
#define EVENTS_COPY_ERROR 32u
#define REG_DOORBELL 0x14u  // what the host wrote last
#define REG_HOST_IRQ 0x18u  // a write raises the host's interrupt `scalar`
#define REG_STATE 0x1Cu  // what the host reads as scalar.state
#define REG_COMPLETED 0x20u  // what the host reads as scalar.completed
#define REG_BOOT_ADDR 0x24u  // the host's scalar.boot_addr: the firmware's image, in units of 4096 bytes of HBM
#define REG_BOOT_FLAGS 0x28u  // the host's scalar.boot_flags
#define REG_SMEM_BYTES 0x2Cu  // bytes of SMEM
#define REG_CORE_CTRL 0x30u  // commands to the core
#define CORE_CTRL_START 1u
#define CORE_CTRL_RESET 2u
#define CORE_CTRL_ISSUE 4u
#define CORE_CTRL_ISOLATED 8u
#define REG_CORE_STATUS 0x34u  // state of the core
#define CORE_STATUS_RUNNING 1u
#define CORE_STATUS_FAULT 2u
#define CORE_STATUS_RESETTING 4u
#define CORE_STATUS_SATURATED 8u
#define CORE_STATUS_COPYING 16u
#define CORE_STATUS_PLACES 8  // lowest of 4 bits
#define REG_PROG_ADDR_LO 0x38u  // HBM address of the program, multiple of 128
#define REG_PROG_ADDR_HI 0x3Cu  // upper bits
#define REG_PROG_LEN 0x40u  // descriptors, the halt included
#define REG_WATCHDOG 0x44u  // cycles without progress before a watchdog fault; 0 = off
#define REG_LIMIT_LO 0x48u  // HBM bytes that a program may touch: an access at or above faults
#define REG_LIMIT_HI 0x4Cu  // upper bits
#define REG_FAULT_CAUSE 0x50u  // fault code (isa.yaml)
#define REG_FAULT_QUEUE 0x54u  // queue that faulted; 7 = the sequencer
#define REG_FAULT_PC 0x58u  // index of the descriptor
#define REG_FAULT_ADDR_LO 0x5Cu  // address or value that was wrong
#define REG_FAULT_ADDR_HI 0x60u  // upper bits
#define REG_FAULT_CYCLE 0x64u  // cycles from the start to the fault, low half
#define REG_BASE_LO 0x68u  // HBM address, multiple of 4096: a program's access below it faults; holds while a program runs
#define REG_BASE_HI 0x6Cu  // upper bits
#define REG_ISSUE 0x70u  // the descriptor at this address of SMEM, a multiple of 64, is the program's next one
#define REG_STREAM_ADDR_LO 0x74u  // HBM address of a list: multiple of 64 and of the beat
#define REG_STREAM_ADDR_HI 0x78u  // upper bits
#define REG_STREAM 0x7Cu  // so many descriptors of the list at stream_addr are the program's next ones
#define REG_FLAG_POST 0x80u  // adds 1 to each of these sync flags
#define REG_FLAG_WAIT 0x84u  // while not 0: these flags are wanted; when all are at least 1, 1 is subtracted from each and this is 0
#define REG_FLAG_STATE 0x88u  // the flags that are at least 1
#define REG_COPY_HBM_LO 0x90u  // HBM address, a multiple of the beat
#define REG_COPY_HBM_HI 0x94u  // upper bits
#define REG_COPY_SMEM 0x98u  // address in SMEM, a multiple of 4
#define REG_COPY_IN 0x9Cu  // copies so many bytes, a multiple of 4, from HBM to SMEM
#define REG_COPY_OUT 0xA0u  // copies so many bytes, a multiple of 4, from SMEM to HBM
#define REG_COPY_WINDOW 0xA4u  // whose copies follow
#define REG_ECC_CORRECTED 0xB0u  // single-bit errors of SMEM that were corrected on a read
#define REG_ECC_FAILED 0xB4u  // reads of SMEM that found more than one wrong bit
#define REG_ECC_WORD 0xB8u  // address of the last of either
#define REG_ECC_FLIP_LO 0xBCu  // self-test: bits of the code that the next store turns over, which clears this and ecc_flip_hi
#define REG_ECC_FLIP_HI 0xC0u  // bits 32 to 38 of the code
#define REG_STREAM_PATCHES 0xC4u  // of a stream: what is added to its descriptors' fields; each entry that was used grows by its step
#define STREAM_PATCHES_FIRST 0  // lowest of 8 bits
#define STREAM_PATCHES_COUNT 16  // lowest of 9 bits
#define REG_PATCH_ENTRY 0xC8u  // which of the table's 256 entries the writes of its parts are of: not one of a list that is still in the port
#define REG_PATCH_HI 0xCCu  // bits 32 to 35 of a value or step
#define REG_PATCH_FIELD 0xD0u  // bits 0 to 15: the descriptor's place in the list, from 16 on the field's lowest bit, from 25 on its bits less 1: at most 36, within two words
#define REG_PATCH_VALUE 0xD4u  // what is added
#define REG_PATCH_STEP 0xD8u  // by what that grows

#endif  // SYSTOLE_SCALAR_REGS_H_
