// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A piece's elements in the operand as runs of whole beats with strides, as DMA
// walks over them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MOVE_BOXES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MOVE_BOXES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/move_pieces.h"

namespace systole::lanes {

struct BoxRuns {
  int64_t run = 0, bytes = 0;                  // of one run, of all
  std::vector<KernelBuilder::Repeat> repeats;  // at most two
};

// Nothing if runs, or distances between them, are no whole beats.
std::optional<BoxRuns> RunsOf(const Piece& piece, int64_t element_bytes,
                              int64_t beat);
// The piece's dimensions, read from where such runs have been loaded.
std::vector<CopyDimension> Packed(std::vector<CopyDimension> dimensions);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MOVE_BOXES_H_
