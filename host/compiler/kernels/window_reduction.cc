// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_reduction.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/compiler/kernels/lane_functions.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/window_code.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;

constexpr int64_t kTogether = 16;  // taps of a pass

class WindowReduction : WindowedKernel {
 public:
  WindowReduction(const Node& node, const Preset& preset)
      : WindowedKernel(node, preset) {}

  // A pass combines the taps of the window's inner dimensions, at most `most`,
  // in their order.
  absl::StatusOr<KernelProgram> Compile(int64_t most) {
    const Ints& shape = node_.operands[0].type().shape;
    Ints padded;
    for (size_t i = 0; i < shape.size(); ++i)
      padded.push_back(a_.low[i] + (shape[i] - 1) * a_.base_dilation[i] + 1 +
                       a_.high[i]);
    const bool pads = padded != shape;
    const std::optional<PaddedLoad> load = pads ? LoadOf(padded) : std::nullopt;
    const Bytes operand = load ? Bytes{} : PlaceOf(0);
    if (load) operands_.push_back({});
    const Bytes initial = PlaceOf(1);
    Bytes values = operand;
    if (pads) {
      const int64_t bytes = Product(padded) * size_;
      values = builder_.Place("padded", bytes + preset_.beat_bytes());
    }
    const int64_t first = values.at + (load ? load->shift : 0);
    const Bytes result = builder_.Place("result", node_.type.bytes());
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    const Ints from = ir::StridesOf(padded),
               to = ir::StridesOf(node_.type.shape);
    Ints outer = a_.window, inner(shape.size(), 1);
    int64_t group = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (group * outer[i] > most) break;
      group *= outer[i];
      std::swap(outer[i], inner[i]);
    }
    WindowCode code(preset_, element_);
    Lane sum = code.Element(WindowCode::kWindow);
    Ints tap(shape.size(), 0);
    for (int64_t t = 0; t < group; ++t, ir::Advance(inner, tap)) {
      sum =
          Combine(code.graph, *ir::CombinerOf(*node_.regions[0]), element_, sum,
                  code.Element(WindowCode::kInside, OffsetOf(tap, from)));
    }
    code.StoreElement(sum, WindowCode::kWindow);
    const absl::StatusOr<int> pc = code.Append(words);
    if (!pc.ok()) return pc.status();
    Begin(std::move(words), 2);
    if (load) {
      if (absl::Status s = FillBorder(initial, values, first, padded); !s.ok())
        return s;
      builder_.LoadRuns(0, 0, first + load->offset, load->bytes, load->repeats);
    } else if (pads) {
      if (absl::Status s = Fill(initial, values, Product(padded) * size_);
          !s.ok())
        return s;
      BufferCopy inside{operand.at, first, size_, {}, operand, values};
      const Ints dense = ir::StridesOf(shape);
      inside.to += BytesTo(a_.low, from);
      for (size_t i = 0; i < shape.size(); ++i)
        inside.dimensions.push_back(
            {shape[i], dense[i], from[i] * a_.base_dilation[i]});
      if (absl::Status s = copier_.Copy(builder_, inside); !s.ok()) return s;
    }
    if (absl::Status s = Fill(initial, result, node_.type.bytes()); !s.ok())
      return s;
    std::fill(tap.begin(), tap.end(), 0);
    for (int64_t t = 0; t < taps_ / group; ++t, ir::Advance(outer, tap)) {
      BufferCopy pass{first, result.at, size_, {}, values, result, *pc};
      pass.from += OffsetOf(tap, from);
      pass.row_cycles = code.row_cycles();
      pass.more_reads = {result};
      for (size_t i = 0; i < shape.size(); ++i)
        pass.dimensions.push_back(
            {node_.type.shape[i], from[i] * a_.stride[i], to[i]});
      if (absl::Status s = copier_.Copy(builder_, pass); !s.ok()) return s;
    }
    return Finish(2, result);
  }

 private:
  // How an operand is loaded into the middle of its padding.
  struct PaddedLoad {
    int64_t offset;  // of its first element in the padded one, in bytes
    int64_t shift;   // by which the padded one starts later, for whole beats
    int64_t bytes;   // of a run
    std::vector<KernelBuilder::Repeat> repeats;
  };
  // Nothing where runs are no whole beats.
  std::optional<PaddedLoad> LoadOf(const Ints& padded) const {
    const Ints& shape = node_.operands[0].type().shape;
    const int64_t beat = preset_.beat_bytes();
    const Ints dense = ir::StridesOf(shape), to = ir::StridesOf(padded);
    size_t last = 0;  // the innermost padded dimension
    for (size_t i = 0; i < shape.size(); ++i) {
      if (a_.base_dilation[i] != 1) return std::nullopt;
      if (padded[i] != shape[i]) last = i;
    }
    PaddedLoad load{
        BytesTo(a_.low, to), 0, shape[last] * dense[last] * size_, {}};
    load.shift = compiler::RoundUp(load.offset, beat) - load.offset;
    for (size_t i = last; i-- > 0;) {
      if (shape[i] == 1) continue;
      const KernelBuilder::Repeat next{shape[i], dense[i] * size_,
                                       to[i] * size_};
      if (!load.repeats.empty()) {
        KernelBuilder::Repeat& inner = load.repeats.back();
        if (inner.count * inner.hbm == next.hbm &&
            inner.count * inner.ub == next.ub) {
          inner.count *= next.count;
          continue;
        }
      }
      load.repeats.push_back(next);
    }
    bool whole = load.bytes % beat == 0 && load.repeats.size() <= 2;
    for (const KernelBuilder::Repeat& repeat : load.repeats)
      whole = whole && repeat.hbm % beat == 0 && repeat.ub % beat == 0;
    return whole ? std::optional(std::move(load)) : std::nullopt;
  }

  // The initial value before and behind the operand in each dimension.
  absl::Status FillBorder(const Bytes& initial, const Bytes& values,
                          int64_t first, const Ints& padded) {
    const Ints& shape = node_.operands[0].type().shape;
    const Ints to = ir::StridesOf(padded);
    for (size_t i = 0; i < padded.size(); ++i) {
      for (const bool behind : {false, true}) {
        const int64_t count = behind ? a_.high[i] : a_.low[i];
        if (count == 0) continue;
        BufferCopy slab{initial.at, first, size_, {}, initial, values};
        if (behind) slab.to += (a_.low[i] + shape[i]) * to[i] * size_;
        // What lies beside the operand in dimensions before is filled already.
        for (size_t d = 0; d < padded.size(); ++d) {
          if (d < i) slab.to += a_.low[d] * to[d] * size_;
          slab.dimensions.push_back({d < i    ? shape[d]
                                     : d == i ? count
                                              : padded[d],
                                     0, to[d]});
        }
        if (absl::Status s = copier_.Copy(builder_, slab); !s.ok()) return s;
      }
    }
    return absl::OkStatus();
  }

  // Bytes from a window's first element to the one that a tap meets.
  int64_t OffsetOf(const Ints& tap, const Ints& strides) const {
    Ints place = tap;
    for (size_t i = 0; i < tap.size(); ++i) place[i] *= a_.window_dilation[i];
    return BytesTo(place, strides);
  }
  int64_t BytesTo(const Ints& place, const Ints& strides) const {
    int64_t elements = 0;
    for (size_t i = 0; i < place.size(); ++i) elements += place[i] * strides[i];
    return elements * size_;
  }
};

}  // namespace

absl::StatusOr<KernelProgram> CompileWindowReduction(const Node& node,
                                                     const Preset& preset) {
  absl::StatusOr<KernelProgram> program =
      WindowReduction(node, preset).Compile(kTogether);
  // Code of many taps may need more registers than there are.
  return program.ok() ? std::move(program)
                      : WindowReduction(node, preset).Compile(1);
}

}  // namespace systole::lanes
