# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# 2 x 2 max pool with stride 2 of a bf16 image, and its gradient (docs/training.md), at most L channels. Positions are rows, `pitch` apart in
# all tensors; those of a window are taken in the order (0, 0), (0, 1), (1, 0), (1, 1).

.arg full         # s1: byte address of the image's first position
.arg pooled       # s2: of the pooled image
.arg pitch        # s3
.arg line         # s4: bytes from a line of `full` to the next
.arg width        # s5: pooled positions of a line
.arg lines        # s6: pooled lines
.arg cols         # s7
.arg grad         # s8: gradient of `pooled`
.arg to           # s9: gradient of `full`
.reg twice s10    # bytes from a window to the next
.reg at s11
.reg tmp s12
.reg left s13

max_pool:
        lanes   cols
        slli    twice, pitch, 1
max_pool_line:
        add     left, width, s0
        add     at, full, s0
max_pool_rows:
        vl      left
        ld16    v0, at, twice
        add     tmp, at, pitch
        ld16    v8, tmp, twice
        add     tmp, at, line
        ld16    v1, tmp, twice
        add     tmp, tmp, pitch
        ld16    v9, tmp, twice
        fmax    v16, v0, v8
        fmax    v24, v1, v9
        fmax    v17, v16, v24
        st16    v17, pooled, pitch
        slli    tmp, twice, 3
        add     at, at, tmp
        slli    tmp, pitch, 3
        add     pooled, pooled, tmp
        addi    left, left, -8
        blt     s0, left, max_pool_rows
        mul     tmp, left, pitch        # a line's last step went up to 7 rows too far
        add     pooled, pooled, tmp
        slli    tmp, line, 1
        add     full, full, tmp
        addi    lines, lines, -1
        bne     lines, s0, max_pool_line
        halt

# A window's first position that holds its maximum takes the gradient, the others take 0.
max_pool_gradient:
        lanes   cols
        slli    twice, pitch, 1
        sub     to, to, full            # from a position of `full` to its gradient
max_pool_gradient_line:
        add     left, width, s0
        add     at, full, s0
max_pool_gradient_rows:
        vl      left
        ld16    v2, pooled, pitch
        ld16    v10, grad, pitch
        ld16    v0, at, twice
        add     tmp, at, pitch
        ld16    v8, tmp, twice
        add     tmp, at, line
        ld16    v1, tmp, twice
        add     tmp, tmp, pitch
        ld16    v9, tmp, twice
        feq     v16, v0, v2             # found so far
        iand    v24, v10, v16
        feq     v17, v8, v2
        ior     v18, v17, v16
        ixor    v25, v18, v16           # found here
        iand    v26, v10, v25
        feq     v19, v1, v2
        ior     v20, v19, v18
        ixor    v27, v20, v18
        iand    v28, v10, v27
        feq     v21, v9, v2
        ior     v22, v21, v20
        ixor    v29, v22, v20
        iand    v30, v10, v29
        add     tmp, at, to
        st16    v24, tmp, twice
        add     tmp, tmp, pitch
        st16    v26, tmp, twice
        sub     tmp, tmp, pitch
        add     tmp, tmp, line
        st16    v28, tmp, twice
        add     tmp, tmp, pitch
        st16    v30, tmp, twice
        slli    tmp, twice, 3
        add     at, at, tmp
        slli    tmp, pitch, 3
        add     pooled, pooled, tmp
        add     grad, grad, tmp
        addi    left, left, -8
        blt     s0, left, max_pool_gradient_rows
        mul     tmp, left, pitch
        add     pooled, pooled, tmp
        add     grad, grad, tmp
        slli    tmp, line, 1
        add     full, full, tmp
        addi    lines, lines, -1
        bne     lines, s0, max_pool_gradient_line
        halt
