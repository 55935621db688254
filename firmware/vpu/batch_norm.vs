# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Batch norm with ReLU over a block of images (docs/training.md, "Positions in lanes"): rows of P positions, at most L lanes of each at a time.
#
# At `wide`: rows of `wide_row` bytes, a value for each lane: 0 mean (while sums are collected: their shift), 1 inv, 2 beta, 3 mb, 4 mx; then two times
# eight rows of partial sums.

.arg wide         # s1: byte address of the first of these lanes
.arg wide_row     # s2
.arg src          # s3: byte address of z
.arg dst          # s4: byte address of the result
.arg da           # s5: byte address of the gradient, laid out as z
.arg pitch        # s6: bytes from a row to the next
.arg rows         # s7: of an image
.arg images       # s8
.arg gap          # s9: bytes from an image's last row, and a pitch, to the next image
.arg cols         # s10: lanes
.reg at s11
.reg tmp s12
.reg step s14
.reg left s15

# Sums of d = z - shift and of d^2.
.reads  ub[wide, 4*cols]
.reads  ub[src, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.writes ub[wide + 5*wide_row, 4*cols, 16 x wide_row]
.cycles 60 + 16*images*((rows + 7)/8)
bn_collect:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld32    v2, wide, s0
        li      tmp, 8
        vl      tmp
        mul     tmp, tmp, wide_row
        slli    at, wide_row, 2
        add     at, at, wide_row
        add     at, at, wide            # partial sums
        ld32    v0, at, wide_row
        add     tmp, at, tmp
        ld32    v8, tmp, wide_row
        iadd    v16, v0, s0
        iadd    v24, v8, s0
        slli    step, pitch, 3
bn_collect_image:
        add     left, rows, s0
bn_collect_rows:
        vl      left, 8
        addi    tmp, left, -8
        ld16    v1, src, pitch
        add     src, src, step
        blt     s0, tmp, bn_collect_pair
        fsub    v25, v1, v2.0
        fadd    v16, v16, v25
        fma     v24, v25, v25, v24
        add     left, tmp, s0
        beq     s0, s0, bn_collect_next
bn_collect_pair:                        # up to 16 rows: neither waits for its own results
        fsub    v25, v1, v2.0
        vl      tmp, 8
        ld16    v9, src, pitch
        add     src, src, step
        fsub    v17, v9, v2.0
        vl      left, 8
        fadd    v16, v16, v25
        fma     v24, v25, v25, v24
        vl      tmp, 8
        fadd    v16, v16, v17
        fma     v24, v17, v17, v24
        addi    left, left, -16
        blt     s0, left, bn_collect_rows
bn_collect_next:
        mul     tmp, left, pitch        # the last step went up to 7 rows too far
        add     tmp, tmp, gap
        add     src, src, tmp
        addi    images, images, -1
        bne     images, s0, bn_collect_image
        li      tmp, 8
        vl      tmp
        slli    at, wide_row, 2
        add     at, at, wide_row
        add     at, at, wide
        st32    v16, at, wide_row
        slli    tmp, wide_row, 3
        add     tmp, at, tmp
        st32    v24, tmp, wide_row
        halt

# a = bf16(max(y, 0)).
.reads  ub[wide, 4*cols, 3 x wide_row]
.reads  ub[src, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.writes ub[dst, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.cycles 5 + 34*images*((rows + 7)/8)
bn_relu:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld32    v2, wide, s0
        add     at, wide, wide_row
        ld32    v10, at, s0
        add     at, at, wide_row
        ld32    v3, at, s0
        slli    step, pitch, 3
bn_relu_image:
        add     left, rows, s0
bn_relu_rows:
        addi    tmp, left, -15
        blt     s0, tmp, bn_relu_pair
        vl      left, 8
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
        beq     s0, s0, bn_relu_next
bn_relu_pair:                           # 16 rows: neither waits for its own results
        vl      left, 8
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
bn_relu_next:
        mul     tmp, left, pitch        # the last step went up to 7 rows too far
        add     tmp, tmp, gap
        add     src, src, tmp
        add     dst, dst, tmp
        addi    images, images, -1
        bne     images, s0, bn_relu_image
        halt

# Sums of g and of g * xhat.
.reads  ub[wide, 4*cols, 3 x wide_row]
.reads  ub[src, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.reads  ub[da, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.writes ub[wide + 5*wide_row, 4*cols, 16 x wide_row]
.cycles 60 + 32*images*((rows + 7)/8)
bn_back_collect:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld32    v2, wide, s0
        add     at, wide, wide_row
        ld32    v10, at, s0
        add     at, at, wide_row
        ld32    v3, at, s0
        li      tmp, 8
        vl      tmp
        mul     tmp, tmp, wide_row
        slli    at, wide_row, 2
        add     at, at, wide_row
        add     at, at, wide            # partial sums
        ld32    v0, at, wide_row
        add     tmp, at, tmp
        ld32    v8, tmp, wide_row
        iadd    v16, v0, s0
        iadd    v24, v8, s0
        slli    step, pitch, 3
bn_back_collect_image:
        add     left, rows, s0
bn_back_collect_rows:
        vl      left, 8
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
        vl      tmp, 8
        ld16    v5, src, pitch
        ld16    v13, da, pitch
        add     src, src, step
        add     da, da, step
        fsub    v21, v5, v2.0
        vl      left, 8
        fmul    v25, v17, v10.0
        vl      tmp, 8
        fmul    v29, v21, v10.0
        vl      left, 8
        fadd    v18, v25, v3.0
        vl      tmp, 8
        fadd    v22, v29, v3.0
        vl      left, 8
        flt     v26, s0, v18
        vl      tmp, 8
        flt     v30, s0, v22
        vl      left, 8
        iand    v19, v9, v26
        vl      tmp, 8
        iand    v23, v13, v30
        vl      left, 8
        fadd    v16, v16, v19
        fma     v24, v19, v25, v24
        vl      tmp, 8
        fadd    v16, v16, v23
        fma     v24, v23, v29, v24
        addi    left, left, -16
        blt     s0, left, bn_back_collect_rows
bn_back_collect_next:
        mul     tmp, left, pitch        # the last step went up to 7 rows too far
        add     tmp, tmp, gap
        add     src, src, tmp
        add     da, da, tmp
        addi    images, images, -1
        bne     images, s0, bn_back_collect_image
        li      tmp, 8
        vl      tmp
        slli    at, wide_row, 2
        add     at, at, wide_row
        add     at, at, wide
        st32    v16, at, wide_row
        slli    tmp, wide_row, 3
        add     tmp, at, tmp
        st32    v24, tmp, wide_row
        halt

# dz = bf16((g - mb - xhat * mx) * inv).
.reads  ub[wide, 4*cols, 5 x wide_row]
.reads  ub[src, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.reads  ub[da, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.writes ub[dst, 2*cols, rows x pitch, images x (rows*pitch + gap)]
.cycles 10 + 60*images*((rows + 7)/8)
bn_back_apply:
        lanes   cols
        li      tmp, 1
        vl      tmp
        ld32    v2, wide, s0
        add     at, wide, wide_row
        ld32    v10, at, s0
        add     at, at, wide_row
        ld32    v3, at, s0
        add     at, at, wide_row
        ld32    v11, at, s0
        add     at, at, wide_row
        ld32    v4, at, s0
        slli    step, pitch, 3
bn_back_apply_image:
        add     left, rows, s0
bn_back_apply_rows:
        addi    tmp, left, -15
        blt     s0, tmp, bn_back_apply_pair
        vl      left, 8
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
        beq     s0, s0, bn_back_apply_next
bn_back_apply_pair:                     # 16 rows: neither waits for its own results
        vl      left, 8
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
bn_back_apply_next:
        mul     tmp, left, pitch        # the last step went up to 7 rows too far
        add     tmp, tmp, gap
        add     src, src, tmp
        add     da, da, tmp
        add     dst, dst, tmp
        addi    images, images, -1
        bne     images, s0, bn_back_apply_image
        halt
