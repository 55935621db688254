// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Constants that boot ROM, firmware and host share: docs/scalar.md. C, C++ and
// assembler sources include it.

#ifndef SYSTOLE_SCALAR_BOOT_H_
#define SYSTOLE_SCALAR_BOOT_H_

#define REGS 0x20000000
#define IMAGE_MAGIC 0x31574653  // "SFW1"

// scalar.boot_flags.
#define BOOT_TEST_SMEM 1  // march test of SMEM
#define BOOT_TEST_CORE 2  // known answer of the matrix unit

// scalar.state; from BOOT_STATE_BAD_SMEM on the scalar unit has stopped.
#define BOOT_STATE_TESTING 1
#define BOOT_STATE_LOADING 2
#define BOOT_STATE_READY 3
#define BOOT_STATE_STOPPED 4
#define BOOT_STATE_BAD_SMEM 0x81
#define BOOT_STATE_BAD_IMAGE 0x82
#define BOOT_STATE_BAD_SUM 0x83
#define BOOT_STATE_TRAP 0x84
#define BOOT_STATE_BAD_ECC 0x85
#define BOOT_STATE_BAD_CORE 0x86

#endif  // SYSTOLE_SCALAR_BOOT_H_
