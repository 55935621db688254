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

# w = w + g: the gradients of two cores.
.reads  ub[g, rows*ROW]
.writes ub[w, rows*ROW]
.cycles 10 + 5*rows/2
sum_rows:
        li      row, ROW
sum_rows_loop:
        vl      rows, 8
        ld32    v0, w, row
        ld32    v8, g, row
        fadd    v16, v0, v8
        st32    v16, w, row
        addi    w, w, 8*ROW
        addi    g, g, 8*ROW
        addi    rows, rows, -8
        blt     s0, rows, sum_rows_loop
        halt

# Before the first use of a step. c1, c2: b1, b2.
.writes ub[powers, 4*ROW]
.cycles 45
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

.reads  ub[powers + 2*ROW, 3*ROW]
.reads  ub[g, rows*ROW]
.writes ub[w, rows*ROW]
.writes ub[m, rows*ROW]
.writes ub[v, rows*ROW]
.writes ub[wb, min(wb, 1)*rows*ROW/2]
.cycles 60 + 10*rows
adam:
        li      row, ROW
        li      tmp, 1
        vl      tmp
        li      tmp, 9223372036854775808.0      # 2^63: its square is finite
        mov     v36, tmp
        li      tmp, -9223372036854775808.0
        mov     v37, tmp
        li      half, HALF_ROW
        li      tiny, 1e-30
        li      eps, 1e-7
        li      tmp, 1
        vl      tmp
        ld32    v7, powers, s0, 2*ROW
        ld32    v15, powers, s0, 3*ROW
        ld32    v6, powers, s0, 4*ROW
adam_rows:
        addi    tmp, rows, -15
        blt     s0, tmp, adam_pair
        vl      rows, 8
        ld32    v0, w, row
        ld32    v8, g, row
        ld32    v1, m, row
        ld32    v9, v, row
        fmin    v20, v8, v36.0
        fmax    v28, v20, v37.0         # g
        fsub    v16, v28, v1
        fma     v17, v16, c1, v1        # m
        fmul    v24, v28, v28
        fsub    v24, v24, v9
        fma     v25, v24, c2, v9        # v
        fma     v26, v25, v15.0, tiny   # h
        rsqrt   v32, v26
        fma     v18, v26, v32, eps      # den
        rcp     v33, v18
        fmul    v19, v17, v7.0
        fmul    v19, v19, v33
        fnma    v27, v19, v6.0, v0      # w
        st32    v17, m, row
        st32    v25, v, row
        st32    v27, w, row
        beq     wb, s0, adam_next
        st16    v27, wb, half
        addi    wb, wb, 4*ROW
adam_next:
        addi    w, w, 8*ROW
        addi    m, m, 8*ROW
        addi    v, v, 8*ROW
        addi    g, g, 8*ROW
        addi    rows, rows, -8
        blt     s0, rows, adam_rows
        halt
adam_pair:                              # 16 rows: neither waits for its own results
        vl      rows, 8
        ld32    v0, w, row
        ld32    v8, g, row
        ld32    v1, m, row
        ld32    v9, v, row
        ld32    v2, w, row, 8*ROW
        ld32    v10, g, row, 8*ROW
        ld32    v3, m, row, 8*ROW
        ld32    v11, v, row, 8*ROW
        fmin    v16, v8, v36.0
        fmin    v20, v10, v36.0
        fmax    v24, v16, v37.0
        fmax    v28, v20, v37.0
        fsub    v16, v24, v1
        fsub    v20, v28, v3
        fmul    v24, v24, v24
        fmul    v28, v28, v28
        fsub    v24, v24, v9
        fsub    v28, v28, v11
        fma     v17, v16, c1, v1
        fma     v21, v20, c1, v3
        fma     v25, v24, c2, v9
        fma     v29, v28, c2, v11
        fma     v26, v25, v15.0, tiny
        fma     v30, v29, v15.0, tiny
        rsqrt   v32, v26
        rsqrt   v34, v30
        fmul    v19, v17, v7.0
        fmul    v23, v21, v7.0
        fma     v18, v26, v32, eps
        fma     v22, v30, v34, eps
        rcp     v33, v18
        rcp     v35, v22
        st32    v17, m, row
        st32    v21, m, row, 8*ROW
        st32    v25, v, row
        st32    v29, v, row, 8*ROW
        fmul    v19, v19, v33
        fmul    v23, v23, v35
        fnma    v27, v19, v6.0, v0
        fnma    v31, v23, v6.0, v2
        st32    v27, w, row
        st32    v31, w, row, 8*ROW
        beq     wb, s0, adam_pair_next
        st16    v27, wb, half
        st16    v31, wb, half, 4*ROW
        addi    wb, wb, 8*ROW
adam_pair_next:
        addi    w, w, 16*ROW
        addi    m, m, 16*ROW
        addi    v, v, 16*ROW
        addi    g, g, 16*ROW
        addi    rows, rows, -16
        blt     s0, rows, adam_rows
        halt

# m is the velocity.
.reads  ub[powers + 4*ROW, ROW]
.reads  ub[g, rows*ROW]
.writes ub[w, rows*ROW]
.writes ub[m, rows*ROW]
.writes ub[wb, min(wb, 1)*rows*ROW/2]
.cycles 20 + 4*rows
sgd:
        li      row, ROW
        li      half, HALF_ROW
        li      tmp, 1
        vl      tmp
        ld32    v6, powers, s0, 4*ROW
sgd_rows:
        vl      rows, 8
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
