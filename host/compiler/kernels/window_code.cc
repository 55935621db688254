// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_code.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"

namespace systole::lanes {

int64_t Product(const ir::Ints& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

Lane WindowCode::Element(Walk walk, int64_t at) {
  places_.operands.push_back({{at, walk}, 0, 0});
  const int operand = static_cast<int>(places_.operands.size()) - 1;
  return FromMemory(
      graph, element_,
      graph.Load({operand, StorageOf(element_), Pattern::kStream}));
}

Lane WindowCode::Word(Walk walk) {
  places_.operands.push_back({{0, walk}, 0, 0});
  const int operand = static_cast<int>(places_.operands.size()) - 1;
  return graph.Load({operand, Storage::kWord, Pattern::kStream});
}

void WindowCode::StoreElement(Lane lane, Walk walk) {
  stores_.push_back(ToMemory(graph, element_, lane));
  places_.stores.push_back({0, walk});
}

void WindowCode::StoreWord(Lane lane, Walk walk) {
  stores_.push_back({lane, Storage::kWord});
  places_.stores.push_back({0, walk});
}

absl::StatusOr<int> WindowCode::Append(std::vector<uint64_t>& words) {
  const absl::StatusOr<LaneCode> code =
      Emit(graph, stores_, places_, preset_, static_cast<int>(words.size()));
  if (!code.ok()) return code.status();
  words.insert(words.end(), code->words.begin(), code->words.end());
  row_cycles_ = std::max<int64_t>(1, std::llround(code->row_cycles));
  return code->main;
}

// The load of an element that is spread reads a whole row.
WindowedKernel::Bytes WindowedKernel::PlaceOf(int operand) {
  operands_.push_back(builder_.Place(
      "operand",
      node_.operands[operand].type().bytes() + preset_.word_bytes()));
  return operands_.back();
}

void WindowedKernel::Begin(std::vector<uint64_t> words, int operands) {
  for (int i = 0; i < operands; ++i)
    builder_.AddOperand(node_.operands[i].type().bytes());
  builder_.AddOperand(node_.type.bytes());
  builder_.SetCode(std::move(words));
  for (int i = 0; i < operands; ++i) {
    const int64_t bytes = node_.operands[i].type().bytes();
    if (operands_[i].count > 0) builder_.Load(i, 0, operands_[i].at, bytes);
  }
}

absl::Status WindowedKernel::Fill(const Bytes& element, const Bytes& to,
                                  int64_t bytes) {
  return copier_.Copy(
      builder_,
      {element.at, to.at, size_, {{bytes / size_, 0, 1}}, element, to});
}

absl::StatusOr<KernelProgram> WindowedKernel::Finish(int operands,
                                                     const Bytes& result) {
  builder_.Store(operands, 0, result.at, node_.type.bytes());
  return builder_.Finish();
}

}  // namespace systole::lanes
