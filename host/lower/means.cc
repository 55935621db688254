// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/means.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/lower/requantise.h"
#include "host/lower/tensors.h"

namespace systole::lower {
namespace {

constexpr int kMaxSide = 127;     // limit of a pool descriptor, and of a kernel
constexpr int kDigit = 16;        // base of the digits
constexpr int kMostSummed = 15;   // digits of -8..8 whose sum fits an int8
constexpr int kMostWeight = 128;  // weights are -128..127
constexpr int kLevels = 3;
constexpr int kMostParts = 256;  // groups of channels, with several layers each

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The positions that a mean combines, and the image that they are part of.
struct Extent {
  bool height = false, width = false;
  int h = 1, w = 1;

  int window_h() const { return height ? h : 1; }
  int window_w() const { return width ? w : 1; }
  int64_t count() const { return int64_t{window_h()} * window_w(); }
};

// Height and width of the window, of at most kMostSummed values, that leaves
// the fewest sums; lines cost a little extra.
std::pair<int, int> SumWindow(const Extent& e) {
  std::pair<int, int> best = {1, 1};
  constexpr int kLine = 2;
  int64_t least = INT64_MAX;
  for (int a = 1; a <= std::min(kMostSummed, e.window_h()); ++a) {
    const int b = std::min(kMostSummed / a, e.window_w());
    const int64_t left = CeilDiv(e.h, a) * (CeilDiv(e.w, b) + kLine);
    if (left < least) best = {a, b};
    least = std::min(least, left);
  }
  return best;
}

// Values that count this many times in the sum: -16, -256, ... or 1.
struct Digits {
  int tensor = 0;
  int weight = 1;
  int copies() const {
    return static_cast<int>(CeilDiv(std::abs(weight), kMostWeight));
  }
};

int Copies(const std::vector<Digits>& all) {
  int copies = 0;
  for (const Digits& d : all) copies += d.copies();
  return copies;
}

// Limits of a core: the smallest of the cores that the layers are for.
struct Room {
  int64_t beat = 0, cols = 0, bytes = INT64_MAX;

  // Bytes of the pieces that a line is cut into: whole beats.
  int64_t Whole(int64_t channels) const { return std::lcm(channels, beat); }
  int64_t ColumnBeats() const { return CeilDiv(cols, beat) * beat; }
};

constexpr int64_t kLinesHeld = 4;  // slots of inputs and of results

Room RoomOf(const Target* target) {
  Room room;
  const auto take = [&](const Target& t) {
    room.beat = std::max<int64_t>(room.beat, t.core().beat_bytes());
    room.cols = std::max<int64_t>(room.cols, t.core().cols);
    room.bytes = std::min<int64_t>(room.bytes, t.core().ub_bytes);
  };
  if (target != nullptr) take(*target);
  for (const Preset& preset : kPresets) {
    if (target == nullptr && Target(preset).quantised_networks())
      take(Target(preset));
  }
  return room;
}

class Pieces {
 public:
  Pieces(const ir::Node& node, int input, const Extent& extent,
         const Room& room, const model::Network& network)
      : node_(node),
        input_(input),
        whole_(extent),
        extent_(extent),
        room_(room),
        network_(network),
        in_(network.tensors[input]) {}

  absl::Status Make(model::Requant requant, const model::Tensor& result) {
    // Lines are cut into pieces of this many bytes, unless they fit whole.
    const int64_t part = room_.Whole(result.channels);
    const bool wide = kLinesHeld * kMostSummed *
                          std::min(part, int64_t{whole_.w} * result.channels) >
                      room_.bytes;
    if (wide && result.width > 1 && kLinesHeld * part > room_.bytes)
      return absl::UnimplementedError(absl::StrCat(
          "a ", ir::OpName(node_.op), " of ", result.channels,
          " channels, too many for ", room_.bytes, " bytes of unified buffer"));
    const int64_t group = wide ? room_.ColumnBeats() : result.channels;
    std::vector<int> parts;
    for (int64_t c = 0; c < result.channels; c += group) {
      model::Tensor part = result;
      part.channels =
          static_cast<int>(std::min<int64_t>(group, result.channels - c));
      int from = input_;
      extent_ = whole_;
      if (wide) from = Slice(from, static_cast<int>(c), part.channels);
      const absl::StatusOr<int> made = Of(from, requant, part);
      if (!made.ok()) return made.status();
      parts.push_back(*made);
    }
    Join(std::move(parts), result);
    tensors_.back().name = node_.name;
    layers_.back().name = node_.name;
    return absl::OkStatus();
  }

  void AppendTo(model::Network& network) {
    for (model::Tensor& t : tensors_) network.tensors.push_back(std::move(t));
    for (model::Layer& l : layers_) network.layers.push_back(std::move(l));
  }
  int output() const { return layers_.back().output; }

 private:
  // Adds a layer and the tensor of its result, with the sizes of `shape`.
  model::Layer& Add(model::Op op, std::vector<int> inputs,
                    const model::Tensor& shape) {
    model::Tensor tensor = shape;
    tensor.name = absl::StrCat(node_.name, " (", tensors_.size(), ")");
    while (std::any_of(
        network_.tensors.begin(), network_.tensors.end(),
        [&](const model::Tensor& t) { return t.name == tensor.name; }))
      tensor.name += "'";
    model::Layer layer;
    layer.name = tensor.name;
    layer.op = op;
    layer.inputs = std::move(inputs);
    layer.output = static_cast<int>(network_.tensors.size() + tensors_.size());
    tensors_.push_back(std::move(tensor));
    return layers_.emplace_back(std::move(layer));
  }

  model::Tensor Plain(int height, int width, int channels) const {
    model::Tensor t;
    t.height = height;
    t.width = width;
    t.channels = channels;
    return t;
  }

  int Slice(int tensor, int first, int channels) {
    model::Layer& slice =
        Add(model::Op::kSlice, {tensor}, Plain(extent_.h, extent_.w, channels));
    slice.begin[2] = first;
    if (tensor == input_) tensors_.back().zero_point = in_.zero_point;
    return slice.output;
  }

  // Concatenates the parts of the channels.
  int Join(std::vector<int> parts, const model::Tensor& result) {
    if (parts.size() == 1) return parts[0];
    return Add(model::Op::kConcat, std::move(parts), result).output;
  }

  // The mean of a tensor, with the channels of `result`.
  absl::StatusOr<int> Of(int tensor, model::Requant requant,
                         const model::Tensor& result) {
    digits_ = {{tensor, 1}};
    for (int level = 0; level < kLevels; ++level) {
      Reduce(result.channels);
      if (Fits(result.channels)) break;
    }
    const int group = Group(result.channels);
    if (group == 0)
      return absl::UnimplementedError(
          absl::StrCat("a ", ir::OpName(node_.op), " over ", whole_.count(),
                       " positions, too many for ", room_.bytes,
                       " bytes of unified buffer"));
    parts_ += CeilDiv(result.channels, group);
    if (parts_ > kMostParts)
      return absl::UnimplementedError(absl::StrCat("a ", ir::OpName(node_.op),
                                                   " in more than ", kMostParts,
                                                   " groups of channels"));
    std::vector<int> parts;
    for (int c = 0; c < result.channels; c += group) {
      model::Tensor part = result;
      part.channels = std::min(group, result.channels - c);
      const int side = Side(c, part.channels, result.channels);
      parts.push_back(Convolution(side, requant, part));
    }
    return Join(std::move(parts), result);
  }

  // One digit of all values of a tensor; negated if `negative`.
  int Digit(int tensor, int channels, bool high, bool negative) {
    model::Layer& layer =
        Add(model::Op::kTable, {tensor}, Plain(extent_.h, extent_.w, channels));
    for (int q = -128; q < 128; ++q) {
      const int h = (q + 128 + kDigit / 2) / kDigit - 128 / kDigit;
      const int digit = high ? h : q - kDigit * h;
      layer.table.push_back(static_cast<int8_t>(negative ? -digit : digit));
    }
    return layer.output;
  }

  // Sums the digits of all values over windows.
  void Reduce(int channels) {
    const auto [a, b] = SumWindow(extent_);
    Extent next = extent_;
    next.h = static_cast<int>(CeilDiv(extent_.h, a));
    next.w = static_cast<int>(CeilDiv(extent_.w, b));
    model::Window window;
    window.kernel_h = window.stride_h = a;
    window.kernel_w = window.stride_w = b;
    window.pad_bottom = next.h * a - extent_.h;
    window.pad_right = next.w * b - extent_.w;
    const model::Requant one = *QuantiseMultiplier(1);
    std::vector<Digits> sums;
    for (const Digits& d : digits_) {
      for (const bool high : {true, false}) {
        const int digit = Digit(d.tensor, channels, high, high && d.weight > 0);
        model::Layer& sum =
            Add(model::Op::kMean, {digit}, Plain(next.h, next.w, channels));
        sum.window = window;
        sum.requant = {one};
        sums.push_back(
            {sum.output, high ? -std::abs(d.weight) * kDigit : d.weight});
      }
    }
    digits_ = std::move(sums);
    extent_ = next;
  }

  // Whether the convolution has room for this many channels at a time.
  bool Fits(int64_t channels) const {
    constexpr int64_t kShare = 4, kLineBytes = 1 << 18;
    const int64_t line = Copies(digits_) * extent_.w * channels;
    return extent_.window_h() <= kMaxSide && line < kLineBytes &&
           extent_.window_h() * (line + room_.beat) <= room_.bytes / kShare;
  }

  // Channels per convolution; 0 if there is no room for one.
  int Group(int channels) const {
    int64_t group = channels;
    while (group > 0 && !Fits(group))
      group = group > room_.cols
                  ? std::max(group / 2 / room_.cols, int64_t{1}) * room_.cols
                  : group / 2;
    return static_cast<int>(group);
  }

  // All digits of `count` channels, from `first` on, side by side.
  int Side(int first, int count, int channels) {
    std::vector<int> side;
    for (const Digits& d : digits_) {
      const int tensor =
          count < channels ? Slice(d.tensor, first, count) : d.tensor;
      side.insert(side.end(), d.copies(), tensor);
    }
    const int width = static_cast<int>(side.size()) * extent_.w;
    return Add(model::Op::kConcat, std::move(side),
               Plain(extent_.h, width, count))
        .output;
  }

  int Convolution(int side, model::Requant requant,
                  const model::Tensor& result) {
    model::Layer& layer = Add(model::Op::kDepthwise, {side}, result);
    layer.window.kernel_h = extent_.window_h();
    layer.window.kernel_w = Copies(digits_) * extent_.window_w();
    if (!extent_.width) layer.window.dilation_w = extent_.w;
    std::vector<int8_t> line;
    for (const Digits& d : digits_) {
      line.insert(line.end(), int64_t{d.copies()} * extent_.window_w(),
                  static_cast<int8_t>(d.weight / d.copies()));
    }
    for (int64_t i = 0; i < int64_t{extent_.window_h()} * result.channels; ++i)
      layer.weights.insert(layer.weights.end(), line.begin(), line.end());
    layer.bias.assign(result.channels,
                      static_cast<int32_t>(-whole_.count() * in_.zero_point));
    layer.requant.assign(result.channels, requant);
    return layer.output;
  }

  const ir::Node& node_;
  const int input_;
  const Extent whole_;
  Extent extent_;      // of the digits
  int64_t parts_ = 0;  // number of convolutions
  const Room room_;
  const model::Network& network_;
  const model::Tensor in_;
  std::vector<Digits> digits_;
  std::vector<model::Tensor> tensors_;
  std::vector<model::Layer> layers_;
};

absl::StatusOr<Extent> ExtentOf(const ir::Node& node, int64_t images) {
  const ir::Type& from = node.operands[0]->type;
  const absl::StatusOr<model::Tensor> in = TensorOf(*node.operands[0], images);
  if (!in.ok()) return in.status();
  Extent e{false, false, in->height, in->width};
  for (const int64_t axis : node.attr<ir::ReduceAttributes>().axes) {
    const int64_t from_end = from.rank() - 1 - axis;
    const bool outer =
        from_end >= 2 && from.shape[axis] > 1 && OuterOf(from, images) > 1;
    if (outer || (from_end == 0 && in->channels > 1))
      return absl::UnimplementedError(absl::StrCat(
          "a ", ir::OpName(node.op), " over other axes than height and width"));
    e.width = e.width || from_end == 1;
    e.height = e.height || (from_end == 2 && from.shape[axis] > 1);
  }
  // An axis with one position may count or not.
  e.height = e.height || e.h == 1;
  e.width = e.width || e.w == 1;
  return e;
}

// Whether a window and its results fit, as loaded: in groups of whole beats if
// the channels are a multiple of a beat.
bool SumsAtOnce(const Extent& e, int64_t channels, const Target* target) {
  const auto fits = [&](const Target& t) {
    const int64_t beat = t.core().beat_bytes();
    if (channels % beat == 0) {
      const int64_t group = CeilDiv(t.core().cols, beat) * beat;
      return t.HoldsTwice(e.count() * std::min(channels, group), channels);
    }
    // Lines are whole, or cut into pieces of this many bytes.
    const int64_t whole = e.w * channels, part = std::lcm(channels, beat);
    const int64_t line = e.width ? whole : std::min(whole, part);
    return t.HoldsTwice(e.window_h() * (line + beat),
                        (e.width ? channels : line) + beat);
  };
  if (e.window_h() > kMaxSide || e.window_w() > kMaxSide) return false;
  if (target != nullptr) return fits(*target);
  return std::all_of(kPresets.begin(), kPresets.end(), [&](const Preset& p) {
    return !Target(p).quantised_networks() || fits(Target(p));
  });
}

}  // namespace

absl::StatusOr<int> AppendMean(const ir::Node& node, int input,
                               const Target* target, int64_t images,
                               model::Network& network) {
  const absl::StatusOr<Extent> extent = ExtentOf(node, images);
  absl::StatusOr<model::Tensor> result = TensorOf(node, images);
  if (!extent.ok()) return extent.status();
  if (!result.ok()) return result.status();
  const model::Tensor& in = network.tensors[input];
  result->height = extent->height ? 1 : in.height;
  result->width = extent->width ? 1 : in.width;
  result->channels = in.channels;
  // Keeps sums of products with the zero point, and of digits, within 32 bits.
  constexpr int64_t kMostPositions = 1 << 22;
  if (extent->count() > kMostPositions)
    return absl::UnimplementedError(absl::StrCat(
        "a ", ir::OpName(node.op), " over ", extent->count(), " positions"));
  const absl::StatusOr<model::Requant> found =
      node.op == ir::Op::kSum ? RequantOfSum(node, extent->count())
                              : RequantOfMean(node, extent->count());
  if (!found.ok()) return found.status();
  const model::Requant requant = *found;
  if (!SumsAtOnce(*extent, in.channels, target)) {
    Pieces pieces(node, input, *extent, RoomOf(target), network);
    if (absl::Status s = pieces.Make(requant, *result); !s.ok()) return s;
    pieces.AppendTo(network);
    return pieces.output();
  }
  model::Layer layer;
  layer.name = node.name;
  layer.op = model::Op::kMean;
  layer.inputs = {input};
  layer.output = static_cast<int>(network.tensors.size());
  layer.window.kernel_h = extent->window_h();
  layer.window.kernel_w = extent->window_w();
  layer.requant = {requant};
  network.tensors.push_back(*std::move(result));
  network.layers.push_back(std::move(layer));
  return network.layers.back().output;
}

}  // namespace systole::lower
