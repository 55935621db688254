# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Softmax cross-entropy of the last layer (docs/training.md): samples are rows, classes lanes.
#
# Parameter block, rows of L fp32: 0 bias, 1 mask (all ones in the lanes of classes), 7 gradient of the bias, 8 and 9 state of the optimiser,
# 10..17 partial sums of the loss, then of dz, 18..25 of the right answers (zero between uses); 26 loss, 27 right answers, in every lane.

.const BIAS 0
.const MASK ROW
.const BIAS_GRADIENT 7*ROW
.const LOSS_SUMS 10*ROW
.const RIGHT_SUMS 18*ROW
.const LOSS 26*ROW
.const RIGHT 27*ROW

.arg params       # s1
.arg acc          # s2: first accumulator row
.arg hot          # s3: byte address of the first sample's one-hot row, bf16, L lanes
.arg hot_pitch    # s4
.arg dst          # s5: byte address of dz
.arg pitch        # s6
.arg rows         # s7
.arg cols         # s8: classes
.arg inv_b        # s9: 1/B
.reg one s11
.reg tmp s12
.reg row s13
.reg ln2 s14
.reg k s15

.reads  ub[params, 2*ROW]
.reads  acc[acc, rows]
.reads  ub[hot, 2*L, rows x hot_pitch]
.writes ub[params + LOSS_SUMS, 16*ROW]
.writes ub[dst, 2*cols, rows x pitch]
.cycles 50 + (240 + L)*((rows + 7)/8)
softmax:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, LOSS_SUMS
        ld32    v8, params, row, RIGHT_SUMS
        iadd    v23, v0, s0             # loss
        iadd    v31, v8, s0             # right answers
        vl      one
        ld32    v2, params, s0, BIAS
        ld32    v10, params, s0, MASK
softmax_rows:
        vl      rows, 8
        ldacc   v0, acc, one
        li      tmp, L
        lanes   tmp
        ld16    v8, hot, hot_pitch
        fadd    v16, v0, v2.0           # logit
        li      tmp, 0xFF800000
        sel     v17, v10.0, v16, tmp
        li      k, HALF_L
softmax_max:
        rotl    v32, v17, k
        fmax    v17, v17, v32
        srli    k, k, 1
        bne     k, s0, softmax_max
        fsub    v18, v16, v17           # d
        li      tmp, 1.44269502
        fmul    v24, v18, tmp
        exp2    v33, v24
        sel     v19, v10.0, v33, s0     # e
        iadd    v20, v19, s0
        fmul    v25, v8, v18            # onehot * d
        sel     v25, v10.0, v25, s0
        li      k, HALF_L
softmax_sum:
        rotl    v32, v20, k
        rotl    v34, v25, k
        fadd    v20, v20, v32           # t
        fadd    v25, v25, v34           # u
        srli    k, k, 1
        bne     k, s0, softmax_sum
        rcp     v35, v20
        log2    v36, v20
        fmul    v21, v19, v35           # p
        fsub    v26, v21, v8
        fmul    v22, v26, inv_b
        lanes   cols
        st16    v22, dst, pitch
        li      ln2, 0.693147182
        fmul    v27, v36, ln2
        fsub    v28, v27, v25
        fadd    v23, v23, v28
        feq     v29, v25, s0
        li      tmp, 1.0
        iand    v30, v29, tmp
        fadd    v31, v31, v30
        addi    acc, acc, 8
        slli    tmp, hot_pitch, 3
        add     hot, hot, tmp
        slli    tmp, pitch, 3
        add     dst, dst, tmp
        addi    rows, rows, -8
        blt     s0, rows, softmax_rows
        li      tmp, 8
        vl      tmp
        li      tmp, L
        lanes   tmp
        st32    v23, params, row, LOSS_SUMS
        st32    v31, params, row, RIGHT_SUMS
        halt

# Partial sums to loss and right answers.
.writes ub[params + LOSS_SUMS, 18*ROW]
.cycles 95
softmax_finish:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, LOSS_SUMS
        ld32    v8, params, row, RIGHT_SUMS
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
        li      tmp, 8
        vl      tmp
        mov     v35, s0
        st32    v35, params, row, LOSS_SUMS
        st32    v35, params, row, RIGHT_SUMS
        vl      one
        st32    v16, params, row, LOSS
        st32    v24, params, row, RIGHT
        halt

# Gradient of the bias: sums of rows of dz, evenly apart, a multiple of 8 but for the last. dst: byte address of the first.
.reads  ub[dst, 2*cols, rows x pitch]
.writes ub[params + LOSS_SUMS, 8*ROW]
.cycles 30 + 16*((rows + 7)/8)
bias_collect:
        li      row, ROW
        ld32    v0, params, row, LOSS_SUMS
        iadd    v16, v0, s0
        lanes   cols
bias_collect_rows:
        vl      rows, 8
        ld16    v0, dst, pitch
        fadd    v16, v16, v0
        slli    tmp, pitch, 3
        add     dst, dst, tmp
        addi    rows, rows, -8
        blt     s0, rows, bias_collect_rows
        li      tmp, 8
        vl      tmp
        li      tmp, L
        lanes   tmp
        st32    v16, params, row, LOSS_SUMS
        halt

.writes ub[params + LOSS_SUMS, 8*ROW]
.writes ub[params + BIAS_GRADIENT, ROW]
.cycles 75
bias_finish:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, LOSS_SUMS
        li      tmp, 4
        vl      tmp
        rotrow  v32, v0, s0, 4
        fadd    v16, v0, v32
        li      tmp, 2
        vl      tmp
        rotrow  v33, v16, s0, 2
        fadd    v16, v16, v33
        li      tmp, 1
        vl      tmp
        rotrow  v33, v16, s0, 1
        fadd    v16, v16, v33
        li      tmp, 8
        vl      tmp
        mov     v35, s0
        st32    v35, params, row, LOSS_SUMS
        vl      one
        st32    v16, params, s0, BIAS_GRADIENT
        halt
