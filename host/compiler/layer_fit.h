// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Candidates for the placement of one layer: its buffers, the blocks that they
// allow, and the estimated cost.
#ifndef HOST_COMPILER_LAYER_FIT_H_
#define HOST_COMPILER_LAYER_FIT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "host/compiler/blocks.h"
#include "host/compiler/plan.h"
#include "host/compiler/pool_split.h"

namespace systole::compiler {

// What is fixed about a layer before its buffers are chosen.
struct LayerNeeds {
  Geometry g;
  bool matmul = false;  // has weights
  bool raw = false;
  bool table = false;
  bool parts = false;  // the inputs together have the geometry `g`
  bool loops = false;  // Plan::loops
  PoolSplit split;     // of a pool
  std::vector<bool>
      resident;  // of each input: it is in the unified buffer already
  bool operand_loaded = false;  // second operand of a joined addition
  bool stationary = false;      // requested: its blocks take each tile in turn
  // Requested: it runs between the blocks of the layer before.
  bool fused = false;
  int64_t between = 0;        // vector cycles of work between its own blocks
  bool out_resident = false;  // requested
  bool out_stored = false;
  int64_t in_channels = 0;  // channels that a slot holds at a time; 0 = all
  int64_t out_beats = 4;    // of a position that are stored at a time
  int64_t out_pitch = 0;    // of a resident output
  int64_t in_pitch = 0;     // of an input that is loaded whole
};

// One candidate: sizes to allocate, and the blocks.
struct LayerFit {
  std::vector<Block> blocks;
  std::vector<int64_t> in_bytes;  // 0 = resident
  bool in_slots = false;
  int64_t in_slot_pitch = 0;
  int64_t out_bytes = 0;      // of the resident tensor, or of a slot
  int64_t operand_bytes = 0;  // of a slot
  int64_t group_channels = 0;
  int64_t param_bytes = 0;
  bool params_whole = true;
  double score =
      0;  // estimated cycles, comparable between candidates of a layer
};

using LayerCandidate = std::pair<LayerNeeds, LayerFit>;

// Appends the candidates for a layer in `available` bytes. in_group: channels
// that slots of its input may hold at a time (LayerNeeds::in_channels); 0 =
// none.
void AddCandidates(const LayerNeeds& needs, const Preset& preset,
                   int64_t available, int64_t in_group,
                   std::vector<LayerCandidate>& candidates);

// Bytes of the smallest placement of the layer, for error messages.
int64_t SmallestBytes(const LayerNeeds& needs, const Preset& preset);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_FIT_H_
