# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Elementwise functions that take more than one instruction: docs/numerics.md, "Exponential and logarithm". fp32, L lanes a row.

.arg src          # s1: byte address
.arg dst          # s2
.arg pitch        # s3: bytes from a row to the next
.arg rows         # s4
.reg step s5
.reg one s6
.reg two s7
.reg factor s8    # of the product's high part
.reg rest s9      # and of its low part
.reg slope s10
.reg low s11
.reg high s12
.reg limit s13

# dst = e^src.
.reads  ub[src, ROW, rows x pitch]
.writes ub[dst, ROW, rows x pitch]
.cycles 20 + 112*((rows + 7)/8)
exp:
        slli    step, pitch, 3
        li      one, 1.0
        li      two, 2.0
        li      factor, 0x3FB8AA3B      # log2(e)
        li      rest, 0x32A57060
        li      slope, 0xBF317218       # -ln(2)
        li      low, 0xC2DC0000         # -110
        li      high, 89.0
        li      limit, 64.0
exp_rows:
        vl      rows, 8
        ld32    v0, src, pitch
        fmin    v16, v0, high
        fmax    v16, v16, low           # x
        fmul    v24, v16, factor        # w
        fnma    v17, v16, factor, v24
        fnma    v17, v16, rest, v17     # r = w - x * log2(e)
        flt     v18, limit, v24
        sel     v19, v18, one, s0
        fsub    v25, v24, v19
        exp2    v32, v25                # y
        sel     v20, v18, two, one
        fmul    v26, v17, slope
        fma     v27, v32, v26, v32
        fmul    v21, v27, v20
        st32    v21, dst, pitch
        add     src, src, step
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, exp_rows
        halt

# dst = ln(src).
.reads  ub[src, ROW, rows x pitch]
.writes ub[dst, ROW, rows x pitch]
.cycles 15 + 34*((rows + 7)/8)
log:
        slli    step, pitch, 3
        li      factor, 0x3F317217      # ln(2), rounded down
        li      rest, 0x3377D1CF
log_rows:
        vl      rows, 8
        ld32    v0, src, pitch
        log2    v32, v0
        fmul    v16, v32, rest
        fma     v24, v32, factor, v16
        st32    v24, dst, pitch
        add     src, src, step
        add     dst, dst, step
        addi    rows, rows, -8
        blt     s0, rows, log_rows
        halt
