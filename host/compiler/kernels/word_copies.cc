// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/word_copies.h"

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_memory.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

// Walks.
enum { kFrom, kTo };

}  // namespace

// A truth value is a byte in memory and a mask as a word.
bool WordCopies::AreWords(ir::ElementType type) {
  return ir::ElementBytes(type) == kWord;
}

absl::Status WordCopies::AddCode(std::vector<uint64_t>& words,
                                 const std::vector<ir::ElementType>& types) {
  for (const ir::ElementType type : types) {
    if (AreWords(type) || to_words_.count(type) > 0) continue;
    for (const bool back : {false, true}) {
      LaneGraph graph;
      const Storage storage = StorageOf(type);
      const Storage from = back ? Storage::kWord : storage;
      const Lane lane = graph.Load({0, from, Pattern::kStream});
      const LaneStore store = back ? ToMemory(graph, type, lane, /*bits=*/true)
                                   : LaneStore{FromMemory(graph, type, lane)};
      LanePlaces places;
      places.operands.push_back({{0, kFrom}, 0, 0});
      places.stores.push_back({0, kTo});
      const absl::StatusOr<LaneCode> code =
          Emit(graph, {store}, places, preset_, static_cast<int>(words.size()));
      if (!code.ok()) return code.status();
      words.insert(words.end(), code->words.begin(), code->words.end());
      (back ? from_words_ : to_words_)[type] = code->main;
    }
  }
  return absl::OkStatus();
}

void WordCopies::Dense(KernelBuilder& builder, int pc, const Bytes& from,
                       int64_t from_size, const Bytes& to, int64_t to_size,
                       int64_t count) const {
  const int64_t cols = preset_.cols;
  RowsRun run;
  run.stride[kFrom] = cols * from_size;
  run.stride[kTo] = cols * to_size;
  const auto start = [&](int64_t first, int64_t rows, int64_t lanes) {
    run.place[kFrom] = from.at + first * from_size;
    run.place[kTo] = to.at + first * to_size;
    run.rows = rows;
    run.lanes = lanes;
    builder.Run(pc, ArgumentsOf(run), {from}, {to}, 2 * rows);
  };
  if (count >= cols) start(0, count / cols, cols);
  if (count % cols > 0) start(count / cols * cols, 1, count % cols);
}

void WordCopies::ToWords(KernelBuilder& builder, ir::ElementType type,
                         const Bytes& from, const Bytes& to,
                         int64_t count) const {
  Dense(builder, to_words_.at(type), from, ir::ElementBytes(type), to, kWord,
        count);
}

void WordCopies::FromWords(KernelBuilder& builder, ir::ElementType type,
                           const Bytes& from, const Bytes& to,
                           int64_t count) const {
  Dense(builder, from_words_.at(type), from, kWord, to, ir::ElementBytes(type),
        count);
}

}  // namespace systole::lanes
