// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves the pieces of RowTables between the beats that they lie in, in rows of
// the unified buffer, and a line of pieces, by address, one after the other.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PIECE_WALK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PIECE_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/row_tables.h"
#include "host/compiler/kernels/windows.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

class PieceWalk {
 public:
  // into_rows: from the line into the rows.
  PieceWalk(const RowTables& tables, const Preset& preset, bool into_rows)
      : tables_(tables), preset_(preset), into_rows_(into_rows) {}

  // Reserves the places of so many pieces, the most of a run.
  void Place(KernelBuilder& builder, int64_t pieces);
  // Appends the words that must lie in the unified buffer from `bases` on.
  void AddData(std::vector<uint32_t>& data) const;
  absl::Status AddCode(std::vector<uint64_t>& words, int64_t bases);
  // The pieces from number `first` on. data: the buffer with the bases.
  void Run(KernelBuilder& builder, int64_t first, int64_t pieces,
           const KernelBuilder::Bytes& rows, const KernelBuilder::Bytes& line,
           const KernelBuilder::Bytes& data) const;

 private:
  const RowTables& tables_;
  const Preset& preset_;
  const bool into_rows_;
  KernelBuilder::Bytes places_ = {};
  int64_t most_ = 0;
  std::vector<WindowPart> parts_;  // of a piece
  int places_pc_ = 0, walk_pc_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PIECE_WALK_H_
