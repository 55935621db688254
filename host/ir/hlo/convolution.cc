// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A group is a product of matrices: a line of the left one is what a window
// sees of the input, taps in ascending place of the input, features fastest.
#include <algorithm>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/products.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/hlo/window.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

// Elements of the left matrix that are made at once.
constexpr int64_t kMaxWindows = int64_t{1} << 20;

class Convolution {
 public:
  Convolution(const Node& node, const Operands& operands,
              Evaluation& evaluation)
      : a_(node.attr<HloConvolutionAttributes>()),
        node_(node),
        unit_(evaluation.products()),
        input_shape_(node.operands[0].type().shape),
        kernel_shape_(node.operands[1].type().shape),
        input_(*operands[0]),
        kernel_(*operands[1]) {
    const int spatial = static_cast<int>(a_.stride.size());
    const Ints input_strides = StridesOf(input_shape_);
    for (int i = 0; i < spatial; ++i) {
      windows_.push_back({input_shape_[a_.input_spatial[i]],
                          kernel_shape_[a_.kernel_spatial[i]], a_.stride[i],
                          a_.lhs_dilation[i], a_.rhs_dilation[i], a_.low[i],
                          a_.high[i]});
      positions_.push_back(windows_.back().positions());
      taps_.push_back(windows_.back().window);
      input_spatial_strides_.push_back(input_strides[a_.input_spatial[i]]);
    }
    groups_ = a_.feature_group_count * a_.batch_group_count;
    features_ = kernel_shape_[a_.kernel_input_feature];
    outputs_ = kernel_shape_[a_.kernel_output_feature] / groups_;
    batch_ = input_shape_[a_.input_batch] / a_.batch_group_count;
    depth_ = features_;
    for (int64_t taps : taps_) depth_ *= taps;
    places_ = 1;
    for (int64_t positions : positions_) places_ *= positions;
  }

  absl::StatusOr<Literals> Run() {
    Literal result = Literal::Zeros(node_.type.element, node_.type.elements());
    if (result.size() == 0) return Only(std::move(result));
    FindTaps();
    const int64_t lines = batch_ * places_;
    const int64_t most = std::max<int64_t>(1, kMaxWindows / depth_);
    for (int64_t group = 0; group < groups_; ++group) {
      const Literal weights = Weights(group);
      for (int64_t first = 0; first < lines; first += most) {
        const int64_t count = std::min(most, lines - first);
        const absl::StatusOr<Literal> product =
            MatrixProduct(count, depth_, outputs_, Windows(group, first, count),
                          weights, node_.type.element, a_.precision, unit_);
        if (!product.ok()) return product.status();
        Store(group, first, count, *product, result);
      }
    }
    return Only(std::move(result));
  }

 private:
  // For each place and tap the offset in the input, -1 if there is none.
  void FindTaps() {
    const int64_t taps = depth_ / std::max<int64_t>(features_, 1);
    offsets_.assign(places_ * taps, 0);
    Ints place(positions_.size(), 0);
    int64_t* to = offsets_.data();
    for (int64_t p = 0; p < places_; ++p) {
      Ints tap(taps_.size(), 0);
      for (int64_t t = 0; t < taps; ++t) {
        int64_t offset = 0;
        for (size_t i = 0; i < windows_.size() && offset >= 0; ++i) {
          const int64_t index = windows_[i].IndexOf(place[i], tap[i]);
          offset = index < 0 ? -1 : offset + index * input_spatial_strides_[i];
        }
        *to++ = offset;
        Advance(taps_, tap);
      }
      Advance(positions_, place);
    }
  }

  // A line a window: [taps, features].
  Literal Windows(int64_t group, int64_t first, int64_t count) const {
    const Ints strides = StridesOf(input_shape_);
    const int64_t feature_step = strides[a_.input_feature];
    const int64_t batch_step = strides[a_.input_batch];
    const int64_t base = a_.batch_group_count > 1
                             ? group * batch_ * batch_step
                             : group * features_ * feature_step;
    const int64_t taps = depth_ / std::max<int64_t>(features_, 1);
    return input_.Visit([&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      std::vector<T> lines(count * depth_);
      T* to = lines.data();
      for (int64_t line = first; line < first + count; ++line) {
        const T* image = values.data() + base + line / places_ * batch_step;
        const int64_t* offset = offsets_.data() + line % places_ * taps;
        for (int64_t t = 0; t < taps; ++t, to += features_) {
          if (offset[t] < 0) continue;
          const T* from = image + offset[t];
          for (int64_t f = 0; f < features_; ++f)
            to[f] = from[f * feature_step];
        }
      }
      return Literal(std::move(lines));
    });
  }

  // [taps, features, outputs] of a group; reversed as the convolution says.
  Literal Weights(int64_t group) const {
    const Ints strides = StridesOf(kernel_shape_);
    const int64_t output_step = strides[a_.kernel_output_feature];
    int64_t first = group * outputs_ * output_step;
    Ints shape = taps_, from;
    for (size_t i = 0; i < taps_.size(); ++i) {
      const int64_t step = strides[a_.kernel_spatial[i]];
      from.push_back(a_.reversal[i] ? -step : step);
      if (a_.reversal[i]) first += (taps_[i] - 1) * step;
    }
    shape.push_back(features_);
    from.push_back(strides[a_.kernel_input_feature]);
    shape.push_back(outputs_);
    from.push_back(output_step);
    const int bytes = ElementBytes(kernel_.element());
    Literal weights = Literal::Zeros(kernel_.element(), depth_ * outputs_);
    CopyStrided(bytes, shape, {kernel_.data() + first * bytes, from},
                {weights.data(), StridesOf(shape)});
    return weights;
  }

  void Store(int64_t group, int64_t first, int64_t count,
             const Literal& product, Literal& result) const {
    const Ints strides = StridesOf(node_.type.shape);
    const int64_t feature_step = strides[a_.output_feature];
    product.Visit([&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      const T* from = values.data();
      T* base = result.values<T>().data() + group * outputs_ * feature_step;
      for (int64_t line = first; line < first + count; ++line) {
        int64_t offset = line / places_ * strides[a_.output_batch];
        int64_t place = line % places_;
        for (size_t i = positions_.size(); i-- > 0;) {
          offset += place % positions_[i] * strides[a_.output_spatial[i]];
          place /= positions_[i];
        }
        T* to = base + offset;
        for (int64_t o = 0; o < outputs_; ++o) to[o * feature_step] = *from++;
      }
    });
  }

  const HloConvolutionAttributes& a_;
  const Node& node_;
  ProductUnit& unit_;
  const Ints& input_shape_;
  const Ints& kernel_shape_;
  const Literal& input_;
  const Literal& kernel_;
  std::vector<WindowDimension> windows_;
  Ints positions_, taps_, input_spatial_strides_;
  std::vector<int64_t> offsets_;
  int64_t groups_ = 1, features_ = 1, outputs_ = 1, batch_ = 1;
  int64_t depth_ = 1;   // of the contraction
  int64_t places_ = 1;  // of a window in an image
};

}  // namespace

absl::StatusOr<Literals> EvaluateHloConvolution(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation) {
  return Convolution(node, operands, evaluation).Run();
}

}  // namespace systole::ir
