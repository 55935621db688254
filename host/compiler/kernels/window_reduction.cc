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

class WindowReduction : WindowedKernel {
 public:
  WindowReduction(const Node& node, const Preset& preset, const WindowCut& cut)
      : WindowedKernel(node, preset, cut),
        shape_(node.operands[0].type().shape),
        padded_(shape_) {
    for (size_t i = 0; i < shape_.size(); ++i)
      padded_[i] =
          a_.low[i] + (shape_[i] - 1) * a_.base_dilation[i] + 1 + a_.high[i];
  }

  // A pass combines the taps of the window's inner dimensions, at most `most`,
  // in their order.
  absl::StatusOr<KernelProgram> Compile(int64_t most) {
    const bool pads = padded_ != shape_;
    const std::optional<PaddedLoad> load =
        pads && block_ == images_ ? LoadOf() : std::nullopt;
    const Bytes initial = PlaceOf(node_.operands[1].type());
    std::vector<Bytes> operands, values, results;
    for (int64_t set = 0; set < sets_; ++set) {
      if (!load) operands.push_back(PlaceOf(node_.operands[0].type()));
      if (pads) {
        const int64_t bytes = Product(Of(padded_, block_)) * size_;
        values.push_back(
            builder_.Place("padded", bytes + preset_.beat_bytes()));
      } else {
        values.push_back(operands.back());
      }
      results.push_back(PlaceOf(node_.type, "result"));
    }
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    const Ints from = ir::StridesOf(padded_),
               to = ir::StridesOf(node_.type.shape);
    Ints outer = a_.window, inner(shape_.size(), 1);
    int64_t group = 1;
    for (size_t i = shape_.size(); i-- > 0;) {
      if (group * outer[i] > most) break;
      group *= outer[i];
      std::swap(outer[i], inner[i]);
    }
    WindowCode code(preset_, element_);
    Lane sum = code.Element(WindowCode::kWindow);
    Ints tap(shape_.size(), 0);
    for (int64_t t = 0; t < group; ++t, ir::Advance(inner, tap)) {
      sum =
          Combine(code.graph, *ir::CombinerOf(*node_.regions[0]), element_, sum,
                  code.Element(WindowCode::kInside, OffsetOf(tap, from)));
    }
    code.StoreElement(sum, WindowCode::kWindow);
    const absl::StatusOr<int> pc = code.Append(words);
    if (!pc.ok()) return pc.status();
    Begin(std::move(words));
    LoadBlock(1, 0, 1, initial.at);
    const auto work = [&](int64_t image, int64_t images, int64_t set) {
      const Bytes &value = values[set], &result = results[set];
      const int64_t first = value.at + (load ? load->shift : 0);
      if (load) {
        if (absl::Status s = FillBorder(initial, value, first); !s.ok())
          return s;
        builder_.LoadRuns(0, 0, first + load->offset, load->bytes,
                          load->repeats);
      } else {
        LoadBlock(0, image, images, operands[set].at);
      }
      if (pads && !load) {
        if (absl::Status s =
                Fill(initial, value, Product(Of(padded_, images)) * size_);
            !s.ok())
          return s;
        BufferCopy inside{operands[set].at, first, size_, {},
                          operands[set],    value};
        const Ints dense = ir::StridesOf(shape_), inner = Of(shape_, images);
        inside.to += BytesTo(a_.low, from);
        for (size_t i = 0; i < shape_.size(); ++i)
          inside.dimensions.push_back(
              {inner[i], dense[i], from[i] * a_.base_dilation[i]});
        if (absl::Status s = copier_.Copy(builder_, inside); !s.ok()) return s;
      }
      if (absl::Status s = Fill(initial, result, BytesOf(node_.type, images));
          !s.ok())
        return s;
      const Ints windows = Of(node_.type.shape, images);
      Ints tap(shape_.size(), 0);
      for (int64_t t = 0; t < taps_ / group; ++t, ir::Advance(outer, tap)) {
        BufferCopy pass{first, result.at, size_, {}, value, result, *pc};
        pass.from += OffsetOf(tap, from);
        pass.row_cycles = code.row_cycles();
        pass.more_reads = {result};
        for (size_t i = 0; i < shape_.size(); ++i)
          pass.dimensions.push_back(
              {windows[i], from[i] * a_.stride[i], to[i]});
        if (absl::Status s = copier_.Copy(builder_, pass); !s.ok()) return s;
      }
      StoreBlock(result, image, images);
      return absl::OkStatus();
    };
    if (absl::Status s = EachBlock(work); !s.ok()) return s;
    return builder_.Finish();
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
  std::optional<PaddedLoad> LoadOf() const {
    const Ints &shape = shape_, &padded = padded_;
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
                          int64_t first) {
    const Ints &shape = shape_, &padded = padded_;
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

  // The shape of a block of so many images.
  Ints Of(Ints shape, int64_t images) const {
    if (images_ > 1) shape[0] = images;
    return shape;
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

  const Ints& shape_;
  Ints padded_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileWindowReduction(const Node& node,
                                                     const Preset& preset) {
  return InBlocks(
      node, preset, [&](const WindowCut& cut) -> absl::StatusOr<KernelProgram> {
        if (cut.bands > 1)
          return absl::ResourceExhaustedError("an image is too large");
        absl::StatusOr<KernelProgram> program =
            WindowReduction(node, preset, cut).Compile(kTapsTogether);
        // Code of many taps may need more registers than there are.
        return program.ok() ? std::move(program)
                            : WindowReduction(node, preset, cut).Compile(1);
      });
}

}  // namespace systole::lanes
