// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_kernel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/window_code.h"
#include "host/compiler/kernels/window_reduction.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using vpu::Op;

constexpr int64_t kMostTaps = 1024;
constexpr Lane kNoLane = -1;

// The region's only operation, a comparison of its two parameters.
const Node* ComparisonOf(const ir::Module& region) {
  const std::vector<Node*> parameters = region.inputs();
  const Node* node = region.outputs[0].node.node;
  const bool plain = parameters.size() == 2 && region.nodes().size() == 3 &&
                     node->op == ir::Op::kHloCompare &&
                     node->operands[0] == parameters[0] &&
                     node->operands[1] == parameters[1];
  return plain ? node : nullptr;
}

class WindowSelection : WindowedKernel {
 public:
  WindowSelection(const Node& node, const Preset& preset, const WindowCut& cut)
      : WindowedKernel(node, preset, cut) {
    const auto none = [](int64_t v) { return v == 0; };
    inside_ = std::all_of(a_.low.begin(), a_.low.end(), none) &&
              std::all_of(a_.high.begin(), a_.high.end(), none);
    Ints tap(a_.window.size(), 0);
    for (int64_t t = 0; t < taps_; ++t, ir::Advance(a_.window, tap))
      places_.push_back(tap);
    while (rows_ + 1 < a_.window.size() && a_.window[rows_] == 1 &&
           a_.stride[rows_] == 1)
      ++rows_;
  }

  // First finds the tap that each window selects, then adds the sources at
  // these positions. With descending taps, a position adds its sources in
  // ascending order.
  absl::StatusOr<KernelProgram> Compile() {
    const std::vector<Block> blocks = Blocks();
    if (blocks.empty())
      return absl::ResourceExhaustedError("an image is too large");
    const Bytes initial = PlaceOf(node_.operands[2].type());
    const Bytes none = builder_.Place("none", preset_.word_bytes() + 4);
    int64_t elements = 0, windows = 0;  // of a block, at most
    for (const Block& block : blocks) {
      elements = std::max(elements, ElementsOf(block));
      windows = std::max(windows, WindowsOf(block));
    }
    const auto place = [&](const char* name, int64_t bytes) {
      return builder_.Place(name, bytes + preset_.word_bytes());
    };
    std::vector<Pass> selects = Selects(), adds = Adds();
    const bool keeps = !inside_ || selects.size() > 1;
    std::vector<Buffers> sets;
    for (int64_t set = 0; set < sets_; ++set) {
      sets.push_back({place("operand", elements * size_),
                      place("source", windows * size_),
                      builder_.Place("kept", keeps ? windows * size_ : 1),
                      builder_.Place("chosen", 4 * windows),
                      place("result", elements * size_)});
    }
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    for (Pass& pass : selects) {
      const bool first = &pass == &selects[0], last = &pass == &selects.back();
      if (absl::Status s = SelectCode(first, last, pass, words); !s.ok())
        return s;
    }
    for (Pass& pass : adds) {
      if (absl::Status s = AddCode(pass, words); !s.ok()) return s;
    }
    WindowCode stores(preset_, element_);
    stores.StoreElement(stores.Element(WindowCode::kInside),
                        WindowCode::kWindow);
    const absl::StatusOr<int> again = stores.Append(words);
    if (!again.ok()) return again.status();
    Begin(std::move(words));
    LoadBlock(2, 0, 1, initial.at);
    if (!inside_) builder_.LoadData({~0u}, none.at);
    for (size_t b = 0; b < blocks.size(); ++b) {
      const Block& block = blocks[b];
      const Buffers& at = sets[b % sets_];
      const int64_t windows = WindowsOf(block),
                    bytes = ElementsOf(block) * size_;
      const int64_t row = RowBytes(node_.type),
                    source_row = RowBytes(node_.operands[1].type());
      if (windows > 0) {
        builder_.Load(0, (block.image * Rows() + block.base) * row,
                      at.operand.at, bytes);
        builder_.Load(
            1, (block.image * RowsOfWindows() + block.window) * source_row,
            at.source.at, windows * size_);
      }
      if (!inside_) {
        BufferCopy unset{none.at,           at.chosen.at, 4,
                         {{windows, 0, 1}}, none,         at.chosen};
        if (absl::Status s = copier_.Copy(builder_, unset); !s.ok()) return s;
      }
      // Never read, but defined.
      if (keeps) {
        if (absl::Status s = Fill(initial, at.kept, windows * size_); !s.ok())
          return s;
      }
      if (absl::Status s = Fill(initial, at.result, bytes); !s.ok()) return s;
      if (HasOneNan(element_)) {
        BufferCopy one{at.result.at, at.result.at, size_, {},
                       at.result,    at.result,    *again};
        one.dimensions = {{bytes / size_, 1, 1}};
        if (absl::Status s = copier_.Copy(builder_, one); !s.ok()) return s;
      }
      for (const std::vector<Pass>* passes : {&selects, &adds}) {
        for (const Pass& pass : *passes) {
          if (windows == 0) continue;
          if (absl::Status s = Run(pass, passes == &selects, block, at);
              !s.ok())
            return s;
        }
      }
      builder_.Store(3, (block.image * Rows() + block.row) * row,
                     at.result.at + (block.row - block.base) * row,
                     block.images * block.rows * row);
    }
    return builder_.Finish();
  }

 private:
  struct Buffers {
    Bytes operand, source, kept, chosen, result;
  };
  // Windows in a row of windows and the rows that they meet, base to end - 1;
  // of these the rows that no window of another block meets.
  struct Block {
    int64_t image, images, window, windows, base, end, row, rows;
  };

  int64_t Rows() const { return node_.type.shape[rows_]; }
  int64_t RowsOfWindows() const {
    return node_.operands[1].type().shape[rows_];
  }
  int64_t RowBytes(const ir::Type& type) const {
    return type.bytes() / (images_ * type.shape[rows_]);
  }
  int64_t ElementsOf(const Block& block) const {
    return block.images * (block.end - block.base) * RowBytes(node_.type) /
           size_;
  }
  int64_t WindowsOf(const Block& block) const {
    return block.images * block.windows * RowBytes(node_.operands[1].type()) /
           size_;
  }

  // Bands compute windows at their edges once more, so that each has all sums
  // of its rows. Empty: there are none of this operation.
  std::vector<Block> Blocks() const {
    std::vector<Block> blocks;
    const int64_t all = Rows(), windows = RowsOfWindows();
    if (bands_ == 1) {
      for (int64_t image = 0; image < images_; image += block_)
        blocks.push_back({image, std::min(block_, images_ - image), 0, windows,
                          0, all, 0, all});
      return blocks;
    }
    const int64_t window = a_.window[rows_], stride = a_.stride[rows_];
    int64_t before = 1;  // dimensions before that of the rows
    for (size_t i = 0; i < rows_; ++i) before *= node_.type.shape[i];
    if (!inside_ || before != images_ || stride > window) return {};
    // Rows, and windows with the rows that they begin at, of whole beats.
    const auto beats = [&](int64_t bytes) {
      return preset_.beat_bytes() / std::gcd(preset_.beat_bytes(), bytes);
    };
    const int64_t row_bytes = RowBytes(node_.type);
    const int64_t unit = beats(row_bytes),
                  ahead = std::lcm(beats(stride * row_bytes),
                                   beats(RowBytes(node_.operands[1].type())));
    const int64_t rows =
        compiler::RoundUp(compiler::CeilDiv(all, bands_), unit);
    for (int64_t image = 0; image < images_; ++image) {
      for (int64_t row = 0; row < all; row += rows) {
        const int64_t end = std::min(all, row + rows);
        const int64_t first =
            std::max<int64_t>(0, compiler::CeilDiv(row - window + 1, stride)) /
            ahead * ahead;
        const int64_t last = std::min(windows, (end - 1) / stride + 1);
        Block block{image, 1,   first, std::max<int64_t>(0, last - first),
                    row,   end, row,   end - row};
        if (block.windows > 0) {
          block.base = first * stride;
          block.end = std::max(end, (last - 1) * stride + window);
        }
        blocks.push_back(block);
      }
    }
    return blocks;
  }

  // Some taps of all windows that have them inside.
  struct Pass {
    std::vector<int64_t> taps;
    int pc = 0;
    int64_t row_cycles = 0;
  };

  // Where all windows lie inside, a pass has several taps; otherwise one, which
  // is inside for some of the windows.
  std::vector<Pass> Selects() const {
    std::vector<Pass> passes;
    for (int64_t t = 0; t < taps_; ++t) {
      if (passes.empty() || !inside_ ||
          static_cast<int64_t>(passes.back().taps.size()) == kTapsTogether)
        passes.emplace_back();
      passes.back().taps.push_back(t);
    }
    return passes;
  }

  // The taps of a pass meet no position twice: a position's taps are apart by
  // multiples of the strides, and go to one pass each.
  std::vector<Pass> Adds() const {
    std::vector<Pass> passes;
    std::map<Ints, size_t> next;  // pass, by place within the strides
    for (int64_t t = taps_; t-- > 0;) {
      Ints place = places_[t];
      for (size_t i = 0; i < place.size(); ++i) place[i] %= a_.stride[i];
      size_t pass = inside_ ? next[place]++ : passes.size();
      while (pass < passes.size() &&
             static_cast<int64_t>(passes[pass].taps.size()) >= kTapsTogether)
        pass = next[place]++;
      if (pass >= passes.size()) passes.resize(pass + 1);
      passes[pass].taps.push_back(t);
    }
    return passes;
  }

  int64_t OffsetOf(int64_t tap) const {
    const Ints strides = ir::StridesOf(node_.type.shape);
    int64_t elements = 0;
    for (size_t i = 0; i < strides.size(); ++i)
      elements += places_[tap][i] * strides[i];
    return elements * size_;
  }

  // From where the walk of a pass meets a window.
  int64_t OffsetIn(int64_t tap) const { return inside_ ? OffsetOf(tap) : 0; }

  absl::Status Append(WindowCode& code, Pass& pass,
                      std::vector<uint64_t>& words) const {
    const absl::StatusOr<int> pc = code.Append(words);
    if (!pc.ok()) return pc.status();
    pass.pc = *pc;
    pass.row_cycles = code.row_cycles();
    return absl::OkStatus();
  }

  // Keeps the selected tap and its element, or takes one of these.
  absl::Status SelectCode(bool first, bool last, Pass& pass,
                          std::vector<uint64_t>& words) const {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    Lane kept = kNoLane, chosen = kNoLane, unset = kNoLane;
    if (!first || !inside_) {
      kept = code.Element(WindowCode::kWindow);
      chosen = code.Word(WindowCode::kChoice);
      if (!inside_) unset = g.Make(Op::kIlt, chosen, g.Constant(0));
    }
    for (const int64_t t : pass.taps) {
      const Lane next = code.Element(WindowCode::kInside, OffsetIn(t));
      const Lane tap = g.Constant(static_cast<uint32_t>(t));
      if (kept == kNoLane) {
        kept = next;
        chosen = tap;
        continue;
      }
      Lane keeps = Lower(g, *ComparisonOf(*node_.regions[0]), {kept, next});
      if (unset != kNoLane) keeps = g.Make(Op::kIand, keeps, Not(g, unset));
      kept = g.Make(Op::kSel, keeps, kept, next);
      chosen = g.Make(Op::kSel, keeps, chosen, tap);
    }
    if (!last || !inside_) code.StoreElement(kept, WindowCode::kWindow);
    code.StoreWord(chosen, WindowCode::kChoice);
    return Append(code, pass, words);
  }

  // Combines where the window selected one of these taps.
  absl::Status AddCode(Pass& pass, std::vector<uint64_t>& words) const {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    const Lane source = code.Element(WindowCode::kWindow),
               chosen = code.Word(WindowCode::kChoice);
    for (const int64_t t : pass.taps) {
      const int64_t at = OffsetIn(t);
      const Lane sum = code.Element(WindowCode::kInside, at);
      const Lane here =
          g.Make(Op::kIeq, chosen, g.Constant(static_cast<uint32_t>(t)));
      const Lane next =
          Combine(g, *ir::CombinerOf(*node_.regions[1]), element_, sum, source);
      code.StoreElement(g.Make(Op::kSel, here, next, sum), WindowCode::kInside,
                        at);
    }
    return Append(code, pass, words);
  }

  absl::Status Run(const Pass& pass, bool select, const Block& block,
                   const Buffers& at) {
    const Ints& shape = node_.type.shape;
    const Ints& positions = node_.operands[1].type().shape;
    const Ints strides = ir::StridesOf(shape), dense = ir::StridesOf(positions);
    const Bytes& inside = select ? at.operand : at.result;
    const Bytes& window = select ? at.kept : at.source;
    BufferCopy copy{inside.at, window.at,    size_,
                    {},        inside,       select ? at.kept : at.result,
                    pass.pc,   at.chosen.at, pass.row_cycles};
    copy.more_reads = {window, at.chosen};
    if (select) copy.more_writes = {at.chosen};
    int64_t to = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool of_images = i == 0 && images_ > 1;
      const int64_t count = of_images    ? block.images
                            : i == rows_ ? block.windows
                                         : positions[i];
      // Windows whose tap is inside.
      const int64_t stride = a_.stride[i],
                    tap = inside_ ? 0 : places_[pass.taps[0]][i] - a_.low[i];
      const int64_t first = tap >= 0 ? 0 : (-tap + stride - 1) / stride;
      const int64_t room = (of_images ? block.images : shape[i]) - tap;
      int64_t end = count;
      if (!inside_)
        end = room <= 0 ? 0 : std::min(count, (room + stride - 1) / stride);
      if (end <= first) return absl::OkStatus();
      copy.from += (first * stride + tap) * strides[i] * size_;
      to += first * dense[i];
      copy.dimensions.push_back({end - first, strides[i] * stride, dense[i]});
    }
    copy.to += to * size_;
    copy.beside += 4 * to;
    return copier_.Copy(builder_, copy);
  }

  std::vector<Ints> places_;  // of the taps in a window
  bool inside_;               // all windows, with all of their taps
  size_t rows_ = 0;           // the first dimension that has windows
};

}  // namespace

bool IsWindowed(const Node& node) {
  const bool reduces = node.op == ir::Op::kHloReduceWindow;
  if (!reduces && node.op != ir::Op::kHloSelectAndScatter) return false;
  if (node.results() != 1 || node.operands.size() != (reduces ? 2u : 3u) ||
      !FitsLane(node.type.element))
    return false;
  for (const ir::Value& operand : node.operands) {
    if (operand.type().elements() == 0) return false;
  }
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const auto inside = [](int64_t v) { return v >= 0; };
  if (Product(a.window) > kMostTaps) return false;
  if (reduces) {
    return std::all_of(a.low.begin(), a.low.end(), inside) &&
           std::all_of(a.high.begin(), a.high.end(), inside) &&
           ir::CombinerOf(*node.regions[0]).has_value();
  }
  return ComparisonOf(*node.regions[0]) != nullptr &&
         ir::CombinerOf(*node.regions[1]).has_value();
}

absl::StatusOr<KernelProgram> CompileWindowed(const Node& node,
                                              const Preset& preset) {
  return node.op == ir::Op::kHloReduceWindow
             ? CompileWindowReduction(node, preset)
             : InBlocks(node, preset, [&](const WindowCut& cut) {
                 return WindowSelection(node, preset, cut).Compile();
               });
}

}  // namespace systole::lanes
