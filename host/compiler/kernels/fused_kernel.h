// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernel of several stages (a product of matrices, graphs of lanes, reductions,
// copies), between which values stay in the unified buffer.
//
// The values are cut into rows: a stage makes the rows of its results of the
// same rows of its operands. So all stages process a block of rows, while DMA
// loads the next block and stores the one before.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSED_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSED_KERNEL_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/move_pieces.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct FusedSpec {
  struct Value {
    int64_t bytes = 0;
    // Rows of it belong to rows of other values; otherwise all of it belongs to
    // each row.
    bool by_rows = false;
    bool loaded = false, stored = false;  // operand, result of the program
    bool by_stage = false;  // an operand that a stage loads itself
  };

  // A graph over values with as many elements.
  struct Lanes {
    int64_t elements = 0;  // of all rows
    struct Operand {       // that the graph loads, by number
      int value;
      Storage storage;
      Pattern pattern;
      // One element for all chunks of a line, which is there once; a line for
      // all lines.
      bool of_line = false, once = false, is_line = false;
    };
    std::vector<Operand> operands;
    LaneGraph graph;
    std::vector<LaneStore> stores;
    std::vector<int> results;  // values
    // The same with guards, if that is shorter; else without stores.
    LaneGraph guarded;
    std::vector<LaneStore> guarded_stores;
    bool guards() const { return !guarded.guards().empty(); }
    // Elements of a line, if the code goes by lines (line_graph.h), and of the
    // parts of a line that it takes together, chunks; else 0.
    int64_t line = 0, chunk = 0;
    // Reductions by one operation: the lanes that are reduced. Results may then
    // be missing.
    struct Fold {
      const ir::Node* node;
      Lane lane = -1, guarded = -1;
      int first = 0, result = 0;  // values
      // Of columns: the chunks of a line become the first chunk of the result's
      // line. There is no first value.
      bool columns = false;
    };
    std::vector<Fold> folds;
  };
  // A reduction by one operation.
  struct Reduce {
    const ir::Node* node;
    int operand, first, result;
    int64_t left = 0;  // elements of each result, if a stage before has folded
  };
  // Boxes within a row of the result, from rows of operands by rows.
  struct Copy {
    int64_t element_bytes;
    std::vector<Piece> pieces;
    std::vector<int> operands;
    int result;
  };
  // A product of matrices on the array, at most one; its lines are cut into
  // rows.
  struct Product {
    const ir::Node* node;
    int left, right, result;
  };
  using Stage = std::variant<Lanes, Reduce, Copy, Product>;

  int64_t rows = 1;
  // How rows are cut into blocks. Many blocks hide more of the first load and
  // the last store, few have fewer runs. With halves at both ends, less is
  // loaded before the first run and stored behind the last one.
  int64_t most_blocks = 16;
  bool half_ends = false;
  std::vector<Value> values;
  std::vector<Stage> stages;
};

// Operands of the program: the loaded values and those of stages, then the
// stored ones. Errors: ResourceExhausted (registers, instruction memory,
// unified buffer): there are too many stages, or a graph must be divided.
absl::StatusOr<KernelProgram> CompileFused(const FusedSpec& spec,
                                           const Preset& preset,
                                           int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSED_KERNEL_H_
