# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Accumulator rows to the unified buffer, one row a cycle: two registers in turn, so that a row is loaded while another one is stored.

# acc_bf16: rows of fp32 sums, rounded to bf16. acc_fp32: as they are.
.arg acc          # first accumulator row
.arg dst          # byte address of the first row's lane 0
.arg pitch        # bytes from a row to the next
.arg rows         # >= 1
.arg cols         # lanes stored
.reg one s13
.reg step s14

acc_bf16:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
acc_bf16_even:
        vl      rows
        ldacc   v0, acc, one
        st16    v0, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_bf16_odd
        halt
acc_bf16_odd:
        vl      rows
        ldacc   v8, acc, one
        st16    v8, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_bf16_even
        halt

acc_fp32:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
acc_fp32_even:
        vl      rows
        ldacc   v0, acc, one
        st32    v0, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_fp32_odd
        halt
acc_fp32_odd:
        vl      rows
        ldacc   v8, acc, one
        st32    v8, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_fp32_even
        halt
