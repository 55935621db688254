# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Optimisers (docs/training.md) over dense rows of L fp32. `wb` receives the weights in bf16; 0: none.
#
# Rows at `powers`, the same in every lane: 0 p1, 1 p2, 2 k1, 3 k2 (Adam), 4 lr.

.arg w            # s1: byte addresses
.arg m            # s2
.arg v            # s3
.arg g            # s4
.arg wb           # s5
.arg rows         # s6
.arg c1           # s7: Adam: 1 - b1; SGD: mu
.arg c2           # s8: Adam: 1 - b2
.arg powers       # s9
.reg half s11
.reg tmp s12
.reg row s13
.reg tiny s14
.reg eps s15

# Before the first use of a step. c1, c2: b1, b2.
adam_begin:
        li      tmp, 1
        vl      tmp
        ld32    v0, powers, s0
        ld32    v8, powers, s0, ROW
        fmul    v16, v0, c1
        fmul    v24, v8, c2
        li      tmp, 1.0
        fsub    v17, tmp, v16
        fsub    v25, tmp, v24
        rcp     v32, v17
        rcp     v33, v25
        st32    v16, powers, s0
        st32    v24, powers, s0, ROW
        st32    v32, powers, s0, 2*ROW
        st32    v33, powers, s0, 3*ROW
        halt

adam:
        li      row, ROW
        li      half, HALF_ROW
        li      tiny, 1e-30
        li      eps, 1e-7
        li      tmp, 1
        vl      tmp
        ld32    v7, powers, s0, 2*ROW
        ld32    v15, powers, s0, 3*ROW
        ld32    v6, powers, s0, 4*ROW
adam_rows:
        vl      rows
        ld32    v0, w, row
        ld32    v8, g, row
        ld32    v1, m, row
        ld32    v9, v, row
        fsub    v16, v8, v1
        fma     v17, v16, c1, v1        # m
        fmul    v24, v8, v8
        fsub    v25, v24, v9
        fma     v26, v25, c2, v9        # v
        fmul    v27, v26, v15.0
        fmax    v28, v27, tiny          # h
        rsqrt   v32, v28
        fma     v18, v28, v32, eps      # den
        rcp     v33, v18
        fmul    v19, v17, v7.0
        fmul    v20, v19, v33
        fnma    v29, v20, v6.0, v0      # w
        st32    v17, m, row
        st32    v26, v, row
        st32    v29, w, row
        beq     wb, s0, adam_next
        st16    v29, wb, half
        addi    wb, wb, 4*ROW
adam_next:
        addi    w, w, 8*ROW
        addi    m, m, 8*ROW
        addi    v, v, 8*ROW
        addi    g, g, 8*ROW
        addi    rows, rows, -8
        blt     s0, rows, adam_rows
        halt

# m is the velocity.
sgd:
        li      row, ROW
        li      half, HALF_ROW
        li      tmp, 1
        vl      tmp
        ld32    v6, powers, s0, 4*ROW
sgd_rows:
        vl      rows
        ld32    v0, w, row
        ld32    v8, g, row
        ld32    v1, m, row
        fma     v16, v1, c1, v8         # velocity
        fnma    v24, v16, v6.0, v0      # w
        st32    v16, m, row
        st32    v24, w, row
        beq     wb, s0, sgd_next
        st16    v24, wb, half
        addi    wb, wb, 4*ROW
sgd_next:
        addi    w, w, 8*ROW
        addi    m, m, 8*ROW
        addi    g, g, 8*ROW
        addi    rows, rows, -8
        blt     s0, rows, sgd_rows
        halt
