// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_kernel.h"

#include <algorithm>
#include <utility>

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
  WindowSelection(const Node& node, const Preset& preset)
      : WindowedKernel(node, preset) {}

  // First finds the tap that each window selects, then adds the sources at
  // these positions. With descending taps, a position adds its sources in
  // ascending order.
  absl::StatusOr<KernelProgram> Compile() {
    const Ints& shape = node_.type.shape;
    const Ints& positions = node_.operands[1].type().shape;
    const int64_t windows = node_.operands[1].type().elements();
    const Bytes operand = PlaceOf(0), source = PlaceOf(1), initial = PlaceOf(2);
    const Bytes kept = builder_.Place("kept", windows * size_);
    const Bytes chosen = builder_.Place("chosen", 4 * windows);
    const Bytes none = builder_.Place("none", preset_.word_bytes() + 4);
    const Bytes result = builder_.Place("result", node_.type.bytes());
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    std::vector<int> selects, adds;
    for (int64_t t = 0; t < taps_; ++t) {
      for (const bool select : {true, false}) {
        const absl::StatusOr<int> pc =
            select ? SelectCode(t, words) : AddCode(t, words);
        if (!pc.ok()) return pc.status();
        (select ? selects : adds).push_back(*pc);
      }
    }
    WindowCode stores(preset_, element_);
    stores.StoreElement(stores.Element(WindowCode::kInside),
                        WindowCode::kWindow);
    const absl::StatusOr<int> again = stores.Append(words);
    if (!again.ok()) return again.status();
    Begin(std::move(words), 3);
    builder_.LoadData({~0u}, none.at);
    BufferCopy unset{none.at, chosen.at, 4, {{windows, 0, 1}}, none, chosen};
    if (absl::Status s = copier_.Copy(builder_, unset); !s.ok()) return s;
    // Never read, but defined.
    if (absl::Status s = Fill(initial, kept, windows * size_); !s.ok())
      return s;
    if (absl::Status s = Fill(initial, result, node_.type.bytes()); !s.ok())
      return s;
    if (HasOneNan(element_)) {
      BufferCopy one{result.at, result.at, size_, {}, result, result, *again};
      one.dimensions = {{node_.type.elements(), 1, 1}};
      if (absl::Status s = copier_.Copy(builder_, one); !s.ok()) return s;
    }
    const Ints strides = ir::StridesOf(shape), dense = ir::StridesOf(positions);
    std::vector<Ints> taps;
    Ints tap(shape.size(), 0);
    for (int64_t t = 0; t < taps_; ++t, ir::Advance(a_.window, tap))
      taps.push_back(tap);
    const auto pass = [&](int64_t t, bool select) {
      const Bytes& inside = select ? operand : result;
      const Bytes& window = select ? kept : source;
      BufferCopy copy{inside.at,
                      window.at,
                      size_,
                      {},
                      inside,
                      select ? kept : result,
                      (select ? selects : adds)[t],
                      chosen.at};
      copy.more_reads = {window, chosen};
      if (select) copy.more_writes = {chosen};
      int64_t to = 0;
      for (size_t i = 0; i < shape.size(); ++i) {
        // Windows whose tap is inside.
        const int64_t stride = a_.stride[i], at = taps[t][i] - a_.low[i];
        const int64_t first = at >= 0 ? 0 : (-at + stride - 1) / stride;
        const int64_t room = shape[i] - at;
        const int64_t end =
            room <= 0 ? 0
                      : std::min(positions[i], (room + stride - 1) / stride);
        if (end <= first) return absl::OkStatus();
        copy.from += (first * stride + at) * strides[i] * size_;
        to += first * dense[i];
        copy.dimensions.push_back({end - first, strides[i] * stride, dense[i]});
      }
      copy.to += to * size_;
      copy.beside += 4 * to;
      return copier_.Copy(builder_, copy);
    };
    for (int64_t t = 0; t < taps_; ++t) {
      if (absl::Status s = pass(t, true); !s.ok()) return s;
    }
    for (int64_t t = taps_; t-- > 0;) {
      if (absl::Status s = pass(t, false); !s.ok()) return s;
    }
    return Finish(3, result);
  }

 private:
  // Keeps the selected tap and its element, or takes this one.
  absl::StatusOr<int> SelectCode(int64_t tap, std::vector<uint64_t>& words) {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    const Lane next = code.Element(WindowCode::kInside),
               kept = code.Element(WindowCode::kWindow);
    const Lane chosen = code.Word(WindowCode::kChoice);
    const Lane keeps = g.Make(
        Op::kIand, Lower(g, *ComparisonOf(*node_.regions[0]), {kept, next}),
        Not(g, g.Make(Op::kIlt, chosen, g.Constant(0))));
    code.StoreElement(g.Make(Op::kSel, keeps, kept, next), WindowCode::kWindow);
    code.StoreWord(
        g.Make(Op::kSel, keeps, chosen, g.Constant(static_cast<uint32_t>(tap))),
        WindowCode::kChoice);
    return code.Append(words);
  }

  // Combines where the window selected this tap.
  absl::StatusOr<int> AddCode(int64_t tap, std::vector<uint64_t>& words) {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    const Lane sum = code.Element(WindowCode::kInside),
               source = code.Element(WindowCode::kWindow);
    const Lane here = g.Make(Op::kIeq, code.Word(WindowCode::kChoice),
                             g.Constant(static_cast<uint32_t>(tap)));
    const Lane next =
        Combine(g, *ir::CombinerOf(*node_.regions[1]), element_, sum, source);
    code.StoreElement(g.Make(Op::kSel, here, next, sum), WindowCode::kInside);
    return code.Append(words);
  }
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
             : WindowSelection(node, preset).Compile();
}

}  // namespace systole::lanes
