// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_code.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"

namespace systole::lanes {
namespace {

// Of images, at least: loads and stores run beside the work on other blocks.
constexpr int64_t kBlocks = 8;
constexpr int64_t kMostBands = 64;  // of an image

}  // namespace

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

void WindowCode::StoreElement(Lane lane, Walk walk, int64_t at) {
  stores_.push_back(ToMemory(graph, element_, lane));
  places_.stores.push_back({at, walk});
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

int64_t ImagesOf(const ir::Node& node) {
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const ir::Ints& shape = node.type.shape;
  const bool apart = shape.size() > 1 && a.window[0] == 1 && a.stride[0] == 1 &&
                     a.base_dilation[0] == 1 && a.low[0] == 0 && a.high[0] == 0;
  return apart ? shape[0] : 1;
}

std::vector<WindowCut> CutsOf(const ir::Node& node, const Preset& preset) {
  const int64_t images = ImagesOf(node);
  std::vector<const ir::Type*> types = {&node.type};
  for (const ir::Value& operand : node.operands) {
    if (!operand.type().shape.empty()) types.push_back(&operand.type());
  }
  int64_t unit = 1;  // images that are whole beats of all of them
  for (const ir::Type* type : types) {
    const int64_t bytes = type->bytes() / images, beat = preset.beat_bytes();
    unit = std::lcm(unit, beat / std::gcd(beat, bytes));
  }
  std::vector<WindowCut> cuts;
  for (const int64_t sets : {2, 1}) {
    int64_t before = images;
    for (int64_t count = std::min(kBlocks, images); count <= images;
         count *= 2) {
      const int64_t block =
          compiler::RoundUp(compiler::CeilDiv(images, count), unit);
      if (block < before) cuts.push_back({block, sets});
      before = std::min(before, block);
    }
  }
  for (int64_t bands = 2; bands <= kMostBands && unit == 1; bands *= 2) {
    for (const int64_t sets : {2, 1}) cuts.push_back({1, sets, bands});
  }
  return cuts;
}

// The load of an element that is spread reads a whole row.
WindowedKernel::Bytes WindowedKernel::PlaceOf(const ir::Type& type,
                                              const char* name) {
  return builder_.Place(name, BytesOf(type, block_) + preset_.word_bytes());
}

void WindowedKernel::Begin(std::vector<uint64_t> words) {
  for (const ir::Value& operand : node_.operands)
    builder_.AddOperand(operand.type().bytes());
  builder_.AddOperand(node_.type.bytes());
  builder_.SetCode(std::move(words));
}

void WindowedKernel::LoadBlock(int operand, int64_t first, int64_t images,
                               int64_t at) {
  const ir::Type& type = node_.operands[operand].type();
  builder_.Load(operand, type.shape.empty() ? 0 : BytesOf(type, first), at,
                BytesOf(type, images));
}

absl::Status WindowedKernel::Fill(const Bytes& element, const Bytes& to,
                                  int64_t bytes) {
  return copier_.Copy(
      builder_,
      {element.at, to.at, size_, {{bytes / size_, 0, 1}}, element, to});
}

void WindowedKernel::StoreBlock(const Bytes& result, int64_t first,
                                int64_t images) {
  builder_.Store(static_cast<int>(node_.operands.size()),
                 BytesOf(node_.type, first), result.at,
                 BytesOf(node_.type, images));
}

}  // namespace systole::lanes
