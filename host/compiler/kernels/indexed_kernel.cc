// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/indexed_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/scatter_code.h"
#include "host/compiler/kernels/window_starts.h"
#include "host/compiler/kernels/windows.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using ir::ElementType;
using ir::Ints;
using ir::Node;
using vpu::Op;

class Indexed {
 public:
  Indexed(const Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        windows_(WindowsOf(node)),
        offsets_(windows_.Offsets()),
        count_(windows_.count()),
        size_(ir::ElementBytes(node.type.element)) {}

  absl::StatusOr<KernelProgram> Compile() {
    PlaceAll();
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int64_t bytes = node_.operands[i].type().bytes();
      if (bytes > 0)
        builder_.Load(static_cast<int>(i), 0, operands_[i].at, bytes);
    }
    if (!offsets_.empty()) builder_.LoadData(Behind(), behind_.at);
    const bool any = count_ * windows_.elements() > 0;
    if (any) {
      if (absl::Status s = MakeTable(); !s.ok()) return s;
      if (absl::Status s = WalkWindows(); !s.ok()) return s;
      if (!linear_step_) {
        if (absl::Status s = Reorder(); !s.ok()) return s;
      }
    }
    builder_.Store(static_cast<int>(operands_.size()), 0, result_.at,
                   node_.type.bytes());
    return builder_.Finish();
  }

 private:
  void PlaceAll() {
    for (const ir::Value& operand : node_.operands)
      operands_.push_back(builder_.Place(
          "operand", operand.type().bytes() + preset_.word_bytes()));
    result_ = builder_.Place("result", node_.type.bytes());
    for (size_t i = 0; i < windows_.starts.size(); ++i)
      starts_.push_back(builder_.Place("starts", 4 * count_));
    table_ = builder_.Place("table", 4 * count_);
    behind_ =
        builder_.Place("behind", 4 * static_cast<int64_t>(offsets_.size()));
    // Windows that are not at a constant distance in the result are copied
    // there from a line of them.
    Ints dense = ir::StridesOf(windows_.batch);
    std::optional<int64_t> step;
    bool linear = true;
    for (size_t i = 0; i < dense.size(); ++i) {
      if (windows_.batch[i] == 1) continue;
      const int64_t stride = windows_.other_strides[i];
      if (!step) step = stride / dense[i];
      linear = linear && stride == *step * dense[i];
    }
    if (linear) {
      linear_step_ = step.value_or(0);
      line_ = result_;
    } else {
      line_ = builder_.Place("windows", count_ * windows_.elements() * size_);
    }
  }

  // Words or bytes are moved.
  Storage Moved() const {
    return size_ % 4 == 0 ? Storage::kWord : Storage::kByte;
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    LaneGraph addresses;
    LanePlaces places;
    std::optional<int64_t> offsets;
    if (!offsets_.empty()) offsets = behind_.at;
    const Lane address = addresses.Make(
        Op::kIadd,
        WindowAddress(addresses, places, node_, windows_, starts_, offsets),
        addresses.Constant(static_cast<uint32_t>(operands_[0].at)));
    places.stores.push_back({table_.at, 0});
    absl::StatusOr<LaneCode> code = AppendCode(
        addresses, {{address, Storage::kWord}}, places, preset_, words);
    if (!code.ok()) return code.status();
    table_pc_ = code->main;
    const Storage storage = Moved();
    LaneGraph graph;
    places = {};
    places.operands = {{{0, 0}, 0, 0}};
    places.stores = {{0, 1}};
    const LaneStore store = {graph.Load({0, storage, Pattern::kStream}),
                             storage};
    code = AppendCode(graph, {store}, places, preset_, words, Loop::kPlaces);
    if (!code.ok()) return code.status();
    walk_pc_ = code->main;
    for (const ir::Value& operand : node_.operands)
      builder_.AddOperand(operand.type().bytes());
    builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  std::vector<uint32_t> Behind() const {
    std::vector<uint32_t> bytes;
    for (const int64_t elements : offsets_)
      bytes.push_back(static_cast<uint32_t>(elements * size_));
    return bytes;
  }

  absl::Status MakeTable() {
    std::vector<Bytes> reads = starts_;
    reads.push_back(behind_);
    for (size_t i = 0; i < starts_.size(); ++i) {
      const Windows::Start& s = windows_.starts[i];
      if (absl::Status status =
              CopyStarts(copier_, builder_, node_, s, operands_[s.operand],
                         starts_[i], windows_.batch, s.strides);
          !status.ok())
        return status;
    }
    RunOverNumbers(count_, preset_.cols, [&](const RowsRun& run) {
      builder_.Run(table_pc_, ArgumentsOf(run), reads, {table_}, 8 * run.rows);
    });
    return absl::OkStatus();
  }

  // Copies the line of windows into the result.
  absl::Status Reorder() {
    BufferCopy copy{line_.at,           result_.at, size_,
                    windows_.InOrder(), line_,      result_};
    for (CopyDimension& d : copy.dimensions) std::swap(d.from, d.to);
    return copier_.Copy(builder_, copy);
  }

  // Moves one part of all windows at a time.
  absl::Status WalkWindows() {
    std::vector<CopyDimension> dimensions = windows_.inside;
    if (!linear_step_) {
      Ints sizes;
      for (const CopyDimension& d : dimensions) sizes.push_back(d.size);
      const Ints dense = ir::StridesOf(sizes);
      for (size_t i = 0; i < sizes.size(); ++i) dimensions[i].to = dense[i];
    }
    const absl::StatusOr<std::vector<WindowPart>> parts =
        PartsOf(dimensions, size_, StorageBytes(Moved()), preset_.cols);
    if (!parts.ok()) return parts.status();
    for (const WindowPart& part : *parts) Walk(part);
    return absl::OkStatus();
  }

  void Walk(const WindowPart& part) {
    const int64_t step = linear_step_ ? *linear_step_ : windows_.elements();
    std::vector<int64_t> arguments(kPlaceOffset + 1);
    arguments[1] = line_.at + part.to;
    arguments[kTable] = table_.at;
    arguments[kRowCount] = part.rows;
    arguments[kStrides] = part.from_stride;
    arguments[kStrides + 1] = part.to_stride;
    arguments[kLinearStep] = step * size_;
    arguments[kLaneCount] = part.lanes;
    arguments[kPlaceCount] = count_;
    arguments[kPlaceOffset] = part.from;
    builder_.Run(walk_pc_, arguments, {table_, operands_[0]}, {line_},
                 30 * count_);
  }

  const Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const Windows windows_;
  const std::vector<int64_t> offsets_;  // of the windows, behind their starts
  const int64_t count_, size_;
  std::vector<Bytes> operands_, starts_;
  Bytes result_ = {}, table_ = {}, behind_ = {}, line_ = {};
  std::optional<int64_t> linear_step_;  // elements from one window to the next
  int table_pc_ = 0, walk_pc_ = 0;
};

}  // namespace

bool IsIndexed(const Node& node) {
  size_t first, end;
  switch (node.op) {
    case ir::Op::kHloGather:
      first = 1, end = 2;
      break;
    case ir::Op::kHloScatter: {
      if (node.operands.size() != 3) return false;
      if (!HasScatterCode(node)) return false;
      first = 1, end = 2;
      break;
    }
    case ir::Op::kHloDynamicSlice:
      first = 1, end = node.operands.size();
      break;
    case ir::Op::kHloDynamicUpdateSlice:
      first = 2, end = node.operands.size();
      break;
    default:
      return false;
  }
  if (node.results() != 1 || node.operands[0].type().elements() == 0)
    return false;
  for (size_t i = first; i < end; ++i) {
    const ElementType type = node.operands[i].type().element;
    if (!FitsLane(type) || ir::IsFloat(type) || type == ElementType::kBool)
      return false;
  }
  return ir::ElementBytes(node.type.element) <= 8;
}

absl::StatusOr<KernelProgram> CompileIndexed(const Node& node,
                                             const Preset& preset) {
  return Indexed(node, preset).Compile();
}

}  // namespace systole::lanes
