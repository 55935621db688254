# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Accumulator rows to the unified buffer, one row a cycle: registers in turn, so that a row is loaded while another one is stored. 32 rows a
# round, which take 17 cycles to issue: what comes before and behind them is hidden. Then what is left of the rows.

# acc_bf16: rows of fp32 sums, rounded to bf16. acc_fp32: as they are. acc_sums: with one sign of zero and one NaN, by adding +0.
# acc_more_sums: adds them to the fp32 numbers that are there.
.arg acc          # first accumulator row
.arg dst          # byte address of the first row's lane 0
.arg pitch        # bytes from a row to the next
.arg rows         # >= 1
.arg cols         # lanes stored
.reg one s13
.reg step s14

.reads  acc[acc, rows]
.writes ub[dst, 2*cols, rows x pitch]
.cycles 2 + rows
acc_bf16:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
        addi    rows, rows, -31
        blt     rows, one, acc_bf16_rest
acc_bf16_loop:
        ldacc   v0, acc, one
        st16    v0, dst, pitch
        add     dst, dst, step
        ldacc   v1, acc, one, 8
        st16    v1, dst, pitch
        add     dst, dst, step
        ldacc   v2, acc, one, 16
        st16    v2, dst, pitch
        add     dst, dst, step
        ldacc   v3, acc, one, 24
        st16    v3, dst, pitch
        add     dst, dst, step
        addi    acc, acc, 32
        addi    rows, rows, -32
        blt     s0, rows, acc_bf16_loop
acc_bf16_rest:
        addi    rows, rows, 31
        beq     rows, s0, acc_bf16_end
acc_bf16_even:
        vl      rows, 8
        ldacc   v0, acc, one
        st16    v0, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_bf16_odd
        halt
acc_bf16_odd:
        vl      rows, 8
        ldacc   v1, acc, one
        st16    v1, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_bf16_even
acc_bf16_end:
        halt

.reads  acc[acc, rows]
.writes ub[dst, 4*cols, rows x pitch]
.cycles 2 + rows
acc_fp32:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
        addi    rows, rows, -31
        blt     rows, one, acc_fp32_rest
acc_fp32_loop:
        ldacc   v0, acc, one
        st32    v0, dst, pitch
        add     dst, dst, step
        ldacc   v1, acc, one, 8
        st32    v1, dst, pitch
        add     dst, dst, step
        ldacc   v2, acc, one, 16
        st32    v2, dst, pitch
        add     dst, dst, step
        ldacc   v3, acc, one, 24
        st32    v3, dst, pitch
        add     dst, dst, step
        addi    acc, acc, 32
        addi    rows, rows, -32
        blt     s0, rows, acc_fp32_loop
acc_fp32_rest:
        addi    rows, rows, 31
        beq     rows, s0, acc_fp32_end
acc_fp32_even:
        vl      rows, 8
        ldacc   v0, acc, one
        st32    v0, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_fp32_odd
        halt
acc_fp32_odd:
        vl      rows, 8
        ldacc   v1, acc, one
        st32    v1, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_fp32_even
acc_fp32_end:
        halt

.reads  acc[acc, rows]
.writes ub[dst, 4*cols, rows x pitch]
.cycles 8 + rows
acc_sums:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
        addi    rows, rows, -31
        blt     rows, one, acc_sums_rest
acc_sums_loop:
        ldacc   v0, acc, one
        fadd    v16, v0, s0
        st32    v16, dst, pitch
        add     dst, dst, step
        ldacc   v1, acc, one, 8
        fadd    v24, v1, s0
        st32    v24, dst, pitch
        add     dst, dst, step
        ldacc   v2, acc, one, 16
        fadd    v17, v2, s0
        st32    v17, dst, pitch
        add     dst, dst, step
        ldacc   v3, acc, one, 24
        fadd    v25, v3, s0
        st32    v25, dst, pitch
        add     dst, dst, step
        addi    acc, acc, 32
        addi    rows, rows, -32
        blt     s0, rows, acc_sums_loop
acc_sums_rest:
        addi    rows, rows, 31
        beq     rows, s0, acc_sums_end
acc_sums_even:
        vl      rows, 8
        ldacc   v0, acc, one
        fadd    v16, v0, s0
        st32    v16, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_sums_odd
        halt
acc_sums_odd:
        vl      rows, 8
        ldacc   v1, acc, one
        fadd    v24, v1, s0
        st32    v24, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_sums_even
acc_sums_end:
        halt

.reads  acc[acc, rows]
.writes ub[dst, 4*cols, rows x pitch]
.cycles 16 + rows
acc_more_sums:
        lanes   cols
        li      one, 1
        slli    step, pitch, 3
        addi    rows, rows, -31
        blt     rows, one, acc_more_sums_rest
acc_more_sums_loop:
        ld32    v8, dst, pitch
        ldacc   v0, acc, one
        fadd    v16, v8, v0
        st32    v16, dst, pitch
        add     dst, dst, step
        ld32    v9, dst, pitch
        ldacc   v1, acc, one, 8
        fadd    v24, v9, v1
        st32    v24, dst, pitch
        add     dst, dst, step
        ld32    v10, dst, pitch
        ldacc   v2, acc, one, 16
        fadd    v17, v10, v2
        st32    v17, dst, pitch
        add     dst, dst, step
        ld32    v11, dst, pitch
        ldacc   v3, acc, one, 24
        fadd    v25, v11, v3
        st32    v25, dst, pitch
        add     dst, dst, step
        addi    acc, acc, 32
        addi    rows, rows, -32
        blt     s0, rows, acc_more_sums_loop
acc_more_sums_rest:
        addi    rows, rows, 31
        beq     rows, s0, acc_more_sums_end
acc_more_sums_even:
        vl      rows, 8
        ld32    v8, dst, pitch
        ldacc   v0, acc, one
        fadd    v16, v8, v0
        st32    v16, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_more_sums_odd
        halt
acc_more_sums_odd:
        vl      rows, 8
        ld32    v9, dst, pitch
        ldacc   v1, acc, one
        fadd    v24, v9, v1
        st32    v24, dst, pitch
        addi    acc, acc, 8
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, acc_more_sums_even
acc_more_sums_end:
        halt
