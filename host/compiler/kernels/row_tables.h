// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where the pieces of windows lie in a tensor in HBM: tables of the first beat
// of each piece, for indexed loads and stores, and of the bytes from there to
// the piece. The vector unit computes them from the windows' starts.
//
//   RowTables tables(node, preset);     // sizes
//   tables.Place(builder);              // buffers
//   tables.AddCode(copier, words);
//   tables.Run(copier, builder);        // after builder.SetCode
//   builder.LoadRows(0, 0, ub, tables.span(), {n, tables.beats().at, ...});
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ROW_TABLES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ROW_TABLES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/windows.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

class RowTables {
 public:
  // Of a gather, a slice or a dynamic_update_slice.
  RowTables(const ir::Node& node, const Preset& preset);

  // Cuts pieces of more than `most` beats into equal ones, of at least `least`.
  void CutPieces(int64_t most, int64_t least);
  // ResourceExhausted: too many pieces, an operand of 2 GB or more, or of fewer
  // beats than a piece may lie in.
  absl::Status Check() const;

  int64_t count() const { return pieces_.count(); }
  int64_t bytes() const { return pieces_.elements * size_; }  // of a piece
  // All pieces begin at multiples of so many bytes, at most a beat.
  int64_t granule() const { return granule_; }
  // Pieces begin with a beat, and are whole beats if there are several.
  bool whole() const {
    return granule_ == beat_ && (bytes() % beat_ == 0 || count() == 1);
  }
  // Bytes of the beats that a piece may lie in; of whole ones, of a piece.
  int64_t span() const;
  // Bytes that a lane moves: 4, 2 or 1.
  int64_t unit() const;
  Storage storage() const;
  // Bytes between the first bytes of any two pieces, at least.
  int64_t distance() const;

  // Tables of all pieces; shifts: unless they are whole.
  const KernelBuilder::Bytes& beats() const { return beats_; }
  const KernelBuilder::Bytes& shifts() const { return shifts_; }

  // Reserves buffers but those of the data.
  void Place(KernelBuilder& builder);
  // Words for LoadData, which must be in the unified buffer at `at` for Run.
  const std::vector<uint32_t>& data() const { return data_; }
  absl::Status AddCode(std::vector<uint64_t>& words,
                       const KernelBuilder::Bytes& data);
  // Loads the starts and makes the tables.
  absl::Status Run(const BufferCopier& copier, KernelBuilder& builder);

 private:
  void Measure();

  const ir::Node& node_;
  const Preset& preset_;
  const size_t first_;  // operand with starts
  const Windows windows_;
  WindowPieces pieces_;
  const int64_t size_, beat_;
  int64_t granule_ = 1;
  std::vector<uint32_t>
      data_;  // bytes from the starts' addresses to the pieces
  std::vector<KernelBuilder::Bytes> numbers_, starts_;
  KernelBuilder::Bytes beats_ = {}, shifts_ = {}, data_at_ = {};
  int pc_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ROW_TABLES_H_
