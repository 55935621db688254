# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# The start of the image: header, trap handler, entry. Interrupts stay off: an interrupt enabled in mie only ends a wfi.

#include "boot.h"

    .section .header, "a"
    .globl image_start
image_start:
    .word IMAGE_MAGIC
    .word image_bytes
    .word _start
    .zero 116

    .section .start, "ax"
    .balign 256
vectors:
    j     trap
    .rept 31
    j     trap
    .endr
    .globl _start
_start:
    la    sp, stack_top
    la    t0, vectors
    csrw  mtvec, t0
    li    t0, 0x70880           # timer, external, fast interrupts 0 to 2
    csrw  mie, t0
    call  main                  # memory outside the image is 0: SMEM was cleared, and the test ends with 0
trap:
    la    sp, stack_top
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  trapped
