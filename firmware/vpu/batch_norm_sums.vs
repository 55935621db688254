# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# What batch norm does once a pass (docs/training.md), a tile of at most L channels at a time: sums to statistics, statistics to the lanes of batch_norm.vs.
#
# Parameter block of a tile, rows of L fp32: 0 mean, 1 inv, 2 beta, 3 running mean, 4 running variance, 5 mb, 6 mx, 7 gradient of beta, 8 and 9 state of
# the optimiser.

.const MEAN 0
.const INV ROW
.const BETA 2*ROW
.const RUN_MEAN 3*ROW
.const RUN_VAR 4*ROW
.const MB 5*ROW
.const MX 6*ROW
.const GRADIENT 7*ROW

.arg params       # s1: parameter block
.arg wide         # s2: byte address of the tile's lanes of the first position, row 0 of batch_norm.vs
.arg wide_row     # s3
.arg src          # s4: byte address of z of the batch's first position
.arg pitch        # s5: bytes from a position's channels, or partial sum, in fp32 to the next
.arg copies       # s6: P
.arg cols         # s7: channels
.arg sums         # s8: byte address of the first partial sum
.arg other        # s9: bytes from it to the first of the second sum
.arg count        # s10: partial sums: 8 P
.arg inv_n        # s11: 1/N
.reg at s12
.reg tmp s13
.reg far s14
.reg left s15

# The shift of the sums: z of the first position, to all positions of a row.
.reads  ub[src, 2*cols]
.writes ub[wide, 4*cols, copies x pitch]
.cycles 20
bn_shift:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld16    v0, src, s0
        vl      copies, 8
        mov     v32, v0.0
        st32    v32, wide, pitch
        halt

# Rows of the parameter block to all positions of a row.
.reads  ub[params, 4*cols, 3 x ROW]
.reads  ub[params + MB, 4*cols, 2 x ROW]
.writes ub[wide, 4*cols, copies x pitch, 5 x wide_row]
.cycles 25 + 4*copies
bn_spread:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld32    v0, params, s0, MEAN
        ld32    v8, params, s0, INV
        ld32    v1, params, s0, BETA
        ld32    v9, params, s0, MB
        ld32    v2, params, s0, MX
        vl      copies, 8
        mov     v32, v0.0
        mov     v33, v8.0
        mov     v34, v1.0
        mov     v35, v9.0
        mov     v36, v2.0
        st32    v32, wide, pitch
        add     wide, wide, wide_row
        st32    v33, wide, pitch
        add     wide, wide, wide_row
        st32    v34, wide, pitch
        add     wide, wide, wide_row
        st32    v35, wide, pitch
        add     wide, wide, wide_row
        st32    v36, wide, pitch
        halt

# Partial sums of both kinds to the first of each.
.writes ub[sums, 4*cols, count x pitch, 2 x other]
.cycles 60 + 13*count/4
bn_fold:
        lanes   cols
        li      tmp, 8
        vl      tmp
bn_fold_level:
        beq     count, tmp, bn_fold_rows
        srli    count, count, 1
        mul     far, count, pitch
        add     left, count, s0
        add     at, sums, s0
bn_fold_step:
        add     tmp, at, far
        ld32    v0, at, pitch
        ld32    v8, tmp, pitch
        fadd    v16, v0, v8
        st32    v16, at, pitch
        add     at, at, other
        add     tmp, at, far
        ld32    v1, at, pitch
        ld32    v9, tmp, pitch
        fadd    v24, v1, v9
        st32    v24, at, pitch
        sub     at, at, other
        slli    tmp, pitch, 3
        add     at, at, tmp
        addi    left, left, -8
        blt     s0, left, bn_fold_step
        fence
        li      tmp, 8
        beq     s0, s0, bn_fold_level
bn_fold_rows:
        add     at, sums, other
        ld32    v0, sums, pitch
        ld32    v8, at, pitch
        li      tmp, 4
        vl      tmp
        rotrow  v32, v0, s0, 4
        rotrow  v33, v8, s0, 4
        fadd    v16, v0, v32
        fadd    v24, v8, v33
        li      tmp, 2
        vl      tmp
        rotrow  v32, v16, s0, 2
        rotrow  v33, v24, s0, 2
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        li      tmp, 1
        vl      tmp
        rotrow  v32, v16, s0, 1
        rotrow  v33, v24, s0, 1
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        st32    v16, sums, s0
        st32    v24, at, s0
        halt

# Sums to mean and inv; running statistics.
.reads  ub[sums, 4*cols, 2 x other]
.reads  ub[wide, 4*cols]
.writes ub[params, 4*cols, 2 x ROW]
.writes ub[params + RUN_MEAN, 4*cols, 2 x ROW]
.cycles 65
bn_finish:
        lanes   cols
        li      tmp, 1
        vl      tmp
        add     at, sums, other
        ld32    v0, sums, s0
        ld32    v8, at, s0
        ld32    v2, wide, s0            # the shift
        ld32    v1, params, s0, RUN_MEAN
        ld32    v9, params, s0, RUN_VAR
        fmul    v17, v0, inv_n
        fmul    v25, v8, inv_n
        fnma    v26, v17, v17, v25
        fadd    v17, v17, v2            # mean
        fmax    v26, v26, s0            # variance
        li      tmp, 0.001
        fadd    v27, v26, tmp
        rsqrt   v34, v27
        fsub    v18, v17, v1
        fsub    v28, v26, v9
        li      tmp, 0.1
        fma     v18, v18, tmp, v1
        fma     v28, v28, tmp, v9
        st32    v17, params, s0, MEAN
        st32    v34, params, s0, INV
        st32    v18, params, s0, RUN_MEAN
        st32    v28, params, s0, RUN_VAR
        halt

# Inference: mean and inv from the running statistics.
.writes ub[params, 2*ROW]
.reads  ub[params + RUN_MEAN, 2*ROW]
.cycles 35
bn_running:
        li      tmp, 1
        vl      tmp
        ld32    v0, params, s0, RUN_MEAN
        ld32    v8, params, s0, RUN_VAR
        li      tmp, 0.001
        fadd    v16, v8, tmp
        rsqrt   v34, v16
        st32    v0, params, s0, MEAN
        st32    v34, params, s0, INV
        halt

# Sums to mb, mx and the gradient of beta.
.reads  ub[sums, 4*cols, 2 x other]
.writes ub[params + MB, 4*cols, 3 x ROW]
.cycles 25
bn_back_finish:
        lanes   cols
        li      tmp, 1
        vl      tmp
        add     at, sums, other
        ld32    v0, sums, s0
        ld32    v8, at, s0
        fmul    v17, v0, inv_n
        fmul    v25, v8, inv_n
        st32    v0, params, s0, GRADIENT
        st32    v17, params, s0, MB
        st32    v25, params, s0, MX
        halt
