# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Max and average pool of a bf16 image (docs/training.md), at most L channels: a rectangle of windows that have the same taps inside the image,
# up to eight windows of a line at a time. Positions are rows, `pitch` apart in the image and in the pooled one.

.arg full         # s1: byte address of the first window's first tap; max_pool_choice: of its last one
.arg pooled       # s2: of the first window's result
.arg pitch        # s3
.arg row_skip     # s4: bytes from behind a window's row of taps to its next row
.arg step         # s5: from a window to the next, in `full`
.arg line_skip    # s6: from behind the last eight windows of a line to the next line, in `full`
.arg pooled_skip  # s7: the same in `pooled`
.arg size         # s8: lines << 16 | windows of a line
.arg taps         # s9: rows << 16 | taps of a row
.arg cols         # s10
.arg more         # s11: average_pool: 1 / taps; max_pool_choice: address of a window's choice - 2 * that of its result
.arg index        # s12: max_pool_choice: bytes from a window's origin, which may lie outside the image, to its last tap
.reg width s8
.reg lines s10
.reg kx s12
.reg tap s13
.reg left s14
.reg ky s15

.reads  ub[full, (size%65536 - 1)*step + ((taps%65536) - 1)*pitch + 2*cols, (taps/65536) x ((taps%65536)*pitch + row_skip), size/65536 x (((size%65536 + 7)/8*8)*step + line_skip)]
.writes ub[pooled, 2*cols, size%65536 x pitch, size/65536 x (((size%65536 + 7)/8*8)*pitch + pooled_skip)]
.cycles 20 + (size/65536)*((size%65536 + 7)/8)*(18 + 9*(taps%65536)*(taps/65536))
max_pool:
        lanes   cols
        srli    lines, size, 16
        slli    width, size, 16
        srli    width, width, 16
max_pool_line:
        add     left, width, s0
max_pool_group:
        vl      left, 8
        li      tap, 0xFF800000
        ior     v24, tap, s0
        add     tap, full, s0
        srli    ky, taps, 16
max_pool_row:
        slli    kx, taps, 16
        srli    kx, kx, 16
max_pool_tap:
        ld16    v0, tap, step
        fmax    v24, v24, v0
        add     tap, tap, pitch
        addi    kx, kx, -1
        bne     kx, s0, max_pool_tap
        add     tap, tap, row_skip
        addi    ky, ky, -1
        bne     ky, s0, max_pool_row
        st16    v24, pooled, pitch
        slli    tap, step, 3
        add     full, full, tap
        slli    tap, pitch, 3
        add     pooled, pooled, tap
        addi    left, left, -8
        blt     s0, left, max_pool_group
        add     full, full, line_skip
        add     pooled, pooled, pooled_skip
        addi    lines, lines, -1
        bne     lines, s0, max_pool_line
        halt

.reads  ub[full, (size%65536 - 1)*step + ((taps%65536) - 1)*pitch + 2*cols, (taps/65536) x ((taps%65536)*pitch + row_skip), size/65536 x (((size%65536 + 7)/8*8)*step + line_skip)]
.writes ub[pooled, 2*cols, size%65536 x pitch, size/65536 x (((size%65536 + 7)/8*8)*pitch + pooled_skip)]
.cycles 20 + (size/65536)*((size%65536 + 7)/8)*(18 + 9*(taps%65536)*(taps/65536))
average_pool:
        lanes   cols
        srli    lines, size, 16
        slli    width, size, 16
        srli    width, width, 16
average_pool_line:
        add     left, width, s0
average_pool_group:
        vl      left, 8
        ior     v24, s0, s0
        add     tap, full, s0
        srli    ky, taps, 16
average_pool_row:
        slli    kx, taps, 16
        srli    kx, kx, 16
average_pool_tap:
        ld16    v0, tap, step
        fadd    v24, v24, v0
        add     tap, tap, pitch
        addi    kx, kx, -1
        bne     kx, s0, average_pool_tap
        add     tap, tap, row_skip
        addi    ky, ky, -1
        bne     ky, s0, average_pool_row
        fmul    v16, v24, more
        st16    v16, pooled, pitch
        slli    tap, step, 3
        add     full, full, tap
        slli    tap, pitch, 3
        add     pooled, pooled, tap
        addi    left, left, -8
        blt     s0, left, average_pool_group
        add     full, full, line_skip
        add     pooled, pooled, pooled_skip
        addi    lines, lines, -1
        bne     lines, s0, average_pool_line
        halt

# Which position each window's gradient goes to: the first tap that equals the result, as int32 bytes from the window's origin. Choices lie
# 2 * pitch apart. Taps go from the last to the first, so the first one stays; no tap at all (a NaN) leaves an odd distance.
.reg c s15        # taps left: rows << 16 | taps of the row
.reg tmp s12
.reads  ub[full - ((taps/65536) - 1)*((taps%65536)*pitch + row_skip) - ((taps%65536) - 1)*pitch, (size%65536 - 1)*step + ((taps%65536) - 1)*pitch + 2*cols, (taps/65536) x ((taps%65536)*pitch + row_skip), size/65536 x (((size%65536 + 7)/8*8)*step + line_skip)]
.reads  ub[pooled, 2*cols, size%65536 x pitch, size/65536 x (((size%65536 + 7)/8*8)*pitch + pooled_skip)]
.writes ub[2*pooled + more, 4*cols, size%65536 x 2*pitch, size/65536 x 2*(((size%65536 + 7)/8*8)*pitch + pooled_skip)]
.cycles 20 + (size/65536)*((size%65536 + 7)/8)*(24 + 12*(taps%65536)*(taps/65536))
max_pool_choice:
        lanes   cols
        mov     v32, index
        srli    lines, size, 16
        slli    width, size, 16
        srli    width, width, 16
max_pool_choice_line:
        add     left, width, s0
max_pool_choice_group:
        vl      left, 8
        ld16    v8, pooled, pitch
        addi    tap, full, 1
        ior     v24, tap, s0
        add     tap, full, s0
        add     c, taps, s0
max_pool_choice_tap:
        ld16    v0, tap, step
        feq     v16, v0, v8
        sel     v24, v16, tap, v24
        sub     tap, tap, pitch
        addi    c, c, -1
        slli    tmp, c, 16
        bne     tmp, s0, max_pool_choice_tap
        sub     tap, tap, row_skip
        addi    c, c, -65536
        beq     c, s0, max_pool_choice_store
        slli    tmp, taps, 16
        srli    tmp, tmp, 16
        add     c, c, tmp
        beq     s0, s0, max_pool_choice_tap
max_pool_choice_store:
        isub    v17, v24, full
        iadd    v25, v17, v32
        slli    tap, pooled, 1
        add     tap, tap, more
        slli    tmp, pitch, 1
        st32    v25, tap, tmp
        slli    tap, step, 3
        add     full, full, tap
        slli    tap, pitch, 3
        add     pooled, pooled, tap
        addi    left, left, -8
        blt     s0, left, max_pool_choice_group
        add     full, full, line_skip
        add     pooled, pooled, pooled_skip
        addi    lines, lines, -1
        bne     lines, s0, max_pool_choice_line
        halt
