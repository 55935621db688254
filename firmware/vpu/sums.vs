# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Sums of outputs, or of gradients, of layers (docs/training.md). The last of all files: a step without sums leaves it out.

.arg src          # s1
.arg other        # s2
.arg dst          # s3
.arg pitch        # s4: bytes from a row to the next, of all three
.arg rows         # s5
.arg cols         # s6: lanes
.reg step s7

# dst = bf16(src + other), which are bf16.
.reads  ub[src, 2*cols, rows x pitch]
.reads  ub[other, 2*cols, rows x pitch]
.writes ub[dst, 2*cols, rows x pitch]
.cycles 10 + 5*rows/2
sum_images:
        lanes   cols
        slli    step, pitch, 3
sum_images_rows:
        vl      rows, 8
        ld16    v0, src, pitch
        ld16    v8, other, pitch
        fadd    v16, v0, v8
        st16    v16, dst, pitch
        add     src, src, step
        add     other, other, step
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, sum_images_rows
        halt
