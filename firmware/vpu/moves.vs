# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Accumulator rows to an image; transposes of small bf16 matrices; weights for several positions.

.arg src          # s1: accumulator row, or byte address of the first stored row
.arg dst          # s2
.arg pitch        # s3: bytes from a position of dst to the next
.arg line_pitch   # s4: bytes from a line of dst to the next
.arg width        # s5: positions of a line
.arg lines        # s6
.arg cols         # s7: lanes of dst
.arg src_pitch    # s8
.arg src_cols     # s9: lanes of src
.arg copies       # s10
.arg copy_pitch   # s11: bytes from a copy to the next
.reg one s12
.reg tmp s12
.reg at s13
.reg step s14
.reg left s15

# Positions of a line `pitch` apart, lines `line_pitch` apart; bf16.
.reads  acc[src, lines*width]
.writes ub[dst, 2*cols, width x pitch, lines x line_pitch]
.cycles 10 + 16*lines*((width + 7)/8)
acc_image:
        li      one, 1
        lanes   cols
        slli    step, pitch, 3
acc_image_line:
        add     left, width, s0
        add     at, dst, s0
acc_image_rows:
        vl      left, 8
        ldacc   v0, src, one
        st16    v0, at, pitch
        addi    src, src, 8
        add     at, at, step
        addi    left, left, -8
        blt     s0, left, acc_image_rows
        add     src, src, left
        add     dst, dst, line_pitch
        addi    lines, lines, -1
        bne     lines, s0, acc_image_line
        halt

# dst (src_cols x L) = transpose of src (cols x src_cols), with zeros in the lanes from `cols` on.
.reads  ub[src, 2*src_cols, cols x src_pitch]
.writes ub[dst, 2*L, src_cols x pitch]
.cycles 20 + 2*L
transpose:
        lanes   src_cols
        mov     v32, s0                 # eight rows, before the first vl
        li      left, L
        add     tmp, cols, s0
        slli    step, src_pitch, 3
transpose_push:
        vl      tmp, 8
        ld16    v0, src, src_pitch
        tpush   v0
        add     src, src, step
        addi    tmp, tmp, -8
        blt     s0, tmp, transpose_push
        sub     left, left, cols        # rows of zeros up to L
        beq     left, s0, transpose_pop
transpose_zero:
        vl      left, 8
        tpush   v32
        addi    left, left, -8
        blt     s0, left, transpose_zero
transpose_pop:
        li      tmp, L
        lanes   tmp
        slli    step, pitch, 3
        add     tmp, src_cols, s0
transpose_pop_rows:
        vl      tmp, 8
        tpop    v33
        st16    v33, dst, pitch
        add     dst, dst, step
        addi    tmp, tmp, -8
        blt     s0, tmp, transpose_pop_rows
        halt

# +0 to `lines` rows of L words.
.writes ub[dst, lines*ROW]
.cycles 5 + lines
clear:
        mov     v32, s0
        li      step, ROW
clear_rows:
        vl      lines, 8
        st32    v32, dst, step
        addi    dst, dst, 8*ROW
        addi    lines, lines, -8
        blt     s0, lines, clear_rows
        halt

# `copies` (at most 8) of each row of src, which are `width` * `lines`: to rows of dst `pitch` apart, lines `line_pitch` apart; bf16.
.reads  ub[src, 2*cols, width*lines x src_pitch]
.writes ub[dst, 2*cols, copies x copy_pitch, width x pitch, lines x line_pitch]
.cycles 10 + 13*width*lines
spread:
        lanes   cols
        add     at, dst, s0
        add     left, width, s0
        li      tmp, 1
spread_row:
        vl      tmp
        ld16    v0, src, s0
        add     src, src, src_pitch
        vl      copies, 8
        mov     v32, v0.0
        st16    v32, at, copy_pitch
        add     at, at, pitch
        addi    left, left, -1
        bne     left, s0, spread_row
        add     dst, dst, line_pitch
        add     at, dst, s0
        add     left, width, s0
        addi    lines, lines, -1
        bne     lines, s0, spread_row
        halt
