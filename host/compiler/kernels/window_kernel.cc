// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using ir::ElementType;
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

int64_t TapsOf(const ir::HloWindowAttributes& a) {
  int64_t taps = 1;
  for (const int64_t size : a.window) taps *= size;
  return taps;
}

// Code for walks over elements of one type and words; operand i uses walk i.
class WindowCode {
 public:
  WindowCode(const Preset& preset, ElementType element)
      : preset_(preset), element_(element) {}

  LaneGraph graph;
  Lane Element(int walk) {
    places_.operands.push_back({{0, walk}, 0, 0});
    const int operand = static_cast<int>(places_.operands.size()) - 1;
    return FromMemory(
        graph, element_,
        graph.Load({operand, StorageOf(element_), Pattern::kStream}));
  }
  Lane Word(int walk) {
    places_.operands.push_back({{0, walk}, 0, 0});
    const int operand = static_cast<int>(places_.operands.size()) - 1;
    return graph.Load({operand, Storage::kWord, Pattern::kStream});
  }
  void StoreElement(Lane lane, int walk) {
    stores_.push_back(ToMemory(graph, element_, lane));
    places_.stores.push_back({0, walk});
  }
  void StoreWord(Lane lane, int walk) {
    stores_.push_back({lane, Storage::kWord});
    places_.stores.push_back({0, walk});
  }
  // Appends the code to `words`; returns its index there.
  absl::StatusOr<int> Append(std::vector<uint64_t>& words) const {
    const absl::StatusOr<LaneCode> code =
        Emit(graph, stores_, places_, preset_, static_cast<int>(words.size()));
    if (!code.ok()) return code.status();
    words.insert(words.end(), code->words.begin(), code->words.end());
    return code->main;
  }

 private:
  const Preset& preset_;
  const ElementType element_;
  std::vector<LaneStore> stores_;
  LanePlaces places_;
};

// Walks of the code: elements inside the windows, an element per window, a word
// per window.
enum { kInside, kWindow, kChoice };

class Windowed {
 public:
  Windowed(const Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        a_(node.attr<ir::HloWindowAttributes>()),
        element_(node.type.element),
        size_(ir::ElementBytes(element_)),
        taps_(TapsOf(a_)) {}

  absl::StatusOr<KernelProgram> Reduce() {
    const Ints& shape = node_.operands[0].type().shape;
    Ints padded;
    for (size_t i = 0; i < shape.size(); ++i)
      padded.push_back(a_.low[i] + (shape[i] - 1) * a_.base_dilation[i] + 1 +
                       a_.high[i]);
    int64_t padded_bytes = size_;
    for (const int64_t size : padded) padded_bytes *= size;
    const bool pads = padded != shape;
    const Bytes operand = PlaceOf(0), initial = PlaceOf(1);
    const Bytes values =
        pads ? builder_.Place("padded", padded_bytes) : operand;
    const Bytes result = builder_.Place("result", node_.type.bytes());
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    WindowCode code(preset_, element_);
    const Lane value = code.Element(kInside), sum = code.Element(kWindow);
    code.StoreElement(Combine(code.graph, *ir::CombinerOf(*node_.regions[0]),
                              element_, sum, value),
                      kWindow);
    const absl::StatusOr<int> pc = code.Append(words);
    if (!pc.ok()) return pc.status();
    Begin(std::move(words), 2);
    if (pads) {
      if (absl::Status s = Fill(initial, values, padded_bytes); !s.ok())
        return s;
      BufferCopy inside{operand.at, values.at, size_, {}, operand, values};
      const Ints from = ir::StridesOf(shape), to = ir::StridesOf(padded);
      for (size_t i = 0; i < shape.size(); ++i) {
        inside.to += a_.low[i] * to[i] * size_;
        inside.dimensions.push_back(
            {shape[i], from[i], to[i] * a_.base_dilation[i]});
      }
      if (absl::Status s = copier_.Copy(builder_, inside); !s.ok()) return s;
    }
    if (absl::Status s = Fill(initial, result, node_.type.bytes()); !s.ok())
      return s;
    const Ints from = ir::StridesOf(padded),
               to = ir::StridesOf(node_.type.shape);
    Ints tap(shape.size(), 0);
    for (int64_t t = 0; t < taps_; ++t, ir::Advance(a_.window, tap)) {
      BufferCopy pass{values.at, result.at, size_, {}, values, result, *pc};
      pass.more_reads = {result};
      for (size_t i = 0; i < shape.size(); ++i) {
        pass.from += tap[i] * a_.window_dilation[i] * from[i] * size_;
        pass.dimensions.push_back(
            {node_.type.shape[i], from[i] * a_.stride[i], to[i]});
      }
      if (absl::Status s = copier_.Copy(builder_, pass); !s.ok()) return s;
    }
    return Finish(2, result);
  }

  // First finds the tap that each window selects, then adds the sources at
  // these positions. With descending taps, a position adds its sources in
  // ascending order.
  absl::StatusOr<KernelProgram> Select() {
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
    stores.StoreElement(stores.Element(kInside), kWindow);
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
  // The load of an element that is spread reads a whole row.
  Bytes PlaceOf(int operand) {
    operands_.push_back(builder_.Place(
        "operand",
        node_.operands[operand].type().bytes() + preset_.word_bytes()));
    return operands_.back();
  }

  // Keeps the selected tap and its element, or takes this one.
  absl::StatusOr<int> SelectCode(int64_t tap, std::vector<uint64_t>& words) {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    const Lane next = code.Element(kInside), kept = code.Element(kWindow);
    const Lane chosen = code.Word(kChoice);
    const Lane keeps = g.Make(
        Op::kIand, Lower(g, *ComparisonOf(*node_.regions[0]), {kept, next}),
        Not(g, g.Make(Op::kIlt, chosen, g.Constant(0))));
    code.StoreElement(g.Make(Op::kSel, keeps, kept, next), kWindow);
    code.StoreWord(
        g.Make(Op::kSel, keeps, chosen, g.Constant(static_cast<uint32_t>(tap))),
        kChoice);
    return code.Append(words);
  }

  // Combines where the window selected this tap.
  absl::StatusOr<int> AddCode(int64_t tap, std::vector<uint64_t>& words) {
    WindowCode code(preset_, element_);
    LaneGraph& g = code.graph;
    const Lane sum = code.Element(kInside), source = code.Element(kWindow);
    const Lane here = g.Make(Op::kIeq, code.Word(kChoice),
                             g.Constant(static_cast<uint32_t>(tap)));
    const Lane next =
        Combine(g, *ir::CombinerOf(*node_.regions[1]), element_, sum, source);
    code.StoreElement(g.Make(Op::kSel, here, next, sum), kInside);
    return code.Append(words);
  }

  void Begin(std::vector<uint64_t> words, int operands) {
    for (int i = 0; i < operands; ++i)
      builder_.AddOperand(node_.operands[i].type().bytes());
    builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words));
    for (int i = 0; i < operands; ++i) {
      const int64_t bytes = node_.operands[i].type().bytes();
      if (bytes > 0) builder_.Load(i, 0, operands_[i].at, bytes);
    }
  }

  absl::Status Fill(const Bytes& element, const Bytes& to, int64_t bytes) {
    return copier_.Copy(
        builder_,
        {element.at, to.at, size_, {{bytes / size_, 0, 1}}, element, to});
  }

  absl::StatusOr<KernelProgram> Finish(int operands, const Bytes& result) {
    builder_.Store(operands, 0, result.at, node_.type.bytes());
    return builder_.Finish();
  }

  const Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const ir::HloWindowAttributes& a_;
  const ElementType element_;
  const int64_t size_, taps_;
  std::vector<Bytes> operands_;
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
  if (TapsOf(a) > kMostTaps) return false;
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
  Windowed kernel(node, preset);
  return node.op == ir::Op::kHloReduceWindow ? kernel.Reduce()
                                             : kernel.Select();
}

}  // namespace systole::lanes
