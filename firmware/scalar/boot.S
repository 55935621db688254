# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Boot ROM of the scalar unit: tests SMEM if the host asks for it, copies the firmware's image from HBM into SMEM, checks
# the sum of the image, and jumps to it. It uses only registers, because SMEM has no contents yet. Docs: docs/scalar.md.
#
# The image, in words: magic, size in bytes (a multiple of 32), entry, a word that makes the sum of all words 0; then the
# contents from address 16 of SMEM on.

#include "boot.h"
#include "gen/regs.h"

    .option norelax
    .section .text
    .globl _start

    # Vectors: for traps before the firmware has set its own.
    .rept 32
    j trap
    .endr
_start:                         # at 128: the reset vector
    lui   s0, REGS >> 12
    lw    s1, REG_SMEM_BYTES(s0)
    lw    t0, REG_BOOT_FLAGS(s0)
    andi  t0, t0, BOOT_TEST_SMEM
    beqz  t0, load

    # March C-: up w0; up r0 w1; up r1 w0; down r0 w1; down r1 w0; down r0.
    li    t1, BOOT_STATE_TESTING
    sw    t1, REG_STATE(s0)
    li    a0, 0                 # value to read
    li    a1, -1                # value to write
    li    t0, 0
1:  sw    a0, 0(t0)
    addi  t0, t0, 4
    bne   t0, s1, 1b
    li    s2, 2                 # elements of the march upwards
2:  li    t0, 0
3:  lw    t1, 0(t0)
    bne   t1, a0, bad_smem
    sw    a1, 0(t0)
    addi  t0, t0, 4
    bne   t0, s1, 3b
    mv    t2, a0
    mv    a0, a1
    mv    a1, t2
    addi  s2, s2, -1
    bnez  s2, 2b
    li    s2, 2                 # elements of the march downwards
4:  mv    t0, s1
5:  addi  t0, t0, -4
    lw    t1, 0(t0)
    bne   t1, a0, bad_smem
    sw    a1, 0(t0)
    bnez  t0, 5b
    mv    t2, a0
    mv    a0, a1
    mv    a1, t2
    addi  s2, s2, -1
    bnez  s2, 4b
    mv    t0, s1
6:  addi  t0, t0, -4
    lw    t1, 0(t0)
    bne   t1, a0, bad_smem
    bnez  t0, 6b

load:
    li    t1, BOOT_STATE_LOADING
    sw    t1, REG_STATE(s0)
    lw    t0, REG_BOOT_ADDR(s0)
    slli  t1, t0, 12
    sw    t1, REG_COPY_HBM_LO(s0)
    srli  t1, t0, 20
    sw    t1, REG_COPY_HBM_HI(s0)
    sw    zero, REG_COPY_SMEM(s0)
    li    a0, 16
    jal   ra, copy
    lw    t0, 0(zero)
    li    t1, IMAGE_MAGIC
    bne   t0, t1, bad_image
    lw    a0, 4(zero)
    bgtu  a0, s1, bad_image
    andi  t1, a0, 31
    bnez  t1, bad_image
    mv    s3, a0
    jal   ra, copy

    li    t0, 0                 # the sum of all words, eight per iteration
    li    t1, 0
7:  .irp  at, 0, 4, 8, 12, 16, 20, 24, 28
    lw    t2, \at(t0)
    add   t1, t1, t2
    .endr
    addi  t0, t0, 32
    bltu  t0, s3, 7b
    bnez  t1, bad_sum
    lw    t0, 8(zero)
    jr    t0

copy:                           # copies a0 bytes from HBM and waits for the end
    lw    t0, REG_CORE_STATUS(s0)
    andi  t0, t0, CORE_STATUS_COPYING
    bnez  t0, copy
    sw    a0, REG_COPY_IN(s0)
8:  lw    t0, REG_CORE_STATUS(s0)
    andi  t0, t0, CORE_STATUS_COPYING
    bnez  t0, 8b
    lw    t0, REG_EVENTS(s0)
    andi  t0, t0, EVENTS_COPY_ERROR
    bnez  t0, bad_image
    ret

bad_smem:
    li    t1, BOOT_STATE_BAD_SMEM
    j     stop
bad_image:
    li    t1, BOOT_STATE_BAD_IMAGE
    j     stop
bad_sum:
    li    t1, BOOT_STATE_BAD_SUM
    j     stop
trap:
    lui   s0, REGS >> 12
    li    t1, BOOT_STATE_TRAP
stop:
    sw    t1, REG_STATE(s0)
    sw    t1, REG_HOST_IRQ(s0)
9:  wfi
    j     9b
