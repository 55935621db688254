# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Gradients of max and average pool (docs/training.md), at most L channels: a rectangle of positions, one in every `stride`, that lie in equally
# many windows, and at the same place in them. Each gathers what its windows give it, in the order of the windows; up to eight positions of a
# line at a time.

.arg to           # s1: byte address of the first position's gradient
.arg grad         # s2: of its first window's: bf16; average_pool_gradient: fp32, what average_share made
.arg more         # s3: max_pool_gradient: address of a window's choice - 2 * that of its gradient
.arg pitch        # s4: bytes from a window to the next
.arg pooled_line  # s5: from a line of windows to the next
.arg step         # s6: from a position of the rectangle to the next
.arg step_y       # s7: from a line of the rectangle to the next
.arg size         # s8: lines << 16 | positions of a line
.arg windows      # s9: lines << 16 | windows of a line; 0: none
.arg index        # s10: bytes from the first window's origin to the position; average_share: 1 / taps
.arg cols         # s11
.reg row_skip s5  # from behind a position's line of windows to its next line
.reg to_skip s7   # from behind the last eight positions of a line to the next line
.reg c s10        # windows left, as in `windows`
.reg twice s11
.reg grad_skip s12
.reg at s13
.reg left s14
.reg tmp s15

.reads  ub[grad, 2*cols, min(windows, 1)*(size%65536 + windows%65536 - 1) x pitch, (size/65536 + windows/65536 - 1) x pooled_line]
.reads  ub[2*grad + more, 4*cols, min(windows, 1)*(size%65536 + windows%65536 - 1) x 2*pitch, (size/65536 + windows/65536 - 1) x 2*pooled_line]
.writes ub[to, 2*cols, size%65536 x step, size/65536 x step_y]
.cycles 40 + (size/65536)*((size%65536 + 7)/8)*(24 + 18*(windows%65536)*(windows/65536))
max_pool_gradient:
        lanes   cols
        mov     v32, index
        mov     v33, step
        slli    twice, pitch, 1
        slli    tmp, windows, 16
        srli    tmp, tmp, 16
        mul     left, tmp, step
        sub     left, step_y, left
        mov     v34, left
        mul     at, tmp, pitch
        slli    left, size, 16
        srli    left, left, 16
        addi    left, left, 7
        srli    left, left, 3
        slli    left, left, 3
        mul     grad_skip, left, pitch
        sub     grad_skip, pooled_line, grad_skip
        sub     row_skip, pooled_line, at
        mul     tmp, left, step
        sub     to_skip, step_y, tmp
max_pool_gradient_line:
        slli    left, size, 16
        srli    left, left, 16
max_pool_gradient_group:
        vl      left, 8
        ior     v24, s0, s0
        iadd    v16, v32, s0            # from the window's origin to the position
        add     at, grad, s0
        add     c, windows, s0
        beq     c, s0, max_pool_gradient_store
max_pool_gradient_window:
        slli    tmp, at, 1
        add     tmp, tmp, more
        ld32    v0, tmp, twice
        ld16    v8, at, pitch
        ieq     v17, v0, v16
        iand    v25, v8, v17
        fadd    v24, v24, v25
        isub    v16, v16, v33
        add     at, at, pitch
        addi    c, c, -1
        slli    tmp, c, 16
        bne     tmp, s0, max_pool_gradient_window
        isub    v16, v16, v34
        add     at, at, row_skip
        addi    c, c, -65536
        beq     c, s0, max_pool_gradient_store
        slli    tmp, windows, 16
        srli    tmp, tmp, 16
        add     c, c, tmp
        beq     s0, s0, max_pool_gradient_window
max_pool_gradient_store:
        st16    v24, to, step
        slli    tmp, step, 3
        add     to, to, tmp
        slli    tmp, pitch, 3
        add     grad, grad, tmp
        addi    left, left, -8
        blt     s0, left, max_pool_gradient_group
        add     to, to, to_skip
        add     grad, grad, grad_skip
        addi    size, size, -65536
        srli    tmp, size, 16
        bne     tmp, s0, max_pool_gradient_line
        halt

# What a window gives to each of its taps, in fp32, 2 * pitch apart.
.reads  ub[grad, 2*cols, size%65536 x pitch, size/65536 x pooled_line]
.writes ub[to, 4*cols, size%65536 x 2*pitch, size/65536 x 2*pooled_line]
.cycles 20 + 18*(size/65536)*((size%65536 + 7)/8)
average_share:
        lanes   cols
        slli    twice, pitch, 1
        slli    left, size, 16
        srli    left, left, 16
        addi    left, left, 7
        srli    left, left, 3
        slli    left, left, 3
        mul     grad_skip, left, pitch
        sub     grad_skip, pooled_line, grad_skip
average_share_line:
        slli    left, size, 16
        srli    left, left, 16
average_share_group:
        vl      left, 8
        ld16    v0, grad, pitch
        fmul    v16, v0, index
        st32    v16, to, twice
        slli    tmp, pitch, 3
        add     grad, grad, tmp
        slli    tmp, pitch, 4
        add     to, to, tmp
        addi    left, left, -8
        blt     s0, left, average_share_group
        add     grad, grad, grad_skip
        slli    tmp, grad_skip, 1
        add     to, to, tmp
        addi    size, size, -65536
        srli    tmp, size, 16
        bne     tmp, s0, average_share_line
        halt

.reads  ub[grad, 4*cols, min(windows, 1)*(size%65536 + windows%65536 - 1) x pitch, (size/65536 + windows/65536 - 1) x pooled_line]
.writes ub[to, 2*cols, size%65536 x step, size/65536 x step_y]
.cycles 30 + (size/65536)*((size%65536 + 7)/8)*(20 + 11*(windows%65536)*(windows/65536))
average_pool_gradient:
        lanes   cols
        slli    tmp, windows, 16
        srli    tmp, tmp, 16
        mul     at, tmp, pitch
        slli    left, size, 16
        srli    left, left, 16
        addi    left, left, 7
        srli    left, left, 3
        slli    left, left, 3
        mul     grad_skip, left, pitch
        sub     grad_skip, pooled_line, grad_skip
        sub     row_skip, pooled_line, at
        mul     tmp, left, step
        sub     to_skip, step_y, tmp
average_pool_gradient_line:
        slli    left, size, 16
        srli    left, left, 16
average_pool_gradient_group:
        vl      left, 8
        ior     v24, s0, s0
        add     at, grad, s0
        add     c, windows, s0
        beq     c, s0, average_pool_gradient_store
average_pool_gradient_window:
        ld32    v0, at, pitch
        fadd    v24, v24, v0
        add     at, at, pitch
        addi    c, c, -1
        slli    tmp, c, 16
        bne     tmp, s0, average_pool_gradient_window
        add     at, at, row_skip
        addi    c, c, -65536
        beq     c, s0, average_pool_gradient_store
        slli    tmp, windows, 16
        srli    tmp, tmp, 16
        add     c, c, tmp
        beq     s0, s0, average_pool_gradient_window
average_pool_gradient_store:
        st16    v24, to, step
        slli    tmp, step, 3
        add     to, to, tmp
        slli    tmp, pitch, 3
        add     grad, grad, tmp
        addi    left, left, -8
        blt     s0, left, average_pool_gradient_group
        add     to, to, to_skip
        add     grad, grad, grad_skip
        addi    size, size, -65536
        srli    tmp, size, 16
        bne     tmp, s0, average_pool_gradient_line
        halt
