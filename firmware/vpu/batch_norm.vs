# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Batch norm with ReLU, forward and backward (docs/training.md), a tile of at most L channels at a time. Positions are rows.
#
# Parameter block of a tile, rows of L fp32: 0 mean (while sums are collected: their shift), 1 inv, 2 beta, 3 running mean, 4 running variance, 5 mb, 6 mx, 7 gradient of beta,
# 8 and 9 state of the optimiser, 10..17 and 18..25 partial sums (zero between uses).

.const MEAN 0
.const INV ROW
.const BETA 2*ROW
.const RUN_MEAN 3*ROW
.const RUN_VAR 4*ROW
.const MB 5*ROW
.const MX 6*ROW
.const GRADIENT 7*ROW
.const SUM_A 10*ROW
.const SUM_B 18*ROW

.arg params       # s1: parameter block
.arg src          # s2: first row: of the accumulators, or byte address of z
.arg dst          # s3: byte address of the first result
.arg pitch        # s4: bytes from a position to the next
.arg width        # s5: positions of a line
.arg lines        # s6
.arg cols         # s7: channels
.arg da           # s8: byte address of the gradient, laid out as z
.arg inv_n        # s9: 1/N
.reg one s11
.reg tmp s12
.reg row s13      # bytes of a row of the parameter block
.reg step s14
.reg left s15

# The first rows of a batch: their first is the shift of its sums.
bn_collect_first:
        li      one, 1
        vl      one
        lanes   cols
        ldacc   v1, src, one
        bf16    v17, v1
        st32    v17, params, s0, MEAN
        li      tmp, L
        lanes   tmp
        fence

# Accumulators to z in bf16; sums of d = z - shift and of d^2.
bn_collect:
        li      row, ROW
        li      one, 1
        vl      one
        ld32    v2, params, s0, MEAN
        li      tmp, 8
        vl      tmp
        ld32    v0, params, row, SUM_A
        ld32    v8, params, row, SUM_B
        iadd    v16, v0, s0
        iadd    v24, v8, s0
        lanes   cols
        slli    step, pitch, 3
bn_collect_line:
        add     left, width, s0
bn_collect_rows:
        vl      left
        addi    tmp, left, -8
        ldacc   v1, src, one
        addi    src, src, 8
        bf16    v17, v1
        blt     s0, tmp, bn_collect_pair
        fsub    v25, v17, v2.0
        st16    v17, dst, pitch
        add     dst, dst, step
        fadd    v16, v16, v25
        fma     v24, v25, v25, v24
        add     left, tmp, s0
        beq     s0, s0, bn_collect_next
bn_collect_pair:                        # up to 16 rows: neither waits for its own results
        vl      tmp
        ldacc   v3, src, one
        addi    src, src, 8
        bf16    v19, v3
        vl      left
        fsub    v25, v17, v2.0
        st16    v17, dst, pitch
        add     dst, dst, step
        vl      tmp
        fsub    v27, v19, v2.0
        vl      left
        fadd    v16, v16, v25
        fma     v24, v25, v25, v24
        vl      tmp
        st16    v19, dst, pitch
        add     dst, dst, step
        fadd    v16, v16, v27
        fma     v24, v27, v27, v24
        addi    left, left, -16
        blt     s0, left, bn_collect_rows
bn_collect_next:
        add     src, src, left          # a line's last step went up to 7 rows too far
        mul     tmp, left, pitch
        add     dst, dst, tmp
        addi    lines, lines, -1
        bne     lines, s0, bn_collect_line
        li      tmp, 8
        vl      tmp
        li      tmp, L
        lanes   tmp
        st32    v16, params, row, SUM_A
        st32    v24, params, row, SUM_B
        halt

# Partial sums to mean and inv; running statistics; the sums are 0 again.
bn_finish:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, SUM_A
        ld32    v8, params, row, SUM_B
        rotrow  v32, v0, s0, 4
        rotrow  v33, v8, s0, 4
        fadd    v16, v0, v32
        fadd    v24, v8, v33
        rotrow  v32, v16, s0, 2
        rotrow  v33, v24, s0, 2
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        rotrow  v32, v16, s0, 1
        rotrow  v33, v24, s0, 1
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        ld32    v2, params, s0, MEAN    # the shift
        fmul    v17, v16, inv_n
        fmul    v25, v24, inv_n
        fnma    v26, v17, v17, v25
        fadd    v17, v17, v2            # mean
        fmax    v26, v26, s0            # variance
        li      tmp, 0.001
        fadd    v27, v26, tmp
        rsqrt   v34, v27
        mov     v35, s0
        st32    v35, params, row, SUM_A
        st32    v35, params, row, SUM_B
        vl      one
        ld32    v1, params, row, RUN_MEAN
        ld32    v9, params, row, RUN_VAR
        fsub    v18, v17, v1
        fsub    v28, v26, v9
        li      tmp, 0.1
        fma     v18, v18, tmp, v1
        fma     v28, v28, tmp, v9
        st32    v17, params, row, MEAN
        st32    v34, params, row, INV
        st32    v18, params, row, RUN_MEAN
        st32    v28, params, row, RUN_VAR
        halt

# Inference: mean and inv from the running statistics; the sums are 0 again.
bn_running:
        li      row, ROW
        mov     v35, s0
        st32    v35, params, row, SUM_A
        st32    v35, params, row, SUM_B
        li      one, 1
        vl      one
        ld32    v0, params, row, RUN_MEAN
        ld32    v8, params, row, RUN_VAR
        li      tmp, 0.001
        fadd    v16, v8, tmp
        rsqrt   v34, v16
        st32    v0, params, row, MEAN
        st32    v34, params, row, INV
        halt

# a = bf16(max(y, 0)); rows: width * lines, evenly apart.
bn_relu:
        li      one, 1
        vl      one
        ld32    v2, params, s0, MEAN
        ld32    v10, params, s0, INV
        ld32    v3, params, s0, BETA
        lanes   cols
        slli    step, pitch, 3
        mul     left, width, lines
bn_relu_rows:
        addi    tmp, left, -15
        blt     s0, tmp, bn_relu_pair
        vl      left
        ld16    v0, src, pitch
        fsub    v16, v0, v2.0
        fmul    v24, v16, v10.0
        fadd    v17, v24, v3.0
        fmax    v25, v17, s0
        st16    v25, dst, pitch
        add     src, src, step
        add     dst, dst, step
        addi    left, left, -8
        blt     s0, left, bn_relu_rows
        halt
bn_relu_pair:                           # 16 rows: neither waits for its own results
        vl      left
        ld16    v0, src, pitch
        add     src, src, step
        ld16    v1, src, pitch
        fsub    v16, v0, v2.0
        fsub    v18, v1, v2.0
        fmul    v24, v16, v10.0
        fmul    v26, v18, v10.0
        fadd    v17, v24, v3.0
        fadd    v19, v26, v3.0
        fmax    v25, v17, s0
        fmax    v27, v19, s0
        st16    v25, dst, pitch
        add     dst, dst, step
        st16    v27, dst, pitch
        add     src, src, step
        add     dst, dst, step
        addi    left, left, -16
        blt     s0, left, bn_relu_rows
        halt

# Sums of g and of g * xhat.
bn_back_collect:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, SUM_A
        ld32    v8, params, row, SUM_B
        iadd    v16, v0, s0
        iadd    v24, v8, s0
        vl      one
        ld32    v2, params, s0, MEAN
        ld32    v10, params, s0, INV
        ld32    v3, params, s0, BETA
        lanes   cols
        slli    step, pitch, 3
bn_back_collect_line:
        add     left, width, s0
bn_back_collect_rows:
        vl      left
        addi    tmp, left, -8
        ld16    v1, src, pitch
        ld16    v9, da, pitch
        add     src, src, step
        add     da, da, step
        fsub    v17, v1, v2.0
        blt     s0, tmp, bn_back_collect_pair
        fmul    v25, v17, v10.0         # xhat
        fadd    v18, v25, v3.0          # y
        flt     v26, s0, v18
        iand    v19, v9, v26            # g
        fadd    v16, v16, v19
        fma     v24, v19, v25, v24
        add     left, tmp, s0
        beq     s0, s0, bn_back_collect_next
bn_back_collect_pair:                   # up to 16 rows: neither waits for its own results
        vl      tmp
        ld16    v5, src, pitch
        ld16    v13, da, pitch
        add     src, src, step
        add     da, da, step
        fsub    v21, v5, v2.0
        vl      left
        fmul    v25, v17, v10.0
        vl      tmp
        fmul    v29, v21, v10.0
        vl      left
        fadd    v18, v25, v3.0
        vl      tmp
        fadd    v22, v29, v3.0
        vl      left
        flt     v26, s0, v18
        vl      tmp
        flt     v30, s0, v22
        vl      left
        iand    v19, v9, v26
        vl      tmp
        iand    v23, v13, v30
        vl      left
        fadd    v16, v16, v19
        fma     v24, v19, v25, v24
        vl      tmp
        fadd    v16, v16, v23
        fma     v24, v23, v29, v24
        addi    left, left, -16
        blt     s0, left, bn_back_collect_rows
bn_back_collect_next:
        mul     tmp, left, pitch
        add     src, src, tmp
        add     da, da, tmp
        addi    lines, lines, -1
        bne     lines, s0, bn_back_collect_line
        li      tmp, 8
        vl      tmp
        li      tmp, L
        lanes   tmp
        st32    v16, params, row, SUM_A
        st32    v24, params, row, SUM_B
        halt

# Partial sums to mb, mx and the gradient of beta; the sums are 0 again.
bn_back_finish:
        li      row, ROW
        li      one, 1
        ld32    v0, params, row, SUM_A
        ld32    v8, params, row, SUM_B
        rotrow  v32, v0, s0, 4
        rotrow  v33, v8, s0, 4
        fadd    v16, v0, v32
        fadd    v24, v8, v33
        rotrow  v32, v16, s0, 2
        rotrow  v33, v24, s0, 2
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        rotrow  v32, v16, s0, 1
        rotrow  v33, v24, s0, 1
        fadd    v16, v16, v32
        fadd    v24, v24, v33
        fmul    v17, v16, inv_n
        fmul    v25, v24, inv_n
        mov     v35, s0
        st32    v35, params, row, SUM_A
        st32    v35, params, row, SUM_B
        vl      one
        st32    v16, params, row, GRADIENT
        st32    v17, params, row, MB
        st32    v25, params, row, MX
        halt

# dz = bf16((g - mb - xhat * mx) * inv); rows: width * lines, evenly apart.
bn_back_apply:
        li      one, 1
        vl      one
        ld32    v2, params, s0, MEAN
        ld32    v10, params, s0, INV
        ld32    v3, params, s0, BETA
        ld32    v11, params, s0, MB
        ld32    v4, params, s0, MX
        lanes   cols
        slli    step, pitch, 3
        mul     left, width, lines
bn_back_apply_rows:
        addi    tmp, left, -15
        blt     s0, tmp, bn_back_apply_pair
        vl      left
        ld16    v1, src, pitch
        ld16    v9, da, pitch
        fsub    v17, v1, v2.0
        fmul    v25, v17, v10.0         # xhat
        fadd    v18, v25, v3.0          # y
        flt     v26, s0, v18
        iand    v19, v9, v26            # g
        fsub    v27, v19, v11.0
        fnma    v20, v25, v4.0, v27
        fmul    v28, v20, v10.0
        st16    v28, dst, pitch
        add     src, src, step
        add     da, da, step
        add     dst, dst, step
        addi    left, left, -8
        blt     s0, left, bn_back_apply_rows
        halt
bn_back_apply_pair:                     # 16 rows: neither waits for its own results
        vl      left
        ld16    v1, src, pitch
        ld16    v9, da, pitch
        add     src, src, step
        add     da, da, step
        ld16    v5, src, pitch
        ld16    v13, da, pitch
        fsub    v17, v1, v2.0
        fsub    v21, v5, v2.0
        fmul    v25, v17, v10.0
        fmul    v29, v21, v10.0
        fadd    v18, v25, v3.0
        fadd    v22, v29, v3.0
        flt     v26, s0, v18
        flt     v30, s0, v22
        iand    v19, v9, v26
        iand    v23, v13, v30
        fsub    v27, v19, v11.0
        fsub    v31, v23, v11.0
        fnma    v20, v25, v4.0, v27
        fnma    v16, v29, v4.0, v31
        fmul    v28, v20, v10.0
        fmul    v24, v16, v10.0
        st16    v28, dst, pitch
        add     dst, dst, step
        st16    v24, dst, pitch
        add     src, src, step
        add     da, da, step
        add     dst, dst, step
        addi    left, left, -16
        blt     s0, left, bn_back_apply_rows
        halt
